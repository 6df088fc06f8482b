/**
 * A server over HTTP, whatever speaks HTTP around it: one machine of the core for all clients.
 *
 * What speaks HTTP hands in requests, and gives each response that goes on as an {@link Exchange}, to be told when there
 * is more.
 */
import type { ResourceServer } from './auth/protection.js';
/** How a server is reached over HTTP. */
export interface HttpOptions {
    /** The path of the endpoint, such as `/mcp`; all others are answered with 404. Default: every path is the endpoint. */
    readonly path?: string;
    /**
     * Serves HTTP+SSE of 2024-11-05 too, at `/sse` and `/messages`, or at the paths that are given. Default: no.
     */
    readonly sse?: boolean | SsePaths;
    /** Protects the server with access tokens: a `ResourceServer` of `barewire/auth`. It then says who sends a request. */
    readonly auth?: ResourceServer;
    /**
     * Origins of pages that are let in beside those of the loopback interface, such as `https://app.example`; `*` allows
     * all. A request of no page has none, and is let in.
     */
    readonly allowedOrigins?: readonly string[];
    /** Names that requests may go to beside those of the loopback interface, such as `mcp.example`; `*` allows all. */
    readonly allowedHosts?: readonly string[];
    /** Bytes of one request. Default 4 MiB. */
    readonly bodyLimit?: number;
    /** Milliseconds after which an unused session of the older revisions ends. Default half an hour. */
    readonly sessionIdle?: number;
    /** Milliseconds after which a silent stream gets a comment; 0: never. Default 15 000. */
    readonly keepAlive?: number;
    /** Milliseconds for which a client waits before it reconnects. Default 1000. */
    readonly retry?: number;
}
/** The two endpoints of HTTP+SSE, as paths. */
export interface SsePaths {
    /** Where clients connect, for a stream of events. */
    readonly stream: string;
    /** Where they send messages to. */
    readonly messages: string;
}
