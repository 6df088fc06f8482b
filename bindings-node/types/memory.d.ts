/** A server of this process, reached through two streams in memory. */
export {};
