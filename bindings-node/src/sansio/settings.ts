/** How machines are set up. What is left out has the core's default. */

import type { LogLevel } from './facts.js';
import type { Json } from './events.js';

/**
 * Bounds on everything a peer can make the core keep. Reaching one is a typed refusal or an event, never growth.
 */
export interface Limits {
  /** Bytes of one inbound message. Default 16 MiB. */
  readonly messageBytes?: number;
  /** Levels of nesting of one inbound message. Default 128. */
  readonly depth?: number;
  /** Requests in flight, each direction counted alone. Default 2048. */
  readonly requestsInFlight?: number;
  /** Requests accepted before the connection is ready. Default 256. */
  readonly queuedRequests?: number;
  /** Events that wait to be taken at which `wantsInput` turns false. Default 4096. */
  readonly queuedEvents?: number;
  /** Bytes that wait to be sent or taken at which `wantsInput` turns false. Default 8 MiB. */
  readonly queuedBytes?: number;
  /** Elements of a JSON-RPC batch. Default 256. */
  readonly batchItems?: number;
  /** Sessions of one server. Default 10 000. */
  readonly sessions?: number;
  /** Open subscriptions of one peer. Default 256. */
  readonly subscriptions?: number;
  /** Resource URIs that one peer watches over all its subscriptions. Default 1024. */
  readonly watchedResources?: number;
  /** How many times one request may ask its client. Default 10. */
  readonly rounds?: number;
  /** Questions in one round. Default 32. */
  readonly inputs?: number;
  /** Bytes of the state that travels with questions. Default 64 KiB. */
  readonly requestStateBytes?: number;
  /** Items on one page of a list. Default 1000. */
  readonly pageItems?: number;
  /** Bytes of the items on one page of a list; one item stands there whatever its length. Default 1 MiB. */
  readonly pageBytes?: number;
}

/** Durations in milliseconds. */
export interface Timeouts {
  /** A client waits for the answer to its era probe. Default 5 000 ms. */
  readonly probe?: number;
  /** A client waits for the answer to the handshake. Default 30 000 ms. */
  readonly handshake?: number;
  /** A request waits with nothing heard of it. Default 60 000 ms. */
  readonly request?: number;
  /** A request may last over all its rounds, whatever is heard of it. Default 600 000 ms. */
  readonly requestTotal?: number;
  /** Whether progress starts the `request` time anew. Default true. */
  readonly progressExtends?: boolean;
  /** A client waits for a subscription to be acknowledged. Default 30 000 ms. */
  readonly acknowledgement?: number;
  /** A server sends the answers that are owed after the end of input. Default 10 000 ms. */
  readonly drain?: number;
  /** How long a server accepts a sealed state again. Default 3 600 000 ms. */
  readonly requestState?: number;
  /** A child may take to exit once its input is closed. Default 2 000 ms. */
  readonly childExit?: number;
  /** A child may take to exit once it was asked to end. Default 2 000 ms. */
  readonly childTerminate?: number;
}

/** What clients and servers have in common. */
export interface CommonSettings {
  /** The programmatic name. */
  readonly name: string;
  /** The version, in any form. */
  readonly version: string;
  /** The name for people. */
  readonly title?: string;
  /** What it is. */
  readonly description?: string;
  /** A page about it. */
  readonly websiteUrl?: string;
  /** An array of icons. */
  readonly icons?: Json;
  /** 32 random bytes, never used twice. */
  readonly seed: Uint8Array;
  /** The names of the revisions that it is willing to speak. Default all. */
  readonly revisions?: readonly string[];
  /** Bounds. */
  readonly limits?: Limits;
  /** Durations. */
  readonly timeouts?: Timeouts;
}

