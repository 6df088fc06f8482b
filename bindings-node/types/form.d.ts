/** Schemas of libraries as forms allow them: flat, without references, and with a type on every field. */
export {};
