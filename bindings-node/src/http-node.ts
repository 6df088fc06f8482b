/** A server as a listener of `node:http`, for express, fastify and others too. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Caller, ResourceServer } from './auth/protection.js';
import { checkPrincipal, HttpHost, type HttpOptions, principalOf } from './http-host.js';
import type { ExchangeHandle } from './sansio/events.js';
import { type HeaderPairs, RawHeaders } from './sansio/headers.js';
import type { ReadyPart, ReceiveOptions } from './sansio/http-server.js';
import type { Server } from './server.js';

/** Options of {@link nodeHandler}. */
export interface NodeHandlerOptions extends HttpOptions {
  /**
   * Tells who sends a request, by any key: a session serves nobody but its principal. It authenticates nobody itself.
   */
  readonly principal?: (request: IncomingMessage) => string | undefined;
}

/** What answers requests of `node:http`. */
export interface NodeHandler {
  /**
   * @param body - The body if something else has read it: its value of JSON, text or bytes. What express has put into
   * `request.body` is found without. A function, such as `next` of express, is none.
   */
  (request: IncomingMessage, response: ServerResponse, body?: unknown): void;
  /**
   * Takes no more requests, waits until what is in flight has ended, and ends all streams.
   *
   * Close the server of `node:http` after this, not before: it drops connections that still have to take a response.
   */
  close(): Promise<void>;
}

/**
 * The server as a listener of `node:http`.
 *
 * ```ts
 * createServer(nodeHandler(server, { path: '/mcp' })).listen(3000, '127.0.0.1');
 * app.all('/mcp', nodeHandler(server)); // express
 * app.all('/mcp', (request, reply) => { // fastify, whose `forceCloseConnections: true` ends it without delay
 *   reply.hijack();
 *   handler(request.raw, reply.raw, request.body);
 * });
 * ```
 *
 * Requests are let in that come from pages of the loopback interface or `allowedOrigins`, or from no page, and go to a
 * name of the loopback interface or of `allowedHosts`.
 */
export function nodeHandler(server: Server, options: NodeHandlerOptions = {}): NodeHandler {
  checkPrincipal(options);
  const host = new HttpHost(server, options);
  const { auth, principal } = options;
  const sockets = new Sockets(host);
  const handler = (request: IncomingMessage, response: ServerResponse, body?: unknown): void => {
    const leavers = sockets.get(request.socket);
    if (auth?.serves(pathOf(request))) {
      metadata(auth, request, response);
      return;
    }
    const endpoint = host.hasOneEndpoint ? {} : endpointOf(host, request);
    if (endpoint === undefined) {
      refuse(response, 404, 'There is no MCP endpoint at this path');
      return;
    }
    const headers = new RawHeaders(request.rawHeaders);
    if (auth !== undefined && request.method !== 'OPTIONS') {
      // Browsers ask with OPTIONS, and without credentials.
      void admit(host, auth, { request, response, headers, endpoint, body, leavers });
      return;
    }
    let who: string | undefined;
    let read: Uint8Array | undefined;
    try {
      who = principalOf(principal, request);
      read = readBody(request, body);
    } catch (error) {
      if (typeof body === 'function') throw error; // express, and what is like it, answers for errors itself
      console.error('barewire: a request cannot be served:', error);
      refuse(response, 500, 'Internal Server Error');
      return;
    }
    const about = who === undefined ? endpoint : { ...endpoint, principal: who };
    new NodeExchange(host, request, response, headers, leavers, undefined).receive(read, about);
  };
  return Object.assign(handler, { close: () => host.close() });
}

/** A request that is not let in yet. */
interface Arrived {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly headers: RawHeaders;
  readonly endpoint: ReceiveOptions;
  readonly body: unknown;
  readonly leavers: Leavers | undefined;
}

/** Finds out who sends a request, and serves or refuses it. */
async function admit(host: HttpHost, auth: ResourceServer, arrived: Arrived): Promise<void> {
  const { request, response, headers, endpoint, body, leavers } = arrived;
  const { method = '', url = '' } = request;
  if (headers.holdsNull) {
    refuse(response, 400, 'Bad Request');
    return;
  }
  const [, query = ''] = url.split('?', 2);
  const caller = await host.admit(auth, headers, query);
  if (response.headersSent || response.destroyed) return; // something else has answered, or the client has left
  if ('status' in caller) {
    const denial = host.deny(method, headers, caller, endpoint);
    if (denial === undefined) refuse(response, 503, 'Service Unavailable');
    else response.writeHead(denial.status ?? 500, denial.headers.flat()).end(denial.data);
    return;
  }
  let read: Uint8Array | undefined;
  try {
    read = readBody(request, body);
  } catch (error) {
    console.error('barewire: a request cannot be served:', error);
    refuse(response, 500, 'Internal Server Error');
    return;
  }
  const about = { ...endpoint, principal: caller.key };
  new NodeExchange(host, request, response, headers, leavers, caller).receive(read, about);
}

