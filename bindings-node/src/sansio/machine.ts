/** What all machines have in common, and how outcomes of the addon become values and errors. */

import { failure } from './errors.js';
import { type Event, eventsOf, type Remembered } from './events.js';
import { type Done, type Given, type Handle, native } from './native.js';

/**
 * The value that a call gives; its error is thrown.
 *
 * @internal
 */
export function given<T>(outcome: Given<T>): T {
  if (typeof outcome === 'string') throw failure(outcome);
  return outcome;
}

/**
 * Throws the error of a call, if there is one.
 *
 * @internal
 */
export function done(outcome: Done): void {
  if (outcome !== null) throw failure(outcome);
}

/**
 * A machine: it reads no clock, opens no file and starts no timer.
 *
 * Times are in milliseconds from any fixed origin (a monotonic clock), and may have a fraction, which is cut off.
 */
export class Machine<E extends Event> {
  /** @internal */
  readonly handle: Handle;
  /** @internal */
  readonly remembered: Remembered = {};

  /** @internal */
  constructor(outcome: Given<Handle>) {
    this.handle = given(outcome);
  }

  /** Takes out the events that commands have caused. */
  events(): E[] {
    return eventsOf(native.events(this.handle), this.remembered);
  }

  /** Lets time pass. Harmless when nothing is due. */
  handleTimeout(now: number): E[] {
    return eventsOf(native.handleTimeout(this.handle, now), this.remembered);
  }

  /** When to call `handleTimeout` at the latest, if ever. */
  pollTimeout(): number | undefined {
    const due = given(native.pollTimeout(this.handle));
    return due < 0 ? undefined : due;
  }

  /** Ends the connection in order; `disconnected` follows. */
  close(): void {
    done(native.close(this.handle));
  }
}
