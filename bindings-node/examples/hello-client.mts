/** The smallest client: starts the server beside this file and calls its tool. */

import { Client } from 'barewire';
import { fileURLToPath } from 'node:url';

const server = fileURLToPath(new URL('hello-server.mjs', import.meta.url));
await using client = await Client.connect({ command: ['node', server] });

for await (const tool of client.tools()) console.log(`${tool.name}: ${tool.description}`);

const { content } = await client.callTool('add', { a: 2, b: 3 });
for (const block of content) {
  if (block.type === 'text') console.log(block.text);
}
