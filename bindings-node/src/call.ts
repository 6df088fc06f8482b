/** One request on its way through a handler: its questions, and how it waits, resumes and ends. */

import type { Caller } from './auth/protection.js';
import type { Connection } from './connection.js';
import type { CalledEvent, Endpoint } from './endpoint.js';
import { RunEndedError } from './failures.js';
import type { Question } from './questions.js';
import { InputRefusedError } from './sansio/errors.js';
import type { InputAnswer, Json, RequestContext, RequestHandle } from './sansio/events.js';

interface Pending {
  readonly question: Question<unknown>;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface State {
  readonly once?: Readonly<Record<string, Json>>;
  readonly memory?: string | undefined;
}

/**
 * The state that came back with an answer.
 *
 * @internal
 */
export function decodeState(text: Json): State {
  return JSON.parse(text) as State;
}

/** @internal */
export class Call {
  request: RequestHandle;
  context: RequestContext;
  /** Who sent the request, where the server is protected. */
  readonly caller: Caller | undefined;
  /** Cancelled, unwound to run again, or answered: its outcome counts no more. */
  stopped = false;
  /** Where it stands among {@link Calls}; below zero if it does not. */
  place = -1;
  /** What a handler that is kept waiting in this process is found by. */
  memory: string | undefined;
  // Most calls ask nothing, and need none of these.
  #pending: Map<string, Pending> | undefined;
  #answers: Map<string, InputAnswer> | undefined;
  #kept: Map<string, Json> | undefined;
  #counter = 0;
  #controller: AbortController | undefined;

  constructor(
    readonly connection: Connection,
    readonly endpoint: Endpoint,
    public event: CalledEvent,
  ) {
    this.request = event.request;
    this.context = event.context;
    this.caller = connection.callerOf(event.context.exchange);
    if (event.context.round > 0) this.#take(event.context);
  }

  /** Takes over what an event of this request brings. */
  #take(context: RequestContext): void {
    this.context = context;
    this.#answers = new Map(context.inputAnswers.map((answer) => [answer.key, answer]));
    if (context.state !== undefined) {
      const { once = {} } = decodeState(context.state);
      this.#kept = new Map([...(this.#kept ?? []), ...Object.entries(once)]);
    }
  }

  /** The questions that wait for an answer. */
  get pending(): Map<string, Pending> {
    this.#pending ??= new Map();
    return this.#pending;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.stopped) this.#controller.abort();
    return this.#controller.signal;
  }

  // ------------------------------------------------------------ questions

  /** The key of the next question: its own, or its place in the order. */
  key(own: string | undefined): string {
    if (own !== undefined) return own;
    this.#counter += 1;
    return String(this.#counter);
  }

  /** What has to travel with a question. */
  state(): Json | undefined {
    if (this.memory === undefined && this.#kept === undefined) return undefined;
    return JSON.stringify({
      once: Object.fromEntries(this.#kept ?? []),
      memory: this.memory,
    } satisfies State);
  }

  /** Calls a function once over all runs; gives its result as JSON carries it. */
  async once<T>(key: string, make: () => T | Promise<T>): Promise<T> {
    let kept = this.#kept?.get(key);
    if (kept === undefined) {
      kept = JSON.stringify((await make()) ?? null);
      this.#kept ??= new Map();
      this.#kept.set(key, kept);
    }
    return JSON.parse(kept) as T;
  }

  /** Asks the client. Questions that are put side by side go out together. */
  ask<T>(question: Question<T>): Promise<T> {
    const answer = this.#answer(question);
    if (answer !== undefined) return answer;
    const asked = new Promise<T>((resolve, reject) => {
      this.#put({ question, resolve: resolve as (answer: unknown) => void, reject });
    });
    // A handler may leave a question without waiting for its answer.
    asked.catch(() => {});
    return asked;
  }

  #put(pending: Pending): void {
    const { key } = pending.question;
    if (this.stopped) {
      pending.reject(new RunEndedError());
    } else if (this.pending.has(key)) {
      // None of them goes out: whichever answer came back would seem to answer both.
      const error = new RangeError(`two questions of the key '${key}' at once`);
      pending.reject(error);
      this.refuse(error);
    } else {
      this.pending.set(key, pending);
      if (this.pending.size === 1) queueMicrotask(() => this.connection.ask(this));
    }
  }

  /** The answer if there is one. What is not even an object answers nothing; the question is put again. */
  #answer<T>(question: Question<T>): Promise<T> | undefined {
    const answer = this.#answers?.get(question.key);
    if (answer === undefined) return undefined;
    const { error, result } = answer;
    if (error !== undefined) {
      return Promise.reject(new InputRefusedError(error.message, error.code));
    }
    const read: unknown = result === undefined ? undefined : JSON.parse(result);
    if (typeof read !== 'object' || read === null || Array.isArray(read)) return undefined;
    return new Promise((resolve) => resolve(question.read(read as Record<string, unknown>)));
  }

  /** The client has answered a handler that still waits. */
  resume(event: CalledEvent): void {
    this.event = event;
    this.request = event.request;
    this.memory = undefined;
    this.#take(event.context);
    for (const [key, { question, resolve }] of this.pending) {
      const answer = this.#answer(question);
      if (answer !== undefined) {
        this.pending.delete(key);
        resolve(answer);
      }
    }
    if (this.pending.size > 0) this.connection.ask(this);
  }

  /** The questions could not be put at all. */
  refuse(error: unknown): void {
    if (this.#pending === undefined) return;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(error);
  }

  // ------------------------------------------------------------ the end

  /** Ends the handler: it was cancelled, or runs again later. */
  stop(): void {
    this.stopped = true;
    this.refuse(new RunEndedError());
    this.#controller?.abort();
  }
}

/**
 * The calls that handlers are at work for.
 *
 * Each knows its place. A map would be made anew for nearly every call, because maps become smaller at once.
 *
 * @internal
 */
export class Calls {
  readonly #calls: Call[] = [];

  get size(): number {
    return this.#calls.length;
  }

  add(call: Call): void {
    if (call.place >= 0) return;
    call.place = this.#calls.length;
    this.#calls.push(call);
  }

  delete(call: Call): void {
    const { place } = call;
    if (place < 0) return;
    call.place = -1;
    const last = this.#calls.pop() as Call;
    if (last === call) return;
    last.place = place;
    this.#calls[place] = last;
  }

  /** The call of a request. Looked for one by one: few are. */
  find(request: RequestHandle): Call | undefined {
    return this.#calls.find((call) => call.request === request);
  }

  /** Takes all of them out. */
  takeAll(): Call[] {
    const calls = this.#calls.splice(0);
    for (const call of calls) call.place = -1;
    return calls;
  }
}
