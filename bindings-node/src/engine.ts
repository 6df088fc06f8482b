/** What runs a client: the core's machine, its timer, and those who wait for what it says. */

import { debuglog } from 'node:util';
import { onAbort } from './abort.js';
import { answer, type QuestionHandlers, UnreadableQuestion } from './answers.js';
import type { Carriage } from './carriage.js';
import { ALL_LISTS, type Change, everything, Listening, lostSubscription, Subscription } from './changes.js';
import { now } from './clock.js';
import { Notices, reportFailure } from './notices.js';
import {
  ConnectionClosedError,
  InputRefusedError,
  McpError,
  RequestTimedOutError,
  RpcError,
} from './sansio/errors.js';
import type {
  HttpClientEvent,
  InputHandle,
  InputRequest,
  Json,
  Ready,
  RequestHandle,
  SessionReplaced,
  SubscriptionFilter,
  SubscriptionHandle,
  ToolOmitted,
} from './sansio/events.js';
import { INTERNAL_ERROR, INVALID_PARAMS, type LogLevel } from './sansio/facts.js';

/** How far a request is. */
export interface Progress {
  readonly progress: number;
  /** `undefined` if the server does not know it. */
  readonly total: number | undefined;
  readonly message: string | undefined;
  /** False if it is not more than the last time, which the protocol forbids. */
  readonly increasing: boolean;
}

/** What the server logs. */
export interface LogMessage {
  /** `undefined` if the server wrote an unknown one. */
  readonly level: LogLevel | undefined;
  readonly logger: string | undefined;
  /** Any JSON value. */
  readonly data: unknown;
}

/** What the application wants to be asked and told. */
export interface ClientHandlers extends QuestionHandlers {
  /** Is told what the server logs, one call after the other. */
  readonly onLog?: (message: LogMessage) => unknown;
  /** Is told of changes of the server's lists, one call after the other. */
  readonly onChange?: (change: Change) => unknown;
}

/**
 * A caller that waits for the end of its request.
 *
 * @internal
 */
interface Slot {
  readonly what: string;
  readonly since: number;
  readonly resolve: (result: Json) => void;
  readonly reject: (error: unknown) => void;
  readonly onProgress: ((progress: Progress) => unknown) | undefined;
}

/**
 * How to wait for a request.
 *
 * @internal
 */
export interface Waiting {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => unknown) | undefined;
}

type Handlers = {
  readonly [Type in HttpClientEvent['type']]?: (
    engine: Engine,
    event: Extract<HttpClientEvent, { type: Type }>,
  ) => void;
};

/** Milliseconds that a timer can wait. */
const LONGEST_WAIT = 2 ** 31 - 1;

/** What waits for it goes on when all have that could before. `queueMicrotask` does more, and costs more. */
const QUIET = Promise.resolve();

const debug = debuglog('barewire');

/**
 * Runs one client.
 *
 * @internal
 */
export class Engine {
  readonly carriage: Carriage;
  readonly handlers: ClientHandlers;
  /** What the server said of itself last. */
  ready: Ready | SessionReplaced | undefined;
  /** Why the connection is over; `undefined` while it is not. */
  error: McpError | undefined;
  /** What was left out of the lists that requests wait for. */
  readonly omitted = new Map<RequestHandle, ToolOmitted[]>();
  readonly #slots = new Map<RequestHandle, Slot>();
  readonly #subscriptions = new Map<SubscriptionHandle, Subscription>();
  readonly #answering = new Map<InputHandle, AbortController>();
  readonly #notices = { log: new Notices(), change: new Notices() };
  readonly #inbox: HttpClientEvent[] = [];
  #isDispatching = false;
  #isScheduled = false;
  #listening: Listening | undefined;
  /** What the handler threw whose question is being refused. */
  #cause: unknown;
  #settled: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #wakeAt = Infinity;
  #isClosing = false;
  /** Nothing is left to be done. */
  #isGone = false;
  #closed: Promise<void> | undefined;

  constructor(carriage: Carriage, handlers: ClientHandlers) {
    this.carriage = carriage;
    this.handlers = handlers;
  }

  get machine(): Carriage['machine'] {
    return this.carriage.machine;
  }

