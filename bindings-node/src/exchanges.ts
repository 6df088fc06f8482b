/** The exchanges of a client over HTTP, carried out by `fetch`. */

import type { Authorizer } from './auth/authorizer.js';
import type { HttpCarriage } from './carriage.js';
import { AuthorizationError } from './sansio/errors.js';
import type { AuthorizationRequired, ExchangeHandle } from './sansio/events.js';
import type { HttpRequest } from './sansio/index.js';

/** A function like the global `fetch`, as far as it is used here. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Codes of errors after which the server cannot have seen the request. */
const NOT_SENT: ReadonlySet<unknown> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ERR_INVALID_URL',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Refused exchanges that are remembered. */
const MOST_REFUSED = 4096;

/**
 * Carries out each request by itself.
 *
 * @internal
 */
export class Exchanges {
  readonly #carriage: HttpCarriage;
  readonly #fetch: Fetch;
  readonly #headers: Headers;
  readonly #authorizer: Authorizer | undefined;
  /** Which token went with an exchange that was refused. */
  readonly #tokens = new Map<ExchangeHandle, number>();
  readonly #running = new Map<ExchangeHandle, AbortController>();
  /** Refused exchanges that wait for what they lack. */
  readonly #authorizing = new Map<ExchangeHandle, AbortController>();
  readonly #paused = new Map<ExchangeHandle, () => void>();
  #ended: (() => void) | undefined;

  constructor(carriage: HttpCarriage, fetch: Fetch, headers: Headers, authorizer: Authorizer | undefined) {
    this.#carriage = carriage;
    this.#fetch = fetch;
    this.#headers = headers;
    this.#authorizer = authorizer;
  }

  /** Sends a request, and hands in what comes back. */
  start(request: HttpRequest): void {
    const abort = new AbortController();
    this.#running.set(request.exchange, abort);
    void this.#carryOut(request, abort.signal);
  }

  /** Gives up an exchange: its connection is closed, and nothing more is told of it. */
  abort(exchange: ExchangeHandle): void {
    for (const tasks of [this.#running, this.#authorizing]) {
      tasks.get(exchange)?.abort();
      tasks.delete(exchange);
    }
    this.#readOn(exchange);
  }

  /** Comes by what a refused exchange lacks, and has it sent again. */
  async authorize(refused: AuthorizationRequired): Promise<void> {
    const { exchange } = refused;
    const abort = new AbortController();
    const token = this.#tokens.get(exchange) ?? 0;
    this.#tokens.delete(exchange);
    this.#authorizing.set(exchange, abort);
    const failure = await this.#authorizer?.challenge(refused, token).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (abort.signal.aborted) return;
    this.#authorizing.delete(exchange);
    if (failure === undefined) this.#carriage.authorized(exchange);
    else this.#carriage.unauthorized(exchange, failure);
  }

  /** The machine may want to read on where it did not. */
  progressed(): void {
    for (const exchange of this.#paused.keys()) {
      if (this.#carriage.wantsInput(exchange)) this.#readOn(exchange);
    }
    if (this.#ended !== undefined && this.#carriage.machine.isFinished) this.#ended();
  }

  /** Waits for what the machine still has to say, then drops all connections. */
  async close(): Promise<void> {
    if (!this.#carriage.machine.isFinished) {
      await new Promise<void>((resolve) => {
        this.#ended = resolve;
      });
    }
    for (const exchange of [...this.#running.keys(), ...this.#authorizing.keys()]) this.abort(exchange);
    await this.#authorizer?.close();
  }

  async #carryOut(request: HttpRequest, signal: AbortSignal): Promise<void> {
    const { exchange } = request;
    const carriage = this.#carriage;
    let isAnswered = false;
    try {
      const response = await this.#send(request, signal);
      isAnswered = true;
      if (signal.aborted) return;
      carriage.receiveHead(exchange, response.status, response.headers);
      await this.#read(exchange, response, signal);
      if (signal.aborted) return;
      this.#running.delete(exchange);
      carriage.receiveEnd(exchange);
    } catch (error) {
      if (signal.aborted) return; // what the machine has given up it does not want to hear of
      this.#running.delete(exchange);
      carriage.receiveFailure(exchange, !isAnswered && wasNotSent(error) ? 'notSent' : 'broken', error);
    }
  }

  async #send(request: HttpRequest, signal: AbortSignal): Promise<Response> {
    const { exchange, method, url, headers, body } = request;
    const credentials = await this.#authorizer?.credentials(method, url);
    signal.throwIfAborted();
    const all = new Headers(this.#headers);
    for (const [name, value] of headers) all.set(name, value);
    for (const [name, value] of credentials?.headers ?? []) all.set(name, value);
    const init: RequestInit = { method, headers: all, redirect: 'manual', signal };
    if (body !== '') init.body = body;
    const { fetch } = { fetch: this.#fetch }; // not called as a method, which the global one minds
    const response = await fetch(url, init);
    if (credentials !== undefined) this.#note(exchange, response, credentials.generation);
    return response;
  }

  /** Remembers which token was refused, for as long as it takes to be told that it was. */
  #note(exchange: ExchangeHandle, { status, headers }: Response, token: number): void {
    this.#authorizer?.note(status, headers, token);
    if (status !== 401 && status !== 403) return;
    this.#tokens.set(exchange, token);
    if (this.#tokens.size <= MOST_REFUSED) return;
    for (const oldest of this.#tokens.keys()) {
      this.#tokens.delete(oldest);
      return;
    }
  }

  async #read(exchange: ExchangeHandle, response: Response, signal: AbortSignal): Promise<void> {
    const reader = response.body?.getReader();
    if (reader === undefined) return;
    for (;;) {
      const { value, done } = await reader.read();
      if (done || signal.aborted) return;
      this.#carriage.receiveBody(exchange, value);
      while (!signal.aborted && !this.#carriage.wantsInput(exchange)) {
        await new Promise<void>((resolve) => this.#paused.set(exchange, resolve));
      }
    }
  }

  #readOn(exchange: ExchangeHandle): void {
    const resume = this.#paused.get(exchange);
    this.#paused.delete(exchange);
    resume?.();
  }
}

/** Whether the server cannot have seen the request. */
function wasNotSent(error: unknown): boolean {
  if (error instanceof AuthorizationError) return true;
  // `fetch` fails with a TypeError, which has what happened as its cause.
  const { cause = error } = error instanceof Error ? error : {};
  return NOT_SENT.has((cause as { code?: unknown } | undefined)?.code);
}
