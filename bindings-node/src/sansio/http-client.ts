/** The client role over HTTP. */

import { checked, Pieces, type Row, rowsOf } from './batch.js';
import { ClientCommands, openSettings } from './client-commands.js';
import { type ExchangeHandle, eventsOf, type HttpClientEvent } from './events.js';
import { type HeaderPairs, headerPairs, headerText } from './headers.js';
import { given } from './machine.js';
import { native } from './native.js';
import type { HttpClientSettings } from './settings.js';

/** A request to send. A redirect is not to be followed: its head is handed in like any other. */
export interface HttpRequest {
  readonly type: 'request';
  /** Names it in what the host reports. */
  readonly exchange: ExchangeHandle;
  readonly method: string;
  readonly url: string;
  /** Pairs of name, in lower case, and value, without those that an HTTP library adds. */
  readonly headers: [name: string, value: string][];
  /** The body; empty if there is none. */
  readonly body: string;
  /** The response may stay silent for as long as it likes: no read timeout applies. */
  readonly isStream: boolean;
}

/** An exchange to give up: close its connection, or reset its stream. Its end is not reported. */
export interface HttpAbort {
  readonly type: 'abort';
  readonly exchange: ExchangeHandle;
}

/** The kind of the row that tells a request. */
const REQUEST = 0;

/** The settings of the transport, as the addon reads them, and those of the machine. */
function split(settings: HttpClientSettings): [http: string, machine: string] {
  const { seed, now, url, fallsBackToSse, opensStream, authorizes, ...machine } = settings;
  return [JSON.stringify({ url, fallsBackToSse, opensStream, authorizes }), openSettings(machine)];
}

/**
 * A client over HTTP. It starts to connect at once: carry out what `pollTransmit` gives, all at once and in any order
 * of completion, and hand in what comes back.
 */
export class HttpClient extends ClientCommands<HttpClientEvent> {
  /**
   * Sets a client up.
   *
   * @throws RangeError if `url` is no URL of http or https.
   */
  constructor(settings: HttpClientSettings) {
    const [http, machine] = split(settings);
    super(native.openHttpClient(machine, http, settings.seed, settings.now));
  }

  /** What to do next, if anything. */
  pollTransmit(now: number): HttpRequest | HttpAbort | undefined {
    const text = checked(native.pollTransmit(this.handle, now));
    if (text === '') return undefined;
    const row = rowsOf(text)[0] as Row;
    if (row[0] !== REQUEST) return { type: 'abort', exchange: row[1] };
    return {
      type: 'request',
      exchange: row[1],
      method: row[2],
      url: row[3],
      headers: headerPairs(row[4]),
      body: new Pieces(text).take(row[5]),
      isStream: row[6],
    };
  }

  /** Takes the head of a response. */
  receiveHead(
    exchange: ExchangeHandle,
    status: number,
    headers: HeaderPairs,
    now: number,
  ): HttpClientEvent[] {
    return eventsOf(native.receiveHead(this.handle, exchange, status, headerText(headers), now));
  }

  /** Takes a piece of the body, after decoding of its codings. */
  receiveBody(exchange: ExchangeHandle, data: Uint8Array, now: number): HttpClientEvent[] {
    return eventsOf(native.receiveResponseBody(this.handle, exchange, data, now));
  }

  /** The response is complete. */
  receiveEnd(exchange: ExchangeHandle, now: number): HttpClientEvent[] {
    return eventsOf(native.receiveResponseEnd(this.handle, exchange, now));
  }

  /** The exchange has failed: the request was surely not sent, or it broke. A redirect is no failure but a response. */
  receiveFailure(exchange: ExchangeHandle, failure: 'notSent' | 'broken', now: number): HttpClientEvent[] {
    return eventsOf(native.receiveFailure(this.handle, exchange, failure, now));
  }

  /** Whether to read on in an exchange. */
  wantsInput(exchange: ExchangeHandle): boolean {
    return given(native.wantsInputOf(this.handle, exchange));
  }

  /** There are new credentials: the exchange is sent again, once. */
  authorized(exchange: ExchangeHandle, now: number): HttpClientEvent[] {
    return eventsOf(native.authorized(this.handle, exchange, now));
  }

  /** There are none: what waits for the exchange fails. */
  unauthorized(exchange: ExchangeHandle, now: number): HttpClientEvent[] {
    return eventsOf(native.unauthorized(this.handle, exchange, now));
  }

  /** True when everything is over and nothing is left to be done. */
  get isFinished(): boolean {
    return given(native.isFinished(this.handle));
  }
}
