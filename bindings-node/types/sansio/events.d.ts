/** What machines tell, and how it is read from the rows of the addon. */
import { type McpError, type RpcError } from './errors.js';
import { type Era, type LogLevel } from './facts.js';
/** JSON text. What comes from the peer is exactly as it wrote it. */
export type Json = string;
/** Names one request for its whole life, over all its rounds. Numbers are not reused by one machine. */
export type RequestHandle = number;
/** Names a subscription to changes. */
export type SubscriptionHandle = number;
/** Names one question of the server to the client's user or model. */
export type InputHandle = number;
/** Names a legacy session. */
export type SessionHandle = number;
/** Names one HTTP request with its response. */
export type ExchangeHandle = number;
/** What a server can ask of its client. */
export type InputKind = 'elicitation' | 'sampling' | 'roots';
/** The lists of a server that can change. */
export type ListKind = 'tools' | 'resources' | 'prompts';
/** What a peer declares that it can do. */
export declare class Capabilities {
    #private;
    /** The capabilities object as the peer wrote it, if it did. */
    readonly raw: Json | undefined;
    /**
     * Whether a capability is declared.
     *
     * @param path - Its member path, for example `'sampling.tools'`.
     * @throws RangeError for a path that the protocol does not have.
     */
    has(path: string): boolean;
}
/** What a subscription is about: changes of the lists, and of single resources by URI. */
export interface SubscriptionFilter {
    /** Whether the list of tools is watched. */
    readonly tools: boolean;
    /** Whether the list of resources is watched. */
    readonly resources: boolean;
    /** Whether the list of prompts is watched. */
    readonly prompts: boolean;
    /** The resources that are watched. */
    readonly resourceUris: readonly string[];
}
/** A question of the server, as the client sees it: answer it with `provideInput` or `refuseInput`. */
export interface InputRequest {
    /** Names the question. */
    readonly input: InputHandle;
    /** What is asked. */
    readonly kind: InputKind;
    /** Its parameters. */
    readonly params: Json | undefined;
    /** The server's own name for it, where the revision has one. */
    readonly key: string | undefined;
}
/** An answer of the client, as the server sees it: `result` or `error`. */
export interface InputAnswer {
    /** The name that the server gave the question. */
    readonly key: string;
    /** The result object. */
    readonly result: Json | undefined;
    /** Why there is none. */
    readonly error: RpcError | undefined;
}
/** Who sent a request, and what came with it. */
export interface RequestContext {
    /** The name of the revision that governs this request. */
    readonly revision: string;
    /** The era of the revision. */
    readonly era: Era;
    /** The name and version object that the client gave, which proves nothing. */
    readonly client: Json | undefined;
    /** What the client declared, for its session or with this very request. */
    readonly capabilities: Capabilities;
    /** The least severe level of log messages it wants; `undefined` for none. */
    readonly logLevel: LogLevel | undefined;
    /** The token to report progress under; `undefined` if it wants none. */
    readonly progressToken: Json | undefined;
    /** The `_meta` object of the request: trace context, extensions. */
    readonly meta: Json | undefined;
    /** The session, in the legacy era only. */
    readonly session: SessionHandle | undefined;
    /** The HTTP exchange that carries the request. */
    readonly exchange: ExchangeHandle | undefined;
    /** Who the host says the client is. */
    readonly principal: string | undefined;
    /** Answers to all questions of this request so far. */
    readonly inputAnswers: readonly InputAnswer[];
    /** What was kept with the last question. */
    readonly state: Json | undefined;
    /** How many times the request has asked before. */
    readonly round: number;
}
/** Any other notification, those of extensions included. */
export interface NotificationReceived {
    readonly type: 'notificationReceived';
    /** The session it came in: on servers in the legacy era only. */
    readonly session: SessionHandle | undefined;
    readonly method: string;
    readonly params: Json | undefined;
}
/** The peer deviated from the protocol in a way that did not matter. */
export interface ViolationTolerated {
    readonly type: 'violationTolerated';
    /** How, in a word that never changes, such as `byte_order_mark`. */
    readonly violation: string;
    readonly request: RequestHandle | undefined;
    /** The message as it arrived. */
    readonly bytes: Uint8Array;
}
/** The peer sent something unusable; the connection goes on. */
export interface MessageDiscarded {
    readonly type: 'messageDiscarded';
    /** What was wrong, in a word that never changes. */
    readonly violation: string;
    /** What arrived, or its head up to the limit. */
    readonly bytes: Uint8Array;
}
/** The last event. */
export interface Disconnected {
    readonly type: 'disconnected';
    /** Why. It is made, not thrown. */
    readonly reason: McpError;
}
/**
 * A registered tool is called; `arguments` is an object, not checked against the tool's schema.
 *
 * Like every request it is answered once, by `respond`, `respondError` or `requireInput`; after the latter it comes
 * again with the answers: with the same number in the legacy era, later with a new one.
 */
