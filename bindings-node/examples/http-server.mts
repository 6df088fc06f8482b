/** A server over HTTP in every revision: `http-server.mjs [PORT]`. Clients of 2024-11-05 connect to `/sse`. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server } from 'barewire';
import { nodeHandler } from 'barewire/http';
import * as z from 'zod';

const server = new Server({ name: 'counter', version: '1.0.0' });

server.tool(
  'count',
  { description: 'Count slowly, and say how far it is.', input: z.object({ to: z.int().max(1000) }) },
  async ({ to }, context) => {
    for (let number = 1; number <= to; number += 1) {
      await context.progress(number, to);
      await sleep(100, undefined, { signal: context.signal });
    }
    return 'done';
  },
);

const handler = nodeHandler(server, { path: '/mcp', sse: true });
const listener = createServer(handler).listen(Number(process.argv[2] ?? 3000), '127.0.0.1');
process.once('SIGTERM', async () => {
  await handler.close(); // what is in flight ends first
  listener.close();
});

listener.once('listening', () => {
  console.log(`http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`);
});
