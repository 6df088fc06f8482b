/** A machine of a server, its calls in flight, and what their events lead to. */

import type { Caller } from './auth/protection.js';
import { Call, Calls, decodeState } from './call.js';
import { now } from './clock.js';
import { toolResult } from './content.js';
import { type CalledEvent, type Endpoint, type Machine, NO_COMPLETIONS } from './endpoint.js';
import { RunEndedError } from './failures.js';
import { ConnectionClosedError, McpError } from './sansio/errors.js';
import type {
  CompletionRequested,
  ExchangeHandle,
  HttpServerEvent,
  Json,
  MessageDiscarded,
  RequestCancelled,
  RequestHandle,
} from './sansio/events.js';
import { INTERNAL_ERROR, INVALID_PARAMS } from './sansio/facts.js';
import type { Catalog } from './server.js';
import type { Checked } from './schema.js';

/** What carries a connection. @internal */
export interface Host {
  /** Something may have to be sent: looks soon, after all that is at work now. */
  touched(): void;
  /** Lets out what a handler reported; a promise where it has to wait, because too much is queued. */
  reported(call: Call): Promise<void> | undefined;
}

const MOST_WAITING = 1024;

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}

/** @internal */
export class Connection<M extends Machine = Machine> {
  finished = false;
  readonly #calls = new Calls();
  readonly #waiting = new Map<string, Call>();

  constructor(
    readonly catalog: Catalog,
    readonly host: Host,
    readonly machine: M,
  ) {}

  // ------------------------------------------------------------ verbs and commands

  /** Calls a verb and works on its events. */
  step(verb: (machine: M, now: number) => HttpServerEvent[]): void {
    const events = this.attempt((machine) => verb(machine, now()));
    if (events !== undefined) this.dispatch(events);
  }

  /** Calls what may find the machine over already, of which no event is left to tell. */
  attempt<T>(call: (machine: M) => T): T | undefined {
    try {
      return call(this.machine);
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      this.#disconnected();
      return undefined;
    }
  }

  /** Gives a command; one that comes after the end is too late to matter. */
  command(give: (machine: M) => unknown): void {
    try {
      give(this.machine);
    } catch (error) {
      if (!(error instanceof ConnectionClosedError)) throw error;
    }
    this.host.touched();
  }

  /** Ends the connection in order, without waiting for handlers. */
  close(): void {
    this.command((machine) => machine.close());
    this.step((machine) => machine.events());
  }

  /** Ends the response that carries a call for now, where there is such a thing. */
  closeStream(_call: Call, _retry: number | undefined): boolean {
    return false;
  }

  /** Who sent what an exchange brought, where that is known. */
  callerOf(_exchange: ExchangeHandle | undefined): Caller | undefined {
    return undefined;
  }

  /**
   * Whether the caller has the scopes that an endpoint wants; if not, the call is answered. Byte streams have no such
   * thing: who has started the server may do all.
   */
  admits(_call: Call): boolean {
    return true;
  }

  /** Whether a handler is at work that will be answered for. */
  get hasCalls(): boolean {
    return this.#calls.size > 0;
  }

  // ------------------------------------------------------------ events

  /** Hands events to what they concern. */
  dispatch(events: readonly HttpServerEvent[]): void {
    for (const event of events) {
      switch (event.type) {
        case 'toolCalled':
          this.#called(this.catalog.tools.get(event.name), event);
          break;
        case 'resourceReadRequested':
          this.#called(this.catalog.resources.get(event.template ?? event.uri), event);
          break;
        case 'promptRequested':
          this.#called(this.catalog.prompts.get(event.name), event);
          break;
        case 'completionRequested':
          this.#completionRequested(event);
          break;
        case 'requestCancelled':
          this.#requestCancelled(event);
          break;
        case 'messageDiscarded':
          warnOfDiscarded(event);
          break;
        case 'drained':
          this.#stopAll();
          break;
        case 'disconnected':
          this.#disconnected();
          break;
      }
    }
  }

