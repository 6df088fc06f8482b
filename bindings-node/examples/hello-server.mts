/** A server with one tool of each kind that one needs first, on standard input and output. */

import { Server } from 'barewire';
import { run } from 'barewire/stdio';
import * as z from 'zod';

const server = new Server({ name: 'hello', version: '1.0.0' });

server.tool(
  'add',
  { description: 'Add two numbers.', input: z.object({ a: z.number(), b: z.number() }) },
  ({ a, b }) => `${a + b}`,
);

server.tool('deploy', { description: 'Deploy the service, if the user agrees.' }, async (_, context) => {
  const answer = await context.elicit('Deploy now?', z.object({ confirm: z.boolean() }));
  return answer.action === 'accept' && answer.content.confirm ? 'deployed' : 'left as it is';
});

server.resource('greeting://{name}', { name: 'greeting' }, ({ name }) => `Hello, ${name}!`);

await run(server);
