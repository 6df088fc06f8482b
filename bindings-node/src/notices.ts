/** Callbacks of the application that are told of something, and whose failures must not end the connection. */

/** Notices that may wait for a slow callback; the oldest are dropped beyond it. */
const WAITING_NOTICES = 1024;

/**
 * Says that a function of the application has thrown, which nobody else would hear of.
 *
 * @internal
 */
export function reportFailure(what: string, error: unknown): void {
  const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.emitWarning(`${what} failed: ${told}`, 'BarewireWarning');
}

/**
 * Calls that are made one after the other, in order.
 *
 * @internal
 */
export class Notices {
  readonly #waiting: (() => unknown)[] = [];
  #isBusy = false;

  /** Makes a call when those before it are done. `what` names the callback where it fails. */
  add(what: string, call: () => unknown): void {
    if (this.#waiting.length >= WAITING_NOTICES) this.#waiting.shift();
    this.#waiting.push(call);
    if (!this.#isBusy) void this.#callAll(what);
  }

  async #callAll(what: string): Promise<void> {
    this.#isBusy = true;
    for (let call = this.#waiting.shift(); call !== undefined; call = this.#waiting.shift()) {
      try {
        await call();
      } catch (error) {
        reportFailure(what, error);
      }
    }
    this.#isBusy = false;
  }
}