  #completionRequested(event: CompletionRequested): void {
    const completer = this.catalog.completer(event.prompt ?? event.resource ?? '', event.argument);
    if (completer === undefined) this.command((machine) => machine.respond(event.request, NO_COMPLETIONS));
    else this.#called(completer, event);
  }

  #requestCancelled({ request }: RequestCancelled): void {
    const call = this.#calls.find(request);
    if (call === undefined) return;
    this.#calls.delete(call);
    call.stop();
  }

  #disconnected(): void {
    this.finished = true;
    this.#stopAll();
    this.host.touched();
  }

  #stopAll(): void {
    const calls = [...this.#calls.takeAll(), ...this.#waiting.values()];
    this.#waiting.clear();
    for (const call of calls) call.stop();
  }

  // ------------------------------------------------------------ calls

  #called(endpoint: Endpoint | undefined, event: CalledEvent): void {
    if (event.context.round > 0 && this.#resumes(event)) return;
    if (endpoint === undefined) {
      // It was taken out of the catalog a moment ago.
      const error = { code: INVALID_PARAMS, message: 'Not found' };
      this.command((machine) => machine.respondError(event.request, error));
      return;
    }
    const call = new Call(this as unknown as Connection, endpoint, event);
    try {
      if (endpoint.scopes !== undefined && !this.admits(call)) return;
      const checked = endpoint.check(endpoint.given(event));
      if (checked instanceof Promise) this.#wait(call, checked, (value) => this.#run(call, value));
      else this.#run(call, checked);
    } catch (error) {
      this.#failed(call, error);
    }
  }

  #run(call: Call, checked: Checked): void {
    const { endpoint, event } = call;
    if ('fault' in checked) {
      this.#over(call);
      this.command((machine) => endpoint.refuse(machine, event, checked.fault));
      return;
    }
    const value = endpoint.handler(checked.value, endpoint.contextOf(call));
    if (isThenable(value)) this.#wait(call, value, (result) => this.#answer(call, result));
    else this.#answer(call, value);
  }

  /** Waits for what a call depends on, then goes on with it, unless the call was stopped meanwhile. */
  #wait<T>(call: Call, promise: PromiseLike<T>, goOn: (value: T) => void): void {
    this.#calls.add(call);
    const fail = (error: unknown): void => {
      if (!call.stopped) this.#failed(call, error);
    };
    // What only looks like a promise may keep its word more than once, or call back before it returns.
    void Promise.resolve(promise).then((value) => {
      if (call.stopped) return;
      try {
        goOn(value);
      } catch (error) {
        fail(error);
      }
    }, fail);
  }

  #answer(call: Call, value: unknown): void {
    if (call.endpoint.isText(value)) {
      this.answerText(call.request, value);
      this.#over(call);
      return;
    }
    const result = call.endpoint.encode(value, call.event);
    if (typeof result === 'string') this.#respond(call, result);
    else this.#wait(call, result, (encoded) => this.#respond(call, encoded));
  }

  #respond(call: Call, result: string): void {
    this.answer(call.request, result);
    this.#over(call);
  }

  /** Answers a request with its result. */
  protected answer(request: RequestHandle, result: Json): void {
    this.command((machine) => machine.respond(request, result));
  }

  /** Answers the call of a tool with a text. */
  protected answerText(request: RequestHandle, text: string): void {
    this.answer(request, toolResult(text));
  }

  /** A call has its answer: what its handler does from here on counts no more. */
  #over(call: Call): void {
    this.#calls.delete(call);
    call.stopped = true;
  }

  #failed(call: Call, error: unknown): void {
    this.#over(call);
    const { endpoint, event } = call;
    let isExpected = false;
    let fault = error;
    try {
      // To look at what was thrown may throw as well: it can be any object.
      isExpected = error instanceof RunEndedError;
      this.command((machine) => {
        if (endpoint.fail(machine, event, error, this.catalog.debug)) isExpected = true;
      });
    } catch (worse) {
      // What the error says cannot be sent either.
      fault = worse;
      const answer = { code: INTERNAL_ERROR, message: 'Internal error' };
      this.command((machine) => machine.respondError(event.request, answer));
    }
    if (!isExpected) report(`the handler of '${endpoint.key}' failed`, fault);
  }

  // ------------------------------------------------------------ questions

  /** Sends the questions of a handler, then lets it wait or ends its run. */
  ask(call: Call): void {
    if (call.stopped || call.pending.size === 0) return;
    const waits = call.context.session !== undefined;
    if (!waits && call.endpoint.resume === 'memory') call.memory = crypto.randomUUID();
    const questions = [...call.pending.values()].map(({ question: { key, kind, params } }) => ({
      key,
      kind,
      params,
    }));
    try {
      this.machine.requireInput(call.request, questions, now(), call.state());
    } catch (error) {
      call.memory = undefined;
      call.refuse(error);
      return;
    }
    if (!waits) {
      this.#calls.delete(call);
      if (call.memory === undefined) call.stop();
      else this.#waitInMemory(call, call.memory);
    }
    this.host.touched();
  }

  /** Keeps a handler waiting in this process; those that wait longest give way when too many do. */
  #waitInMemory(call: Call, key: string): void {
    this.#waiting.set(key, call);
    if (this.#waiting.size <= MOST_WAITING) return;
    for (const [oldest, longest] of this.#waiting) {
      this.#waiting.delete(oldest);
      longest.stop();
      return;
    }
  }

  /** Whether a handler waits for this event: in legacy revisions, or by memory. */
  #resumes(event: CalledEvent): boolean {
    let call = this.#calls.find(event.request);
    if (call === undefined && this.#waiting.size > 0 && event.context.state !== undefined) {
      const { memory = '' } = decodeState(event.context.state);
      call = this.#waiting.get(memory);
      this.#waiting.delete(memory);
      if (call !== undefined) this.#calls.add(call);
    }
    call?.resume(event);
    return call !== undefined;
  }
}

function report(what: string, fault: unknown): void {
  try {
    console.error(`barewire: ${what}:`, fault);
  } catch {
    console.error(`barewire: ${what}, by what cannot be printed`);
  }
}

function warnOfDiscarded({ violation, bytes }: MessageDiscarded): void {
  const start = JSON.stringify(Buffer.from(bytes.subarray(0, 80)).toString('latin1'));
  console.error(`barewire: discarded a message (${violation}): ${start}`);
}
