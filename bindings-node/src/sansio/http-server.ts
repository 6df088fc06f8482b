/** The server role behind HTTP. */

import { checked, Pieces, type Row, rowsOf } from './batch.js';
import {
  type ExchangeHandle,
  eventsOf,
  type HttpServerEvent,
  type Json,
  type RequestContext,
  type RequestHandle,
  type SessionHandle,
  type ToolCalled,
  wholeContext,
} from './events.js';
import { flatHeaders, type HeaderPairs, headerPairs, headerText, requestHead } from './headers.js';
import { done, given } from './machine.js';
import { native } from './native.js';
import { head, pool, take, used } from './pool.js';
import { keysOf, ServerCommands, serverSettings } from './server-commands.js';
import { type HttpServerSettings, settingsText } from './settings.js';

/** Numbers that the addon tells beside the text of a call. */
const places = Buffer.allocUnsafeSlow(6 * Float64Array.BYTES_PER_ELEMENT);
const numbers = new Float64Array(places.buffer);

/** The header whose value is made from the body where a head is remembered. */
const CONTENT_LENGTH = 'content-length';

/** What is known of a request beside its method, headers and body. */
export interface ReceiveOptions {
  /** Who sends it, by any key; sessions belong to it. */
  readonly principal?: string;
  /** It asks for the stream of HTTP+SSE (2024-11-05): the path of the endpoint that takes messages. */
  readonly eventStream?: string;
  /** It is for the endpoint of HTTP+SSE that takes messages: the query string. */
  readonly messages?: string;
}

/** A refusal of the host. */
export interface Denial {
  readonly status: number;
  /** The value of `WWW-Authenticate`, if there is one. */
  readonly challenge?: string | undefined;
}

/** What to send next in one exchange: the head, then the data, then the end. */
export interface ResponsePart {
  /** The status, in the first part only. */
  readonly status: number | undefined;
  /** Pairs of name, in lower case, and value, in the first part only. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Bytes of the body; may be empty. They may lie in a larger `ArrayBuffer`, and nobody changes them. */
  readonly data: Uint8Array;
  /** After this part the exchange is over. */
  readonly isLast: boolean;
  /**
   * Close the connection without an orderly end of the body, so that the client does not take what it got for the
   * whole.
   */
  readonly isAborted: boolean;
}

/**
 * A part of an exchange that was ready.
 *
 * @internal
 */
export interface ReadyPart {
  readonly exchange: ExchangeHandle;
  readonly status: number | undefined;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** The bytes of the body, or text for them that is ASCII alone. */
  readonly data: Uint8Array | string;
  readonly isLast: boolean;
  readonly isAborted: boolean;
}

/**
 * What a host learns at the end of one of its turns.
 *
 * @internal
 */
export interface Ready {
  /** What to send next in the exchanges that `ready` would have named. */
  readonly parts: readonly ReadyPart[];
  /** What `pollTimeout` gives. */
  readonly due: number | undefined;
  /** There may be more. */
  readonly isPart: boolean;
}

/** The options, of which one at most names an endpoint. */
function checkedOptions(options: ReceiveOptions | undefined): ReceiveOptions {
  if (options?.eventStream !== undefined && options.messages !== undefined) {
    throw new TypeError('a request has one endpoint: eventStream or messages, not both');
  }
  return options ?? {};
}

/** The settings of the transport, as the addon reads them, and those of the machine. */
function split(settings: HttpServerSettings): [http: string, machine: string] {
  const {
    allowedOrigins,
    allowedHosts,
    bodyBytes,
    keepAlive,
    sessionIdle,
    retry,
    eventKeeping,
    keptEvents,
    keptBytes,
    keptAge,
    externalSessions,
    ...machine
  } = settings;
  const http = {
    allowedOrigins,
    allowedHosts,
    bodyBytes,
    keepAlive,
    sessionIdle,
    retry,
    eventKeeping,
    keptEvents,
    keptBytes,
    keptAge,
    externalSessions,
  };
  return [settingsText(http), serverSettings(machine)];
}

/**
 * A server behind HTTP, for both eras and any number of clients.
 *
 * A program hands in requests as they come, says when a client has gone, and after any of these, any command and any
 * timeout asks `ready` which exchanges have something to send, and `pollResponse` what. It asks an exchange again only
 * when its connection has taken the last part: a slow reader delays nobody else.
 */
export class HttpServer extends ServerCommands<HttpServerEvent> {
  // What the addon tells once of many requests, and of many responses.
  readonly #contexts: RequestContext[] = [];
  #status = 0;
  #headers: string[] = [];
  #lengthAt = 0;
  // How often. The addon begins anew where that is not how often it has told something to be remembered.
  #remembered = 0;

  /** Sets a server up. */
  constructor(settings: HttpServerSettings) {
    const [http, machine] = split(settings);
    super(native.openHttpServer(machine, http, settings.seed, keysOf(settings)));
  }