export interface ToolCalled {
    readonly type: 'toolCalled';
    readonly request: RequestHandle;
    readonly name: string;
    readonly arguments: Json | undefined;
    readonly context: RequestContext;
}
/** A resource is read: registered itself, or matched by a registered template. */
export interface ResourceReadRequested {
    readonly type: 'resourceReadRequested';
    readonly request: RequestHandle;
    readonly uri: string;
    /** The template as registered, if it was one. */
    readonly template: string | undefined;
    /** What the template's variables stand for, percent-decoded. */
    readonly variables: Readonly<Record<string, string>>;
    readonly context: RequestContext;
}
/** A registered prompt is asked for; `arguments` is an object of strings. */
export interface PromptRequested {
    readonly type: 'promptRequested';
    readonly request: RequestHandle;
    readonly name: string;
    readonly arguments: Json | undefined;
    readonly context: RequestContext;
}
/** Suggestions for `argument` are asked for, of which `value` is typed so far. */
export interface CompletionRequested {
    readonly type: 'completionRequested';
    readonly request: RequestHandle;
    /** The prompt that it is for. Exactly one of `prompt` and `resource` is set. */
    readonly prompt: string | undefined;
    /** The resource template, or the URI of a resource. */
    readonly resource: string | undefined;
    readonly argument: string;
    readonly value: string;
    /** Arguments settled before: an object of strings. */
    readonly arguments: Json | undefined;
    readonly context: RequestContext;
}
/** A request of one of the `extensionMethods`. */
export interface RequestReceived {
    readonly type: 'requestReceived';
    readonly request: RequestHandle;
    readonly method: string;
    readonly params: Json | undefined;
    readonly context: RequestContext;
}
/** The client no longer wants the answer. A late answer is accepted and sends nothing. */
export interface RequestCancelled {
    readonly type: 'requestCancelled';
    readonly request: RequestHandle;
    readonly reason: string | undefined;
}
/** A client watches what `filter` says. */
export interface SubscriptionOpened {
    readonly type: 'subscriptionOpened';
    readonly subscription: SubscriptionHandle;
    readonly filter: SubscriptionFilter;
}
/** A client no longer watches. */
export interface SubscriptionClosed {
    readonly type: 'subscriptionClosed';
    readonly subscription: SubscriptionHandle;
}
/** A legacy client has finished its handshake. */
export interface SessionOpened {
    readonly type: 'sessionOpened';
    readonly session: SessionHandle;
    readonly revision: string;
    readonly client: Json | undefined;
    readonly capabilities: Capabilities;
}
/** A legacy session is over. */
export interface SessionClosed {
    readonly type: 'sessionClosed';
    readonly session: SessionHandle;
}
/** The end of input was reached; requests that never got their answer are `abandoned`. */
export interface Drained {
    readonly type: 'drained';
    readonly abandoned: readonly RequestHandle[];
}
/** A request of the server's own ended, which exist in the legacy era only: `result` or `error`. */
export interface ClientResponseReceived {
    readonly type: 'responseReceived';
    readonly request: RequestHandle;
    readonly result: Json | undefined;
    readonly ttlMs: undefined;
    readonly cacheScope: undefined;
    /** Why there is no result. It is made, not thrown. */
    readonly error: McpError | undefined;
}
/**
 * A session that is not known here is asked for, with `externalSessions`.
 *
 * Import it and answer with `resolveSession`; the exchange waits. `id` may be anything that a client wrote, and the
 * session may belong to another principal: that is for the program to check.
 */
export interface SessionRequested {
    readonly type: 'sessionRequested';
    readonly exchange: ExchangeHandle;
    readonly id: string;
}
/** A session has got its id, a secret between client and server. Only where sessions or events live outside. */
export interface SessionNamed {
    readonly type: 'sessionNamed';
    readonly session: SessionHandle;
    readonly id: string;
}
/** Keep this event of a stream, where events are kept by the program. */
export interface EventAppended {
    readonly type: 'eventAppended';
    readonly session: SessionHandle;
    readonly stream: string;
    readonly id: string;
    /** The message; empty for the first event of a stream, which only gives an id. */
    readonly data: string;
}
/** Give the events after this one with `replay`; the exchange waits. */
export interface ReplayRequested {
    readonly type: 'replayRequested';
    readonly exchange: ExchangeHandle;
    readonly session: SessionHandle;
    readonly stream: string;
    readonly after: string;
}
/** Nobody will ask for the streams of this session any more: it is over. */
export interface StreamsForgotten {
    readonly type: 'streamsForgotten';
    readonly session: SessionHandle;
}
/** The revision is settled and queued requests go out; what the server tells of itself. */
export interface Ready {
    readonly type: 'ready';
    readonly revision: string;
    readonly server: Json | undefined;
    readonly capabilities: Capabilities;
    readonly instructions: string | undefined;
}
/**
 * The server had lost the session, and a new one is there: over HTTP, in the legacy era.
 *
 * Lists may have changed, and changes may have been missed.
 */
export interface SessionReplaced {
    readonly type: 'sessionReplaced';
    readonly revision: string;
    readonly server: Json | undefined;
    readonly capabilities: Capabilities;
    readonly instructions: string | undefined;
}
/**
 * The server ended on the probe, as some old ones do.
 *
 * Start it afresh and call `restart`; queued requests are kept. It comes at most once.
 */
