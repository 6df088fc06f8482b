/** How the messages of a client travel: on a byte stream, or over HTTP. */

import type { Authorizer } from './auth/authorizer.js';
import { now } from './clock.js';
import { Exchanges, type Fetch } from './exchanges.js';
import type { ExitStatus, Link } from './link.js';
import {
  AuthorizationError,
  ConnectionClosedError,
  ConnectionLostError,
  HttpStatusError,
  McpError,
} from './sansio/errors.js';
import type { AuthorizationRequired, ClientEvent, ExchangeHandle, HttpClientEvent } from './sansio/events.js';
import { Client, HttpClient, type HeaderPairs } from './sansio/index.js';
import type { ClientSettings, HttpClientSettings } from './sansio/settings.js';

/**
 * Whom a carriage tells what has come.
 *
 * @internal
 */
export interface Passenger {
  /** Has `step` tell the machine of something, and sees to what follows. */
  feed(step: () => HttpClientEvent[]): void;
  /** Has all done that the machine wants done. */
  progressed(): void;
}

/**
 * What moves messages between a machine and its server.
 *
 * @internal
 */
export interface Carriage {
  readonly machine: Client | HttpClient;
  /** Opens the way to the server. */
  open(passenger: Passenger): void;
  /** Does what the machine wants done; gives the events that commands have caused. */
  flush(): HttpClientEvent[];
  /** When the machine wants to be told the time, as of the last `flush`. */
  readonly due: number | undefined;
  /** Comes by what a refused exchange lacks. */
  authorize(refused: AuthorizationRequired): void;
  /** Starts the server afresh. */
  restart(): ClientEvent[];
  /** Says of the end of a connection how it came about, as far as is known here. */
  explain(error: McpError): McpError;
  /** Ends in order, after the machine was closed and its last words were sent. */
  close(): Promise<void>;
}

/**
 * A byte stream.
 *
 * @internal
 */
export class StreamCarriage implements Carriage {
  readonly machine: Client;
  readonly #openLink: () => Link;
  readonly #retired: Promise<void>[] = [];
  due: number | undefined;
  #passenger: Passenger | undefined;
  #link: Link | undefined;
  #isPaused = false;
  #isGone = false;

  constructor(settings: ClientSettings, openLink: () => Link) {
    this.machine = new Client(settings);
    this.#openLink = openLink;
  }

  open(passenger: Passenger): void {
    this.#passenger = passenger;
    this.#attach();
  }

