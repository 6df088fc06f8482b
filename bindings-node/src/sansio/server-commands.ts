/** What servers are told to do, whatever carries their messages. */

import { checked } from './batch.js';
import type {
  Event,
  InputKind,
  Json,
  ListKind,
  RequestHandle,
  SessionHandle,
  SubscriptionHandle,
} from './events.js';
import type { LogLevel } from './facts.js';
import { done, given, Machine } from './machine.js';
import { native } from './native.js';
import { type ServerSettings, settingsText } from './settings.js';

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
 * The settings of the machine, as the addon reads them.
 *
 * @internal
 */
export function serverSettings(settings: ServerSettings): string {
  const { seed, requestStateKeys, ...rest } = settings;
  return settingsText(rest);
}

/**
 * The keys one after the other.
 *
 * @internal
 */
export function keysOf({ requestStateKeys = [] }: ServerSettings): Uint8Array {
  const wrong = requestStateKeys.find((key) => key.length !== 32);
  if (wrong !== undefined) throw new RangeError(`a key is 32 bytes, not ${wrong.length}`);
  const keys = new Uint8Array(32 * requestStateKeys.length);
  requestStateKeys.forEach((key, place) => keys.set(key, 32 * place));
  return keys;
}

/**
 * What servers are told to do. Definitions, results and parameters are JSON text.
 *
 * Each command throws {@link ApiMisuseError} for a mistake of the caller, which changes nothing, and
 * {@link ConnectionClosedError} after the end.
 */
export class ServerCommands<E extends Event> extends Machine<E> {
  /** Registers a tool: an object with at least `name` and `inputSchema`. Watchers are told. */
  addTool(definition: Json): void {
    done(native.addTool(this.handle, definition));
  }

  /** Removes a tool; watchers are told. */
  removeTool(name: string): void {
    done(native.removeTool(this.handle, name));
  }

  /** Registers a resource: an object with at least `uri` and `name`. */
  addResource(definition: Json): void {
    done(native.addResource(this.handle, definition));
  }

  /** Removes a resource. */
  removeResource(uri: string): void {
    done(native.removeResource(this.handle, uri));
  }

  /** Registers a template: an object with at least `uriTemplate` and `name`. */
  addResourceTemplate(definition: Json): void {
    done(native.addResourceTemplate(this.handle, definition));
  }

  /** Removes a template by its `uriTemplate`. */
  removeResourceTemplate(template: string): void {
    done(native.removeResourceTemplate(this.handle, template));
  }

  /** Registers a prompt: an object with at least `name`. */
  addPrompt(definition: Json): void {
    done(native.addPrompt(this.handle, definition));
  }

  /** Removes a prompt. */
  removePrompt(name: string): void {
    done(native.removePrompt(this.handle, name));
  }

  /**
   * Answers a request with its result object, written for the newest revision.
   *
   * What the client's revision must not see is left out or replaced. After a mistake the request still waits for its
   * answer.
   */
  respond(request: RequestHandle, result: Json): void {
    done(native.respond(this.handle, request, result));
  }

  /** Answers the call of a tool with one block of text, in which no surrogate stands alone. @internal */
  respondText(request: RequestHandle, text: string): void {
    done(native.respondText(this.handle, request, text));
  }

  /** Answers a request with an error; the code is the one that the revision has for it. */
  respondError(request: RequestHandle, error: RpcErrorValue): void {
    done(native.respondError(this.handle, request, error.code, error.message, error.data));
  }

  /** Answers that the client lacks capabilities: an object such as {@link MissingCapabilityError.required}. */
  respondMissingCapability(request: RequestHandle, required: Json): void {
    done(native.respondMissingCapability(this.handle, request, required));
  }

  /** Refuses arguments that do not fit the tool, as the revision wants it. */
  respondInvalidArguments(request: RequestHandle, message: string): void {
    done(native.respondInvalidArguments(this.handle, request, message));
  }

  /**
   * Asks the client before the request can be answered; `state` is kept until the answers are there.
   *
   * @throws {@link MissingCapabilityError} if the client did not declare what a question needs; the request then
   * still waits for its answer.
   */
  requireInput(request: RequestHandle, questions: readonly InputQuestion[], now: number, state?: Json): void {
    done(native.requireInput(this.handle, request, JSON.stringify(questions), now, state));
  }

  /** Reports progress; true if it was sent, false if the client does not want it or it is late. */
  progress(request: RequestHandle, progress: number, total?: number, message?: string): boolean {
    if (!Number.isFinite(progress) || !Number.isFinite(total ?? 0)) {
      throw new RangeError(`progress is told in finite numbers, not ${progress} of ${total}`);
    }
    return given(native.progress(this.handle, request, progress, total, message));
  }

  /** Logs within a request, or outside any to legacy sessions; false if the client does not want it. */
  log(request: RequestHandle | undefined, level: LogLevel, data: Json, logger?: string): boolean {
    return given(native.log(this.handle, request, level, data, logger));
  }

  /** Sends a notification of an extension within a request; whether it was sent. */
  notify(request: RequestHandle, method: string, params?: Json): boolean {
    return given(native.notifyWithin(this.handle, request, method, params));
  }

  /** Tells clients that a list changed. Changes of the catalog are told by themselves. */
  publishListChanged(kind: ListKind): void {
    done(native.publishListChanged(this.handle, kind));
  }

  /** Tells clients that a resource changed. */
  publishResourceUpdated(uri: string): void {
    done(native.publishResourceUpdated(this.handle, uri));
  }

  /** Ends a client's subscription in order. */
  endSubscription(subscription: SubscriptionHandle): void {
    done(native.endSubscription(this.handle, subscription));
  }

  /** Sends a request to a legacy client; `responseReceived` follows. */
  request(session: SessionHandle, method: string, params: Json | undefined, now: number): RequestHandle {
    return given(native.requestOfClient(this.handle, session, method, params, now));
  }

  /** Asks a legacy client whether it is there; `responseReceived` follows. */
  ping(session: SessionHandle, now: number): RequestHandle {
    return given(native.pingClient(this.handle, session, now));
  }

  /**
   * A legacy session as text that `importSession` takes in another process.
   *
   * Keep it where clients cannot write: it decides what the client is taken to have declared.
   */
  exportSession(session: SessionHandle): string {
    return checked(native.exportSession(this.handle, session));
  }

  /** Goes on with a session that `exportSession` wrote; gives its handle. `sessionOpened` follows. */
  importSession(text: string): SessionHandle {
    return given(native.importSession(this.handle, text));
  }

  /** Ends a legacy session of HTTP: what is in flight in it is cancelled, and `sessionClosed` follows. */
  endSession(session: SessionHandle): void {
    done(native.endSession(this.handle, session));
  }
}
