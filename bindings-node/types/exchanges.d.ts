/** The exchanges of a client over HTTP, carried out by `fetch`. */
/** A function like the global `fetch`, as far as it is used here. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;
