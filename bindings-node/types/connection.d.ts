/** A machine of a server, its calls in flight, and what their events lead to. */
export {};
