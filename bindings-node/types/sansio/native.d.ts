/** The native addon: where it is found, and what it has. */
export {};
