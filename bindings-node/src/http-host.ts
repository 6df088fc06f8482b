/**
 * A server over HTTP, whatever speaks HTTP around it: one machine of the core for all clients.
 *
 * What speaks HTTP hands in requests, and gives each response that goes on as an {@link Exchange}, to be told when there
 * is more.
 */

import type { Caller, ResourceServer } from './auth/protection.js';
import type { Call } from './call.js';
import { now } from './clock.js';
import { Connection, type Host } from './connection.js';
import { VerifierUnavailableError } from './failures.js';
import { ConnectionClosedError, McpError } from './sansio/errors.js';
import type { ExchangeHandle, Json, RequestHandle } from './sansio/events.js';
import { INVALID_PARAMS } from './sansio/facts.js';
import type { HeaderPairs } from './sansio/headers.js';
import {
  type Denial,
  HttpServer,
  type Ready,
  type ReadyPart,
  type ReceiveOptions,
  type ResponsePart,
} from './sansio/http-server.js';
import type { Server } from './server.js';

/** How a server is reached over HTTP. */
export interface HttpOptions {
  /** The path of the endpoint, such as `/mcp`; all others are answered with 404. Default: every path is the endpoint. */
  readonly path?: string;
  /**
   * Serves HTTP+SSE of 2024-11-05 too, at `/sse` and `/messages`, or at the paths that are given. Default: no.
   */
  readonly sse?: boolean | SsePaths;
  /** Protects the server with access tokens: a `ResourceServer` of `barewire/auth`. It then says who sends a request. */
  readonly auth?: ResourceServer;
  /**
   * Origins of pages that are let in beside those of the loopback interface, such as `https://app.example`; `*` allows
   * all. A request of no page has none, and is let in.
   */
  readonly allowedOrigins?: readonly string[];
  /** Names that requests may go to beside those of the loopback interface, such as `mcp.example`; `*` allows all. */
  readonly allowedHosts?: readonly string[];
  /** Bytes of one request. Default 4 MiB. */
  readonly bodyLimit?: number;
  /** Milliseconds after which an unused session of the older revisions ends. Default half an hour. */
  readonly sessionIdle?: number;
  /** Milliseconds after which a silent stream gets a comment; 0: never. Default 15 000. */
  readonly keepAlive?: number;
  /** Milliseconds for which a client waits before it reconnects. Default 1000. */
  readonly retry?: number;
}

/** The two endpoints of HTTP+SSE, as paths. */
export interface SsePaths {
  /** Where clients connect, for a stream of events. */
  readonly stream: string;
  /** Where they send messages to. */
  readonly messages: string;
}

const SSE_PATHS: SsePaths = { stream: '/sse', messages: '/messages' };
const STREAMABLE: ReceiveOptions = {};

/** A response that goes on. @internal */
export interface Exchange {
  /** The exchange has begun; comes before all else. */
  opened(handle: ExchangeHandle): void;
  /** The headers of the request. */
  readonly headers: HeaderPairs;
  /** Who sends it, where the server is protected. */
  readonly caller: Caller | undefined;
  /** Looks out from now on for its client to leave, unless it is over by now, as most are. */
  watch(): void;
  /** There is something to send, of which this is the first part; the rest is to be polled. */
  deliver(part: ReadyPart): void;
  /** Nothing more will come. */
  end(): void;
}

/** The end of a response, on its way to its exchange. */
interface Outgoing {
  readonly exchange: Exchange;
  readonly part: ReadyPart;
}

// Bytes that may wait to be sent before a handler has to.
const BACKLOG = 64 << 10;

// Milliseconds that connections have to take the ends of their streams.
const LINGER = 2_000;

// Milliseconds for which a report or an answer may wait for others to be sent with it, where handlers never rest.
const REPORT_DELAY = 1;

// Programs may put a clock of their own into its place, for tests.
const afterReading = setImmediate;

/** @internal */
class HttpConnection extends Connection<HttpServer> {
  protected override answer(request: RequestHandle, result: Json): void {
    (this.host as HttpHost).answer(request, result);
  }

  override callerOf(exchange: ExchangeHandle | undefined): Caller | undefined {
    return (this.host as HttpHost).callerOf(exchange);
  }

  override admits({ endpoint, event, caller, context: { exchange } }: Call): boolean {
    const { auth } = this.host as HttpHost;
    if (auth === undefined || caller === undefined || exchange === undefined) {
      throw new Error(
        `'${endpoint.key}' wants scopes, but the server is not protected: give the handler auth`,
      );
    }
    const denied = auth.forbids(caller, endpoint.neededScopes(event));
    if (denied === undefined) return true;
    this.command((machine) => machine.deny(exchange, denied, now()));
    // It goes nowhere, unless the response has begun.
    const answer = { code: INVALID_PARAMS, message: 'The authorization does not suffice' };
    this.command((machine) => machine.respondError(event.request, answer));
    return false;
  }