  flush(): ClientEvent[] {
    const link = this.#link;
    if (link === undefined) return [];
    const turn = this.machine.turn(link.pending === 0);
    this.due = turn.due;
    if (turn.data.length > 0) link.write(turn.data);
    if (turn.wantsInput === this.#isPaused) {
      this.#isPaused = !this.#isPaused;
      if (this.#isPaused) link.pause();
      else link.resume();
    }
    if (turn.isPart) this.#passenger?.progressed();
    return turn.events;
  }

  /** Nothing here is refused. */
  authorize(): void {}

  restart(): ClientEvent[] {
    if (this.#link !== undefined) this.#retired.push(this.#link.close());
    this.#attach();
    return this.machine.restart(now());
  }

  explain(error: McpError): McpError {
    const link = this.#link;
    const told =
      error instanceof ConnectionClosedError && this.#isGone
        ? new ConnectionLostError(error.message, error.code)
        : error;
    if (!(told instanceof ConnectionLostError) || link === undefined) return told;
    told.exitStatus = link.exitStatus;
    told.stderr = link.stderrTail;
    if (link.failure !== undefined) told.cause = link.failure;
    told.message += endOf(link);
    return told;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#retired, this.#link?.close()]);
  }

  #attach(): void {
    const link = this.#openLink();
    this.#link = link;
    this.#isGone = false;
    this.#isPaused = false;
    link.start({
      data: (data) => this.#passenger?.feed(() => this.machine.receiveData(data, now())),
      end: () => {
        if (link !== this.#link) return;
        this.#isGone = true;
        this.#passenger?.feed(() => this.machine.receiveEof(now()));
      },
      drained: () => this.#passenger?.progressed(),
    });
  }
}

function endOf({ failure, exitStatus, stderrTail }: Link): string {
  if (failure instanceof Error) return `: ${failure.message}`;
  if (exitStatus === undefined) return '';
  const lines = stderrTail.trimEnd().split('\n');
  // A Node that dies of an error says its version last.
  const lastLine = lines.findLast((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1) ?? '';
  return `; the server ended with ${statusText(exitStatus)}${lastLine === '' ? '' : `: ${lastLine}`}`;
}

function statusText({ code, signal }: ExitStatus): string {
  return code === undefined ? `signal ${signal}` : `exit status ${code}`;
}

/** What `fetch` says of a failure is in the cause of the cause; of several addresses that were tried only in its code. */
function innermost(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  if (failure.cause !== undefined && !(failure instanceof McpError)) return innermost(failure.cause);
  return failure.message || String((failure as { code?: unknown }).code ?? failure.name);
}

/**
 * Exchanges over HTTP.
 *
 * @internal
 */
export class HttpCarriage implements Carriage {
  readonly machine: HttpClient;
  readonly #exchanges: Exchanges;
  #passenger: Passenger | undefined;
  /** What `fetch` says of the exchange that is being failed. */
  #failure: unknown;
  /** Where the response whose head is being read redirects to. */
  #location: string | null = null;

  constructor(settings: HttpClientSettings, fetch: Fetch, headers: Headers, authorizer?: Authorizer) {
    this.machine = new HttpClient({ ...settings, authorizes: authorizer !== undefined });
    this.#exchanges = new Exchanges(this, fetch, headers, authorizer);
  }

  /** Nothing is connected before there is something to send. */
  open(passenger: Passenger): void {
    this.#passenger = passenger;
  }

  flush(): HttpClientEvent[] {
    for (let next = this.machine.pollTransmit(now()); next; next = this.machine.pollTransmit(now())) {
      if (next.type === 'abort') this.#exchanges.abort(next.exchange);
      else this.#exchanges.start(next);
    }
    this.#exchanges.progressed();
    return this.machine.events();
  }

  get due(): number | undefined {
    return this.machine.pollTimeout();
  }

  authorize(refused: AuthorizationRequired): void {
    void this.#exchanges.authorize(refused);
  }

  /** Nothing here is started. */
  restart(): ClientEvent[] {
    return [];
  }

  explain(error: McpError): McpError {
    const told =
      error instanceof ConnectionClosedError ? new ConnectionLostError(error.message, error.code) : error;
    if (told instanceof ConnectionLostError && told.cause === undefined && this.#failure !== undefined) {
      told.cause = this.#failure;
      told.message += `: ${innermost(this.#failure)}`;
    }
    if (told instanceof HttpStatusError && this.#failure instanceof AuthorizationError) {
      told.cause = this.#failure;
      told.message += `: ${this.#failure.message}`;
    }
    if (told instanceof HttpStatusError && this.#location !== null) {
      told.message += `; it redirects to ${this.#location}`;
    }
    return told;
  }

  async close(): Promise<void> {
    await this.#exchanges.close();
  }

  // -- what is reported of an exchange

  wantsInput(exchange: ExchangeHandle): boolean {
    return this.machine.wantsInput(exchange);
  }

  receiveHead(exchange: ExchangeHandle, status: number, headers: HeaderPairs & Headers): void {
    if (status >= 300 && status < 400) this.#location = headers.get('location');
    this.#passenger?.feed(() => this.machine.receiveHead(exchange, status, headers, now()));
    this.#location = null;
  }

  receiveBody(exchange: ExchangeHandle, data: Uint8Array): void {
    this.#passenger?.feed(() => this.machine.receiveBody(exchange, data, now()));
  }

  receiveEnd(exchange: ExchangeHandle): void {
    this.#passenger?.feed(() => this.machine.receiveEnd(exchange, now()));
  }

  /** There are new credentials. */
  authorized(exchange: ExchangeHandle): void {
    this.#passenger?.feed(() => this.machine.authorized(exchange, now()));
  }

  /** There are none. */
  unauthorized(exchange: ExchangeHandle, cause: unknown): void {
    this.#failure = cause;
    this.#passenger?.feed(() => this.machine.unauthorized(exchange, now()));
    this.#failure = undefined;
  }

  receiveFailure(exchange: ExchangeHandle, failure: 'notSent' | 'broken', cause: unknown): void {
    this.#failure = cause;
    this.#passenger?.feed(() => this.machine.receiveFailure(exchange, failure, now()));
    this.#failure = undefined;
  }
}
