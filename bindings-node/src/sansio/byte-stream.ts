/** Servers behind newline framing, and what clients there have in common with them. */

import { failure } from './errors.js';
import { type Event, eventsOf, type Remembered, type ServerEvent } from './events.js';
import { given } from './machine.js';
import { type Handle, native } from './native.js';
import { head, pool, take, used } from './pool.js';
import { keysOf, ServerCommands, serverSettings } from './server-commands.js';
import type { ServerSettings } from './settings.js';

const NOTHING = new Uint8Array(0);
const NO_EVENTS: readonly never[] = [];

/**
 * Takes out all bytes that wait to be sent.
 *
 * @internal
 */
export function dataToSend(handle: Handle): Uint8Array {
  const outcome = native.dataToSend(handle, pool, used);
  if (typeof outcome === 'number') return outcome === 0 ? NOTHING : take(outcome);
  if (typeof outcome === 'string') throw failure(outcome);
  return outcome;
}

/**
 * What a host learns at the end of one of its turns. Each member is what the one of that name, or `pollTimeout`, gives.
 *
 * @internal
 */
export interface Turn<E extends Event> {
  /** Empty if nothing was to be taken. */
  readonly data: Uint8Array;
  readonly events: E[];
  readonly wantsInput: boolean;
  readonly isFinished: boolean;
  readonly due: number | undefined;
  /** There may be more events. */
  readonly isPart: boolean;
}

/**
 * All that a host asks at the end of a turn. A crossing into the addon for each would cost more than the message.
 *
 * @internal
 */
export function turn<E extends Event>(handle: Handle, takesData: boolean, last?: Remembered): Turn<E> {
  const outcome = native.turn(handle, pool, takesData ? used : -1);
  const events = typeof outcome === 'string' ? eventsOf<E>(outcome, last) : NO_EVENTS;
  const due = head[0] as number;
  const state = head[1] as number;
  const count = Math.floor(state / 4);
  return {
    data: typeof outcome === 'object' && outcome !== null ? outcome : count === 0 ? NOTHING : take(count),
    events: events as E[],
    wantsInput: (state & 1) !== 0,
    isFinished: (state & 2) !== 0,
    due: due < 0 ? undefined : due,
    isPart: outcome !== null,
  };
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
    return eventsOf(native.receiveData(this.handle, data, now), this.remembered);
  }

  /** The client closed its side; answers that are owed can still be sent. */
  receiveEof(now: number): ServerEvent[] {
    return eventsOf(native.receiveEof(this.handle, now), this.remembered);
  }

  /** The transport broke: nothing can be sent or received any more. */
  connectionLost(now: number): ServerEvent[] {
    return eventsOf(native.connectionLost(this.handle, now), this.remembered);
  }

  /** All that a host asks at the end of a turn; the data stays where it is unless `takesData`. @internal */
  turn(takesData: boolean): Turn<ServerEvent> {
    return turn(this.handle, takesData, this.remembered);
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
