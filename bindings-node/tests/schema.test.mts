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

/** What a user is shown of a form. */
async function asked(form: AnySchema): Promise<Record<string, unknown>> {
  let seen: Record<string, unknown> = {};
  const server = new Server({ name: 'test', version: '1' });
  server.tool('ask', {}, async (_, context) => (await context.elicit('?', form)).action);
  const peer = new Peer(server, 'modern', ({ requestedSchema }) => {
    seen = requestedSchema as typeof seen;
    return { action: 'decline' };
  });
  assert.equal(textOf(await peer.call('ask')), 'decline');
  await peer.close();
  return seen;
}

const size = { type: 'string', enum: ['L', 'S'] };
const FORMS = {
  zod: z.object({
    size: z.union([z.literal('L'), z.literal('S')]),
    sizes: z.array(z.enum(['L', 'S']).meta({ id: 'size' })),
    note: z.string().nullable(),
    count: z.int().min(1).max(9).nullable().default(null),
    one: z.literal('S'),
  }),
  valibot: toStandardJsonSchema(
    v.object({
      size: v.union([v.literal('L'), v.literal('S')]),
      sizes: v.array(v.picklist(['L', 'S'])),
      note: v.nullable(v.string()),
      count: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(9)), null),
      one: v.literal('S'),
    }),
  ),
  arktype: type({
    size: "'L' | 'S'",
    sizes: "('L' | 'S')[]",
    note: 'string | null',
    count: '1 <= number.integer <= 9 | null = null',
    one: "'S'",
  }),
} satisfies Record<string, AnySchema>;

for (const [name, form] of Object.entries(FORMS)) {
  test(`${name}: what forms write in another way is rewritten`, async () => {
    const { required, properties } = await asked(form);
    assert.deepEqual((required as string[]).toSorted(), ['note', 'one', 'size', 'sizes']);
    assert.deepEqual(properties, {
      size,
      sizes: { type: 'array', items: size },
      note: { type: 'string' },
      count: { type: 'integer', minimum: 1, maximum: 9 },
      one: { type: 'string', enum: ['S'] },
    });
  });
}

test('choices of a form may have titles', async () => {
  const choice = z.union([z.literal('S').meta({ title: 'Small' }), z.literal('L').meta({ title: 'Large' })]);
  const titled = [
    { const: 'S', title: 'Small' },
    { const: 'L', title: 'Large' },
  ];
  const { properties } = await asked(z.object({ one: choice.default('S'), many: z.array(choice) }));
  assert.deepEqual(properties, {
    one: { type: 'string', oneOf: titled, default: 'S' },
    many: { type: 'array', items: { anyOf: titled } },
  });
});

test('what a form cannot ask for is a defect', async () => {
  const tree = z.object({
    get trees() {
      return z.array(tree);
    },
  });
  const logged = mock.method(console, 'error', () => {});
  try {
    for (const form of [z.object({ a: z.union([z.string(), z.number()]) }), z.object({ tree })]) {
      const server = new Server({ name: 'test', version: '1' });
      server.tool('ask', {}, async (_, context) => (await context.elicit('?', form)).action);
      const peer = new Peer(server, 'modern');
      assert.equal((await peer.call('ask')).isError, true);
      assert.match(String(logged.mock.calls.at(-1)?.arguments[1]), /not what a form can ask for/);
      await peer.close();
    }
  } finally {
    logged.mock.restore();
  }
});
