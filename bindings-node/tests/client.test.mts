/** The client against servers of the lower floor, in memory and in both eras. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mock, test } from 'node:test';
import {
  ApiMisuseError,
  type Change,
  Client,
  type ClientOptions,
  ConnectionClosedError,
  ConnectionLostError,
  type ElicitAnswer,
  InputRefusedError,
  InvalidResultError,
  McpError,
  RequestTimedOutError,
  RpcError,
} from 'barewire';
import { LEGACY_REVISIONS, MODERN_REVISIONS, type Server, type ServerEvent } from 'barewire/sansio';
import { initialized, lineServer, ScriptedServer } from './scripted.mjs';

const ERAS: readonly (readonly [era: string, revisions: readonly string[]])[] = [
  ['legacy', LEGACY_REVISIONS],
  ['modern', MODERN_REVISIONS],
];

function textResult(text: string): string {
  return JSON.stringify({ content: [{ type: 'text', text }] });
}

/** Tools that are asked for below. What is called `wait` is never answered. */
function tools(server: Server, event: ServerEvent): void {
  if (event.type !== 'toolCalled') return;
  const { request, name, context } = event;
  const args = JSON.parse(event.arguments ?? '{}');
  if (name === 'echo') server.respond(request, textResult(args.text));
  if (name === 'fail') server.respondError(request, { code: 7, message: 'no', data: '{"why":1}' });
  if (name === 'count') {
    for (let step = 1; step <= 3; step++) server.progress(request, step, 3, `step ${step}`);
    server.respond(request, textResult('counted'));
  }
  if (name === 'ask') {
    const [answer] = context.inputAnswers;
    if (answer?.error)
      server.respondError(request, { code: answer.error.code, message: answer.error.message });
    else if (answer) server.respond(request, textResult(answer.result ?? ''));
    else {
      const params = '{"message":"Who?","requestedSchema":{"type":"object","properties":{}}}';
      server.requireInput(request, [{ key: 'who', kind: 'elicitation', params }], performance.now());
    }
  }
}

function scripted(script = tools, settings = {}): ScriptedServer {
  const server = new ScriptedServer(script, settings);
  for (const name of ['echo', 'fail', 'count', 'ask', 'wait']) {
    server.machine.addTool(JSON.stringify({ name, inputSchema: { type: 'object' } }));
  }
  return server;
}

function connect(server: ScriptedServer, revisions: readonly string[], options: ClientOptions = {}) {
  return Client.connect(server, { revisions, ...options });
}

function texts(result: { content: readonly { type: string }[] }): unknown[] {
  return result.content.map((block) => (block as { text?: string }).text);
}

