/** The five tools of the benchmark: `bench-server.mjs [http PORT]`. */

import { Server } from 'barewire';
import { run } from 'barewire/stdio';

const LINE = 'All work and no play makes "Jack" a dull boy, so he went home.\n ';

const object = (properties: Record<string, unknown>) =>
  ({ type: 'object', properties, required: Object.keys(properties) }) as const;
const TEXT = { type: 'string' };
const INTEGER = { type: 'integer' };

const server = new Server({ name: 'bench', version: '1.0.0' });

server.tool('echo', { input: object({ text: TEXT }) }, async ({ text }) => text as string);

server.tool(
  'add',
  { input: object({ a: INTEGER, b: INTEGER }), output: object({ sum: INTEGER }) },
  async ({ a, b }) => ({ sum: (a as number) + (b as number) }),
);

server.tool('big', { input: object({ kib: INTEGER }) }, async ({ kib }) => LINE.repeat((kib as number) * 16));

server.tool('sink', { input: object({ text: TEXT }) }, async ({ text }) => `${(text as string).length}`);

server.tool('progress', { input: object({ n: INTEGER }) }, async ({ n }, context) => {
  for (let i = 1; i <= (n as number); i += 1) await context.progress(i, n as number);
  return `sent ${n}`;
});

// HTTP is loaded if it is served alone: the start of the process is measured too.
if (process.argv.includes('http')) {
  const { createServer } = await import('node:http');
  const { nodeHandler } = await import('barewire/http');
  createServer(nodeHandler(server, { path: '/mcp' })).listen(Number(process.argv.at(-1)), '127.0.0.1');
} else {
  await run(server);
}
