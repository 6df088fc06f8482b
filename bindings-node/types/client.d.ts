/** The client, written once for both eras of the protocol and for all ways to a server. */
/// <reference lib="esnext.disposable" preserve="true" />
import type { Grant } from './auth/grant.js';
import type { Subscription } from './changes.js';
import type { ClientHandlers, Progress } from './engine.js';
import type { Fetch } from './exchanges.js';
import type { Link } from './link.js';
import type { Command } from './process.js';
import type { CallToolResult, CompleteResult, GetPromptResult, Implementation, ListResult, Prompt, ReadResourceResult, Resource, ResourceTemplate, Tool } from './results.js';
import type { Limits, LogLevel, SubscriptionFilter, Timeouts } from './sansio/index.js';
export type { AnsweredBlock, ClientRoot, ElicitAnswer, ElicitRequest, QuestionContext, QuestionHandlers, SampleAnswer, SampleRequest, SamplingMessage, } from './answers.js';
export type { Change, Subscription } from './changes.js';
export type { Environment } from './command.js';
export type { ClientHandlers, LogMessage, Progress } from './engine.js';
export type { Fetch } from './exchanges.js';
export type { ExitStatus, Link, LinkReceiver } from './link.js';
export type { Command, Stderr } from './process.js';
export type { Problem } from './received.js';
export type * from './received-content.js';
export type { CallToolResult, CompleteResult, GetPromptResult, Implementation, ListResult, Prompt, PromptArgument, ReadResourceResult, ReceivedMessage, Resource, ResourceTemplate, Result, Tool, ToolAnnotations, } from './results.js';
export { ApiMisuseError, AuthorizationError, ConnectionClosedError, ConnectionLostError, HttpStatusError, InputRefusedError, InvalidResultError, LimitExceededError, McpError, MissingCapabilityError, PeerIncompatibleError, PeerMisbehavedError, RequestCancelledError, RequestTimedOutError, RoundsExceededError, RpcError, ServerUnavailableError, SessionLostError, UnauthorizedError, } from './sansio/errors.js';
export { type LogLevel, REVISIONS, VERSION } from './sansio/facts.js';
export type { Limits, SubscriptionFilter, Timeouts } from './sansio/index.js';
/** How a client is set up. */
export interface ClientOptions extends ClientHandlers {
    /** Who the client says it is. `'barewire'` by default. */
    readonly name?: string;
    /** Its version. That of this package by default. */
    readonly version?: string;
    /** Its name for people. */
    readonly title?: string;
    /** A `ClientCapabilities` object, beside what the handlers amount to. */
    readonly capabilities?: Readonly<Record<string, unknown>>;
    /** The revisions that it is willing to speak. All by default. */
    readonly revisions?: readonly string[];
    /** The `era` of an earlier client of the same server, which saves the probe. */
    readonly era?: string | undefined;
    /** Bounds. */
    readonly limits?: Limits;
    /** Durations, in milliseconds. */
    readonly timeouts?: Timeouts;
}
/** How a client of a server at a URL is set up. */
export interface HttpClientOptions extends ClientOptions {
    /** Header fields of every request, such as `authorization`. */
    readonly headers?: NonNullable<RequestInit['headers']>;
    /** How to come by tokens, where the server wants them: what `barewire/auth` makes, such as `oauth()`. */
    readonly auth?: Grant;
    /**
     * Stands in for the global `fetch`, for proxies, certificates and the like. That of Node gives up a stream that is
     * silent for five minutes.
     */
    readonly fetch?: Fetch;
}
/** A server of this process. */
export interface ServerInMemory {
    /** Begins to serve a client, and gives the way to it. */
    openLink(): Link;
}
/** What can be said of a call. */
export interface CallOptions {
    /** Milliseconds to wait with nothing heard. They stand still while a question of the server waits for its answer. */
    readonly timeout?: number;
    /** Gives the call up: it fails with the reason of the signal, and the server is told. */
    readonly signal?: AbortSignal;
    /** Is told how far the call is, before it is resolved. What it throws fails the call. */
    readonly onProgress?: (progress: Progress) => unknown;
    /** Adds to the `_meta` of the request. */
    readonly meta?: Readonly<Record<string, unknown>>;
}
/** What suggestions are asked for: an argument of a prompt, or a variable of a resource template. */
export type CompletionTarget = {
    readonly prompt: string;
} | {
    readonly resource: string;
};
/**
 * A client of one server.
 *
 * ```ts
 * await using client = await Client.connect({ command: ['node', 'server.js'] });
 * const { content } = await client.callTool('add', { a: 1, b: 2 });
 * ```
 *
 * All methods fail with errors of the tree under `McpError`. One that depends on a question whose handler fails rejects
 * with an `InputRefusedError`, which has what was thrown as its cause. Beside them there are mistakes of the caller
 * (`TypeError`, `RangeError`), and the reasons of signals. What callbacks throw that belong to no call is a warning of
 * the process (`process.on('warning')`). What a server sends that is no message of the protocol shows with
 * `NODE_DEBUG=barewire`.
 *
 * An open client of a child process keeps the program running, as the child does; over HTTP it is the calls and
 * subscriptions that do.
 */