for (const [era, revisions] of ERAS) {
  test(`${era}: what is known of a server`, async () => {
    await using client = await connect(scripted(), revisions);
    assert.equal(client.revision, revisions[0]);
    assert.equal(client.serverInfo?.name, 'scripted');
    assert.equal(client.instructions, 'Be brief.');
    assert.ok('tools' in client.capabilities);
    assert.equal(typeof client.era, 'string');
  });

  test(`${era}: a stored era spares the probe`, async () => {
    const first = await connect(scripted(), revisions);
    const { era: stored } = first;
    await first.close();
    const server = scripted();
    await using client = await connect(server, revisions, { era: stored });
    assert.deepEqual(texts(await client.callTool('echo', { text: 'hi' })), ['hi']);
    assert.equal(client.era, stored);
  });

  test(`${era}: lists, page by page and as a whole`, async () => {
    await using client = await connect(scripted(tools, { limits: { pageItems: 2 } }), revisions);
    const page = await client.listTools();
    assert.equal(page.items.length, 2);
    assert.deepEqual(page.problems, []);
    assert.ok(page.nextCursor !== undefined);
    assert.equal((await client.listTools(page.nextCursor)).items.length, 2);
    const names: string[] = [];
    for await (const { name } of client.tools()) names.push(name);
    assert.deepEqual(names.sort(), ['ask', 'count', 'echo', 'fail', 'wait']);
  });

  test(`${era}: two hundred calls at once`, async () => {
    await using client = await connect(scripted(), revisions);
    const calls = Array.from({ length: 200 }, (_, index) => client.callTool('echo', { text: `${index}` }));
    for (const [index, result] of (await Promise.all(calls)).entries()) {
      assert.deepEqual(texts(result), [`${index}`]);
    }
  });

  test(`${era}: an error of the server`, async () => {
    await using client = await connect(scripted(), revisions);
    await assert.rejects(client.callTool('fail'), (error) => {
      assert.ok(error instanceof RpcError);
      assert.equal(error.code, 7);
      assert.deepEqual(error.data, { why: 1 });
      return true;
    });
  });

  test(`${era}: progress comes before the result, in order`, async () => {
    await using client = await connect(scripted(), revisions);
    const seen: unknown[] = [];
    const result = await client.callTool('count', {}, { onProgress: (report) => seen.push(report.message) });
    assert.deepEqual(seen, ['step 1', 'step 2', 'step 3']);
    assert.deepEqual(texts(result), ['counted']);
  });

  test(`${era}: what onProgress throws fails the call`, async () => {
    await using client = await connect(scripted(), revisions);
    const mistake = new Error('mine');
    const thrown = client.callTool(
      'count',
      {},
      {
        onProgress: () => {
          throw mistake;
        },
      },
    );
    await assert.rejects(thrown, mistake);
    const rejected = client.callTool(
      'count',
      {},
      {
        onProgress: async () => {
          throw mistake;
        },
      },
    );
    await rejected.catch((error: unknown) => assert.equal(error, mistake));
    assert.deepEqual(texts(await client.callTool('echo', { text: 'on' })), ['on']);
  });

  test(`${era}: a signal gives a call up, and the server is told`, async () => {
    const server = scripted();
    await using client = await connect(server, revisions);
    const abort = new AbortController();
    const call = client.callTool('wait', {}, { signal: abort.signal });
    setTimeout(() => abort.abort(new Error('enough')), 20);
    await assert.rejects(call, /enough/);
    await client.callTool('echo', { text: '' });
    assert.ok(server.events.some((event) => event.type === 'requestCancelled'));
    await assert.rejects(client.callTool('echo', {}, { signal: AbortSignal.abort() }), {
      name: 'AbortError',
    });
  });

  test(`${era}: a signal of many calls keeps no listener`, async () => {
    await using client = await connect(scripted(), revisions);
    const { signal } = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...args: any) => (listeners++, (addEventListener as any).apply(signal, args));
    signal.removeEventListener = (...args: any) => (
      listeners--,
      (removeEventListener as any).apply(signal, args)
    );
    for (let call = 0; call < 5; call++) await client.callTool('echo', { text: '' }, { signal });
    await assert.rejects(client.callTool('fail', {}, { signal }));
    assert.equal(listeners, 0);
  });

  test(`${era}: a signal of many calls at once has one listener`, async () => {
    await using client = await connect(scripted(), revisions);
    const abort = new AbortController();
    const add = mock.method(abort.signal, 'addEventListener');
    const calls = Array.from({ length: 20 }, () => client.callTool('wait', {}, { signal: abort.signal }));
    abort.abort(new Error('enough'));
    for (const call of calls) await assert.rejects(call, /enough/);
    assert.equal(add.mock.callCount(), 1);
  });

  test(`${era}: a name that is no text is a mistake of the caller`, async () => {
    await using client = await connect(scripted(), revisions);
    await assert.rejects(client.callTool(5 as unknown as string), TypeError);
    await assert.rejects(client.getPrompt(5 as unknown as string), TypeError);
    await assert.rejects(client.request(5 as unknown as string), TypeError);
  });

  test(`${era}: a call that takes too long is named`, async () => {
    await using client = await connect(scripted(), revisions);
    await assert.rejects(client.callTool('wait', {}, { timeout: 30 }), (error) => {
      assert.ok(error instanceof RequestTimedOutError);
      assert.match(error.message, /^the tool 'wait' gave no answer in time: \d+(\.\d+)? s$/);
      return true;
    });
  });

  test(`${era}: a handler answers a question`, async () => {
    await using client = await connect(scripted(), revisions, {
      onElicit: async ({ message }) => ({ action: 'accept', content: { message } }),
    });
    const [answer] = texts(await client.callTool('ask'));
    assert.deepEqual(JSON.parse(answer as string), { action: 'accept', content: { message: 'Who?' } });
  });

  test(`${era}: a handler that throws`, async () => {
    const mistake = new Error('mine');
    const warned = once(process, 'warning');
    await using client = await connect(scripted(), revisions, {
      onElicit: () => {
        throw mistake;
      },
    });
    await assert.rejects(client.callTool('ask'), (error) => {
      assert.ok(error instanceof McpError);
      if (error instanceof InputRefusedError) assert.equal(error.cause, mistake);
      else assert.match(error.message, /handler failed/);
      return true;
    });
    assert.match(String((await warned)[0]), /mine/);
  });

  test(`${era}: a handler that gives what is no answer`, async () => {
    const warned = once(process, 'warning');
    await using client = await connect(scripted(), revisions, {
      onElicit: () => ({ action: 'perhaps' }) as unknown as ElicitAnswer,
    });
    await assert.rejects(client.callTool('ask'), (error) => {
      assert.ok(error instanceof McpError);
      if (error instanceof InputRefusedError) assert.ok(error.cause instanceof ApiMisuseError);
      else assert.match(error.message, /handler failed/);
      return true;
    });
    await warned;
    assert.deepEqual(texts(await client.callTool('echo', { text: 'on' })), ['on']);
  });

  test(`${era}: the server dies in the middle`, async () => {
    const server = scripted();
    await using client = await connect(server, revisions);
    const calls = [client.callTool('wait'), client.callTool('wait')];
    setTimeout(() => server.link.die(), 10);
    for (const call of calls) await assert.rejects(call, ConnectionLostError);
    await assert.rejects(client.callTool('echo', { text: '' }), ConnectionLostError);
  });

  test(`${era}: closing while calls run`, async () => {
    const client = await connect(scripted(), revisions);
    const call = assert.rejects(client.callTool('wait'), ConnectionLostError);
    await client.close();
    await call;
    await client.close();
    await assert.rejects(client.callTool('echo'), ConnectionClosedError);
  });

  test(`${era}: changes as they come`, async () => {
    const server = scripted();
    server.machine.addResource('{"uri":"a:b","name":"b"}');
    await using client = await connect(server, revisions);
    const changes = await client.subscribe({ tools: true, resourceUris: ['a:b'] });
    assert.deepEqual(changes.honoured?.resourceUris, ['a:b']);
    server.machine.publishListChanged('tools');
    server.machine.publishResourceUpdated('a:b');
    server.flush();
    const seen: Change[] = [];
    for await (const change of changes) {
      seen.push(change);
      if (seen.length === 2) break;
    }
    assert.deepEqual(
      seen.sort((a, b) => (a.kind < b.kind ? -1 : 1)),
      [{ kind: 'resource', uri: 'a:b' }, { kind: 'tools' }],
    );
    assert.deepEqual(await changes.next(), { value: undefined, done: true });
  });

  test(`${era}: closing ends a subscription in order`, async () => {
    const client = await connect(scripted(), revisions);
    const changes = await client.subscribe({ tools: true });
    const next = changes.next();
    await client.close();
    assert.deepEqual(await next, { value: undefined, done: true });
  });

  test(`${era}: onChange is told without a subscription`, async () => {
    const server = scripted();
    let told: (change: Change) => void = () => {};
    const change = new Promise<Change>((resolve) => {
      told = resolve;
    });
    await using client = await connect(server, revisions, { onChange: told });
    await client.callTool('echo', { text: '' });
    server.machine.publishListChanged('tools');
    server.flush();
    assert.deepEqual(await change, { kind: 'tools' });
  });
}

