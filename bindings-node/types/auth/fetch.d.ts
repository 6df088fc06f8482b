/** Requests beside those of the protocol: to authorization servers, whose addresses others have named. */
export {};
