/** How a client connects: what it is made of, which programs that only serve do not load. */
export {};
