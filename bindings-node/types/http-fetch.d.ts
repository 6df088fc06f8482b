/** A server as a function from `Request` to `Response`. */
import { type HttpOptions } from './http-host.js';
import type { Server } from './server.js';
/** Options of {@link createHandler}. */
export interface HandlerOptions extends HttpOptions {
    /**
     * Tells who sends a request, by any key: a session serves nobody but its principal. It authenticates nobody itself.
     */
    readonly principal?: (request: Request) => string | undefined;
}
/** What answers web-standard requests. */
export interface Handler {
    (request: Request): Promise<Response>;
    /** Takes no more requests, waits until what is in flight has ended, and ends all streams. */
    close(): Promise<void>;
}
/**
 * The server as a web-standard handler: for Hono, Bun, Deno, Next and all else that speaks `Request` and `Response`.
 *
 * ```ts
 * const handler = createHandler(server);
 * app.all('/mcp', (context) => handler(context.req.raw)); // Hono
 * export { handler as GET, handler as POST, handler as DELETE }; // Next
 * export default { fetch: handler, idleTimeout: 30 }; // Bun and Deno; Bun must bear silence longer than `keepAlive`
 * ```
 *
 * Requests are let in that come from pages of the loopback interface or `allowedOrigins`, or from no page, and go to a
 * name of the loopback interface or of `allowedHosts`.
 */
export declare function createHandler(server: Server, options?: HandlerOptions): Handler;
