/** The client and the server of the package, with each other, in memory. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CallToolResult, Client, ConnectionClosedError, Server } from 'barewire';
import { LEGACY_REVISIONS, MODERN_REVISIONS } from 'barewire/sansio';

function hello(): Server {
  const server = new Server({ name: 'hello', version: '1.0.0' });
  server.tool('greet', { description: 'Greet.' }, ({ name }) => `Hello, ${name}!`);
  server.tool('measure', {}, ({ text }) => `${(text as string).length}`);
  server.tool('big', {}, ({ size }) => 'x'.repeat(size as number));
  server.tool('wait', {}, () => new Promise<string>(() => {}));
  server.tool('where', {}, async (_, context) => {
    const roots = await context.roots();
    return roots.map(({ uri }) => uri).join();
  });
  server.resource('note://{id}', { name: 'note' }, ({ id }) => `note ${id}`);
  return server;
}

function text({ content }: CallToolResult): string | undefined {
  const [block] = content;
  return block?.type === 'text' ? block.text : undefined;
}

for (const [era, revisions] of [
  ['legacy', LEGACY_REVISIONS],
  ['modern', MODERN_REVISIONS],
] as const) {
  test(`a server in memory, ${era}`, async () => {
    await using client = await Client.connect(hello(), { revisions, onRoots: () => ['file:///tmp'] });
    assert.equal(client.serverInfo?.name, 'hello');
    assert.equal(text(await client.callTool('greet', { name: 'world' })), 'Hello, world!');
    assert.equal(text(await client.callTool('where')), 'file:///tmp');
    assert.equal((await client.readResource('note://7')).contents[0]?.text, 'note 7');
    const many = Array.from({ length: 200 }, (_, index) => client.callTool('greet', { name: index }));
    assert.equal(text((await Promise.all(many))[199] as CallToolResult), 'Hello, 199!');
  });

  test(`long arguments and results in memory, ${era}`, async () => {
    await using client = await Client.connect(hello(), { revisions });
    const long = 'y'.repeat(1 << 20);
    const calls = [long, long, long].map((argument) => client.callTool('measure', { text: argument }));
    for (const result of await Promise.all(calls)) assert.equal(text(result), `${1 << 20}`);
    const results = [1, 2, 3].map(() => client.callTool('big', { size: 1 << 20 }));
    for (const result of await Promise.all(results)) assert.equal(text(result)?.length, 1 << 20);
  });

  test(`closing a server in memory while a call runs, ${era}`, async () => {
    const timeouts = { drain: 50 };
    const server = new Server({ name: 'slow', version: '1', timeouts });
    server.tool('wait', {}, () => new Promise<string>(() => {}));
    const client = await Client.connect(server, { revisions });
    const call = assert.rejects(client.callTool('wait'));
    await client.close();
    await call;
    await assert.rejects(client.callTool('wait'), ConnectionClosedError);
  });
}

test('one server in memory serves several clients', async () => {
  const server = hello();
  const clients = await Promise.all([Client.connect(server), Client.connect(server)]);
  for (const client of clients) {
    assert.equal(text(await client.callTool('greet', { name: 'you' })), 'Hello, you!');
    await client.close();
  }
});
