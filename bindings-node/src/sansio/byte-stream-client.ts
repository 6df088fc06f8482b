/** Clients behind newline framing. */

import { dataToSend, type Turn, turn } from './byte-stream.js';
import { ClientCommands, openSettings } from './client-commands.js';
import { type ClientEvent, eventsOf } from './events.js';
import { given } from './machine.js';
import { native } from './native.js';
import type { ClientSettings } from './settings.js';

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

  /** All that a host asks at the end of a turn; the data stays where it is unless `takesData`. @internal */
  turn(takesData: boolean): Turn<ClientEvent> {
    return turn(this.handle, takesData);
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
