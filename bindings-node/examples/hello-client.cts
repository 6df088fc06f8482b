/** A client in a file of CommonJS: starts the server beside this file and calls its tool. */

import { Client } from 'barewire';
import { join } from 'node:path';

async function main(): Promise<void> {
  const client = await Client.connect({ command: ['node', join(__dirname, 'hello-server.cjs')] });
  for await (const tool of client.tools()) console.log(`${tool.name}: ${tool.description}`);

  const { content } = await client.callTool('add', { a: 2, b: 3 });
  for (const block of content) {
    if (block.type === 'text') console.log(block.text);
  }
  await client.close();
}

void main();
