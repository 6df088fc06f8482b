/** The client role over HTTP. */
import { ClientCommands } from './client-commands.js';
import { type ExchangeHandle, type HttpClientEvent } from './events.js';
import { type HeaderPairs } from './headers.js';
import type { HttpClientSettings } from './settings.js';
/** A request to send. A redirect is not to be followed: its head is handed in like any other. */
export interface HttpRequest {
    readonly type: 'request';
    /** Names it in what the host reports. */
    readonly exchange: ExchangeHandle;
    readonly method: string;
    readonly url: string;
    /** Pairs of name, in lower case, and value, without those that an HTTP library adds. */
    readonly headers: [name: string, value: string][];
    /** The body; empty if there is none. */
    readonly body: string;
    /** The response may stay silent for as long as it likes: no read timeout applies. */
    readonly isStream: boolean;
}
/** An exchange to give up: close its connection, or reset its stream. Its end is not reported. */
export interface HttpAbort {
    readonly type: 'abort';
    readonly exchange: ExchangeHandle;
}
/**
 * A client over HTTP. It starts to connect at once: carry out what `pollTransmit` gives, all at once and in any order
 * of completion, and hand in what comes back.
 */
export declare class HttpClient extends ClientCommands<HttpClientEvent> {
    /**
     * Sets a client up.
     *
     * @throws RangeError if `url` is no URL of http or https.
     */
    constructor(settings: HttpClientSettings);
    /** What to do next, if anything. */
    pollTransmit(now: number): HttpRequest | HttpAbort | undefined;
    /** Takes the head of a response. */
    receiveHead(exchange: ExchangeHandle, status: number, headers: HeaderPairs, now: number): HttpClientEvent[];
    /** Takes a piece of the body, after decoding of its codings. */
    receiveBody(exchange: ExchangeHandle, data: Uint8Array, now: number): HttpClientEvent[];
    /** The response is complete. */
    receiveEnd(exchange: ExchangeHandle, now: number): HttpClientEvent[];
    /** The exchange has failed: the request was surely not sent, or it broke. A redirect is no failure but a response. */
    receiveFailure(exchange: ExchangeHandle, failure: 'notSent' | 'broken', now: number): HttpClientEvent[];
    /** Whether to read on in an exchange. */
    wantsInput(exchange: ExchangeHandle): boolean;
    /** There are new credentials: the exchange is sent again, once. */
    authorized(exchange: ExchangeHandle, now: number): HttpClientEvent[];
    /** There are none: what waits for the exchange fails. */
    unauthorized(exchange: ExchangeHandle, now: number): HttpClientEvent[];
    /** True when everything is over and nothing is left to be done. */
    get isFinished(): boolean;
}
