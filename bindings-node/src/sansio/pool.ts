/** Room for what is sent: small pieces share an array, as making one for each costs more than filling it. */

const POOL_BYTES = 32 * 1024;
/** With less room than this a new pool is begun. */
const LEAST_ROOM = 2 * 1024;
/** Bytes at the start in which the addon tells numbers. */
const HEAD = 16;

/**
 * The array that is being filled.
 *
 * @internal
 */
export let pool: Uint8Array<ArrayBuffer> = Buffer.allocUnsafeSlow(POOL_BYTES);
/**
 * How much of it is taken.
 *
 * @internal
 */
export let used = HEAD;
/**
 * The numbers that the last call has told.
 *
 * @internal
 */
export let head = new Float64Array(pool.buffer, 0, 2);

/**
 * Takes the next bytes of the pool, which have been written.
 *
 * @internal
 */
export function take(count: number): Uint8Array {
  const taken = pool.subarray(used, used + count);
  used += count;
  if (used > POOL_BYTES - LEAST_ROOM) {
    pool = Buffer.allocUnsafeSlow(POOL_BYTES);
    head = new Float64Array(pool.buffer, 0, 2);
    used = HEAD;
  }
  return taken;
}
