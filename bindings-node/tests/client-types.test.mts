/** What the types of the client allow and refuse: each `@ts-expect-error` has to be one. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CallToolResult, Client, type Content, type Tool } from 'barewire';
import { clientCredentials, oauth } from 'barewire/auth';

test('content is told apart by its type', () => {
  const shown = (block: Content): string => {
    switch (block.type) {
      case 'text':
        return block.text;
      case 'image':
      case 'audio':
        return block.data;
      case 'resource':
        return block.resource.uri;
      case 'resource_link':
        return block.uri;
      case 'unknown':
        return block.block.type;
    }
  };
  assert.equal(shown({ type: 'text', text: 'a' }), 'a');
  // @ts-expect-error text has no data
  assert.equal(shown({ type: 'text', text: 'a', data: '' }), 'a');
});

export async function unused(client: Client, result: CallToolResult): Promise<Tool | undefined> {
  await Client.connect(new URL('https://example.com'), { headers: { authorization: 'Bearer x' } });
  await Client.connect('https://example.com', { auth: oauth({ client: { clientId: 'us' }, dpop: true }) });
  // @ts-expect-error only what `barewire/auth` makes says how to come by tokens
  await Client.connect('https://example.com', { auth: {} });
  // @ts-expect-error a child process has no tokens
  await Client.connect({ command: ['node'] }, { auth: oauth() });
  // @ts-expect-error who acts for itself has to be somebody
  clientCredentials({});
  await Client.connect(
    { command: ['node', 'server.js'], stderr: 'capture' },
    { onRoots: () => ['file:///a'] },
  );
  await Client.connect({ command: ['x'] }, { onElicit: async () => ({ action: 'decline' }) });
  interface Named {
    name: string;
  }
  const named: Named = { name: 'a' };
  await client.callTool('any', named, { signal: AbortSignal.timeout(1), onProgress: ({ total }) => total });
  // @ts-expect-error header fields are for a server at a URL
  await Client.connect({ command: ['node', 'server.js'] }, { headers: {} });
  // @ts-expect-error a command is a list
  await Client.connect({ command: 'node server.js' });
  // @ts-expect-error there is no such action
  await Client.connect({ command: ['x'] }, { onElicit: async () => ({ action: 'perhaps' }) });
  // @ts-expect-error arguments are an object
  await client.callTool('any', 'text');
  // @ts-expect-error arguments of prompts are strings
  await client.getPrompt('any', { a: 1 });
  // @ts-expect-error a prompt or a resource
  await client.complete({}, 'argument', 'value');
  // @ts-expect-error a client is connected, and not made
  new Client();
  // @ts-expect-error results do not change
  result.isError = false;
  // @ts-expect-error anything may be structured
  const { sum }: { sum: number } = result.structuredContent;
  for await (const tool of client.tools()) return sum > 0 ? tool : undefined;
  return undefined;
}