test('log messages go to onLog, one after the other', async () => {
  const seen: unknown[] = [];
  const server = scripted((machine, event) => {
    if (event.type === 'toolCalled') {
      for (const data of [1, 2, 3]) machine.log(event.request, 'info', JSON.stringify({ data }), 'test');
    }
    tools(machine, event);
  });
  await using client = await connect(server, LEGACY_REVISIONS, {
    onLog: async (message) => {
      seen.push(message.data);
      await null;
      if (seen.length === 1) throw new Error('once');
    },
  });
  const warned = once(process, 'warning');
  await client.setLogLevel('debug');
  await client.callTool('echo', { text: '' });
  assert.match(String((await warned)[0]), /once/);
  await new Promise(setImmediate);
  assert.deepEqual(seen, [{ data: 1 }, { data: 2 }, { data: 3 }]);
  await client.ping();
});

test('odd items are told beside what can be read', async () => {
  const server = lineServer({
    initialize: initialized,
    'tools/call': () => ({
      content: [
        { type: 'text' },
        { type: 'text', text: 'good', annotations: { priority: 'x' } },
        { type: 'new', a: 1 },
      ],
      structuredContent: { n: 1 },
    }),
    'tools/list': () => ({
      tools: [{ name: 'a' }, { name: 'b', inputSchema: { type: 'object' }, title: null, icons: 3 }],
    }),
    'resources/read': () => ({ contents: [{ uri: 'a:b', blob: 'AA==' }, { uri: 'a:c' }] }),
  });
  await using client = await Client.connect(server, { revisions: LEGACY_REVISIONS });
  const result = await client.callTool('any');
  assert.deepEqual(result.content, [
    { type: 'text', text: 'good' },
    { type: 'unknown', block: { type: 'new', a: 1 } },
  ]);
  assert.deepEqual(
    result.problems.map(({ index, path, isRejected }) => [index, path, isRejected]),
    [
      [0, 'text', true],
      [1, 'annotations.priority', false],
    ],
  );
  assert.deepEqual(result.structuredContent, { n: 1 });
  const page = await client.listTools();
  assert.deepEqual(
    page.items.map(({ name }) => name),
    ['b'],
  );
  assert.deepEqual(
    page.problems.map(({ index, path }) => [index, path]),
    [
      [0, 'inputSchema'],
      [1, 'icons'],
    ],
  );
  const read = await client.readResource('a:b');
  assert.deepEqual(read.contents, [{ uri: 'a:b', blob: 'AA==' }]);
  assert.equal(read.problems.length, 1);
});

