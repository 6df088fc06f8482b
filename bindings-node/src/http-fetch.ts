/** A server as a function from `Request` to `Response`. */

import type { Caller, ResourceServer } from './auth/protection.js';
import { checkPrincipal, HttpHost, type HttpOptions, principalOf } from './http-host.js';
import type { ExchangeHandle } from './sansio/events.js';
import { type HeaderPairs, headerPairs } from './sansio/headers.js';
import type { ReadyPart, ResponsePart } from './sansio/http-server.js';
import type { Server } from './server.js';

/** Options of {@link createHandler}. */
export interface HandlerOptions extends HttpOptions {
  /**
   * Tells who sends a request, by any key: a session serves nobody but its principal. It authenticates nobody itself.
   */
  readonly principal?: (request: Request) => string | undefined;
}

/** What answers web-standard requests. */
export interface Handler {
  (request: Request): Promise<Response>;
  /** Takes no more requests, waits until what is in flight has ended, and ends all streams. */
  close(): Promise<void>;
}

/**
 * The server as a web-standard handler: for Hono, Bun, Deno, Next and all else that speaks `Request` and `Response`.
 *
 * ```ts
 * const handler = createHandler(server);
 * app.all('/mcp', (context) => handler(context.req.raw)); // Hono
 * export { handler as GET, handler as POST, handler as DELETE }; // Next
 * export default { fetch: handler, idleTimeout: 30 }; // Bun and Deno; Bun must bear silence longer than `keepAlive`
 * ```
 *
 * Requests are let in that come from pages of the loopback interface or `allowedOrigins`, or from no page, and go to a
 * name of the loopback interface or of `allowedHosts`.
 */
export function createHandler(server: Server, options: HandlerOptions = {}): Handler {
  checkPrincipal(options);
  const host = new HttpHost(server, options);
  const handler = async (request: Request): Promise<Response> =>
    respond(host, request, principalOf(options.principal, request));
  return Object.assign(handler, { close: () => host.close() });
}

const EMPTY = new Uint8Array(0);

async function respond(host: HttpHost, request: Request, principal: string | undefined): Promise<Response> {
  const { pathname, search, host: name } = new URL(request.url);
  const { auth } = host;
  if (auth?.serves(pathname)) return metadata(auth, request);
  const endpoint = host.endpoint(pathname, search.slice(1));
  if (endpoint === undefined) return new Response('There is no MCP endpoint at this path', { status: 404 });
  if (request.bodyUsed) throw new TypeError('something else has read the body of the request');
  // A `Request` may keep the name that it was sent to in its URL alone.
  const headers = request.headers.has('host')
    ? request.headers
    : [...request.headers, ['host', name] as const];
  let caller: Caller | undefined;
  if (auth !== undefined && request.method !== 'OPTIONS') {
    // Browsers ask with OPTIONS, and without credentials.
    const admitted = await host.admit(auth, headers, search.slice(1));
    if ('status' in admitted) {
      const denial = host.deny(request.method, headers, admitted, endpoint);
      await request.body?.cancel();
      return denial === undefined ? unavailable() : whole(denial);
    }
    caller = admitted;
  }
  const who = caller?.key ?? principal;
  const options = who === undefined ? endpoint : { ...endpoint, principal: who };
  const exchange = new FetchExchange(host, request, headers, caller);
  const isServed =
    request.body === null
      ? host.receiveWhole(request.method, EMPTY, options, exchange)
      : host.receiveHead(request.method, options, exchange);
  if (!isServed) return unavailable();
  const head = (await exchange.receive()) ?? (await exchange.next());
  if (head === undefined) return unavailable();
  if (!head.isLast || head.isAborted) return new Response(exchange.stream(head), headOf(head));
  exchange.finish();
  return whole(head);
}

function unavailable(): Response {
  return new Response('Service Unavailable', { status: 503 });
}

