/** The clock that all machines of the process are told the time by. */

/**
 * Milliseconds since the process began, which never go back.
 *
 * @internal
 */
export function now(): number {
  return performance.now();
}
