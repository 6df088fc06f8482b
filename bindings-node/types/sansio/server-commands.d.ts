/** What servers are told to do, whatever carries their messages. */
import type { Event, InputKind, Json, ListKind, RequestHandle, SessionHandle, SubscriptionHandle } from './events.js';
import type { LogLevel } from './facts.js';
import { Machine } from './machine.js';
/** A question for the client. */
export interface InputQuestion {
    /** What the application calls it; the answer comes under this name. */
    readonly key: string;
    /** What is asked. */
    readonly kind: InputKind;
    /** Its parameters. */
    readonly params: Json;
}
/** An error to answer with. */
export interface RpcErrorValue {
    /** The code. */
    readonly code: number;
    /** What went wrong, for people. */
    readonly message: string;
    /** Further data. */
    readonly data?: Json;
}
/**
 * What servers are told to do. Definitions, results and parameters are JSON text.
 *
 * Each command throws {@link ApiMisuseError} for a mistake of the caller, which changes nothing, and
 * {@link ConnectionClosedError} after the end.
 */
export declare class ServerCommands<E extends Event> extends Machine<E> {
    /** Registers a tool: an object with at least `name` and `inputSchema`. Watchers are told. */
    addTool(definition: Json): void;
    /** Removes a tool; watchers are told. */
    removeTool(name: string): void;
    /** Registers a resource: an object with at least `uri` and `name`. */
    addResource(definition: Json): void;
    /** Removes a resource. */
    removeResource(uri: string): void;
    /** Registers a template: an object with at least `uriTemplate` and `name`. */
    addResourceTemplate(definition: Json): void;
    /** Removes a template by its `uriTemplate`. */
    removeResourceTemplate(template: string): void;
    /** Registers a prompt: an object with at least `name`. */
    addPrompt(definition: Json): void;
    /** Removes a prompt. */
    removePrompt(name: string): void;
    /**
     * Answers a request with its result object, written for the newest revision.
     *
     * What the client's revision must not see is left out or replaced. After a mistake the request still waits for its
     * answer.
     */
    respond(request: RequestHandle, result: Json): void;
    /** Answers a request with an error; the code is the one that the revision has for it. */
    respondError(request: RequestHandle, error: RpcErrorValue): void;
    /** Answers that the client lacks capabilities: an object such as {@link MissingCapabilityError.required}. */
    respondMissingCapability(request: RequestHandle, required: Json): void;
    /** Refuses arguments that do not fit the tool, as the revision wants it. */
    respondInvalidArguments(request: RequestHandle, message: string): void;
    /**
     * Asks the client before the request can be answered; `state` is kept until the answers are there.
     *
     * @throws {@link MissingCapabilityError} if the client did not declare what a question needs; the request then
     * still waits for its answer.
     */
    requireInput(request: RequestHandle, questions: readonly InputQuestion[], now: number, state?: Json): void;
    /** Reports progress; true if it was sent, false if the client does not want it or it is late. */
    progress(request: RequestHandle, progress: number, total?: number, message?: string): boolean;
    /** Logs within a request, or outside any to legacy sessions; false if the client does not want it. */
    log(request: RequestHandle | undefined, level: LogLevel, data: Json, logger?: string): boolean;
    /** Sends a notification of an extension within a request; whether it was sent. */
    notify(request: RequestHandle, method: string, params?: Json): boolean;
    /** Tells clients that a list changed. Changes of the catalog are told by themselves. */
    publishListChanged(kind: ListKind): void;
    /** Tells clients that a resource changed. */
    publishResourceUpdated(uri: string): void;
    /** Ends a client's subscription in order. */
    endSubscription(subscription: SubscriptionHandle): void;
    /** Sends a request to a legacy client; `responseReceived` follows. */
    request(session: SessionHandle, method: string, params: Json | undefined, now: number): RequestHandle;
    /** Asks a legacy client whether it is there; `responseReceived` follows. */
    ping(session: SessionHandle, now: number): RequestHandle;
    /**
     * A legacy session as text that `importSession` takes in another process.
     *
     * Keep it where clients cannot write: it decides what the client is taken to have declared.
     */
    exportSession(session: SessionHandle): string;
    /** Goes on with a session that `exportSession` wrote; gives its handle. `sessionOpened` follows. */
    importSession(text: string): SessionHandle;
    /** Ends a legacy session of HTTP: what is in flight in it is cancelled, and `sessionClosed` follows. */
    endSession(session: SessionHandle): void;
}
