/** Waiting for the signals of callers: one listener for each, because Node takes many for a leak. */

interface Waiting {
  readonly calls: Set<() => void>;
  readonly listener: () => void;
}

const waiting = new WeakMap<AbortSignal, Waiting>();

function listen(signal: AbortSignal): Waiting {
  const calls = new Set<() => void>();
  const listener = (): void => {
    waiting.delete(signal);
    for (const call of calls) call();
  };
  signal.addEventListener('abort', listener, { once: true });
  const made = { calls, listener };
  waiting.set(signal, made);
  return made;
}

/**
 * Calls `aborted` once the signal is; what it gives ends the waiting.
 *
 * @internal
 */
export function onAbort(signal: AbortSignal, aborted: () => void): () => void {
  const { calls, listener } = waiting.get(signal) ?? listen(signal);
  calls.add(aborted);
  return () => {
    calls.delete(aborted);
    if (calls.size > 0 || waiting.get(signal)?.calls !== calls) return;
    waiting.delete(signal);
    signal.removeEventListener('abort', listener);
  };
}
