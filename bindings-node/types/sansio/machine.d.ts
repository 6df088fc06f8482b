/** What all machines have in common, and how outcomes of the addon become values and errors. */
import { type Event } from './events.js';
/**
 * A machine: it reads no clock, opens no file and starts no timer.
 *
 * Times are in milliseconds from any fixed origin (a monotonic clock), and may have a fraction, which is cut off.
 */
export declare class Machine<E extends Event> {
    /** Takes out the events that commands have caused. */
    events(): E[];
    /** Lets time pass. Harmless when nothing is due. */
    handleTimeout(now: number): E[];
    /** When to call `handleTimeout` at the latest, if ever. */
    pollTimeout(): number | undefined;
    /** Ends the connection in order; `disconnected` follows. */
    close(): void;
}
