/** A server on standard input and output, or any other pair of byte streams. */
import type { Readable, Writable } from 'node:stream';
import type { Server } from './server.js';
/** Where to serve. */
export interface StdioOptions {
    /** Where the messages of the client come from. Default: standard input. */
    readonly input?: Readable;
    /** Where those of the server go. Default: standard output, which then belongs to the protocol. */
    readonly output?: Writable;
    /** Ends the connection in order. */
    readonly signal?: AbortSignal;
}
/**
 * Serves on standard input and output until the client closes them.
 *
 * Standard output belongs to the protocol: what else is written to it from here on, by `console.log` too, goes to
 * standard error. Answers that are owed at the end of input are still sent. Signals are left alone; see {@link run}.
 * While the client does not read, handlers that report wait, and no more is taken from it than the limits allow.
 *
 * @returns a promise that is kept at the end of the connection
 */
export declare function serveStdio(server: Server, options?: StdioOptions): Promise<void>;
/**
 * As {@link serveStdio}, for a program that does nothing else: SIGTERM and SIGINT end the connection in order, and then
 * the program.
 */
export declare function run(server: Server): Promise<void>;
