/** Servers behind HTTP, on the hosts that people use. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, IncomingMessage, request, type RequestListener, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { mock, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ConnectionClosedError, type Context, Server } from 'barewire';
import { ResourceServer } from 'barewire/auth';
import { createHandler, type NodeHandler, nodeHandler } from 'barewire/http';
import { HttpServer } from 'barewire/sansio';
import express, { type ErrorRequestHandler } from 'express';
import fastify from 'fastify';
import * as z from 'zod';
import { deferred } from './peer.mjs';
import {
  ACCEPT,
  callOf,
  INITIALIZE,
  listen,
  messagesOf,
  newServer,
  open,
  post,
  type Send,
  serves,
  textOfCall,
  to,
} from './serving.mjs';

/** A stateless request to call a tool of the name `hang`. */
const HANG_HEADERS = {
  accept: ACCEPT,
  'content-type': 'application/json',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'hang',
};
const HANG = {
  jsonrpc: '2.0',
  ...callOf(
    'hang',
    {},
    {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  ),
};

test('a web-standard handler serves', async () => {
  const handler = createHandler(newServer(), { path: '/mcp' });
  await serves(handler);
  assert.equal((await handler(new Request('http://127.0.0.1/other'))).status, 404);
  await handler.close();
  assert.equal((await handler(post({ id: 1, ...INITIALIZE }))).status, 503);
});

test('node:http serves', async (t) => {
  const handler = nodeHandler(newServer(), { path: '/mcp' });
  const send = await listen(t, handler);
  await serves(send);
  assert.equal((await send(new Request('http://127.0.0.1/other'))).status, 404);
  await handler.close();
  assert.equal((await send(post({ id: 1, ...INITIALIZE }))).status, 503);
});

for (const kind of ['web', 'node'] as const) {
  test(`${kind}: answers are whole, whenever a handler gives them and whatever they hold`, async (t) => {
    const server = newServer();
    const texts = ['plain', 'Grüße, 世界 🎉', 'x'.repeat(100_000), 'ü'.repeat(100_000)];
    server.tool('at-once', { input: z.object({ place: z.number() }) }, ({ place }) => texts[place] ?? '');
    server.tool('soon', { input: z.object({ place: z.number() }) }, async ({ place }) => texts[place] ?? '');
    server.tool('later', { input: z.object({ place: z.number() }) }, async ({ place }) => {
      await new Promise((resolve) => setTimeout(resolve, place));
      return texts[place] ?? '';
    });
    const handler = kind === 'web' ? createHandler(server) : nodeHandler(server);
    const send = kind === 'web' ? (handler as Send) : await listen(t, handler as RequestListener);
    const calls = ['at-once', 'soon', 'later'].flatMap((name) =>
      texts.map(async (text, place) => {
        assert.equal(await textOfCall(send, await open(send), name, { place }), text, `${name} ${place}`);
      }),
    );
    await Promise.all(calls);
    await handler.close(); // nothing is left to wait for
  });
}

test('express serves, whether it reads bodies or not', async (t) => {
  for (const reads of [false, true]) {
    const app = express();
    if (reads) app.use(express.json({ limit: '1mb' }));
    app.all('/mcp', nodeHandler(newServer()));
    await serves(await listen(t, app));
  }
});

test('fastify serves', async (t) => {
  const app = fastify();
  t.after(() => app.close());
  const handler = nodeHandler(newServer());
  app.all('/mcp', (request, reply) => {
    reply.hijack();
    handler(request.raw, reply.raw, request.body);
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  await serves(to((app.server.address() as AddressInfo).port));
});

test('pages and names that are not allowed are refused', async () => {
  const handler = createHandler(newServer(), {
    allowedHosts: ['mcp.example'],
    allowedOrigins: ['https://app.example'],
  });
  const from = (url: string, origin: string) =>
    handler(
      new Request(url, {
        method: 'POST',
        headers: { accept: ACCEPT, 'content-type': 'application/json', origin },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...INITIALIZE }),
      }),
    );
  assert.equal((await from('https://mcp.example/', 'https://app.example')).status, 200);
  assert.equal((await from('https://mcp.example/', 'https://evil.example')).status, 403);
  assert.equal((await from('https://evil.example/', 'https://app.example')).status, 403);
});

test('a session serves nobody but its principal', async () => {
  const handler = createHandler(newServer(), {
    principal: (request) => request.headers.get('x-user') ?? undefined,
  });
  const as = (user: string) => (request: Request) => {
    request.headers.set('x-user', user);
    return handler(request);
  };
  const session = await open(as('ann'));
  assert.equal(await textOfCall(as('ann'), session, 'who', {}), 'ann');
  assert.equal((await as('bob')(post(callOf('who', {}), session))).status, 404);
});

test('a body beyond the limit is refused before it is read', async (t) => {
  const handler = nodeHandler(newServer(), { bodyLimit: 1000 });
  const { port } = await listen(t, handler);
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.write(
    `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: ${ACCEPT}\r\nContent-Type: application/json\r\n` +
      'Transfer-Encoding: chunked\r\n\r\n800\r\n' +
      ' '.repeat(0x800),
  );
  const [answer] = await new Promise<[Buffer]>((resolve) => socket.once('data', (data) => resolve([data])));
  assert.match(answer.toString(), /^HTTP\/1\.1 413 /);
});

for (const kind of ['web', 'node'] as const) {
  /** A server whose only tool never ends by itself, and how to reach it. */
  async function hanging(
    t: TestContext,
    server: Server,
  ): Promise<{ send: Send; close: () => Promise<void> }> {
    if (kind === 'web') {
      const handler = createHandler(server);
      return { send: handler, close: () => handler.close() };
    }
    const handler = nodeHandler(server);
    return { send: await listen(t, handler), close: () => handler.close() };
  }

  test(`${kind}: a slow reader holds the handlers that report to it`, async (t) => {
    const server = newServer();
    let sent = 0;
    const text = 'x'.repeat(1000);
    server.tool('flood', {}, async (_, context) => {
      for (; sent < 30_000; sent += 1) await context.progress(sent + 1, undefined, text);
      return 'done';
    });
    const { send, close } = await hanging(t, server);
    const session = await open(send);
    const response = await send(post(callOf('flood', {}, { progressToken: 'p' }), session));
    let before = -1;
    while (before !== sent || sent === 0) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.ok(sent > 0 && sent < 25_000, `${sent} were sent to nobody`);
    const messages = await messagesOf(response);
    assert.equal(sent, 30_000);
    assert.ok('result' in (messages.at(-1) as object));
    await close();
  });

  test(`${kind}: closing lets what is in flight end`, async (t) => {
    const server = newServer();
    const started = deferred<void>();
    const go = deferred<void>();
    server.tool('slow', {}, async () => {
      started.resolve();
      await go.promise;
      return 'late';
    });
    const { send, close } = await hanging(t, server);
    const session = await open(send);
    const text = textOfCall(send, session, 'slow', {});
    await started.promise;
    const closed = close();
    go.resolve();
    assert.equal(await text, 'late');
    await closed;
  });

  test(`${kind}: the stateless revisions end a handler whose client has left`, async (t) => {
    const server = newServer();
    const started = deferred<void>();
    const aborted = deferred<void>();
    server.tool('hang', {}, async (_, context) => {
      context.signal.addEventListener('abort', () => aborted.resolve());
      started.resolve();
      await aborted.promise;
    });
    const { send } = await hanging(t, server);
    const controller = new AbortController();
    const request = new Request('http://127.0.0.1/mcp', {
      method: 'POST',
      headers: HANG_HEADERS,
      body: JSON.stringify(HANG),
      signal: controller.signal,
    });
    const answered = send(request).catch(() => {});
    await started.promise;
    controller.abort();
    await aborted.promise;
    await answered;
  });
}

/** Quiet while something is said that a test expects; gives what was said. */
async function said(act: () => Promise<void>): Promise<string> {
  const logged = mock.method(console, 'error', () => {});
  try {
    await act();
    return logged.mock.calls.map((call) => call.arguments.join(' ')).join('\n');
  } finally {
    logged.mock.restore();
  }
}

test('node: a principal that throws fails its request alone', async (t) => {
  const principal = ({ headers }: IncomingMessage) => {
    if (headers['mcp-session-id'] === undefined) return 'ann';
    throw new Error('no such token');
  };
  const send = await listen(t, nodeHandler(newServer(), { principal }));
  const errors = await said(async () => {
    assert.equal((await send(post({ id: 1, ...INITIALIZE }, 'x'))).status, 500);
    assert.equal((await send(post({ id: 1, ...INITIALIZE }))).status, 200);
  });
  assert.match(errors, /no such token/);
  const app = express();
  app.all('/mcp', nodeHandler(newServer(), { principal }));
  app.use(((error: Error, _request, response, _next) => {
    response.status(401).send(error.message);
  }) satisfies ErrorRequestHandler);
  const response = await (await listen(t, app))(post({ id: 1, ...INITIALIZE }, 'x'));
  assert.deepEqual([response.status, await response.text()], [401, 'no such token']);
});

test('mistakes in options are found at once', async () => {
  const server = newServer();
  for (const serve of [nodeHandler, createHandler]) {
    assert.throws(() => serve(server, { path: 'mcp' }), /begins with a slash: '\/mcp', not 'mcp'/);
    assert.throws(() => serve(server, { sse: { stream: '/sse', messages: 'm' } }), /begins with a slash/);
    for (const wrong of [-1, 1.5, NaN, Infinity]) {
      assert.throws(() => serve(server, { keepAlive: wrong }), {
        name: 'RangeError',
        message: `keepAlive is a whole number, 0 or more, not ${wrong}`,
      });
    }
    assert.throws(() => serve(server, { allowedOrigins: ['app.example'] }), /is not an origin/);
    assert.throws(() => serve(server, { allowedHosts: ['https://app.example'] }), /is not a host/);
  }
  const handler = createHandler(server, { principal: (async () => 'ann') as never });
  await assert.rejects(handler(post({ id: 1, ...INITIALIZE })), /principal gives a string or nothing/);
  assert.throws(() => new Server({ name: 's', version: '1', limits: { sessions: Infinity } }), /sessions/);
});

test('a body that something else has read, and not handed on, is an error', async (t) => {
  const handler = nodeHandler(newServer());
  const send = await listen(t, (request, response) => {
    request.resume().once('end', () => setImmediate(() => handler(request, response)));
  });
  const errors = await said(async () => {
    assert.equal((await send(post({ id: 1, ...INITIALIZE }))).status, 500);
  });
  assert.match(errors, /something else has read the body/);
  const request = post({ id: 1, ...INITIALIZE });
  await request.text();
  const web = createHandler(newServer());
  await assert.rejects(web(request), /something else has read the body/);
  await web.close();
});

test('a null character in a header is refused, where a parser lets it in', async (t) => {
  const auth = new ResourceServer({
    resource: 'https://mcp.example/mcp',
    authorizationServers: ['https://auth.example'],
  });
  for (const options of [{}, { auth }]) {
    const handler = nodeHandler(newServer(), options);
    const send = await listen(t, (request, response) => {
      request.rawHeaders.push('X', 'a\0Origin'); // what `insecureHTTPParser` is for
      handler(request, response);
    });
    const message = { id: 1, ...INITIALIZE };
    const large = { ...message, filler: 'x'.repeat(70_000) };
    for (const request of [new Request('http://127.0.0.1/mcp'), post(message), post(large)]) {
      const answer = await send(request);
      assert.deepEqual([answer.status, await answer.text()], [400, 'Bad Request']);
    }
  }
});

test('whoever leaves within a body leaves nothing', async (t) => {
  const handler = nodeHandler(newServer());
  const { port } = await listen(t, handler);
  for (const length of ['Content-Length: 100', 'Content-Length: 1000000', 'Transfer-Encoding: chunked']) {
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: ${ACCEPT}\r\nContent-Type: application/json\r\n` +
        `${length}\r\n\r\n5\r\n{"jso\r\n`,
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
  }
  const send = to(port);
  const session = await open(send);
  assert.equal(await textOfCall(send, session, 'add', { a: 1, b: 2 }), '3');
  await handler.close();
});

test('a silent stream is kept alive', async (t) => {
  const send = await listen(t, nodeHandler(newServer(), { keepAlive: 20 }));
  const session = await open(send);
  const headers = { accept: ACCEPT, 'mcp-session-id': session };
  const stream = await send(new Request('http://127.0.0.1/mcp', { headers }));
  assert.equal(stream.status, 200);
  const reader = stream.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  let text = '';
  while ((text.match(/^:/gm)?.length ?? 0) < 3) {
    const { value } = await reader.read();
    text += Buffer.from(value as Uint8Array).toString();
  }
  await reader.cancel();
});

test('an unused session ends', async (t) => {
  const send = await listen(t, nodeHandler(newServer(), { sessionIdle: 1_000 }));
  const session = await open(send);
  assert.equal(await textOfCall(send, session, 'who', {}), 'nobody');
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  assert.equal((await send(post(callOf('who', {}), session))).status, 404);
});

/** A server whose tool `hang` ends when it is cancelled, which is told. */
function hanging(): { handler: NodeHandler; aborted: Promise<void> } {
  const server = newServer();
  const aborted = deferred<void>();
  server.tool('hang', {}, (_, { signal }) => {
    signal.addEventListener('abort', () => aborted.resolve());
    return aborted.promise;
  });
  return { handler: nodeHandler(server), aborted: aborted.promise };
}

test('node: a client that has left before its request is handed in is not waited for', async (t) => {
  const { handler, aborted } = hanging();
  const { port } = await listen(t, (request, response) => {
    response.once('close', () => handler(request, response, HANG));
    sent.destroy();
  });
  const sent = request({ port, method: 'POST', headers: HANG_HEADERS }).on('error', () => {});
  sent.end(JSON.stringify(HANG));
  await aborted;
  await handler.close();
});

test('node: a client that leaves in the turn that its request is handed in is not waited for', async (t) => {
  const { handler, aborted } = hanging();
  const { port } = await listen(t, (request) => {
    // One of no socket tells of nothing: nobody is there any more.
    const response = new ServerResponse(request);
    handler(request, response, HANG);
    response.destroy();
  });
  const sent = request({ port, method: 'POST', headers: HANG_HEADERS }).on('error', () => {});
  sent.end(JSON.stringify(HANG));
  await aborted;
  sent.destroy();
  await handler.close();
});

test('closing waits until the last response has been taken', async (t) => {
  const server = newServer();
  const size = 32 << 20;
  server.tool('big', {}, () => 'x'.repeat(size));
  const handler = nodeHandler(server);
  const http = createServer(handler).listen(0, '127.0.0.1');
  await once(http, 'listening');
  t.after(() => http.closeAllConnections());
  const { port } = http.address() as AddressInfo;
  const session = await open(to(port));
  const headers = { accept: ACCEPT, 'content-type': 'application/json', 'mcp-session-id': session };
  const sent = request({ port, method: 'POST', headers });
  sent.end(JSON.stringify({ jsonrpc: '2.0', ...callOf('big', {}) }));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const closed = handler.close().then(() => http.close());
  await new Promise((resolve) => setTimeout(resolve, 100));
  let taken = 0;
  for await (const chunk of response) taken += (chunk as Buffer).length;
  assert.ok(taken > size, `${taken} bytes came`);
  await closed;
});

for (const [what, step, expected] of [
  ['in one turn leaves in one go', 0, ['called', 'called', 'called', 'written', 'written', 'written']],
  [
    'is not kept back by those that work on',
    5,
    ['called', 'written', 'called', 'written', 'called', 'written'],
  ],
] as const) {
  test(`node: what is answered ${what}, and what cannot be sent holds up nothing`, async (t) => {
    const server = newServer();
    const done: string[] = [];
    server.tool('tell', {}, async () => {
      done.push('called');
      return 'told';
    });
    const handler = nodeHandler(server);
    const session = await open(await listen(t, handler));
    const arrived: Parameters<RequestListener>[] = [];
    const send = await listen(t, (...one) => {
      if (arrived.push(one) < 3) return;
      let seconds = process.hrtime()[0];
      t.mock.method(process, 'hrtime', () => [(seconds += step), 0]);
      for (const [place, [request, response]] of arrived.entries()) {
        const { writeHead } = response;
        response.writeHead = ((...head: Parameters<typeof writeHead>) => {
          done.push('written');
          if (place === 1) throw new RangeError('not this one');
          return writeHead.apply(response, head);
        }) as typeof writeHead;
        const message = { jsonrpc: '2.0', ...callOf('tell', {}), id: 10 + place };
        // One after the other, and all of them in one turn: what one has to wait for goes on before the next comes.
        setImmediate(handler, request, response, message);
      }
    });
    const thrown: string[] = [];
    process.setUncaughtExceptionCaptureCallback((error) => thrown.push(error.message));
    t.after(() => process.setUncaughtExceptionCaptureCallback(null));
    const leaving = new AbortController();
    const { signal } = leaving;
    const answers: string[] = [];
    const sent = [1, 2, 3].map(async () => {
      const response = await send(new Request(post(callOf('tell', {}), session), { signal }));
      answers.push(await response.text());
      if (answers.length === 2) leaving.abort();
    });
    await Promise.allSettled(sent);
    for (const answer of answers) assert.match(answer, /told/);
    assert.deepEqual(done, expected);
    assert.deepEqual(thrown, ['not this one']);
  });
}

/** A stateless request to call the tool `hang`, as bytes of that many. */
function rawCall(size: number): string {
  const head = Object.entries(HANG_HEADERS).map(([name, value]) => `${name}: ${value}\r\n`);
  const start = `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\n${head.join('')}content-length: `;
  const length = size - start.length - '00000\r\n\r\n'.length;
  return `${start}${String(length).padStart(5, '0')}\r\n\r\n${JSON.stringify(HANG).padEnd(length)}`;
}

test('node: a client that ends its side in the turn of its request has the answer', async (t) => {
  for (const handler of [() => 'told', async () => 'told']) {
    const server = newServer();
    server.tool('hang', {}, handler);
    const { port } = await listen(t, nodeHandler(server));
    // As much as is read at once: the end is then read right after it.
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    socket.end(rawCall(65_536));
    let text = '';
    for await (const chunk of socket) text += chunk as string;
    assert.match(text, /told/);
  }
});

test('node: a request that comes on no connection is served', async (t) => {
  const handler = nodeHandler(newServer());
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, ...INITIALIZE });
  for (const socket of [{ remoteAddress: '127.0.0.1' }, null]) {
    const request = new IncomingMessage(socket as unknown as Socket);
    const headers = {
      host: '127.0.0.1',
      accept: ACCEPT,
      'content-type': 'application/json',
      'content-length': String(message.length),
    };
    Object.assign(request, { method: 'POST', url: '/', headers, rawHeaders: Object.entries(headers).flat() });
    const response = new ServerResponse(request);
    let taken = '';
    const write = (chunk: Buffer, _: string, done: () => void): void => {
      taken += chunk.toString();
      setImmediate(done);
    };
    response.assignSocket(new Writable({ write }) as unknown as Socket);
    handler(request, response, message);
    await once(response, 'finish');
    assert.match(taken, /^HTTP\/1.1 200 OK\r\n/);
  }
  // What else would end what is left, after a while.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await handler.close();
});

