/** The clock that all machines of the process are told the time by. */

// To look it up takes longer than what it is looked up for.
const node = process;

/**
 * Milliseconds from some point in the past, which never go back.
 *
 * @internal
 */
export function now(): number {
  // `performance` tells the same, and is more to load than all else that a server needs of Node.
  const time = node.hrtime();
  return time[0] * 1e3 + time[1] / 1e6;
}

/**
 * What {@link now} counts from, in milliseconds since 1970.
 *
 * @internal
 */
export function clockOrigin(): number {
  return Date.now() - now();
}
