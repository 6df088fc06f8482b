/** A server in a file of CommonJS: `import` becomes `require`, and nothing is awaited outside of functions. */

import { Server } from 'barewire';
import { run } from 'barewire/stdio';
import * as z from 'zod';

const server = new Server({ name: 'hello', version: '1.0.0' });

server.tool(
  'add',
  { description: 'Add two numbers.', input: z.object({ a: z.number(), b: z.number() }) },
  ({ a, b }) => `${a + b}`,
);

void run(server);