/** The path of the host: where express has mounted the handler, that of the request has lost its beginning. */
function pathOf({ url = '', baseUrl = '' }: IncomingMessage & { baseUrl?: string }): string {
  return baseUrl + (url.split('?', 1)[0] as string);
}

function metadata(auth: ResourceServer, request: IncomingMessage, response: ServerResponse): void {
  const { status, headers, body } = auth.metadata(request.method);
  response.writeHead(status, headers).end(body);
}

function endpointOf(host: HttpHost, request: IncomingMessage): ReceiveOptions | undefined {
  const { url = '' } = request;
  const end = url.indexOf('?');
  const path = end < 0 ? url : url.slice(0, end);
  const query = end < 0 ? '' : url.slice(end + 1);
  // Where express has mounted the handler, the path has lost its beginning.
  return host.endpoint(path, query, (request as { baseUrl?: string }).baseUrl);
}

function refuse(response: ServerResponse, status: number, reason: string): void {
  if (response.headersSent) return; // by something else
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(reason);
}

const EMPTY = new Uint8Array(0);

/** The body if it is at hand: because it is empty, or something else has read it. */
function readBody(request: IncomingMessage, given: unknown): Uint8Array | undefined {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
  if (length === '0' && coding === undefined) return EMPTY;
  const read = typeof given === 'function' ? undefined : given;
  const body = read ?? (request.readableEnded ? (request as { body?: unknown }).body : undefined);
  if (body === undefined) {
    if (!request.readableEnded) return undefined;
    throw new TypeError('something else has read the body of the request: give it as the third argument');
  }
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

// Bytes up to which a body is taken at once.
const SMALL = 64 << 10;

/** Who has to be told when a connection has gone. */
type Leavers = Set<() => void>;

/** The connections that requests have come on. */
class Sockets {
  readonly #host: HttpHost;
  readonly #leavers = new WeakMap<Socket, Leavers>();

  constructor(host: HttpHost) {
    this.#host = host;
  }

  /** Those of a connection; none where requests are made up, as functions in a cloud do, and there is no true one. */
  get(socket: Socket | null | undefined): Leavers | undefined {
    if (typeof socket?.prependListener !== 'function') return undefined;
    return this.#leavers.get(socket) ?? this.#add(socket);
  }

  #add(socket: Socket): Leavers {
    const leavers: Leavers = new Set();
    this.#leavers.set(socket, leavers);
    // Node ends the connection of a client that has ended its side, unless its answers have been written by then.
    socket.prependListener('end', () => this.#host.flush());
    socket.once('close', () => {
      for (const tell of leavers) tell();
    });
    return leavers;
  }
}

class NodeExchange {
  readonly #host: HttpHost;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #raw: RawHeaders;
  readonly #leavers: Leavers | undefined;
  #handle: ExchangeHandle = -1;
  #isBlocked = false;
  #isOver = false;
  #isWatched = false;

  constructor(
    host: HttpHost,
    request: IncomingMessage,
    response: ServerResponse,
    headers: RawHeaders,
    leavers: Leavers | undefined,
    readonly caller: Caller | undefined,
  ) {
    this.#host = host;
    this.#request = request;
    this.#response = response;
    this.#raw = headers;
    this.#leavers = leavers;
  }

  get headers(): HeaderPairs {
    return this.#raw;
  }

  // ------------------------------------------------------------ the request

  receive(body: Uint8Array | undefined, options: ReceiveOptions): void {
    if (body !== undefined) this.#receiveWhole(body, options);
    else if (Number(this.#request.headers['content-length']) <= SMALL) this.#collect(options);
    else this.#receivePieces(options);
  }

  #collect(options: ReceiveOptions): void {
    const chunks: Buffer[] = [];
    this.#request.on('data', (chunk: Buffer) => chunks.push(chunk));
    this.#request.on('end', () => {
      this.#receiveWhole(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks), options);
    });
  }

  #receiveWhole(body: Uint8Array, options: ReceiveOptions): void {
    const { method = '' } = this.#request;
    try {
      this.#begin(this.#host.receiveWhole(method, body, options, this));
    } catch (error) {
      this.#refuseNull(error);
    }
  }

  /** Reads a body piece by piece. What is refused meanwhile is not read to its end. */
  #receivePieces(options: ReceiveOptions): void {
    const { method = '' } = this.#request;
    try {
      if (!this.#begin(this.#host.receiveHead(method, options, this))) return;
    } catch (error) {
      this.#refuseNull(error);
      return;
    }
    this.#request.on('data', (chunk: Buffer) => {
      if (!this.#isOver) this.#host.receiveBody(this.#handle, chunk);
    });
    this.#request.on('end', () => {
      if (!this.#isOver) this.#host.receiveEnd(this.#handle);
    });
  }

  /** Whoever sends a null character in a header, past a lenient parser, must not end the program. */
  #refuseNull(error: unknown): void {
    if (!this.#raw.holdsNull) throw error;
    refuse(this.#response, 400, 'Bad Request');
  }

  // ------------------------------------------------------------ the response

  opened(handle: ExchangeHandle): void {
    this.#handle = handle;
  }

  /** Watches over the response to a request that is served; gives whether it is. */
  #begin(isServed: boolean): boolean {
    if (!isServed) refuse(this.#response, 503, 'Service Unavailable');
    else if (this.#response.destroyed) this.#closed(); // while the request waited for something else
    return isServed;
  }

  watch(): void {
    if (!this.#isOver) this.#awaitClose();
  }

  #awaitClose(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    const response = this.#response;
    const socket = this.#request.socket as Socket | null | undefined;
    if (response.destroyed || socket?.destroyed) {
      this.#closed();
      return;
    }
    response.on('close', this.#closed);
    // Nobody tells that it is closed where there is no connection.
    if (this.#leavers === undefined) response.on('finish', this.#closed);
    // One that waits for another one on its connection has none yet, and is not told when that goes.
    else if (response.socket === null) this.#leavers.add(this.#closed);
  }

  deliver(part: ReadyPart): void {
    if (this.#isOver) return;
    if (part.status !== undefined && this.#response.headersSent) {
      // What limits the time of a request does that, for one.
      console.error('barewire: something else has answered a request; its own answer is dropped');
      this.#closed();
      return;
    }
    this.#send(part.status, part.headers, part.data, part.isLast, part.isAborted);
    this.#pump();
  }

  end(): void {
    this.#isOver = true;
    this.#response.destroy();
  }

  /** Sends what there is, as long as the connection takes it. */
  #pump(): void {
    while (!this.#isBlocked && !this.#isOver) {
      const part = this.#host.poll(this.#handle, this.#raw);
      if (part === undefined) return;
      this.#send(part.status, part.headers.flat(), part.data, part.isLast, part.isAborted);
    }
  }

  #send(
    status: number | undefined,
    headers: readonly string[],
    data: Uint8Array | string,
    isLast: boolean,
    isAborted: boolean,
  ): void {
    const response = this.#response;
    if (status !== undefined) response.writeHead(status, headers as string[]);
    if (isAborted) {
      response.destroy();
      this.#finish();
    } else if (isLast) {
      // Text goes out in one piece with the head.
      if (typeof data === 'string') response.end(data, 'latin1');
      else response.end(data);
      this.#finish();
    } else if (data.length === 0) {
      response.flushHeaders();
    } else if (response.write(data)) {
      this.#host.taken(this.#handle);
    } else {
      this.#isBlocked = true;
      response.once('drain', () => {
        this.#isBlocked = false;
        this.#host.taken(this.#handle);
        this.#pump();
      });
    }
  }

  /** Everything has been written; it is over once the connection has taken it. */
  #finish(): void {
    this.#isOver = true;
    if (this.#isWatched) this.#host.taken(this.#handle);
    else if (this.#response.writableFinished) this.#host.over(this.#handle);
    else this.#awaitClose();
  }

  /** The client has all of the response, or has left. */
  readonly #closed = (): void => {
    this.#leavers?.delete(this.#closed);
    if (this.#isOver) {
      this.#host.over(this.#handle);
      return;
    }
    this.#isOver = true;
    this.#host.gone(this.#handle);
  };
}