function headOf({ status, headers }: ResponsePart): ResponseInit {
  return { status: status ?? 500, headers: headers as [string, string][] };
}

function whole(part: ResponsePart): Response {
  // A status such as 202 has no body at all.
  return new Response(part.data.length === 0 ? null : (part.data as Uint8Array<ArrayBuffer>), headOf(part));
}

function metadata(auth: ResourceServer, request: Request): Response {
  const { body, ...init } = auth.metadata(request.method);
  return new Response(body, init);
}

class FetchExchange {
  readonly #host: HttpHost;
  #handle: ExchangeHandle = -1;
  readonly #request: Request;
  readonly headers: HeaderPairs;
  readonly caller: Caller | undefined;
  #delivered: ResponsePart | undefined;
  #waiter: (() => void) | undefined;
  #isOver = false;

  constructor(host: HttpHost, request: Request, headers: HeaderPairs, caller: Caller | undefined) {
    this.#host = host;
    this.#request = request;
    this.headers = headers;
    this.caller = caller;
  }

  opened(handle: ExchangeHandle): void {
    this.#handle = handle;
  }

  /** Looks out for the client to leave. */
  watch(): void {
    if (this.#isOver) return;
    const { signal } = this.#request;
    if (signal.aborted) this.#left();
    else signal.addEventListener('abort', this.#left, { once: true });
  }

  /** Reads the body of the request; gives what refuses it, in which case it is not read to its end. */
  async receive(): Promise<ResponsePart | undefined> {
    const { body } = this.#request;
    if (body === null) return undefined;
    const reader = body.getReader();
    try {
      for (;;) {
        const refusal = this.#poll();
        if (refusal !== undefined || this.#isOver) {
          await reader.cancel();
          return refusal;
        }
        const { done, value } = await reader.read();
        if (this.#isOver) continue;
        if (done) {
          this.#host.receiveEnd(this.#handle);
          return undefined;
        }
        this.#host.receiveBody(this.#handle, value);
      }
    } catch {
      this.#left();
      return undefined;
    }
  }

  deliver({ headers, data, ...rest }: ReadyPart): void {
    const bytes = typeof data === 'string' ? Buffer.from(data, 'latin1') : data;
    this.#delivered = { ...rest, headers: headerPairs(headers), data: bytes };
    this.#waiter?.();
  }

  end(): void {
    this.#isOver = true;
    this.#waiter?.();
  }

  #poll(): ResponsePart | undefined {
    if (this.#isOver) return undefined;
    const delivered = this.#delivered;
    this.#delivered = undefined;
    return delivered ?? this.#host.poll(this.#handle, this.headers);
  }

  /** What comes next; `undefined` if nothing more can be sent. */
  async next(): Promise<ResponsePart | undefined> {
    while (!this.#isOver) {
      const part = this.#poll();
      if (part !== undefined) return part;
      await new Promise<void>((resolve) => (this.#waiter = resolve));
    }
    return undefined;
  }

  /** Everything is handed over. */
  finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#request.signal.removeEventListener('abort', this.#left);
    this.#host.over(this.#handle);
  }

  readonly #left = (): void => {
    if (this.#isOver) return;
    this.end();
    this.#host.gone(this.#handle);
  };

  /** The body: each part is taken from the machine when the one before has been read. */
  stream(head: ResponsePart): ReadableStream<Uint8Array> {
    let part: ResponsePart | undefined = head;
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          do {
            part ??= await this.next();
            if (part === undefined || part.isAborted) {
              controller.error(new Error('the response was ended before it was complete'));
              this.finish();
              return;
            }
            const { data, isLast } = part;
            part = undefined;
            if (data.length > 0) controller.enqueue(data);
            if (isLast) {
              controller.close();
              this.finish();
              return;
            }
            this.#host.taken(this.#handle);
            if (data.length > 0) return;
          } while (!this.#isOver);
        },
        cancel: () => this.#left(),
      },
      { highWaterMark: 0 },
    );
  }
}
