/** Where the randomness of machines comes from. */
export {};
