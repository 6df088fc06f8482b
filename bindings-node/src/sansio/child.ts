/** The steps that end a child process. */

import { given } from './machine.js';
import { type ChildHandle, native } from './native.js';
import { settingsText, type Timeouts } from './settings.js';

/** What to do to a child. */
export type ChildAction = 'closeInput' | 'terminate' | 'kill';

/**
 * The steps that end a child process: close its input, wait, ask, wait, force.
 *
 * Start it, carry out each action, wait no longer than `pollTimeout` says, and tell when the child is gone.
 */
export class ChildShutdown {
  readonly #handle: ChildHandle;

  /** Takes the waits from `childExit` and `childTerminate`. */
  constructor(timeouts: Timeouts = {}) {
    this.#handle = given(native.openChildShutdown(settingsText(timeouts)));
  }

  /** Begins to end the child. Harmless when begun before. */
  start(): void {
    native.childStart(this.#handle);
  }

  /** The child has exited: nothing more is due. */
  childExited(): void {
    native.childExited(this.#handle);
  }

  /** The next action, each once; `now` is when it is carried out. */
  pollAction(now: number): ChildAction | undefined {
    return (native.childPollAction(this.#handle, now) ?? undefined) as ChildAction | undefined;
  }

  /** When to call `handleTimeout` at the latest, if ever. */
  pollTimeout(): number | undefined {
    const due = native.childPollTimeout(this.#handle);
    return due < 0 ? undefined : due;
  }

  /** Lets time pass. Harmless when nothing is due. */
  handleTimeout(now: number): void {
    native.childHandleTimeout(this.#handle, now);
  }

  /** Whether the child has exited. */
  get isFinished(): boolean {
    return native.childIsFinished(this.#handle);
  }
}