  /**
   * Takes the head of a request; gives its exchange. What refuses it is ready to be sent at once; its body is then
   * ignored.
   */
  receiveRequest(
    method: string,
    headers: HeaderPairs,
    now: number,
    options?: ReceiveOptions,
  ): ExchangeHandle {
    const text = headerText(headers);
    const { principal, eventStream, messages } = checkedOptions(options);
    return given(native.receiveRequest(this.handle, method, text, now, principal, eventStream, messages));
  }

  /** Takes the head of a request that is not let in, without its body; gives its exchange, whose response is ready. */
  receiveDenied(
    method: string,
    headers: HeaderPairs,
    denial: Denial,
    now: number,
    options?: ReceiveOptions,
  ): ExchangeHandle {
    const text = headerText(headers);
    const { status, challenge } = denial;
    const { eventStream, messages } = checkedOptions(options);
    return given(
      native.receiveDenied(this.handle, method, text, status, challenge, now, eventStream, messages),
    );
  }

  /** Does not let through what an exchange has brought; false if its response has begun. */
  deny(exchange: ExchangeHandle, { status, challenge }: Denial, now: number): boolean {
    return given(native.deny(this.handle, exchange, status, challenge, now));
  }

  /** Takes a piece of the body. */
  receiveBody(exchange: ExchangeHandle, data: Uint8Array, now: number): void {
    done(native.receiveBody(this.handle, exchange, data, now));
  }

  /** The body is complete: what it holds goes to the machine. */
  receiveEnd(exchange: ExchangeHandle, now: number): HttpServerEvent[] {
    return eventsOf(native.receiveEnd(this.handle, exchange, now));
  }