  override closeStream({ context: { exchange } }: Call, retry: number | undefined): boolean {
    if (exchange === undefined || !this.machine.closeStream(exchange, now(), retry)) return false;
    this.host.touched();
    return true;
  }
}

function optionPath(path: string): string {
  if (!path.startsWith('/')) throw new RangeError(`a path begins with a slash: '/mcp', not '${path}'`);
  return endpointPath(path);
}

/** The path of an endpoint as requests are compared with it: without a slash at its end. */
function endpointPath(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

/** Whether the headers of a response, as pairs or in turn, are those of a challenge. */
function isChallenge(headers: readonly (string | readonly string[])[]): boolean {
  return headers.flat().includes('www-authenticate');
}

/** @internal */
export function checkPrincipal(options: HttpOptions & { readonly principal?: unknown }): void {
  if (options.auth !== undefined && options.principal !== undefined) {
    throw new TypeError('auth tells who sends a request; principal would be another answer');
  }
}

/**
 * Who sends a request. A promise would be the same principal for everybody, so that it is none.
 *
 * @internal
 */
export function principalOf<R>(
  tell: ((request: R) => string | undefined) | undefined,
  request: R,
): string | undefined {
  const principal = tell?.(request);
  if (principal === undefined || typeof principal === 'string') return principal;
  throw new TypeError(`principal gives a string or nothing, at once, not ${String(principal)}`);
}

/** @internal */
export class HttpHost implements Host {
  readonly machine: HttpServer;
  /** What protects the server, if anything does. */
  readonly auth: ResourceServer | undefined;
  readonly #path: string | undefined;
  readonly #sse: SsePaths | undefined;
  readonly #server: Server;
  readonly #connection: HttpConnection;
  readonly #exchanges = new Map<ExchangeHandle, Exchange>();
  /** Those that have begun in this turn. */
  #begun: Exchange[] = [];
  #outgoing: Outgoing[] = [];
  readonly #blocked = new Map<ExchangeHandle, (() => void)[]>();
  #isReceiving = false;
  #isScheduled = false;
  /** Since when what has been answered may wait. */
  #waitingSince = 0;
  #hasNews = false;
  #isClosing = false;
  #isEnding = false;
  #hasWarned = false;
  #lastTurn = 0;
  #timer: NodeJS.Timeout | undefined;
  #due: number | undefined;
  #closed: Promise<void> | undefined;
  #quiet: (() => void) | undefined;

  constructor(server: Server, options: HttpOptions) {
    const {
      path,
      sse = false,
      bodyLimit,
      allowedOrigins,
      allowedHosts,
      sessionIdle,
      keepAlive,
      retry,
    } = options;
    this.#server = server;
    this.auth = options.auth;
    this.#path = path === undefined ? undefined : optionPath(path);
    if (sse !== false) {
      const { stream, messages } = sse === true ? SSE_PATHS : sse;
      this.#sse = { stream: optionPath(stream), messages: optionPath(messages) };
    }
    this.machine = server.httpMachine(HttpServer, {
      ...(allowedOrigins && { allowedOrigins }),
      ...(allowedHosts && { allowedHosts }),
      ...(bodyLimit !== undefined && { bodyBytes: bodyLimit }),
      ...(sessionIdle !== undefined && { sessionIdle }),
      ...(keepAlive !== undefined && { keepAlive }),
      ...(retry !== undefined && { retry }),
    });
    this.#connection = new HttpConnection(server.catalog, this, this.machine);
    server.connected(this.#connection as unknown as Connection);
  }

  // ------------------------------------------------------------ requests

  /** Whether all requests have the same endpoint, so that nobody need look at their paths. */
  get hasOneEndpoint(): boolean {
    return this.#path === undefined && this.#sse === undefined;
  }

  /**
   * What the machine is told of the endpoint that a request is for; `undefined` if there is none.
   *
   * @param mounted - What the program around has taken off the path.
   */
  endpoint(path: string, query: string, mounted = ''): ReceiveOptions | undefined {
    if (path === this.#path && this.#sse === undefined) return STREAMABLE;
    const place = endpointPath(path);
    if (place === this.#sse?.stream) return { eventStream: mounted + this.#sse.messages };
    if (place === this.#sse?.messages) return { messages: query };
    return this.#path === undefined || place === this.#path ? STREAMABLE : undefined;
  }

  /** Who sends a request, or why it is refused. */
  async admit(auth: ResourceServer, headers: HeaderPairs, query: string): Promise<Caller | Denial> {
    try {
      return await auth.admit(headers, query);
    } catch (error) {
      const isOutage = error instanceof VerifierUnavailableError;
      console.error('barewire: a token cannot be verified:', isOutage ? error.message : error);
      return { status: isOutage ? 503 : 500 };
    }
  }

  /** The response to a request that is refused; its body is not read. */
  deny(
    method: string,
    headers: HeaderPairs,
    denial: Denial,
    options: ReceiveOptions,
  ): ResponsePart | undefined {
    try {
      return this.machine.pollResponse(this.machine.receiveDenied(method, headers, denial, now(), options));
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      return undefined; // it has been closed
    }
  }

  /** Who sent what an exchange brought. */
  callerOf(exchange: ExchangeHandle | undefined): Caller | undefined {
    if (this.auth === undefined || exchange === undefined) return undefined;
    return this.#exchanges.get(exchange)?.caller;
  }

  /** Takes a request whose body is at hand; false if the server has been closed. */
  receiveWhole(method: string, body: Uint8Array, options: ReceiveOptions, exchange: Exchange): boolean {
    const at = now();
    this.#hurry(at);
    this.#isReceiving = true;
    try {
      // By place: engines iterate slowly until they know a function well.
      const told = this.machine.receiveWhole(method, exchange.headers, body, at, options);
      this.#opened(told[0], exchange);
      this.#connection.dispatch(told[1]);
      return true;
    } catch (error) {
      return this.#refused(error);
    } finally {
      this.#isReceiving = false;
      this.touched();
    }
  }

  /** Takes the head of a request whose body comes in pieces. Gives the same. */
  receiveHead(method: string, options: ReceiveOptions, exchange: Exchange): boolean {
    try {
      this.#opened(this.machine.receiveRequest(method, exchange.headers, now(), options), exchange);
      return true;
    } catch (error) {
      return this.#refused(error);
    } finally {
      this.touched();
    }
  }

  /** A handler may report before it waits for anything: its exchange has to be found by then. */
  #opened(handle: ExchangeHandle, exchange: Exchange): void {
    this.#exchanges.set(handle, exchange);
    this.#begun.push(exchange);
    exchange.opened(handle);
  }

  #refused(error: unknown): false {
    if (!(error instanceof McpError)) throw error;
    return false; // it has been closed
  }

  receiveBody(exchange: ExchangeHandle, data: Uint8Array): void {
    this.#connection.command((machine) => machine.receiveBody(exchange, data, now()));
  }

  receiveEnd(exchange: ExchangeHandle): void {
    this.#hurry(now());
    this.#connection.step((machine, at) => machine.receiveEnd(exchange, at));
    this.touched();
  }

  /** What to send next, after what was delivered. */
  poll(exchange: ExchangeHandle, headers: HeaderPairs): ResponsePart | undefined {
    try {
      const part = this.machine.pollResponse(exchange);
      if (part?.status === 403 && !isChallenge(part.headers)) this.#warnOfRefusal(headers);
      return part;
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      return undefined; // the machine is dead
    }
  }

  /** The connection of an exchange takes more: handlers that had to wait for it go on. */
  taken(handle: ExchangeHandle): void {
    const waiters = this.#blocked.get(handle);
    if (waiters === undefined) return;
    this.#blocked.delete(handle);
    for (const resolve of waiters) resolve();
  }

  /** An exchange is over. */
  over(handle: ExchangeHandle): void {
    this.#exchanges.delete(handle);
    if (this.#blocked.size > 0) this.taken(handle);
    if (this.#exchanges.size === 0) this.#quiet?.();
  }

  /** An exchange is over before its end, because the client has left. */
  gone(handle: ExchangeHandle): void {
    this.#connection.step((machine, at) => machine.receiveAbort(handle, at));
    this.over(handle);
    this.touched();
  }

  #warnOfRefusal(headers: HeaderPairs): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const who = new Map([...headers].map(([name, value]) => [name.toLowerCase(), value]));
    console.error(
      `barewire: refused a request to the host '${who.get('host')}' from the origin '${who.get('origin')}': name what ` +
        'shall be let in beside the loopback interface in allowedHosts and allowedOrigins',
    );
  }

  // ------------------------------------------------------------ what a connection asks of its host

  touched(): void {
    this.#hasNews = true;
    this.#schedule();
  }

  /** A turn ends when all has been read that had arrived at its beginning. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#waitingSince = now();
    afterReading(this.#turn);
  }

  /** Keeps nothing back any longer where handlers do not rest. */
  #hurry(at: number): void {
    if (this.#isScheduled && at - this.#waitingSince >= REPORT_DELAY) this.flush();
  }

  /** Lets out at once what has been answered. */
  flush(): void {
    if (!this.#isScheduled) return;
    this.#waitingSince = now();
    this.#flush();
  }

  #flush(): void {
    try {
      // Mostly everything has been handed out by now.
      if (this.#hasNews) this.#deliverAll();
      else this.#letOut();
    } catch (error) {
      if (!(error instanceof McpError)) throw error; // the machine is dead
    }
  }

  /** Gives the result of a request to the machine, and hands out what there is to be sent then. */
  answer(request: RequestHandle, result: Json): void {
    if (this.#isReceiving) {
      // Whoever brought the request does not know yet that it is served.
      this.#connection.command((machine) => machine.respond(request, result));
      return;
    }
    let ready: Ready;
    try {
      ready = this.machine.answer(request, result);
    } catch (error) {
      if (!(error instanceof ConnectionClosedError)) throw error;
      this.touched();
      return;
    }
    // At the end of a turn is seen whether calls are left.
    if (this.#handOut(ready) || this.#isClosing) this.touched();
    this.#hurry(now());
  }

  reported({ context: { exchange } }: Call): Promise<void> | undefined {
    if (exchange === undefined) return undefined;
    if (now() - this.#lastTurn >= REPORT_DELAY) this.#deliverAll();
    if (this.machine.backlog(exchange) <= BACKLOG) return undefined;
    this.#deliverAll();
    return new Promise((resolve) => {
      const waiters = this.#blocked.get(exchange);
      if (waiters === undefined) this.#blocked.set(exchange, [resolve]);
      else waiters.push(resolve);
    });
  }

  // ------------------------------------------------------------ turns

  readonly #turn = (): void => {
    this.#isScheduled = false;
    this.#flush();
    this.#watchBegun();
    if (this.#isClosing && !this.#connection.hasCalls) this.#endAll();
  };

  #watchBegun(): void {
    const begun = this.#begun;
    if (begun.length === 0) return;
    this.#begun = [];
    for (const exchange of begun) exchange.watch();
  }

  /** Hands out what there is to be sent, and lets all of it out. */
  #deliverAll(): void {
    this.#lastTurn = now();
    try {
      while (this.#handOut(this.machine.readyParts()));
    } finally {
      this.#letOut();
    }
  }

  /**
   * Lets the ends of responses out that were handed out, in one go. Whoever takes responses of many connections is woken
   * up once by them; written one by one they would wake it up for each, which takes longer than all else.
   */
  #letOut(): void {
    const outgoing = this.#outgoing;
    if (outgoing.length === 0) return;
    this.#outgoing = [];
    for (const { exchange, part } of outgoing) this.#deliver(exchange, part);
  }

  /** One that cannot be sent, because somebody has meddled with its response, keeps no other from its client. */
  #deliver(exchange: Exchange, part: ReadyPart): void {
    try {
      exchange.deliver(part);
    } catch (error) {
      // Nor has the handler failed that is at work.
      process.nextTick(() => {
        throw error;
      });
    }
  }

  /** Hands out what was found; whether there may be more. A refusal is told to the operator. */
  #handOut({ parts, due, isPart }: Ready): boolean {
    for (let at = 0; at < parts.length; at++) {
      const part = parts[at] as ReadyPart;
      const exchange = this.#exchanges.get(part.exchange);
      if (exchange === undefined) continue;
      if (part.status === 403 && !isChallenge(part.headers)) this.#warnOfRefusal(exchange.headers);
      if (!part.isLast) {
        this.#deliver(exchange, part);
      } else {
        this.#outgoing.push({ exchange, part });
        this.#schedule();
      }
    }
    this.#hasNews = isPart;
    this.#setTimer(due);
    return isPart;
  }

  /** A timer that comes too early does no harm. */
  #setTimer(due: number | undefined): void {
    if (due === undefined || (this.#due !== undefined && this.#due <= due)) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(this.#timeout, Math.max(1, Math.ceil(due - now())));
    this.#timer.unref();
  }

  readonly #timeout = (): void => {
    this.#due = undefined;
    this.#connection.step((machine, at) => machine.handleTimeout(at));
    this.touched();
  };

  // ------------------------------------------------------------ the end

  /** Takes no more requests; what is in flight gets its time, then all streams end. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#isClosing = true;
    this.#connection.step((machine, at) => machine.shutDown(at));
    const drain = setTimeout(() => this.#endAll(), this.#server.drain);
    this.touched();
    if (this.#exchanges.size > 0) await new Promise<void>((resolve) => (this.#quiet = resolve));
    clearTimeout(drain);
    this.#endAll();
    clearTimeout(this.#timer);
    this.#server.disconnected(this.#connection as unknown as Connection);
  }

  /** Ends what is left. Connections get some time to take the ends of their streams. */
  #endAll(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (!this.#connection.finished) this.#connection.close();
    setTimeout(() => {
      for (const [handle, exchange] of [...this.#exchanges]) {
        exchange.end();
        this.gone(handle);
      }
    }, LINGER).unref();
    this.touched();
  }
}