test('a server that goes in circles is found out', async () => {
  const server = lineServer({
    initialize: initialized,
    'prompts/list': () => ({ prompts: [], nextCursor: 'x' }),
  });
  await using client = await Client.connect(server, { revisions: LEGACY_REVISIONS });
  await assert.rejects(client.prompts().next(), InvalidResultError);
});

test('mistakes of the caller are found where they are made', async () => {
  await assert.rejects(Client.connect({ command: [] }), TypeError);
  await assert.rejects(Client.connect('ftp://somewhere'), RangeError);
  await assert.rejects(Client.connect(scripted(), { era: 'nonsense' }), RangeError);
  await using client = await Client.connect(scripted());
  await assert.rejects(client.callTool('echo', ['a']), TypeError);
  await assert.rejects(client.callTool('echo', { big: 1n }), TypeError);
  await assert.rejects(client.callTool('echo', { text: 'a' }, { timeout: Infinity }), RangeError);
});

test('a server that asks without reading the answers has to wait', async () => {
  const server = lineServer({ initialize: initialized, 'tools/list': () => ({ tools: [] }) });
  await using client = await Client.connect(server, {
    revisions: LEGACY_REVISIONS,
    limits: { queuedBytes: 20_000 },
  });
  const { link } = server;
  await client.listTools();
  link.pending = 1; // what was written is not taken
  for (let id = 0; id < 2_000 && !link.isPaused; id++) {
    link.give(`{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`);
    if (id % 50 === 0) await new Promise(setImmediate);
  }
  assert.ok(link.isPaused);
  link.pending = 0;
  link.receiver?.drained();
  await client.listTools();
  assert.ok(!link.isPaused);
  assert.ok(
    server.lines.some((line) => line.id === 50),
    'what waited was sent',
  );
});