export declare class Client {
    #private;
    private constructor();
    /**
     * Connects to a server: to one at a URL, to one that is started as a child process, or to one of this process.
     *
     * `onElicit`, `onSample` and `onRoots` answer questions of the server, and are what the client declares that it can
     * do; `capabilities` adds to that. `onLog` and `onChange` are called for what the server logs and for changes of its
     * lists. While one of them is slow, up to 1024 notices wait, and then the oldest are dropped. Where changes may have
     * been missed, because a stream broke or the server forgot its session, all lists are told as changed.
     *
     * @throws TypeError or RangeError for options that cannot be, such as an `era` that this version cannot read.
     */
    static connect(url: string | URL, options?: HttpClientOptions): Promise<Client>;
    static connect(server: Command | ServerInMemory, options?: ClientOptions): Promise<Client>;
    /** Disconnects: what is in flight fails, a child process is ended. Resolved when nothing is left of the connection. */
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
    /** The revision of the protocol that is spoken. */
    get revision(): string;
    /** What was found out about the server, to be stored and given as `era` next time. */
    get era(): string | undefined;
    /** Who the server says it is. */
    get serverInfo(): Implementation | undefined;
    /**
     * What the server can do: the `ServerCapabilities` object.
     *
     * With a stored `era` of a newer server nothing is asked at the start, so that this is empty, and there are no
     * `serverInfo` and `instructions`.
     */
    get capabilities(): Readonly<Record<string, unknown>>;
    /** The server's guidance for the model. */
    get instructions(): string | undefined;
    /** One page of the tools; `cursor` is the `nextCursor` of the page before. */
    listTools(cursor?: string, options?: CallOptions): Promise<ListResult<Tool>>;
    /** All tools, page by page. */
    tools(options?: CallOptions): AsyncGenerator<Tool, void, undefined>;
    /**
     * Calls a tool. One that failed gives a result with `isError`, and does not throw.
     *
     * `args` has to have a JSON form.
     */
    callTool(name: string, args?: object, options?: CallOptions): Promise<CallToolResult>;
    /** One page of the resources; `cursor` is the `nextCursor` of the page before. */
    listResources(cursor?: string, options?: CallOptions): Promise<ListResult<Resource>>;
    /** All resources, page by page. */
    resources(options?: CallOptions): AsyncGenerator<Resource, void, undefined>;
    /** One page of the resource templates; `cursor` is the `nextCursor` of the page before. */
    listResourceTemplates(cursor?: string, options?: CallOptions): Promise<ListResult<ResourceTemplate>>;
    /** All resource templates, page by page. */
    resourceTemplates(options?: CallOptions): AsyncGenerator<ResourceTemplate, void, undefined>;
    /** What a resource holds. */
    readResource(uri: string | URL, options?: CallOptions): Promise<ReadResourceResult>;
    /** One page of the prompts; `cursor` is the `nextCursor` of the page before. */
    listPrompts(cursor?: string, options?: CallOptions): Promise<ListResult<Prompt>>;
    /** All prompts, page by page. */
    prompts(options?: CallOptions): AsyncGenerator<Prompt, void, undefined>;
    /** A prompt filled in with arguments, which are strings. */
    getPrompt(name: string, args?: Readonly<Record<string, string>>, options?: CallOptions): Promise<GetPromptResult>;
    /**
     * Suggestions for an argument of which `value` was typed so far.
     *
     * `settled` are the arguments already filled in.
     */
    complete(target: CompletionTarget, argument: string, value: string, settled?: Readonly<Record<string, string>>, options?: CallOptions): Promise<CompleteResult>;
    /**
     * Changes of the lists and resources named. Resolved when the server has said what it agrees to tell.
     *
     * ```ts
     * for await (const change of await client.subscribe({ tools: true, resourceUris: ['file:///a'] })) { … }
     * ```
     */
    subscribe(wanted: Partial<SubscriptionFilter>): Promise<Subscription>;
    /** Asks for log messages of at least this severity. They go to `onLog`. */
    setLogLevel(level: LogLevel): Promise<void>;
    /** Asks for a sign of life. Newer revisions have no such request. */
    ping(options?: CallOptions): Promise<void>;
    /** Makes a request of an extension; gives its result. */
    request(method: string, params?: object, options?: CallOptions): Promise<unknown>;
    /** Tells the server that what `onRoots` answers has changed, where the revision has a way to. */
    rootsChanged(): void;
}
