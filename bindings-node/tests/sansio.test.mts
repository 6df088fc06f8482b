/** The sans-IO floor on a byte stream: every verb and command, in both eras. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as sansio from 'barewire/sansio';
import { connected, ERAS, LEGACY, makeClient, makeServer, MODERN, only, Pair, SEED } from './pair.mjs';

const { ApiMisuseError, ConnectionClosedError, LimitExceededError, McpError, RpcError } = sansio;

test('import and require give the same objects', () => {
  const required = createRequire(import.meta.url)('barewire/sansio') as typeof sansio;
  // Node adds names of its own to what a CommonJS module has.
  const names = Object.keys(sansio).filter((name) => !/^(default|module\.exports|__esModule)$/.test(name));
  assert.deepEqual(Object.keys(required).sort(), names.sort());
  assert.equal(required.Server, sansio.Server);
});

test('the addon is that of its own version, where there are several', (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'barewire-')));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const modules = join(folder, 'node_modules');
  const esm = dirname(fileURLToPath(import.meta.resolve('barewire/sansio')));
  cpSync(esm, join(modules, 'barewire', 'esm'), { recursive: true });
  const abi = { linux: '-gnu', win32: '-msvc' }[process.platform as string] ?? '';
  const addon = join(`barewire-${process.platform}-${process.arch}${abi}`, 'barewire.node');
  const within = join(modules, 'barewire', 'node_modules', addon);
  const beside = join(modules, addon);
  const program = `
    const { dlopen } = process;
    process.dlopen = (module, path) => {
      dlopen(module, path);
      console.log(path);
    };
    await import(${JSON.stringify(pathToFileURL(join(modules, 'barewire', 'esm', 'sansio.mjs')))});`;
  for (const place of [beside, within]) {
    mkdirSync(dirname(place), { recursive: true });
    cpSync(fileURLToPath(new URL('../barewire.node', import.meta.url)), place);
    const opened = execFileSync(process.execPath, ['--input-type=module', '--eval', program]).toString();
    assert.equal(relative(folder, opened.trim()), relative(folder, place));
  }
});

test('what the core knows', () => {
  assert.deepEqual([...sansio.MODERN_REVISIONS, ...sansio.LEGACY_REVISIONS], sansio.REVISIONS);
  assert.equal(sansio.LOG_LEVELS[0], 'debug');
  assert.match(sansio.VERSION, /^\d+\.\d+\.\d+$/);
  assert.deepEqual([sansio.INVALID_PARAMS, sansio.INTERNAL_ERROR], [-32602, -32603]);
  assert.equal(sansio.RESOURCE_NOT_FOUND < 0, true);
  assert.deepEqual(sansio.templateVariables('a://{b}/{c}'), ['b', 'c']);
  assert.throws(() => sansio.templateVariables('{'), RangeError);
  assert.equal(sansio.isRecommendedToolName('echo'), true);
  assert.equal(sansio.isRecommendedToolName('a b'), false);
});

for (const revision of ERAS) {
  describe(revision, () => {
    test('a tool is called, with progress and logging', () => {
      const pair = connected(revision);
      const { client, server } = pair;
      const request = client.callTool('echo', '{"text":"hé \u{1f600}"}', 0, {
        progress: true,
        logLevel: 'info',
      });
      const called = only(pair.settle().server, 'toolCalled');
      assert.equal(called.arguments, '{"text":"hé \u{1f600}"}');
      assert.equal(called.context.revision, revision);
      assert.equal(called.context.era, revision === LEGACY ? 'legacy' : 'modern');
      assert.equal(called.context.round, 0);
      assert.deepEqual(JSON.parse(called.context.client as string), { name: 'c', version: '1' });
      assert.equal(called.context.capabilities.has('roots'), false);
      assert.throws(() => called.context.capabilities.has('bogus'), RangeError);
      assert.equal(server.progress(called.request, 0.5, 2, 'half'), true);
      assert.equal(server.log(called.request, 'error', '{"a":1}', 'me'), true);
      server.respond(called.request, '{"content":[],"big":12345678901234567890}');
      const [progress, log, response] = pair.settle().client;
      assert.deepEqual(progress, {
        type: 'progressReceived',
        request,
        progress: 0.5,
        total: 2,
        message: 'half',
        increasing: true,
      });
      assert.deepEqual(
        { ...log, request },
        { type: 'logReceived', request, level: 'error', logger: 'me', data: '{"a":1}' },
      );
      assert.equal(response?.type, 'responseReceived');
      assert.match((response as sansio.ResponseReceived).result, /12345678901234567890/);
    });

    test('what requests have in common is told with each', () => {
      const pair = connected(revision);
      const { client } = pair;
      const contextOf = (options?: sansio.RequestOptions, size = 1) => {
        client.callTool('echo', JSON.stringify({ text: 'é'.repeat(size) }), 0, options);
        return only(pair.settle().server, 'toolCalled').context;
      };
      const first = contextOf();
      assert.deepEqual(contextOf(), first);
      const other = contextOf({ progress: true });
      assert.notEqual(other.progressToken, undefined);
      assert.deepEqual({ ...other, progressToken: undefined, meta: first.meta }, first);
      // One that comes with much is not kept, and so the next one is told whole.
      assert.deepEqual(contextOf({}, 10_000), first);
      assert.deepEqual([contextOf(), contextOf({}, 10_000), contextOf()], [first, first, first]);
    });

    test('resources, prompts, completions and lists', () => {
      const pair = connected(revision);
      const { client, server } = pair;
      client.readResource('memo://two', 0);
      const read = only(pair.settle().server, 'resourceReadRequested');
      assert.deepEqual(
        [read.uri, read.template, { ...read.variables }],
        ['memo://two', 'memo://{name}', { name: 'two' }],
      );
      server.respondError(read.request, {
        code: sansio.RESOURCE_NOT_FOUND,
        message: 'no',
        data: '{"uri":"memo://two"}',
      });
      const failed = only(pair.settle().client, 'requestFailed');
      assert(failed.error instanceof RpcError);
      assert.deepEqual(failed.error.data, { uri: 'memo://two' });
      client.getPrompt('greet', '{"a":"b"}', 0);
      const prompt = only(pair.settle().server, 'promptRequested');
      assert.deepEqual([prompt.name, prompt.arguments], ['greet', '{"a":"b"}']);
      server.respond(prompt.request, '{"messages":[]}');
      only(pair.settle().client, 'responseReceived');
      client.complete({ prompt: 'greet', argument: 'a', value: 'x', arguments: '{"c":"d"}' }, 0);
      const completion = only(pair.settle().server, 'completionRequested');
      assert.deepEqual(
        [completion.prompt, completion.resource, completion.argument, completion.value, completion.arguments],
        ['greet', undefined, 'a', 'x', '{"c":"d"}'],
      );
      server.respond(completion.request, '{"completion":{"values":[]}}');
      pair.settle();
      assert.throws(() => client.complete({ argument: 'a', value: '' }, 0), TypeError);
      for (const kind of ['tools', 'resources', 'resourceTemplates', 'prompts'] as const) {
        client.list(kind, undefined, 0, { timeout: 50 });
        const page = only(pair.settle().client, 'responseReceived');
        assert.equal(page.ttlMs, revision === MODERN ? 0 : undefined);
        assert.equal(page.cacheScope, revision === MODERN ? 'private' : undefined);
      }
    });

    test('a question is asked and answered', () => {
      const pair = connected(revision, { capabilities: '{"elicitation":{}}' });
      const { client, server } = pair;
      const params =
        '{"message":"who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}';
      const questions = [{ key: 'who', kind: 'elicitation', params }] as const;
      client.callTool('echo', undefined, 0);
      const called = only(pair.settle().server, 'toolCalled');
      assert.throws(
        () => server.requireInput(called.request, [{ key: 'x', kind: 'roots', params: '{}' }], 0),
        sansio.MissingCapabilityError,
      );
      server.requireInput(called.request, questions, 0, '"kept"');
      const asked = only(pair.settle().client, 'inputRequired');
      const [input] = asked.inputs;
      assert.equal(input?.kind, 'elicitation');
      client.provideInput(input.input, '{"action":"accept","content":{"name":"me"}}', 0);
      const again = only(pair.settle().server, 'toolCalled');
      assert.deepEqual([again.context.state, again.context.round], ['"kept"', 1]);
      const [answer] = again.context.inputAnswers;
      assert.deepEqual([answer?.key, answer?.error], ['who', undefined]);
      assert.match(answer?.result as string, /"me"/);
      server.requireInput(again.request, [{ ...questions[0], key: 'again' }], 0);
      const [second] = only(pair.settle().client, 'inputRequired').inputs;
      client.refuseInput(second?.input as number, -1, 'no', 0);
      assert(pair.settle().client.every((event) => event.type === 'requestFailed'));
    });

    test('changes are watched', () => {
      const pair = connected(revision);
      const { client, server } = pair;
      const subscription = client.subscribe({ tools: true, resourceUris: ['memo://one'] }, 0);
      const opened = pair.settle();
      const acknowledged = opened.client.find((event) => event.type === 'subscriptionAcknowledged');
      assert.equal(acknowledged?.honoured.tools, true);
      server.addTool('{"name":"other","inputSchema":{"type":"object"}}');
      server.publishResourceUpdated('memo://one');
      server.publishListChanged('tools');
      const changes = pair.settle().client;
      assert(changes.some((event) => event.type === 'listChanged' && event.kind === 'tools'));
      assert(changes.some((event) => event.type === 'resourceUpdated' && event.uri === 'memo://one'));
      if (revision === MODERN) {
        const watched = only(opened.server, 'subscriptionOpened');
        assert.deepEqual(watched.filter.resourceUris, ['memo://one']);
        server.endSubscription(watched.subscription);
      } else {
        client.unsubscribe(subscription, 0);
      }
      const ended = pair.settle().client.find((event) => event.type === 'subscriptionEnded');
      assert.deepEqual(ended, { type: 'subscriptionEnded', subscription, graceful: true });
    });

    test('requests end by cancelling, in time and by the end', () => {
      const pair = connected(revision);
      const { client, server } = pair;
      const request = client.callTool('echo', undefined, 0);
      const called = only(pair.settle().server, 'toolCalled');
      client.cancel(request, 'enough');
      const told = pair.settle();
      assert(only(told.client, 'requestFailed').error instanceof sansio.RequestCancelledError);
      assert.equal(only(told.server, 'requestCancelled').request, called.request);
      server.respond(called.request, '{"content":[]}');
      client.callTool('echo', undefined, 0, { timeout: 5 });
      assert.equal(client.pollTimeout(), 5);
      assert(only(client.handleTimeout(5), 'requestFailed').error instanceof sansio.RequestTimedOutError);
      client.callTool('echo', undefined, 5);
      const late = client.dataToSend();
      const lost = client.receiveEof(6);
      assert.deepEqual(
        lost.map((event) => event.type),
        ['requestFailed', 'disconnected'],
      );
      assert.throws(() => client.callTool('echo', undefined, 6), ConnectionClosedError);
      client.dataToSend();
      assert.equal(client.isFinished, true);
      server.receiveData(late, 6);
      assert.equal(server.wantsInput, true);
      server.receiveEof(6);
      assert.equal(typeof server.pollTimeout(), 'number');
      assert(
        server
          .handleTimeout(60_000)
          .some((event) => event.type === 'drained' && event.abandoned.length === 1),
      );
    });
  });
}

test('what only the legacy era has', () => {
  const pair = connected(LEGACY, { capabilities: '{"roots":{"listChanged":true}}' });
  const { client, server } = pair;
  client.ping(0);
  only(pair.settle().client, 'responseReceived');
  client.setLogLevel('error', 0);
  only(pair.settle().client, 'responseReceived');
  client.notifyRootsChanged();
  client.notify('x/note', '{"a":1}');
  const notes = pair.settle().server;
  assert.deepEqual(
    notes.map((event) => event.type),
    ['notificationReceived', 'notificationReceived'],
  );
  const { session } = notes[0] as sansio.NotificationReceived;
  const request = server.ping(session as number, 0);
  const answered = only(pair.settle().server, 'responseReceived');
  assert.deepEqual([answered.request, answered.result], [request, '{}']);
  const asked = server.request(session as number, 'roots/list', undefined, 0);
  const [input] = only(pair.settle().client, 'inputRequired').inputs;
  client.refuseInput(input?.input as number, -5, 'no', 0);
  const refused = only(pair.settle().server, 'responseReceived');
  assert.deepEqual([refused.request, refused.result, refused.error?.code], [asked, undefined, -5]);
  const text = server.exportSession(session as number);
  const other = makeServer();
  assert.equal(typeof other.importSession(text), 'number');
  assert.equal(only(other.events(), 'sessionOpened').capabilities.has('roots.listChanged'), true);
  assert.throws(() => other.importSession('{}'), ApiMisuseError);
  assert.equal(server.log(undefined, 'emergency', '1'), true);
  assert.equal(only(pair.settle().client, 'logReceived').level, 'emergency');
  assert.equal(client.revision, LEGACY);
  const verdict = client.eraVerdict as string;
  const next = new Pair(
    new sansio.Client({ name: 'c', version: '1', seed: SEED, now: 0, era: verdict }),
    makeServer(),
  );
  next.settle();
  assert.equal(next.client.eraVerdict, verdict);
});

test('extensions', () => {
  const server = makeServer({ extensions: '{"a.b/c":{}}', extensionMethods: ['a/b'] });
  const pair = new Pair(makeClient(MODERN), server);
  const request = pair.client.request('a/b', '{"x":1}', 0);
  const told = pair.settle();
  const received = only(told.server, 'requestReceived');
  assert.equal(received.method, 'a/b');
  assert.match(received.params as string, /"x":1/);
  assert.equal(server.notify(received.request, 'a/note', '{}'), true);
  server.respondInvalidArguments(received.request, 'no');
  const events = pair.settle().client;
  assert.equal(events[0]?.type, 'notificationReceived');
  assert.equal((events[1] as sansio.RequestFailed).request, request);
  pair.client.request('a/b', undefined, 0);
  server.respondMissingCapability(only(pair.settle().server, 'requestReceived').request, '{"roots":{}}');
  assert.equal(only(pair.settle().client, 'requestFailed').error.code, -32021);
});

test('the catalog', () => {
  const server = makeServer();
  assert.throws(() => server.addTool('{"name":"echo","inputSchema":{"type":"object"}}'), ApiMisuseError);
  server.removeTool('echo');
  server.removeResource('memo://one');
  server.removeResourceTemplate('memo://{name}');
  server.removePrompt('greet');
  assert.throws(() => server.removePrompt('greet'), { code: 111 });
  assert.throws(() => server.endSession(5), { code: 105 });
});

test('what a peer sends that is of no use comes as bytes', () => {
  const server = makeServer();
  const text = '!é\u{1f600} no JSON';
  const [discarded] = server.receiveData(new TextEncoder().encode(`${text}\n`), 0);
  assert.equal(discarded?.type, 'messageDiscarded');
  assert.equal(new TextDecoder().decode(discarded.bytes), text);
  const bytes = Uint8Array.from([0x7b, 0xff, 0x80, 0x0a]);
  const events = server.receiveData(bytes, 0);
  assert.deepEqual(only(events, 'messageDiscarded').bytes, bytes.subarray(0, 3));
});

test('several events of one read keep their texts apart', () => {
  const pair = connected(MODERN);
  const texts = ['{"a":"\u{1f600}"}', '{"b":"é"}', '{"c":"\\n"}', '{"d":"plain"}'];
  for (const text of texts) pair.client.callTool('echo', text, 0);
  const called = pair.settle().server as sansio.ToolCalled[];
  assert.deepEqual(
    called.map((event) => event.arguments),
    texts,
  );
});

test('what is sent is complete, whatever its size', () => {
  const pair = connected(MODERN);
  for (const size of [1, 1000, 31_000, 33_000, 500_000]) {
    pair.client.callTool('echo', JSON.stringify({ text: 'x'.repeat(size) }), 0);
    const called = only(pair.settle().server, 'toolCalled');
    assert.equal((called.arguments as string).length, size + '{"text":""}'.length);
  }
  const kept = [];
  for (let count = 0; count < 500; count++) {
    pair.client.callTool('echo', JSON.stringify({ count }), 0);
    kept.push(pair.client.dataToSend());
  }
  kept.forEach((bytes, count) =>
    assert.match(new TextDecoder().decode(bytes), new RegExp(`"count":${count}[}]`)),
  );
});

test('mistakes of the caller change nothing', () => {
  const pair = connected(MODERN);
  assert.throws(
    () => pair.server.respond(99, '{}'),
    (error) => error instanceof ApiMisuseError && error.code === 101,
  );
  assert.throws(() => pair.server.respond(-1, '{}'), { code: 101 });
  pair.client.callTool('echo', undefined, 0);
  const called = only(pair.settle().server, 'toolCalled');
  assert.throws(() => pair.server.respond(called.request, 'no JSON'), { name: 'ApiMisuseError', code: 108 });
  assert.throws(() => pair.server.respondError(called.request, { code: 1, message: '', data: '{' }), {
    code: 108,
  });
  pair.server.respond(called.request, '{"content":[]}');
  only(pair.settle().client, 'responseReceived');
  assert.throws(() => pair.client.setLogLevel('loud' as 'info', 0), RangeError);
  assert.throws(() => pair.client.list('things' as 'tools', undefined, 0), RangeError);
  assert.throws(() => pair.client.provideInput(9, '{}', 0), { code: 103 });
  assert.throws(() => pair.client.request(5 as unknown as string, undefined, 0));
  assert.throws(() => makeClient('1999-01-01'), RangeError);
  assert.throws(() => makeClient(MODERN, { era: 'stone age' }), RangeError);
  assert.throws(() => makeClient(MODERN, { seed: SEED.subarray(1) }), RangeError);
  assert.throws(() => makeClient(MODERN, { bogus: 1 } as object), /unknown field `bogus`/);
  assert.throws(() => makeServer({ requestStateKeys: [SEED.subarray(1)] }), RangeError);
  assert.throws(() => makeServer({ cacheScope: 'nobody' as 'public' }), RangeError);
  assert.throws(() => makeClient(MODERN, { capabilities: '[]' }), { code: 108 });
  makeServer({ requestStateKeys: [SEED, SEED] });
});

test('bounds are kept', () => {
  const client = makeClient(MODERN, { limits: { queuedRequests: 1 }, timeouts: { request: 5 } });
  client.callTool('echo', undefined, 0);
  assert.throws(() => client.callTool('echo', undefined, 0), LimitExceededError);
});

test('the end', () => {
  const pair = connected(LEGACY);
  pair.client.close();
  assert.equal(only(pair.client.events(), 'disconnected').reason.code, 501);
  assert.throws(() => pair.client.ping(0), { name: 'ConnectionClosedError', code: 501 });
  const [disconnected] = pair.server.connectionLost(0).slice(-1);
  assert.equal((disconnected as sansio.Disconnected).reason.code, 503);
  assert.throws(() => pair.server.receiveData(new TextEncoder().encode('{}\n'), 0), ConnectionClosedError);
  assert(new sansio.RpcError('m', 5) instanceof McpError);
  assert.equal(`${new sansio.RpcError('m', 5)}`, 'RpcError: m');
  assert.equal(new sansio.RpcError('m', 5).data, undefined);
});

test('a server that ends on the probe is started afresh', () => {
  const client = new sansio.Client({ name: 'c', version: '1', seed: SEED, now: 0 });
  client.dataToSend();
  only(client.receiveEof(0), 'restartRequired');
  assert.deepEqual(client.restart(0), []);
  assert.match(new TextDecoder().decode(client.dataToSend()), /initialize/);
});

test('the steps that end a child', () => {
  const child = new sansio.ChildShutdown({ childExit: 10, childTerminate: 20 });
  assert.equal(child.pollAction(0), undefined);
  child.start();
  assert.equal(child.pollAction(0), 'closeInput');
  assert.equal(child.pollTimeout(), 10);
  child.handleTimeout(10);
  assert.equal(child.pollAction(10), 'terminate');
  child.handleTimeout(30);
  assert.equal(child.pollAction(30), 'kill');
  assert.equal(child.pollTimeout(), undefined);
  assert.equal(child.isFinished, false);
  child.childExited();
  assert.equal(child.isFinished, true);
});
