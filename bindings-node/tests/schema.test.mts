/** Schemas of every library that speaks the standard are announced and checked. */

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type AnySchema, Server } from 'barewire';
import { type } from 'arktype';
import * as v from 'valibot';
import * as z from 'zod';
import { Peer, textOf } from './peer.mjs';

const SCHEMAS = {
  zod: z.object({ a: z.number(), b: z.number() }),
  valibot: toStandardJsonSchema(v.object({ a: v.number(), b: v.number() })),
  arktype: type({ a: 'number', b: 'number' }),
} satisfies Record<string, AnySchema>;

for (const [name, input] of Object.entries(SCHEMAS)) {
  test(`${name}: the input is announced and checked`, async () => {
    const server = new Server({ name: 'test', version: '1' });
    server.tool('add', { input: input as (typeof SCHEMAS)['zod'] }, ({ a, b }) => `${a + b}`);
    const peer = new Peer(server, 'modern');
    const [tool] = (await peer.list('tools'))['tools'] as [{ inputSchema: Record<string, unknown> }];
    assert.equal(tool.inputSchema['type'], 'object');
    assert.deepEqual(tool.inputSchema['properties'], { a: { type: 'number' }, b: { type: 'number' } });
    assert.deepEqual(tool.inputSchema['required'], ['a', 'b']);
    assert.equal(textOf(await peer.call('add', { a: 1, b: 2 })), '3');
    const wrong = await peer.call('add', { a: 1, b: 'two' });
    assert.equal(wrong.isError, true);
    assert.match(textOf(wrong) ?? '', /Invalid arguments for add: .*\bb\b/);
    await peer.close();
  });
}

test('a plain JSON Schema is announced as it is', async () => {
  const server = new Server({ name: 'test', version: '1' });
  const input = { type: 'object', properties: { x: { type: 'string' } } } as const;
  server.tool('echo', { input }, ({ x }) => String(x));
  const peer = new Peer(server, 'modern');
  const [tool] = (await peer.list('tools'))['tools'] as [{ inputSchema: unknown }];
  assert.deepEqual(tool.inputSchema, input);
  assert.equal(textOf(await peer.call('echo', { x: 'hi' })), 'hi');
  await peer.close();
});

test('the output is checked and sent as the schema makes it', async () => {
  const output = z.object({
    sum: z.number().transform(String).pipe(z.string()),
    rest: z.number().default(7),
  });
  const server = new Server({ name: 'test', version: '1' });
  server.tool('good', { output }, () => ({ sum: 3 }));
  server.tool('whole', { output }, async () => ({ content: ['it is 3'], structuredContent: { sum: 3 } }));
  server.tool('bad', { output }, () => ({ sum: 'x' }) as never);
  server.tool('late', { output: output.refine(async () => true) }, async () => ({ sum: 1 }));
  const peer = new Peer(server, 'modern');
  const good = await peer.call('good');
  assert.deepEqual(good.structuredContent, { sum: '3', rest: 7 });
  assert.equal(textOf(good), '{"sum":"3","rest":7}');
  const whole = await peer.call('whole');
  assert.deepEqual([textOf(whole), whole.structuredContent], ['it is 3', { sum: '3', rest: 7 }]);
  assert.deepEqual((await peer.call('late')).structuredContent, { sum: '1', rest: 7 });
  const logged = mock.method(console, 'error', () => {});
  try {
    assert.equal((await peer.call('bad')).isError, true);
    assert.match(String(logged.mock.calls[0]?.arguments[1]), /does not fit the output schema: sum/);
  } finally {
    logged.mock.restore();
  }
  await peer.close();
});

test('arguments may be checked asynchronously', async () => {
  const input = z.object({ name: z.string() }).refine(async ({ name }) => name !== 'taken', 'is taken');
  const server = new Server({ name: 'test', version: '1' });
  server.tool('reserve', { input }, ({ name }) => name);
  const peer = new Peer(server, 'modern');
  assert.equal(textOf(await peer.call('reserve', { name: 'free' })), 'free');
  assert.equal((await peer.call('reserve', { name: 'taken' })).isError, true);
  await peer.close();
});

test('a schema without a JSON Schema is refused with advice', () => {
  const server = new Server({ name: 'test', version: '1' });
  const input = v.object({ a: v.number() }) as unknown as AnySchema;
  assert.throws(() => server.tool('x', { input }, () => ''), /toStandardJsonSchema/);
});