  // -- the life of a connection

  /** Connects. */
  async start(): Promise<void> {
    this.carriage.open(this);
    this.commanded();
    if (this.ready === undefined && this.error === undefined) {
      await new Promise<void>((resolve) => {
        this.#settled = resolve;
      });
    }
    if (this.error !== undefined) {
      await this.close();
      throw this.error;
    }
  }

  /** Disconnects: what is in flight fails. Resolved when nothing is left of the connection. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#isClosing = true;
    for (const subscription of this.#subscriptions.values()) subscription.end(undefined);
    this.#command((machine) => machine.close());
    this.#attempt(() => this.machine.events());
    this.#over(new ConnectionClosedError('the client was closed'));
    this.#flush();
    try {
      await this.carriage.close();
    } finally {
      this.#isGone = true;
      clearTimeout(this.#timer);
    }
  }

  /** Throws why the connection is over, if it is. */
  check(): void {
    if (this.error !== undefined) throw this.error;
  }

  // -- requests

  /** Starts a request and waits for its result. `what` names it where it takes too long. */
  run(
    what: string,
    start: (now: number) => RequestHandle,
    { signal, onProgress }: Waiting = {},
  ): Promise<Json> {
    return new Promise((resolve, reject) => {
      this.check();
      signal?.throwIfAborted();
      const since = now();
      const handle = start(since);
      if (!signal) {
        // `fetch` takes null for none, and so may programs in JavaScript.
        this.#slots.set(handle, { what, since, resolve, reject, onProgress });
      } else {
        const forget = onAbort(signal, () => this.#abandon(handle, signal.reason));
        this.#slots.set(handle, {
          what,
          since,
          resolve: (result) => (forget(), resolve(result)),
          reject: (error) => (forget(), reject(error)),
          onProgress,
        });
      }
      this.progressed(); // an outcome that is there at once is told then
    });
  }

  /** Gives up a request, which fails with `reason`. */
  #abandon(handle: RequestHandle, reason: unknown): void {
    const slot = this.#slots.get(handle);
    if (slot === undefined) return;
    this.#slots.delete(handle);
    this.#command((machine) => machine.cancel(handle, reason instanceof Error ? reason.message : undefined));
    slot.reject(reason);
    this.commanded();
  }

  // -- subscriptions

  /** Opens a subscription. Resolved when the server has said what it agrees to. */
  async subscribe(wanted: Partial<SubscriptionFilter>): Promise<Subscription> {
    this.check();
    const handle = this.machine.subscribe(wanted, now());
    const subscription = new Subscription(() => this.#unsubscribe(handle));
    this.#subscriptions.set(handle, subscription);
    this.commanded();
    return subscription.opened();
  }

  #unsubscribe(handle: SubscriptionHandle): void {
    if (!this.#subscriptions.has(handle)) return;
    this.#command((machine) => machine.unsubscribe(handle, now()));
    this.commanded();
  }

  // -- what happens

  /** Has `step` tell the machine of something, and sees to what follows. */
  feed(step: () => HttpClientEvent[]): void {
    this.#attempt(step);
    this.progressed();
  }

  /** A command was given that may have an immediate outcome. */
  commanded(): void {
    this.feed(() => this.machine.events());
  }

  /**
   * Has all done that the machine wants done, once those have run who wait for what has just come: what they ask for
   * goes out together.
   */
  progressed(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    void QUIET.then(this.#whenQuiet);
  }

  readonly #whenQuiet = (): void => {
    process.nextTick(this.#flush);
  };

  readonly #flush = (): void => {
    this.#isScheduled = false;
    if (this.#isGone) return;
    this.#attempt(() => {
      const events = this.carriage.flush();
      this.#setTimer();
      return events;
    });
  };

  /** Dispatches what a step gives. An error that it throws is the end of the connection. */
  #attempt(step: () => HttpClientEvent[]): void {
    try {
      this.#dispatch(step());
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      if (this.error !== undefined) return;
      try {
        this.#dispatch(this.machine.events()); // what happened before it is still to be told
      } catch {
        // The machine is dead.
      }
      this.#over(error);
    }
  }

  /** Gives a command whose object may be over already, which then does not matter. */
  #command(give: (machine: Carriage['machine']) => void): void {
    try {
      give(this.machine);
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
    }
  }

  #setTimer(): void {
    const again = this.#listening?.againAt ?? Infinity;
    const deadline = Math.min(this.carriage.due ?? Infinity, again);
    if (deadline < this.#wakeAt) {
      clearTimeout(this.#timer);
      this.#wakeAt = deadline;
      const wait = Math.min(Math.max(0, Math.ceil(deadline - now())), LONGEST_WAIT);
      this.#timer = setTimeout(this.#timePassed, wait);
    }
    // It is of no use for itself: a program that waits for nothing may end.
    if (this.#isWaitedFor) this.#timer?.ref();
    else this.#timer?.unref();
  }

  get #isWaitedFor(): boolean {
    const isIdle = this.#slots.size === 0 && this.#subscriptions.size === 0;
    return !isIdle || this.ready === undefined || this.#isClosing;
  }

  readonly #timePassed = (): void => {
    this.#wakeAt = Infinity;
    const listening = this.#listening;
    if (this.error === undefined && listening?.againAt !== undefined && listening.againAt <= now()) {
      this.#listen(listening);
    }
    this.feed(() => this.machine.handleTimeout(now()));
  };

  /** Tells each event to whom it concerns. A callback may cause more, which are told after those before them. */
  #dispatch(events: readonly HttpClientEvent[]): void {
    if (events.length === 0) return;
    this.#inbox.push(...events);
    if (this.#isDispatching) return;
    this.#isDispatching = true;
    try {
      for (let event = this.#inbox.shift(); event !== undefined; event = this.#inbox.shift()) {
        const handle = HANDLERS[event.type] as ((engine: Engine, event: HttpClientEvent) => void) | undefined;
        handle?.(this, event);
      }
    } finally {
      this.#isDispatching = false;
    }
  }

  // -- events

  #over(error: McpError): void {
    if (this.error !== undefined) return;
    this.error = this.#explain(error);
    for (const slot of this.#slots.values()) slot.reject(this.error);
    this.#slots.clear();
    for (const subscription of this.#subscriptions.values()) subscription.end(this.error);
    this.#subscriptions.clear();
    for (const abort of this.#answering.values()) abort.abort(this.error);
    this.#answering.clear();
    this.#settled?.();
  }

  static readonly HANDLERS: Handlers = {
    ready: (engine, event) => {
      engine.ready = event;
      if (engine.handlers.onChange !== undefined) {
        engine.#listening = new Listening();
        engine.#listen(engine.#listening);
      }
      engine.#settled?.();
    },
    sessionReplaced: (engine, event) => {
      engine.ready = event;
      // Nobody knows what has changed meanwhile.
      for (const change of everything(ALL_LISTS)) engine.#change(change, undefined);
      for (const subscription of engine.#subscriptions.values()) subscription.addEverything();
    },
    restartRequired: (engine) => {
      engine.#attempt(() => engine.carriage.restart());
    },
    responseReceived: (engine, { request, result }) => {
      engine.#end(request)?.resolve(result);
    },
    requestFailed: (engine, { request, error }) => {
      const slot = engine.#end(request);
      if (slot === undefined) return;
      const told = engine.#explain(error);
      if (told instanceof InputRefusedError && engine.#cause !== undefined) told.cause = engine.#cause;
      if (told instanceof RequestTimedOutError) nameLate(told, slot);
      slot.reject(told);
    },
    progressReceived: (engine, { request, progress, total, message, increasing }) => {
      engine.#report(request, { progress, total, message, increasing });
    },
    toolOmitted: (engine, event) => {
      const before = engine.omitted.get(event.request);
      if (before !== undefined) before.push(event);
      else if (engine.#slots.has(event.request)) engine.omitted.set(event.request, [event]);
    },
    inputRequired: (engine, { inputs }) => {
      for (const question of inputs) void engine.#answer(question);
    },
    inputWithdrawn: (engine, { input }) => {
      const abort = engine.#answering.get(input);
      engine.#answering.delete(input);
      abort?.abort();
    },
    logReceived: (engine, { level, logger, data }) => {
      const { onLog } = engine.handlers;
      if (onLog === undefined) return;
      engine.#notices.log.add('onLog', () => onLog({ level, logger, data: JSON.parse(data) }));
    },
    subscriptionAcknowledged: (engine, { subscription, honoured }) => {
      const open = engine.#subscriptions.get(subscription);
      if (open !== undefined) open.acknowledge(honoured);
      else if (engine.#listening?.acknowledge(subscription)) {
        for (const change of everything(honoured)) engine.#change(change, undefined);
      }
    },
    subscriptionEnded: (engine, { subscription, graceful }) => {
      const open = engine.#subscriptions.get(subscription);
      engine.#subscriptions.delete(subscription);
      if (open !== undefined) open.end(graceful ? undefined : engine.#explain(lostSubscription()));
      else if (!graceful) engine.#listening?.lose(subscription);
    },
    listChanged: (engine, { kind, subscription }) => engine.#change({ kind }, subscription),
    resourceUpdated: (engine, { uri, subscription }) =>
      engine.#change({ kind: 'resource', uri }, subscription),
    authorizationRequired: (engine, refused) => engine.carriage.authorize(refused),
    // Not for the application, but for whoever looks for what a server does wrong.
    messageDiscarded: (_, { violation, bytes }) => debug('discarded: %s: %s', violation, bytes),
    violationTolerated: (_, { violation, bytes }) => debug('tolerated: %s: %s', violation, bytes),
    disconnected: (engine, { reason }) => engine.#over(reason),
  };

  #explain(error: McpError): McpError {
    return this.#isClosing ? error : this.carriage.explain(error);
  }

  #end(request: RequestHandle): Slot | undefined {
    const slot = this.#slots.get(request);
    this.#slots.delete(request);
    return slot;
  }

  #report(request: RequestHandle, progress: Progress): void {
    const onProgress = this.#slots.get(request)?.onProgress;
    if (onProgress === undefined) return;
    const failed = (error: unknown) => this.#abandon(request, error);
    try {
      const outcome = onProgress(progress);
      if (outcome instanceof Promise) outcome.catch(failed); // it may be an async function
    } catch (error) {
      failed(error);
    }
  }

  #listen(listening: Listening): void {
    listening.againAt = undefined;
    this.#command((machine) => {
      listening.handle = machine.subscribe(ALL_LISTS, now());
    });
  }

  #change(change: Change, subscription: SubscriptionHandle | undefined): void {
    const open = subscription === undefined ? undefined : this.#subscriptions.get(subscription);
    const { onChange } = this.handlers;
    if (open !== undefined) open.add(change);
    else if (onChange !== undefined) this.#notices.change.add('onChange', () => onChange(change));
  }

  // -- questions of the server

  async #answer({ input, kind, params }: InputRequest): Promise<void> {
    const abort = new AbortController();
    this.#answering.set(input, abort);
    try {
      const result = await answer(this.handlers, kind, params, { signal: abort.signal });
      if (!this.#answering.has(input)) return; // nobody waits for it any more
      // What the revision has no words for is thrown back, and the question stands: it is refused below.
      this.machine.provideInput(input, result, now());
      this.#answering.delete(input);
    } catch (error) {
      if (!this.#answering.delete(input) || error instanceof ConnectionClosedError) return;
      const [code, message] = refusal(error);
      this.#command((machine) => machine.refuseInput(input, code, message, now()));
      this.#cause = error;
    }
    this.commanded();
    // The request that depends on the question has failed by now, if it does.
    this.#cause = undefined;
  }
}

const HANDLERS = Engine.HANDLERS;

/** What to tell the server of a question that a handler did not answer. */
function refusal(error: unknown): [code: number, message: string] {
  if (error instanceof UnreadableQuestion) return [INVALID_PARAMS, error.message];
  if (error instanceof RpcError) return [error.code, error.message];
  reportFailure('a handler', error);
  return [INTERNAL_ERROR, "the client's handler failed"];
}

/** Says of a request that took too long which one it was, and how long was waited for it. */
function nameLate(error: RequestTimedOutError, { what, since }: Slot): void {
  error.message = `${what} gave no answer in time: ${Math.round((now() - since) / 10) / 100} s`;
}
