/// <reference lib="esnext.disposable" preserve="true" />
/** Changes at a server: who asked to be told of them, and what waits to be told. */

import { now } from './clock.js';
import { ConnectionLostError, type McpError } from './sansio/errors.js';
import type { ListKind, SubscriptionFilter, SubscriptionHandle } from './sansio/events.js';

/** Something to fetch again: a list of the server, or a resource. */
export type Change =
  { readonly kind: 'tools' | 'resources' | 'prompts' } | { readonly kind: 'resource'; readonly uri: string };

/** The lists of a server that can change. */
const LISTS: readonly ListKind[] = ['tools', 'resources', 'prompts'];
/** Changes that may wait for a consumer. Equal ones are kept once; the oldest are dropped beyond it. */
const WAITING_CHANGES = 1024;
/** Milliseconds until a subscription that broke is renewed; doubled while that fails. */
const RENEWAL = 1_000;
const LONGEST_RENEWAL = 60_000;

/** @internal */
export const ALL_LISTS: SubscriptionFilter = {
  tools: true,
  resources: true,
  prompts: true,
  resourceUris: [],
};

/**
 * The changes that say to fetch all that is watched.
 *
 * @internal
 */
export function everything(watched: SubscriptionFilter): Change[] {
  const lists = LISTS.filter((kind) => watched[kind]).map((kind): Change => ({ kind }));
  return [...lists, ...watched.resourceUris.map((uri): Change => ({ kind: 'resource', uri }))];
}

/**
 * Changes as they come, to be iterated by one consumer.
 *
 * A change says only that something is to be fetched again, so that equal ones are told once while nobody takes them.
 * The iteration ends when it is left, when the client is closed, or when the server ends it in order. When it is lost,
 * it throws a {@link ConnectionLostError}, and changes may have been missed.
 */
export class Subscription implements AsyncIterableIterator<Change> {
  readonly #waiting = new Map<string, Change>();
  readonly #unsubscribe: () => void;
  #wake: (() => void)[] = [];
  #honoured: SubscriptionFilter | undefined;
  #missed = 0;
  #isOver = false;
  #error: McpError | undefined;

  /** @internal */
  constructor(unsubscribe: () => void) {
    this.#unsubscribe = unsubscribe;
  }

  /** What the server agreed to tell, which may be less than was asked for. */
  get honoured(): SubscriptionFilter | undefined {
    return this.#honoured;
  }

  /** How many changes were dropped because more than 1024 different ones waited. */
  get missed(): number {
    return this.#missed;
  }

  /** The next change. */
  async next(): Promise<IteratorResult<Change, undefined>> {
    for (;;) {
      for (const [key, change] of this.#waiting) {
        this.#waiting.delete(key);
        return { value: change, done: false };
      }
      if (this.#error !== undefined) throw this.#error;
      if (this.#isOver) return { value: undefined, done: true };
      await this.#news();
    }
  }

  /** Ends the subscription, as leaving a `for await` does. */
  async return(): Promise<IteratorResult<Change, undefined>> {
    this.#waiting.clear();
    this.#unsubscribe();
    this.end(undefined);
    return { value: undefined, done: true };
  }

  /** Ends the subscription. */
  async close(): Promise<void> {
    await this.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  // -- told by the engine

  /**
   * Waits until the server has answered; throws if it will not.
   *
   * @internal
   */
  async opened(): Promise<this> {
    while (this.#honoured === undefined && !this.#isOver) await this.#news();
    if (this.#error !== undefined) throw this.#error;
    return this;
  }

  /** @internal */
  add(change: Change): void {
    const key = change.kind === 'resource' ? `resource ${change.uri}` : change.kind;
    if (this.#waiting.has(key)) return;
    if (this.#waiting.size >= WAITING_CHANGES) {
      const [oldest] = this.#waiting.keys();
      this.#waiting.delete(oldest as string);
      this.#missed++;
    }
    this.#waiting.set(key, change);
    this.#tell();
  }

  /** @internal */
  acknowledge(honoured: SubscriptionFilter): void {
    this.#honoured = honoured;
    this.#tell();
  }

  /** @internal */
  end(error: McpError | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#error = error;
    this.#tell();
  }

  /** @internal Everything that is watched may have changed. */
  addEverything(): void {
    if (this.#honoured !== undefined) for (const change of everything(this.#honoured)) this.add(change);
  }

  #news(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  #tell(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const resolve of wake) resolve();
  }
}

/**
 * The subscription behind `onChange`, which is renewed when it breaks.
 *
 * @internal
 */
export class Listening {
  handle: SubscriptionHandle | undefined;
  /** When to subscribe again. */
  againAt: number | undefined;
  #wait = RENEWAL;
  #wasHonoured = false;
  #wasLost = false;

  /** The server has agreed. True if changes may have been missed before. */
  acknowledge(subscription: SubscriptionHandle): boolean {
    if (subscription !== this.handle) return false;
    const wasLost = this.#wasLost;
    this.#wasLost = false;
    this.#wasHonoured = true;
    this.#wait = RENEWAL;
    return wasLost;
  }

  /** It is over. A server that has never agreed is not asked again. */
  lose(subscription: SubscriptionHandle): void {
    if (subscription !== this.handle || !this.#wasHonoured) return;
    this.#wasLost = true;
    this.againAt = now() + this.#wait;
    this.#wait = Math.min(2 * this.#wait, LONGEST_RENEWAL);
  }
}

/** @internal */
export function lostSubscription(): ConnectionLostError {
  return new ConnectionLostError('the subscription was lost or refused');
}