test('node: nothing is left of requests in a row whose client has gone', async (t) => {
  const server = newServer();
  const called = deferred<void>();
  server.tool('hang', {}, () => {
    called.resolve();
    return new Promise(() => {});
  });
  const handler = nodeHandler(server);
  const { port } = await listen(t, handler);
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  socket.write(rawCall(1_000).repeat(10));
  await called.promise;
  // The connection of the first of them is that of the others, which are told of nothing.
  await new Promise((resolve) => setImmediate(resolve));
  socket.destroy();
  // What else would end them, after a while.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await handler.close();
});

test('node: a request that something else has answered while its token was verified is over', async (t) => {
  const verified = deferred<undefined>();
  const auth = new ResourceServer({
    resource: 'https://mcp.example/mcp',
    authorizationServers: ['https://auth.example'],
    verifier: { verify: () => verified.promise },
  });
  const handler = nodeHandler(newServer(), { auth });
  const send = await listen(t, (request, response) => {
    handler(request, response);
    response.writeHead(503).end('too late');
    verified.resolve(undefined);
  });
  const request = post(callOf('who', {}));
  request.headers.set('authorization', 'Bearer t');
  const response = await send(request);
  assert.equal(await response.text(), 'too late');
  await handler.close();
});

test('node: a request that something else has answered is over', async (t) => {
  const server = newServer();
  const go = deferred<string>();
  server.tool('wait', {}, () => go.promise);
  const handler = nodeHandler(server);
  const hurried: ServerResponse[] = [];
  const send = await listen(t, (request, response) => {
    handler(request, response);
    if (request.url !== '/hurried') return;
    hurried.push(response.writeHead(503));
    response.write('too');
  });
  const session = await open(send);
  const warned = deferred<string>();
  const said = t.mock.method(console, 'error', (text: string) => warned.resolve(text));
  const response = await send(new Request('http://127.0.0.1/hurried', post(callOf('wait', {}), session)));
  assert.equal(response.status, 503);
  go.resolve('here');
  assert.match(await warned.promise, /something else has answered/);
  said.mock.restore();
  hurried[0]?.end(' late');
  assert.equal(await response.text(), 'too late');
  assert.equal(await textOfCall(send, session, 'wait', {}), 'here');
  await handler.close();
});