export interface RestartRequired {
    readonly type: 'restartRequired';
}
/** A request was answered. */
export interface ResponseReceived {
    readonly type: 'responseReceived';
    readonly request: RequestHandle;
    readonly result: Json;
    /** How long the result stays fresh, in milliseconds, where the revision says so. */
    readonly ttlMs: number | undefined;
    /** Who may share it, where the revision says so. */
    readonly cacheScope: 'public' | 'private' | undefined;
    readonly error: undefined;
}
/** A request ended without a result. */
export interface RequestFailed {
    readonly type: 'requestFailed';
    readonly request: RequestHandle;
    /**
     * {@link RpcError} if the server answered so, otherwise the local reason, which can never pass for the server's.
     * It is made, not thrown.
     */
    readonly error: McpError;
}
/** The server asks something; answer each question, in any order. */
export interface InputRequired {
    readonly type: 'inputRequired';
    /** `undefined` where the revision does not say what it is for. */
    readonly request: RequestHandle | undefined;
    readonly inputs: readonly InputRequest[];
    /** Counts from 1. */
    readonly round: number;
}
/** A question no longer stands; an answer would be refused. */
export interface InputWithdrawn {
    readonly type: 'inputWithdrawn';
    readonly input: InputHandle;
}
/**
 * A tool was left out of the list that `request` asked for, and whose result follows: its definition wants arguments
 * repeated in headers in a way that is not possible.
 */
export interface ToolOmitted {
    readonly type: 'toolOmitted';
    readonly request: RequestHandle;
    /** Its place in the list as the server sent it. */
    readonly index: number;
    readonly name: string | undefined;
    /** The member that is wrong. */
    readonly path: string;
    readonly reason: string;
}
/** A request reports progress. */
export interface ProgressReceived {
    readonly type: 'progressReceived';
    readonly request: RequestHandle;
    readonly progress: number;
    readonly total: number | undefined;
    readonly message: string | undefined;
    /** False if it is not more than the last time. */
    readonly increasing: boolean;
}
/** The server logs something. */
export interface LogReceived {
    readonly type: 'logReceived';
    readonly request: RequestHandle | undefined;
    /** `undefined` if the server wrote an unknown one. */
    readonly level: LogLevel | undefined;
    readonly logger: string | undefined;
    readonly data: Json;
}
/** A subscription is in force; `honoured` may be less than was asked. */
export interface SubscriptionAcknowledged {
    readonly type: 'subscriptionAcknowledged';
    readonly subscription: SubscriptionHandle;
    readonly honoured: SubscriptionFilter;
}
/** A subscription is over. Unless `graceful`, changes may have been missed. */
export interface SubscriptionEnded {
    readonly type: 'subscriptionEnded';
    readonly subscription: SubscriptionHandle;
    readonly graceful: boolean;
}
/** A list of the server changed: fetch it again. */
export interface ListChanged {
    readonly type: 'listChanged';
    readonly kind: ListKind;
    readonly subscription: SubscriptionHandle | undefined;
}
/** A resource changed: read it again. It may lie below the URI that was subscribed to. */
export interface ResourceUpdated {
    readonly type: 'resourceUpdated';
    readonly uri: string;
    readonly subscription: SubscriptionHandle | undefined;
}
/** The server answered 401 or 403; the exchange waits for `authorized` or `unauthorized`. */
export interface AuthorizationRequired {
    readonly type: 'authorizationRequired';
    readonly exchange: ExchangeHandle;
    readonly status: number;
    /** The values of `WWW-Authenticate`, in order. */
    readonly challenges: readonly string[];
    /** The value of `DPoP-Nonce`. */
    readonly dpopNonce: string | undefined;
    /** What was tried, for counting. */
    readonly operation: string;
}
type CommonEvent = NotificationReceived | ViolationTolerated | MessageDiscarded | Disconnected;
/** Whatever a server tells its application. */
export type ServerEvent = CommonEvent | ToolCalled | ResourceReadRequested | PromptRequested | CompletionRequested | RequestReceived | RequestCancelled | SubscriptionOpened | SubscriptionClosed | SessionOpened | SessionClosed | ClientResponseReceived | Drained;
/** Whatever a server behind HTTP tells its application. */
export type HttpServerEvent = ServerEvent | SessionRequested | SessionNamed | EventAppended | ReplayRequested | StreamsForgotten;
/** Whatever a client tells its application. */
export type ClientEvent = CommonEvent | Ready | SessionReplaced | RestartRequired | ResponseReceived | RequestFailed | InputRequired | InputWithdrawn | ToolOmitted | ProgressReceived | LogReceived | SubscriptionAcknowledged | SubscriptionEnded | ListChanged | ResourceUpdated;
/** Whatever a client over HTTP tells its application. */
export type HttpClientEvent = ClientEvent | AuthorizationRequired;
/** Whatever a machine tells its application. */
export type Event = HttpServerEvent | HttpClientEvent;
export {};
