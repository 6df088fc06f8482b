/** Carries out what an authorization machine asks for, beside the exchanges of a client. */
export {};
