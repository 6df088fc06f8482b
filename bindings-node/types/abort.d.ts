/** Waiting for the signals of callers: one listener for each, because Node takes many for a leak. */
export {};
