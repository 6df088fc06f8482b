/** Servers do in both eras what their handlers say. */

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import {
  ApiMisuseError,
  Client,
  ConnectionLostError,
  type Context,
  ResourceNotFoundError,
  RpcError,
  RunEndedError,
  Server,
  ToolError,
} from 'barewire';
import * as z from 'zod';
import { deferred, ERAS, Peer, textOf } from './peer.mjs';

function newServer(): Server {
  return new Server({ name: 'test', version: '1' });
}

for (const era of ERAS) {
  test(`${era}: a tool answers with text, blocks, an object or a whole result`, async () => {
    const server = newServer();
    server.tool('text', {}, () => 'hello');
    server.tool('blocks', {}, async () => [
      'one',
      { type: 'image', data: Uint8Array.of(1, 2, 3), mimeType: 'image/png' },
    ]);
    server.tool('object', {}, () => ({ answer: 42 }));
    server.tool('whole', {}, () => ({ content: ['sorry'], isError: true }));
    server.tool('nothing', {}, () => {});
    const peer = new Peer(server, era);
    assert.equal(textOf(await peer.call('text')), 'hello');
    const { content } = await peer.call('blocks');
    assert.deepEqual(content, [
      { type: 'text', text: 'one' },
      { type: 'image', data: 'AQID', mimeType: 'image/png' },
    ]);
    const object = await peer.call('object');
    assert.deepEqual(object.structuredContent, { answer: 42 });
    assert.equal(textOf(object), '{"answer":42}');
    const whole = await peer.call('whole');
    assert.equal(whole.isError, true);
    assert.equal(textOf(whole), 'sorry');
    assert.deepEqual((await peer.call('nothing')).content, []);
    await peer.close();
  });

  test(`${era}: a text arrives as it is, whatever it is made of`, async () => {
    const texts = [
      '',
      '"\\/\b\f\n\r\t\0\x1f\x7f',
      'é ☃ 😀 \u2028',
      'a\ud800',
      '\udc00b',
      '"\n'.repeat(100_000),
    ];
    const server = newServer();
    server.tool('now', { input: z.object({ at: z.number() }) }, ({ at }) => texts[at] as string);
    server.tool('later', { input: z.object({ at: z.number() }) }, async ({ at }) => texts[at] as string);
    const peer = new Peer(server, era);
    for (const [at, text] of texts.entries()) {
      for (const tool of ['now', 'later']) {
        const { content, isError } = await peer.call(tool, { at });
        assert.deepEqual([content, isError], [[{ type: 'text', text }], undefined]);
      }
    }
    await peer.close();
  });

  test(`${era}: errors of handlers are told or hidden`, async () => {
    const server = newServer();
    server.tool('meant', {}, () => {
      throw new ToolError('no such city');
    });
    server.tool('defect', {}, async () => {
      throw new Error('secret');
    });
    server.tool('protocol', {}, () => {
      throw new RpcError('own', 4242, '{"more":1}');
    });
    server.tool('unsendable', {}, () => ({ n: 1n }));
    const peer = new Peer(server, era);
    const logged = mock.method(console, 'error', () => {});
    try {
      const meant = await peer.call('meant');
      assert.deepEqual([textOf(meant), meant.isError], ['no such city', true]);
      assert.equal(logged.mock.callCount(), 0);
      const defect = await peer.call('defect');
      assert.deepEqual([textOf(defect), defect.isError], ['Internal error', true]);
      assert.match(String(logged.mock.calls[0]?.arguments[1]), /secret/);
      await assert.rejects(peer.call('protocol'), { code: 4242, message: 'own', rawData: '{"more":1}' });
      assert.equal((await peer.call('unsendable')).isError, true);
    } finally {
      logged.mock.restore();
    }
    await peer.close();
  });

  test(`${era}: a handler is written once, whether it waits or runs again`, async () => {
    const server = newServer();
    let runs = 0;
    let made = 0;
    server.tool('book', {}, async (_, context) => {
      runs += 1;
      const id = await context.once('id', () => (made += 1));
      const [name, size] = await Promise.all([
        context.elicit('Name?', z.object({ name: z.string() })),
        context.elicit('Size?', z.object({ size: z.number() })),
      ]);
      if (name.action !== 'accept' || size.action !== 'accept') return 'refused';
      const [root] = await context.roots();
      const { text } = await context.sample('What now?');
      return `${id} ${name.content.name} ${size.content.size} ${root?.uri} ${text}`;
    });
    const peer = new Peer(server, era, ({ message }, kind) => {
      if (kind === 'roots') return { roots: [{ uri: 'file:///a' }] };
      if (kind === 'sampling') {
        return { role: 'assistant', model: 'm', content: { type: 'text', text: 'go' } };
      }
      return { action: 'accept', content: message === 'Name?' ? { name: 'Ann' } : { size: 2 } };
    });
    assert.equal(textOf(await peer.call('book')), '1 Ann 2 file:///a go');
    assert.equal(made, 1);
    assert.equal(runs, era === 'legacy' ? 1 : 4);
    await peer.close();
  });

  test(`${era}: a handler may be kept waiting in memory`, async () => {
    const server = newServer();
    let runs = 0;
    server.tool('ask', { resume: 'memory' }, async (_, context) => {
      runs += 1;
      return context.elicitUrl('Go there', 'https://example.com/');
    });
    const peer = new Peer(server, era, () => ({ action: 'accept' }));
    assert.equal(textOf(await peer.call('ask')), 'accept');
    assert.equal(runs, 1);
    await peer.close();
  });

  test(`${era}: an answer that does not fit is an error of the tool`, async () => {
    const server = newServer();
    server.tool('ask', {}, async (_, context) => {
      await context.elicit('Age?', z.object({ age: z.number() }));
      return 'no';
    });
    const peer = new Peer(server, era, () => ({ action: 'accept', content: { age: 'old' } }));
    const result = await peer.call('ask');
    assert.equal(result.isError, true);
    assert.match(textOf(result) ?? '', /does not fit the question: age/);
    await peer.close();
  });

  test(`${era}: two questions of one key at once are a defect`, async () => {
    const server = newServer();
    const form = z.object({});
    server.tool('ask', {}, async (_, context) => {
      await Promise.all(['A?', 'B?'].map((message) => context.elicit(message, form, { key: 'k' })));
      return 'asked';
    });
    const peer = new Peer(server, era, () => ({ action: 'accept', content: {} }));
    const logged = mock.method(console, 'error', () => {});
    try {
      assert.equal((await peer.call('ask')).isError, true);
      assert.match(String(logged.mock.calls[0]?.arguments[1]), /two questions of the key 'k'/);
    } finally {
      logged.mock.restore();
    }
    await peer.close();
  });

  test(`${era}: what only looks like a promise answers once`, async () => {
    const server = newServer();
    const resolving = (resolve: (value: string) => void): void => {
      resolve('first');
      resolve('second');
      throw new Error('late');
    };
    server.tool('twice', {}, () => ({ then: resolving }));
    server.tool('broken', {}, () => ({
      then: () => {
        throw new Error('at once');
      },
    }));
    const peer = new Peer(server, era);
    const logged = mock.method(console, 'error', () => {});
    try {
      assert.equal(textOf(await peer.call('twice')), 'first');
      assert.equal(logged.mock.callCount(), 0);
      assert.equal((await peer.call('broken')).isError, true);
      assert.match(String(logged.mock.calls[0]?.arguments[1]), /at once/);
    } finally {
      logged.mock.restore();
    }
    await peer.close();
  });

  test(`${era}: to throw what cannot even be looked at is a defect like any other`, async () => {
    const server = newServer();
    const refuse = () => {
      throw new Error('do not look');
    };
    server.tool('hostile', {}, () => {
      throw new Proxy({}, { getPrototypeOf: refuse, get: refuse, has: refuse });
    });
    server.tool('unprintable', {}, () => {
      throw { [Symbol.for('nodejs.util.inspect.custom')]: refuse };
    });
    const peer = new Peer(server, era);
    const logged = mock.method(process.stderr, 'write', () => true);
    try {
      await assert.rejects(peer.call('hostile'), /Internal error/);
      assert.equal((await peer.call('unprintable')).isError, true);
      assert.ok(logged.mock.callCount() >= 2);
    } finally {
      logged.mock.restore();
    }
    await peer.close();
  });

  test(`${era}: progress that is no number is a defect, and says so`, async () => {
    const server = newServer();
    server.tool('work', {}, async (_, context) => context.progress(0 / 0, 0));
    const peer = new Peer(server, era);
    const logged = mock.method(console, 'error', () => {});
    try {
      assert.equal((await peer.call('work', {}, { progress: true })).isError, true);
      assert.match(String(logged.mock.calls[0]?.arguments[1]), /finite numbers, not NaN of 0/);
    } finally {
      logged.mock.restore();
    }
    await peer.close();
  });

  test(`${era}: what is kept may have the name of anything`, async () => {
    const server = newServer();
    server.tool('ask', {}, async (_, context) => {
      const kept = await context.once('__proto__', () => 'kept');
      const { action } = await context.elicit('?', z.object({}), { key: 'constructor' });
      return `${kept} ${action}`;
    });
    const peer = new Peer(server, era, () => ({ action: 'accept', content: {} }));
    assert.equal(textOf(await peer.call('ask')), 'kept accept');
    await peer.close();
  });

  test(`${era}: a cancelled handler is told so`, async () => {
    const server = newServer();
    const started = deferred<Context>();
    const aborted = deferred<void>();
    server.tool('hang', {}, (_, context) => {
      started.resolve(context);
      context.signal.addEventListener('abort', () => aborted.resolve());
      return aborted.promise;
    });
    const peer = new Peer(server, era);
    const request = peer.begin('hang');
    const context = await started.promise;
    peer.cancel(request);
    await aborted.promise;
    await assert.rejects(context.roots(), RunEndedError);
    await peer.close();
  });

  test(`${era}: progress and logs reach the client that wants them`, async () => {
    const server = newServer();
    server.tool('work', {}, async (_, context) => {
      await context.progress(1, 2, 'half');
      await context.log('warning', { careful: true });
      return 'done';
    });
    const peer = new Peer(server, era);
    await peer.call('work', {}, { progress: true, logLevel: 'debug' });
    const seen = peer.events.filter(({ type }) => type === 'progressReceived' || type === 'logReceived');
    assert.deepEqual(
      seen.map(({ type }) => type),
      ['progressReceived', 'logReceived'],
    );
    await peer.close();
  });

  test(`${era}: resources, templates, prompts and completions`, async () => {
    const server = newServer();
    server.resource('notes://{id}/{?lang}', { name: 'note' }, ({ id, lang }, { uri }) => {
      if (id === '0') throw new ResourceNotFoundError();
      return `${id} ${lang ?? 'en'} ${uri}`;
    });
    server.resource('data://raw', { name: 'raw' }, () => Uint8Array.of(255));
    server.prompt(
      'greet',
      { input: z.object({ name: z.string().describe('Whom'), tone: z.string().optional() }) },
      ({ name }) => [`Hello ${name}`, { role: 'assistant', content: 'Hi' }],
    );
    server.completion('greet', 'name', ({ value }) =>
      ['Ann', 'Bob'].filter((name) => name.startsWith(value)),
    );
    const peer = new Peer(server, era);
    const note = (await peer.read('notes://7/?lang=de'))['contents'] as [{ text: string }];
    assert.equal(note[0].text, '7 de notes://7/?lang=de');
    await assert.rejects(peer.read('notes://0/'), /Resource not found/);
    const raw = (await peer.read('data://raw'))['contents'];
    assert.deepEqual(raw, [{ uri: 'data://raw', mimeType: 'application/octet-stream', blob: '/w==' }]);
    const [prompt] = (await peer.list('prompts'))['prompts'] as [{ arguments: unknown }];
    assert.deepEqual(prompt.arguments, [
      { name: 'name', description: 'Whom', required: true },
      { name: 'tone' },
    ]);
    assert.deepEqual((await peer.prompt('greet', { name: 'Ann' }))['messages'], [
      { role: 'user', content: { type: 'text', text: 'Hello Ann' } },
      { role: 'assistant', content: { type: 'text', text: 'Hi' } },
    ]);
    await assert.rejects(peer.prompt('greet', {}), { code: -32602 });
    const { completion } = await peer.complete('greet', 'name', 'B');
    assert.deepEqual((completion as { values: unknown }).values, ['Bob']);
    assert.deepEqual(
      ((await peer.complete('greet', 'tone', ''))['completion'] as { values: unknown }).values,
      [],
    );
    await peer.close();
  });

  test(`${era}: tools come and go while the server runs`, async () => {
    const server = newServer();
    server.tool('first', {}, () => '');
    const peer = new Peer(server, era);
    const names = async () =>
      ((await peer.list('tools'))['tools'] as { name: string }[]).map(({ name }) => name);
    assert.deepEqual(await names(), ['first']);
    server.tool('second', {}, () => '');
    assert.equal(server.removeTool('first'), true);
    assert.equal(server.removeTool('first'), false);
    assert.deepEqual(await names(), ['second']);
    await peer.close();
  });
}

