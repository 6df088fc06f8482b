/** Clients and servers behind newline framing. */

import { ClientCommands, openSettings } from './client-commands.js';
import { failure } from './errors.js';
import { type ClientEvent, eventsOf, type ServerEvent } from './events.js';
import { given } from './machine.js';
import { type Handle, native } from './native.js';
import { pool, take, used } from './pool.js';
import { keysOf, ServerCommands, serverSettings } from './server-commands.js';
import type { ClientSettings, ServerSettings } from './settings.js';

const NOTHING = new Uint8Array(0);

function dataToSend(handle: Handle): Uint8Array {
  const outcome = native.dataToSend(handle, pool, used);
  if (typeof outcome === 'number') return outcome === 0 ? NOTHING : take(outcome);
  if (typeof outcome === 'string') throw failure(outcome);
  return outcome;
}

/** A server behind newline framing, for both eras on one channel. */
export class Server extends ServerCommands<ServerEvent> {
  /** Sets a server up. */
  constructor(settings: ServerSettings) {
    super(native.openServer(serverSettings(settings), settings.seed, keysOf(settings)));
  }

  /**
   * Takes bytes that were read, cut anywhere, and gives all events.
   *
   * @throws {@link ConnectionClosedError} when the connection is over already, and no event is left to tell it.
   */
  receiveData(data: Uint8Array, now: number): ServerEvent[] {
    return eventsOf(native.receiveData(this.handle, data, now));
  }

  /** The client closed its side; answers that are owed can still be sent. */
  receiveEof(now: number): ServerEvent[] {
    return eventsOf(native.receiveEof(this.handle, now));
  }

  /** The transport broke: nothing can be sent or received any more. */
  connectionLost(now: number): ServerEvent[] {
    return eventsOf(native.connectionLost(this.handle, now));
  }

  /** Takes out all bytes that wait to be sent. They may lie in a larger `ArrayBuffer`, and nobody changes them. */
  dataToSend(): Uint8Array {
    return dataToSend(this.handle);
  }

  /** False while so much waits to be sent or taken that the host should stop reading. */
  get wantsInput(): boolean {
    return given(native.wantsInput(this.handle));
  }

  /** True when everything is over and sent: close this side of the stream. */
  get isFinished(): boolean {
    return given(native.isFinished(this.handle));
  }
}

/** A client behind newline framing. It starts to connect at once: take `dataToSend`. */
export class Client extends ClientCommands<ClientEvent> {
  /** Sets a client up. */
  constructor(settings: ClientSettings) {
    const { seed, now, ...rest } = settings;
    super(native.openClient(openSettings(rest), seed, now));
  }

  /**
   * Takes bytes that were read, cut anywhere, and gives all events.
   *
   * @throws {@link ConnectionClosedError} when the connection is over already, and no event is left to tell it.
   */
  receiveData(data: Uint8Array, now: number): ClientEvent[] {
    return eventsOf(native.receiveData(this.handle, data, now));
  }

  /** The server closed its side; requests in flight fail. */
  receiveEof(now: number): ClientEvent[] {
    return eventsOf(native.receiveEof(this.handle, now));
  }

  /** The transport broke: nothing can be sent or received any more. */
  connectionLost(now: number): ClientEvent[] {
    return eventsOf(native.connectionLost(this.handle, now));
  }

  /** The server was started afresh, as `restartRequired` asked. */
  restart(now: number): ClientEvent[] {
    return eventsOf(native.restart(this.handle, now));
  }

  /** Takes out all bytes that wait to be sent. They may lie in a larger `ArrayBuffer`, and nobody changes them. */
  dataToSend(): Uint8Array {
    return dataToSend(this.handle);
  }

  /** False while so much waits to be sent or taken that the host should stop reading. */
  get wantsInput(): boolean {
    return given(native.wantsInput(this.handle));
  }

  /** True when everything is over and sent: close this side of the stream. */
  get isFinished(): boolean {
    return given(native.isFinished(this.handle));
  }
}