/** How a `Server` is set up. */
export interface ServerSettings extends CommonSettings {
  /** The Unix time, in milliseconds, at which `now` is 0. */
  readonly clockOrigin: number;
  /** Guidance for the model. */
  readonly instructions?: string;
  /** Whether log messages are offered. Default true. */
  readonly logging?: boolean;
  /** Whether completions are offered. Default false. */
  readonly completions?: boolean;
  /** Extensions to declare: an object by extension id. */
  readonly extensions?: Json;
  /** Methods that come as `requestReceived`; others that the protocol does not have are refused. */
  readonly extensionMethods?: readonly string[];
  /** How long lists stay fresh, in milliseconds. Default 0. */
  readonly ttlMs?: number;
  /** Who may share lists. Default `'private'`. */
  readonly cacheScope?: 'public' | 'private';
  /** Whether results name the server, where the revision has that. Default true. */
  readonly identifyResults?: boolean;
  /**
   * Keys of 32 bytes for state that travels through clients: the first seals, all open. Without any, no other process
   * can open it.
   */
  readonly requestStateKeys?: readonly Uint8Array[];
}

/** How an `HttpServer` is set up. */
export interface HttpServerSettings extends ServerSettings {
  /** Pages that requests may come from, beside those of the loopback interface; `'*'` stands for all. */
  readonly allowedOrigins?: readonly string[];
  /** Names of the server that requests may go to, beside those of the loopback interface; `'*'` stands for all. */
  readonly allowedHosts?: readonly string[];
  /** Bytes of a request body. Default 4 MiB. */
  readonly bodyBytes?: number;
  /** Milliseconds of silence on an open stream after which a comment is sent. Default 15 000; 0 sends none. */
  readonly keepAlive?: number;
  /** Milliseconds without an exchange after which a legacy session ends. Default half an hour. */
  readonly sessionIdle?: number;
  /** Milliseconds that clients are asked to wait before they reconnect. Default 1 000. */
  readonly retry?: number;
  /** Where events of legacy streams are kept for clients that reconnect. Default `'memory'`. */
  readonly eventKeeping?: 'memory' | 'external' | 'none';
  /** Events of one stream that are kept in memory. Default 256. */
  readonly keptEvents?: number;
  /** Bytes of all events that are kept in memory. Default 16 MiB. */
  readonly keptBytes?: number;
  /** Milliseconds that events are kept in memory. Default 300 000. */
  readonly keptAge?: number;
  /** Whether an unknown id of a session is asked for with `sessionRequested`. Default false. */
  readonly externalSessions?: boolean;
}

/** How a `Client` is set up. */
export interface ClientSettings extends CommonSettings {
  /** The time, in milliseconds from any fixed origin. */
  readonly now: number;
  /** A `ClientCapabilities` object. Default none. */
  readonly capabilities?: Json;
  /** The `eraVerdict` of an earlier connection to the same server. Without it the server is probed. */
  readonly era?: string;
}

/** How an `HttpClient` is set up. */
export interface HttpClientSettings extends ClientSettings {
  /** The URL of the server, which is never normalised. */
  readonly url: string;
  /** Whether to try HTTP+SSE of the first revision where Streamable HTTP is refused. Default true. */
  readonly fallsBackToSse?: boolean;
  /** Whether to open the stream of a session that belongs to no request. Default true. */
  readonly opensStream?: boolean;
  /** Whether a 401 or 403 is asked about with `authorizationRequired`. Default false. */
  readonly authorizes?: boolean;
}

/** What can be said of a request. */
export interface RequestOptions {
  /** Ask for progress reports. Default false. */
  readonly progress?: boolean;
  /** Milliseconds to wait with nothing heard. */
  readonly timeout?: number;
  /** Milliseconds over all rounds. */
  readonly totalTimeout?: number;
  /** The least severe level of log messages wanted for this request. */
  readonly logLevel?: LogLevel;
  /** An object of members for `_meta`. */
  readonly meta?: Json;
}

/**
 * The JSON of settings. Numbers among them are whole, but for the one moment in time; JSON would make nothing, and so the
 * default, of some that are not.
 *
 * @internal
 */
export function settingsText(settings: object): Json {
  return JSON.stringify(settings, (name, value: unknown) => {
    if (typeof value !== 'number' || name === 'clockOrigin') return value;
    if (Number.isSafeInteger(value) && value >= 0) return value;
    throw new RangeError(`${name} is a whole number, 0 or more, not ${value}`);
  });
}
