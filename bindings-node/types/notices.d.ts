/** Callbacks of the application that are told of something, and whose failures must not end the connection. */
export {};
