/** What clients are told to do, whatever carries their messages. */

import type {
  Event,
  InputHandle,
  Json,
  RequestHandle,
  SubscriptionFilter,
  SubscriptionHandle,
} from './events.js';
import { type LogLevel, REVISIONS } from './facts.js';
import { done, given, Machine } from './machine.js';
import { native } from './native.js';
import { type ClientSettings, type RequestOptions, settingsText } from './settings.js';

/** A list of a server. */
export type Listing = 'tools' | 'resources' | 'resourceTemplates' | 'prompts';

/** What suggestions are asked for: an argument of either a prompt or a resource template. */
export interface Completion {
  /** The name of the prompt, if it is one. */
  readonly prompt?: string;
  /** The resource template, or the URI of a resource, if it is one. */
  readonly resource?: string;
  /** The name of the argument. */
  readonly argument: string;
  /** What is typed so far. */
  readonly value: string;
  /** Arguments settled before: an object of strings. */
  readonly arguments?: Json;
}

/**
 * The settings of the machine, as the addon reads them.
 *
 * @internal
 */
export function openSettings(settings: Omit<ClientSettings, 'seed' | 'now'>): string {
  return settingsText(settings);
}

function written(options: RequestOptions | undefined): string | undefined {
  return options === undefined ? undefined : settingsText(options);
}

/**
 * What clients are told to do. Parameters and results are JSON text.
 *
 * Each command throws {@link ApiMisuseError} for a mistake of the caller, which changes nothing,
 * {@link LimitExceededError} at a bound, and {@link ConnectionClosedError} after the end.
 */
export class ClientCommands<E extends Event> extends Machine<E> {
  /** Sends a request of any method, or queues it until the connection is ready; gives its handle. */
  request(method: string, params: Json | undefined, now: number, options?: RequestOptions): RequestHandle {
    return given(native.request(this.handle, method, params, now, written(options)));
  }

  /** Calls a tool; `args` is an object. */
  callTool(name: string, args: Json | undefined, now: number, options?: RequestOptions): RequestHandle {
    return given(native.callTool(this.handle, name, args, now, written(options)));
  }

  /** Asks for a page of a list: the first, or the one that the `cursor` of the page before leads to. */
  list(kind: Listing, cursor: string | undefined, now: number, options?: RequestOptions): RequestHandle {
    return given(native.list(this.handle, kind, cursor, now, written(options)));
  }

  /** Reads a resource. */
  readResource(uri: string, now: number, options?: RequestOptions): RequestHandle {
    return given(native.readResource(this.handle, uri, now, written(options)));
  }

  /** Asks for a prompt; `args` is an object of strings. */
  getPrompt(name: string, args: Json | undefined, now: number, options?: RequestOptions): RequestHandle {
    return given(native.getPrompt(this.handle, name, args, now, written(options)));
  }

  /**
   * Asks for suggestions for an argument.
   *
   * @throws TypeError unless exactly one of `prompt` and `resource` is given.
   */
  complete(completion: Completion, now: number, options?: RequestOptions): RequestHandle {
    const { prompt, resource, argument, value } = completion;
    const reference = prompt ?? resource;
    if (reference === undefined || (prompt !== undefined && resource !== undefined)) {
      throw new TypeError('give either a prompt or a resource');
    }
    const isPrompt = prompt !== undefined;
    const args = completion.arguments;
    return given(
      native.complete(this.handle, isPrompt, reference, argument, value, args, now, written(options)),
    );
  }

  /** Asks whether the server is there. The legacy era only. */
  ping(now: number, options?: RequestOptions): RequestHandle {
    return given(native.ping(this.handle, now, written(options)));
  }

  /** Gives up a request: it fails at once, the server is told, and a late answer is dropped. */
  cancel(request: RequestHandle, reason?: string): void {
    done(native.cancel(this.handle, request, reason));
  }

  /** Answers a question with a result object. Declining is a result too. */
  provideInput(input: InputHandle, result: Json, now: number): void {
    done(native.provideInput(this.handle, input, result, now));
  }

  /** Refuses a question: a legacy server gets the error, a modern request ends. */
  refuseInput(input: InputHandle, code: number, message: string, now: number): void {
    done(native.refuseInput(this.handle, input, code, message, now));
  }

  /** Asks to be told of changes; gives the handle of the subscription. */
  subscribe(filter: Partial<SubscriptionFilter>, now: number): SubscriptionHandle {
    return given(native.subscribe(this.handle, JSON.stringify(filter), now));
  }

  /** Ends a subscription; `subscriptionEnded` follows. */
  unsubscribe(subscription: SubscriptionHandle, now: number): void {
    done(native.unsubscribe(this.handle, subscription, now));
  }

  /** Sets the least severe level of log messages wanted; answered like a request. */
  setLogLevel(level: LogLevel, now: number): RequestHandle {
    return given(native.setLogLevel(this.handle, level, now));
  }

  /** Sends a notification of any method, or queues it until the connection is ready. */
  notify(method: string, params?: Json): void {
    done(native.notify(this.handle, method, params));
  }

  /** Tells the server that the roots have changed. The legacy era only. */
  notifyRootsChanged(): void {
    done(native.notifyRootsChanged(this.handle));
  }

  /** The name of the revision, once it is settled. */
  get revision(): string | undefined {
    const place = given(native.revision(this.handle));
    return place < 0 ? undefined : REVISIONS[place];
  }

  /** What to store and give as `era` to the next client of this server, once known. */
  get eraVerdict(): string | undefined {
    return given(native.eraVerdict(this.handle))[0];
  }
}
