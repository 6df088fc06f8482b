/** Ports for programs that are told where to listen. */

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems give to outgoing connections, which come and go all the time in tests. */
const PORTS = [20_000, 32_000] as const;

/** A port of loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...PORTS);
    const probe = createServer().listen(port, '127.0.0.1');
    try {
      await once(probe, 'listening');
    } catch {
      continue; // somebody has it
    }
    probe.close();
    await once(probe, 'close');
    return port;
  }
}
