/** How answers of odd servers are read, and how answers of handlers are written. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, type ClientOptions, type Problem, RpcError } from 'barewire';
import { LEGACY_REVISIONS } from 'barewire/sansio';
import { initialized, lineServer } from './scripted.mjs';

const revisions = LEGACY_REVISIONS;

function answering(method: string, result: unknown) {
  return Client.connect(lineServer({ initialize: initialized, [method]: () => result }), { revisions });
}

function told(problems: readonly Problem[]): unknown[] {
  return problems.map(({ index, path, isRejected }) => [index, path, isRejected]);
}

test('a result without content is one, with a problem', async () => {
  await using client = await answering('tools/call', {
    isError: 'yes',
    _meta: { a: 1 },
    structuredContent: null,
  });
  const result = await client.callTool('any');
  assert.deepEqual(result.content, []);
  assert.equal(result.isError, false);
  assert.equal(result.structuredContent, null);
  assert.deepEqual(result.meta, { a: 1 });
  assert.deepEqual(told(result.problems), [
    [undefined, 'isError', false],
    [undefined, 'content', true],
  ]);
  assert.match(result.raw, /"isError":"yes"/);
});

test('members that are not known stay', async () => {
  const block = { type: 'text', text: 'a', 'x/y': [1] };
  await using client = await answering('tools/call', { content: [block] });
  assert.deepEqual((await client.callTool('any')).content, [block]);
});

test('messages of prompts', async () => {
  const messages = [
    { role: 'user', content: { type: 'text', text: 'a' } },
    { role: 'robot', content: { type: 'text', text: 'b' } },
    { role: 'assistant', content: { type: 'image', data: 'AA==' } },
    null,
  ];
  await using client = await answering('prompts/get', { messages, description: 3 });
  const result = await client.getPrompt('any', {});
  assert.deepEqual(result.messages, messages.slice(0, 1));
  assert.equal(result.description, undefined);
  assert.deepEqual(told(result.problems), [
    [undefined, 'description', false],
    [1, 'role', true],
    [2, 'mimeType', true],
    [3, '', true],
  ]);
});

test('completions', async () => {
  await using client = await answering('completion/complete', {
    completion: { values: ['a', 1], hasMore: true },
  });
  const result = await client.complete({ prompt: 'any' }, 'name', 'a');
  assert.deepEqual(result.values, ['a']);
  assert.equal(result.hasMore, true);
  assert.equal(result.total, undefined);
  assert.deepEqual(told(result.problems), [[1, '', true]]);
});

test('nested members say where they are', async () => {
  const resources = [
    { uri: 'a:b', name: 'a', icons: [{ src: 'a' }, { src: 1 }], annotations: { audience: ['user', 'dog'] } },
  ];
  await using client = await answering('resources/list', { resources });
  const result = await client.listResources();
  assert.deepEqual(result.items, [{ uri: 'a:b', name: 'a' }]);
  assert.deepEqual(
    told(result.problems)
      .map((problem) => (problem as unknown[])[1])
      .sort(),
    ['annotations.audience[1]', 'icons[1].src'],
  );
});

/** What a client answers to a question of a legacy server. */
async function asked(options: ClientOptions, method: string, params: object): Promise<any> {
  const server = lineServer({ initialize: initialized });
  await using client = await Client.connect(server, { revisions, ...options });
  server.link.give(`${JSON.stringify({ jsonrpc: '2.0', id: 'q', method, params })}\n`);
  for (let turn = 0; turn < 100; turn++) {
    await new Promise(setImmediate);
    const answer = server.lines.find((line) => line.id === 'q');
    if (answer !== undefined) return answer;
  }
  return client;
}

test('answers of onSample', async () => {
  const params = { messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 9 };
  const plain = await asked(
    { onSample: ({ messages, maxTokens }) => `${messages.length} ${maxTokens}` },
    'sampling/createMessage',
    params,
  );
  assert.deepEqual(plain.result, {
    role: 'assistant',
    content: { type: 'text', text: '1 9' },
    model: 'unspecified',
  });
  const block = { type: 'text', text: 'x' };
  const whole = await asked(
    { onSample: async () => ({ content: [block], model: 'm', stopReason: 'endTurn' }) },
    'sampling/createMessage',
    params,
  );
  assert.deepEqual(whole.result, { role: 'assistant', content: block, model: 'm', stopReason: 'endTurn' });
});

test('a question that cannot be read is refused without a word to the handler', async () => {
  const never = () => assert.fail('it was asked');
  const answer = await asked({ onSample: never }, 'sampling/createMessage', { messages: [{ role: 'cat' }] });
  assert.equal(answer.error.code, -32602);
});

test('a handler may refuse with an error of its own', async () => {
  const onRoots = () => {
    throw new RpcError('not today', 17);
  };
  const answer = await asked({ onRoots }, 'roots/list', {});
  assert.deepEqual(answer.error, { code: 17, message: 'not today' });
});

test('a root is a file', async () => {
  const warned = new Promise((resolve) => process.once('warning', resolve));
  const answer = await asked({ onRoots: () => ['https://example.com'] }, 'roots/list', {});
  assert.equal(answer.error.code, -32603);
  assert.match(String(await warned), /file:\/\//);
});

test('a withdrawn question aborts its handler', async () => {
  const server = lineServer({ initialize: initialized });
  let withdrawn: () => void = () => {};
  const aborted = new Promise<void>((resolve) => (withdrawn = resolve));
  let begun: () => void = () => {};
  const asking = new Promise<void>((resolve) => (begun = resolve));
  await using client = await Client.connect(server, {
    revisions,
    onElicit: (_, { signal }) => {
      begun();
      signal.addEventListener('abort', withdrawn);
      return new Promise(() => {});
    },
  });
  const send = (message: object) => server.link.give(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  send({
    id: 1,
    method: 'elicitation/create',
    params: { message: 'a', requestedSchema: { type: 'object' } },
  });
  await asking;
  send({ method: 'notifications/cancelled', params: { requestId: 1 } });
  await aborted;
  assert.equal(client.serverInfo?.name, 'lines');
});
