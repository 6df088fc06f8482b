/** The server role behind HTTP. */
import { type ExchangeHandle, type HttpServerEvent, type SessionHandle } from './events.js';
import { type HeaderPairs } from './headers.js';
import { ServerCommands } from './server-commands.js';
import { type HttpServerSettings } from './settings.js';
/** What is known of a request beside its method, headers and body. */
export interface ReceiveOptions {
    /** Who sends it, by any key; sessions belong to it. */
    readonly principal?: string;
    /** It asks for the stream of HTTP+SSE (2024-11-05): the path of the endpoint that takes messages. */
    readonly eventStream?: string;
    /** It is for the endpoint of HTTP+SSE that takes messages: the query string. */
    readonly messages?: string;
}
/** A refusal of the host. */
export interface Denial {
    readonly status: number;
    /** The value of `WWW-Authenticate`, if there is one. */
    readonly challenge?: string | undefined;
}
/** What to send next in one exchange: the head, then the data, then the end. */
export interface ResponsePart {
    /** The status, in the first part only. */
    readonly status: number | undefined;
    /** Pairs of name, in lower case, and value, in the first part only. */
    readonly headers: readonly (readonly [name: string, value: string])[];
    /** Bytes of the body; may be empty. They may lie in a larger `ArrayBuffer`, and nobody changes them. */
    readonly data: Uint8Array;
    /** After this part the exchange is over. */
    readonly isLast: boolean;
    /**
     * Close the connection without an orderly end of the body, so that the client does not take what it got for the
     * whole.
     */
    readonly isAborted: boolean;
}
/**
 * A server behind HTTP, for both eras and any number of clients.
 *
 * A program hands in requests as they come, says when a client has gone, and after any of these, any command and any
 * timeout asks `ready` which exchanges have something to send, and `pollResponse` what. It asks an exchange again only
 * when its connection has taken the last part: a slow reader delays nobody else.
 */
export declare class HttpServer extends ServerCommands<HttpServerEvent> {
    #private;
    /** Sets a server up. */
    constructor(settings: HttpServerSettings);
    /**
     * Takes the head of a request; gives its exchange. What refuses it is ready to be sent at once; its body is then
     * ignored.
     */
    receiveRequest(method: string, headers: HeaderPairs, now: number, options?: ReceiveOptions): ExchangeHandle;
    /** Takes the head of a request that is not let in, without its body; gives its exchange, whose response is ready. */
    receiveDenied(method: string, headers: HeaderPairs, denial: Denial, now: number, options?: ReceiveOptions): ExchangeHandle;
    /** Does not let through what an exchange has brought; false if its response has begun. */
    deny(exchange: ExchangeHandle, { status, challenge }: Denial, now: number): boolean;
    /** Takes a piece of the body. */
    receiveBody(exchange: ExchangeHandle, data: Uint8Array, now: number): void;
    /** The body is complete: what it holds goes to the machine. */
    receiveEnd(exchange: ExchangeHandle, now: number): HttpServerEvent[];
    /** Takes a request whose body is at hand; gives its exchange and the events. As {@link receiveRequest}. */
    receiveWhole(method: string, headers: HeaderPairs, body: Uint8Array, now: number, options?: ReceiveOptions): [exchange: ExchangeHandle, events: HttpServerEvent[]];
    /** The client has gone, or nothing can be sent to it any more. */
    receiveAbort(exchange: ExchangeHandle, now: number): HttpServerEvent[];
    /** The exchanges that have something to send and were not named since they last had nothing. */
    ready(): ExchangeHandle[];
    /** What to send next in an exchange; `undefined` if that is nothing for now, or the exchange is over. */
    pollResponse(exchange: ExchangeHandle): ResponsePart | undefined;
    /** Bytes that wait to be taken by an exchange. */
    backlog(exchange: ExchangeHandle): number;
    /** Answers `sessionRequested`: the session as it was imported, or none. */
    resolveSession(exchange: ExchangeHandle, session: SessionHandle | undefined, now: number): HttpServerEvent[];
    /** Answers `replayRequested`: ids and data of what followed, or `undefined` if the stream is not known. */
    replay(exchange: ExchangeHandle, events: readonly (readonly [id: string, data: string])[] | undefined, now: number): void;
    /**
     * Ends the response of a legacy request for now; whether that was possible.
     *
     * The client reconnects after `retry` milliseconds and finds what followed. That takes a stream that has told an
     * event id.
     */
    closeStream(exchange: ExchangeHandle, now: number, retry?: number): boolean;
    /** Takes no more requests; streams that wait for nothing end, and what is in flight goes on. */
    shutDown(now: number): HttpServerEvent[];
    /** True when no exchange is open. */
    get isIdle(): boolean;
}