test('a mistake in a definition is told where it is registered', () => {
  const server = newServer();
  assert.throws(() => server.resource('x://{', { name: 'x' }, () => ''), ApiMisuseError);
  assert.throws(() => server.tool('x', { input: z.string() as never }, () => ''), TypeError);
  assert.throws(() => server.tool('x', {}, undefined as never), /the handler of 'x' is not a function/);
  for (const member of ['inputSchema', 'outputSchema', 'parameters']) {
    const options = { [member]: z.object({}) };
    assert.throws(() => server.tool('x', options, () => ''), new RegExp(`tool 'x' has '${member}'`));
  }
  server.tool('x', {}, () => '');
  assert.throws(() => server.tool('x', {}, () => ''), ApiMisuseError);
});

test('answers that are owed at the end of input are sent', async () => {
  const server = newServer();
  const go = deferred<void>();
  server.tool('slow', {}, async () => {
    await go.promise;
    return 'late';
  });
  const peer = new Peer(server, 'legacy');
  await peer.list('tools');
  const result = peer.call('slow');
  peer.toServer.end();
  setImmediate(() => go.resolve());
  assert.equal(textOf(await result), 'late');
  await peer.served;
});

test('a client of the same process that leaves waits for no handler that never ends', async () => {
  const server = newServer();
  const started = deferred<AbortSignal>();
  server.tool('hang', {}, (_, { signal }) => {
    started.resolve(signal);
    return new Promise<void>(() => {});
  });
  const client = await Client.connect(server);
  const call = assert.rejects(client.callTool('hang'), ConnectionLostError);
  const signal = await started.promise;
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const closed = client.close();
    await call;
    assert.equal(signal.aborted, false);
    mock.timers.tick(2_000);
    await closed;
    assert.equal(signal.aborted, true);
  } finally {
    mock.timers.reset();
  }
});

test('a reader that is slow holds the handlers that report to it', async () => {
  const server = newServer();
  let sent = 0;
  server.tool('flood', {}, async (_, context) => {
    for (; sent < 20_000; sent += 1) await context.progress(sent + 1);
    return 'done';
  });
  const peer = new Peer(server, 'legacy');
  await peer.list('tools');
  peer.fromServer.pause();
  const result = peer.call('flood', {}, { progress: true });
  let before = -1;
  while (before !== sent || sent === 0) {
    before = sent;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.ok(sent > 0 && sent < 5_000, `${sent} were sent to nobody`);
  peer.fromServer.resume();
  assert.equal(textOf(await result), 'done');
  await peer.close();
});
