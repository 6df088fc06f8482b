/** The steps that end a child process. */
import { type Timeouts } from './settings.js';
/** What to do to a child. */
export type ChildAction = 'closeInput' | 'terminate' | 'kill';
/**
 * The steps that end a child process: close its input, wait, ask, wait, force.
 *
 * Start it, carry out each action, wait no longer than `pollTimeout` says, and tell when the child is gone.
 */
export declare class ChildShutdown {
    #private;
    /** Takes the waits from `childExit` and `childTerminate`. */
    constructor(timeouts?: Timeouts);
    /** Begins to end the child. Harmless when begun before. */
    start(): void;
    /** The child has exited: nothing more is due. */
    childExited(): void;
    /** The next action, each once; `now` is when it is carried out. */
    pollAction(now: number): ChildAction | undefined;
    /** When to call `handleTimeout` at the latest, if ever. */
    pollTimeout(): number | undefined;
    /** Lets time pass. Harmless when nothing is due. */
    handleTimeout(now: number): void;
    /** Whether the child has exited. */
    get isFinished(): boolean;
}