  /** Takes a request whose body is at hand; gives its exchange and the events. As {@link receiveRequest}. */
  receiveWhole(
    method: string,
    headers: HeaderPairs,
    body: Uint8Array,
    now: number,
    options?: ReceiveOptions,
  ): [exchange: ExchangeHandle, events: HttpServerEvent[]] {
    const flat = flatHeaders(headers);
    const { principal, eventStream, messages } = checkedOptions(options);
    numbers[0] = this.#remembered;
    const text = native.receiveWhole(
      this.handle,
      requestHead(method, flat),
      flat.length + 1,
      body,
      now,
      places,
      principal,
      eventStream,
      messages,
    );
    // Where it tells of no call, it can tell of an error.
    const isCall = (numbers[1] as number) >= 0;
    const events = isCall ? [this.#toolCall(text)] : eventsOf<HttpServerEvent>(text);
    return [numbers[0] as number, events];
  }

  /** A call of a tool, as the addon tells it in numbers beside its text. */
  #toolCall(text: string): ToolCalled {
    const exchange = numbers[0] as number;
    const nameLength = numbers[2] as number;
    const length = numbers[3] as number;
    const place = numbers[4] as number;
    const end = length < 0 ? nameLength : nameLength + length;
    if (numbers[5] === 1) {
      const [, row] = rowsOf(text)[0] as Row;
      this.#contexts[place] = wholeContext(row, new Pieces(text, end));
      this.#remembered += 1;
    }
    return {
      type: 'toolCalled',
      request: numbers[1] as number,
      name: text.slice(0, nameLength),
      arguments: length < 0 ? undefined : text.slice(nameLength, end),
      context: contextWithin(this.#contexts[place] as RequestContext, exchange),
    };
  }

  /** The client has gone, or nothing can be sent to it any more. */
  receiveAbort(exchange: ExchangeHandle, now: number): HttpServerEvent[] {
    return eventsOf(native.receiveAbort(this.handle, exchange, now));
  }

  /** The exchanges that have something to send and were not named since they last had nothing. */
  ready(): ExchangeHandle[] {
    return given(native.ready(this.handle));
  }

  /** What to send next in an exchange; `undefined` if that is nothing for now, or the exchange is over. */
  pollResponse(exchange: ExchangeHandle): ResponsePart | undefined {
    const outcome = native.pollResponse(this.handle, exchange, pool, used);
    if (typeof outcome !== 'string') return part(outcome[0], outcome[1]);
    const text = checked(outcome);
    return text === '' ? undefined : part(text, undefined);
  }

  /** All that a host asks at the end of a turn: `ready`, `pollResponse` for each, and `pollTimeout`. @internal */
  readyParts(): Ready {
    const outcome = native.readyParts(this.handle, pool, used);
    const isText = typeof outcome === 'string';
    const text = checked(isText ? outcome : outcome[0]);
    const due = head[0] as number;
    return {
      parts:
        text === ''
          ? NO_PARTS
          : partsOf(rowsOf(text), text, take(head[1] as number), isText ? NO_DATA : outcome[1]),
      due: due < 0 ? undefined : due,
      isPart: !isText,
    };
  }

  /** `respond`, and then `readyParts` in the same call. @internal */
  answer(request: RequestHandle, result: Json): Ready {
    numbers[0] = this.#remembered;
    const outcome = native.answer(this.handle, request, result, places);
    const at = numbers[0] as number;
    const due = at < 0 ? undefined : at;
    const exchange = numbers[1] as number;
    if (exchange >= 0) {
      const part = this.#wholeResponse(outcome as string, exchange, numbers[2] as number);
      return { parts: [part], due, isPart: false };
    }
    const isText = typeof outcome === 'string';
    const text = checked(isText ? outcome : outcome[0]);
    const parts =
      text === '' ? NO_PARTS : partsOf(rowsOf(text), text, NO_DATA, isText ? NO_DATA : outcome[1]);
    return { parts, due, isPart: !isText };
  }

  /** A response as the addon tells it beside numbers: the body, and behind it the head unless that is remembered. */
  #wholeResponse(text: string, exchange: ExchangeHandle, length: number): ReadyPart {
    let data = text;
    if (length >= 0) {
      data = text.slice(0, length);
      const [, status, headers] = rowsOf(text)[0] as Row;
      this.#status = status;
      this.#headers = headers;
      this.#lengthAt =
        headers.findIndex((name: string, at: number) => at % 2 === 0 && name === CONTENT_LENGTH) + 1;
      this.#remembered += 1;
    }
    const headers = this.#headers.slice();
    if (this.#lengthAt > 0) headers[this.#lengthAt] = String(data.length);
    return { exchange, status: this.#status, headers, data, isLast: true, isAborted: false };
  }

  /** Bytes that wait to be taken by an exchange. */
  backlog(exchange: ExchangeHandle): number {
    return given(native.backlog(this.handle, exchange));
  }

  /** Answers `sessionRequested`: the session as it was imported, or none. */
  resolveSession(
    exchange: ExchangeHandle,
    session: SessionHandle | undefined,
    now: number,
  ): HttpServerEvent[] {
    return eventsOf(native.resolveSession(this.handle, exchange, session ?? -1, now));
  }

  /** Answers `replayRequested`: ids and data of what followed, or `undefined` if the stream is not known. */
  replay(
    exchange: ExchangeHandle,
    events: readonly (readonly [id: string, data: string])[] | undefined,
    now: number,
  ): void {
    done(native.replay(this.handle, exchange, events?.flat(), now));
  }

  /**
   * Ends the response of a legacy request for now; whether that was possible.
   *
   * The client reconnects after `retry` milliseconds and finds what followed. That takes a stream that has told an
   * event id.
   */
  closeStream(exchange: ExchangeHandle, now: number, retry?: number): boolean {
    return given(native.closeStream(this.handle, exchange, now, retry ?? -1));
  }

  /** Takes no more requests; streams that wait for nothing end, and what is in flight goes on. */
  shutDown(now: number): HttpServerEvent[] {
    return eventsOf(native.shutDown(this.handle, now));
  }

  /** True when no exchange is open. */
  get isIdle(): boolean {
    return given(native.isIdle(this.handle));
  }
}

function part(text: string, data: Uint8Array | undefined): ResponsePart {
  const row = rowsOf(text)[0] as Row;
  return {
    status: row[1] ?? undefined,
    headers: row[2] === null ? [] : headerPairs(row[2]),
    data: data ?? take(row[5]),
    isLast: row[3],
    isAborted: row[4],
  };
}

const NO_PARTS: readonly ReadyPart[] = [];

const NO_DATA = new Uint8Array(0);

/** The data of a part is a piece of the text, or the next of the bytes that were put into the pool, or `own`. */
function partsOf(rows: Row, text: string, pooled: Uint8Array, own: Uint8Array): ReadyPart[] {
  const pieces = new Pieces(text);
  let at = 0;
  const data = (length: number | null, isText: boolean): Uint8Array | string => {
    if (isText) return pieces.take(length as number);
    if (length === null) return own;
    at += length;
    return pooled.subarray(at - length, at);
  };
  return rows.map((row: Row) => ({
    exchange: row[6],
    status: row[1] ?? undefined,
    headers: row[2] ?? [],
    data: data(row[5], row[7]),
    isLast: row[3],
    isAborted: row[4],
  }));
}

/** The same context of another exchange. Member by member, because engines copy objects far slower. */
function contextWithin(context: RequestContext, exchange: ExchangeHandle): RequestContext {
  return {
    revision: context.revision,
    era: context.era,
    client: context.client,
    capabilities: context.capabilities,
    logLevel: context.logLevel,
    session: context.session,
    meta: context.meta,
    exchange,
    progressToken: context.progressToken,
    principal: context.principal,
    round: context.round,
    state: context.state,
    inputAnswers: context.inputAnswers,
  };
}
