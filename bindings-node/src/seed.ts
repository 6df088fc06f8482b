/** Where the randomness of machines comes from. */

import { native } from './sansio/native.js';

/**
 * 32 bytes that nobody can guess.
 *
 * @internal
 */
export function randomSeed(): Uint8Array {
  // That of JavaScript takes a while to load, and a server is started anew for each client.
  return native.randomSeed() ?? crypto.getRandomValues(new Uint8Array(32));
}
