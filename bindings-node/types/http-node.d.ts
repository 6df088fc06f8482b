/** A server as a listener of `node:http`, for express, fastify and others too. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type HttpOptions } from './http-host.js';
import type { Server } from './server.js';
/** Options of {@link nodeHandler}. */
export interface NodeHandlerOptions extends HttpOptions {
    /**
     * Tells who sends a request, by any key: a session serves nobody but its principal. It authenticates nobody itself.
     */
    readonly principal?: (request: IncomingMessage) => string | undefined;
}
/** What answers requests of `node:http`. */
export interface NodeHandler {
    /**
     * @param body - The body if something else has read it: its value of JSON, text or bytes. What express has put into
     * `request.body` is found without. A function, such as `next` of express, is none.
     */
    (request: IncomingMessage, response: ServerResponse, body?: unknown): void;
    /**
     * Takes no more requests, waits until what is in flight has ended, and ends all streams.
     *
     * Close the server of `node:http` after this, not before: it drops connections that still have to take a response.
     */
    close(): Promise<void>;
}
/**
 * The server as a listener of `node:http`.
 *
 * ```ts
 * createServer(nodeHandler(server, { path: '/mcp' })).listen(3000, '127.0.0.1');
 * app.all('/mcp', nodeHandler(server)); // express
 * app.all('/mcp', (request, reply) => { // fastify, whose `forceCloseConnections: true` ends it without delay
 *   reply.hijack();
 *   handler(request.raw, reply.raw, request.body);
 * });
 * ```
 *
 * Requests are let in that come from pages of the loopback interface or `allowedOrigins`, or from no page, and go to a
 * name of the loopback interface or of `allowedHosts`.
 */
export declare function nodeHandler(server: Server, options?: NodeHandlerOptions): NodeHandler;
