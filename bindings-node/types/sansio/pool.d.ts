/** Room for what is sent: small pieces share an array, as making one for each costs more than filling it. */
export {};