test('a program is served that has put a clock of its own in place', async (t) => {
  const server = newServer();
  const sends = [createHandler(server), await listen(t, nodeHandler(server))];
  const sessions = await Promise.all(sends.map(open));
  t.mock.timers.enable({ apis: ['setImmediate', 'setTimeout'] });
  for (const [place, send] of sends.entries()) {
    assert.equal(await textOfCall(send, sessions[place] as string, 'who', {}), 'nobody');
  }
});

test('node: a machine that is dead is not asked for ever', async (t) => {
  const { port } = await listen(t, nodeHandler(newServer()));
  const machine = HttpServer.prototype as unknown as { readyParts: () => never };
  const { mock: asked } = t.mock.method(machine, 'readyParts', () => {
    throw new ConnectionClosedError('it is over');
  });
  const sent = request({ port }).on('error', () => {});
  sent.end();
  while (asked.callCount() === 0) await nextTurn();
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  assert.equal(asked.callCount(), 1);
  sent.destroy();
});

for (const kind of ['web', 'node'] as const) {
  test(`${kind}: a client of an older revision that leaves cancels nothing`, async (t) => {
    const server = newServer();
    const started = deferred<Context>();
    const go = deferred<void>();
    const ended = deferred<void>();
    server.tool('hang', {}, async (_, context) => {
      started.resolve(context);
      await go.promise;
      ended.resolve();
    });
    const send = kind === 'web' ? createHandler(server) : await listen(t, nodeHandler(server));
    const session = await open(send);
    const controller = new AbortController();
    const request = post(callOf('hang', {}), session);
    const left = send(new Request(request, { signal: controller.signal })).catch(() => {});
    const context = await started.promise;
    controller.abort();
    await left;
    assert.equal((await send(post({ ...callOf('who', {}), id: 3 }, session))).status, 200);
    assert.equal(context.signal.aborted, false);
    go.resolve();
    await ended.promise;
  });
}
