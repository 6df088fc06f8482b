/** How the messages of a client travel: on a byte stream, or over HTTP. */
export {};
