/** What a handler can do while it runs: report, ask the client, and see who called. */
import type { Caller } from './auth/protection.js';
import type { Meta } from './content.js';
import { type ElicitResult, type Root, type SampleMessages, type SampleOptions, type SampleResult } from './questions.js';
import type { SessionHandle } from './sansio/events.js';
import type { LogLevel } from './sansio/facts.js';
import type { AnySchema, OutputOf } from './schema.js';
/** Who the client says it is, and what it declared. None of it is proof of anything. */
export interface ClientInfo {
    readonly name: string;
    readonly version: string;
    readonly title: string | undefined;
    readonly capabilities: Readonly<Record<string, unknown>>;
}
/**
 * The context of a call, as every handler gets it.
 *
 * A handler that asks the client may run more than once. In the older revisions it waits for the answer where it
 * stands. In the stateless ones its run ends (what it awaits throws a {@link RunEndedError}) and it runs again from its
 * start when the client comes back; questions that are answered return at once, found by their order or by their
 * `key`. What must happen once only belongs into {@link once}. A handler with `resume: 'memory'` is kept waiting
 * instead, in this process.
 */
export declare class Context {
    #private;
    /** Aborted when the client has cancelled the request or gone, or this run is over; the result is then dropped. */
    get signal(): AbortSignal;
    /** The `_meta` object of the request: trace context, members of extensions. */
    get meta(): Meta;
    /** The client. */
    get client(): ClientInfo;
    /** The protocol revision of the request. */
    get revision(): string;
    /** The request, by a number that no other one of the same connection or HTTP endpoint has. */
    get requestId(): number;
    /** The session of an older revision, by such a number; `undefined` in the stateless revisions. */
    get session(): SessionHandle | undefined;
    /** Who sent the request, as `principal` of the HTTP endpoint said. */
    get principal(): string | undefined;
    /** Who sent the request, as its access token says; undefined unless the HTTP endpoint is protected with `auth`. */
    get caller(): Caller | undefined;
    /**
     * Says how far the work is, if the client wants to know; the number must grow each time.
     *
     * To wait for what it gives keeps a slow reader from filling memory.
     */
    progress(progress: number, total?: number, message?: string): Promise<void>;
    /** Sends a log message (any JSON value), if the client wants that level. */
    log(level: LogLevel, data: unknown, logger?: string): Promise<void>;
    /**
     * Asks the user to fill a form: a flat object of strings, numbers, booleans and choices.
     *
     * @throws {@link InputRefusedError} if the client refuses to ask, {@link MissingCapabilityError} if it cannot.
     */
    elicit<S extends AnySchema>(message: string, form: S, options?: {
        readonly key?: string;
    }): Promise<ElicitResult<OutputOf<S>>>;
    /** Asks the user to visit a URL; gives what they did. Throws as {@link elicit}. */
    elicitUrl(message: string, url: string, options?: {
        readonly key?: string;
    }): Promise<'accept' | 'decline' | 'cancel'>;
    /** Asks the client's model. Deprecated by the newest specification. Throws as {@link elicit}. */
    sample(messages: SampleMessages, options?: SampleOptions): Promise<SampleResult>;
    /** Asks which folders the client lets servers work on. Deprecated as well. Throws as {@link elicit}. */
    roots(options?: {
        readonly key?: string;
    }): Promise<Root[]>;
    /**
     * Calls a function once over all runs of this handler, and gives its result in each.
     *
     * The result is kept as JSON, sealed, with the next question. It comes back as JSON carries it, in the first run too.
     */
    once<T>(key: string, make: () => T | Promise<T>): Promise<T>;
    /**
     * Over HTTP, ends the response for now; the client comes back for the rest after `retry` milliseconds.
     *
     * A long call then needs no connection in the meantime. Its result waits as long as events are kept. False where that
     * is not possible: in other transports and revisions, and before anything was sent to a client that takes a stream.
     */
    closeStream(retry?: number): boolean;
}
/** The context of the handler of a resource. */
export declare class ResourceContext extends Context {
    /** The URI that is read. */
    readonly uri: string;
}
