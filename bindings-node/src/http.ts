/** HTTP: servers as web-standard handlers and as listeners of `node:http`. */

export { createHandler, type Handler, type HandlerOptions } from './http-fetch.js';
export type { HttpOptions, SsePaths } from './http-host.js';
export { nodeHandler, type NodeHandler, type NodeHandlerOptions } from './http-node.js';
