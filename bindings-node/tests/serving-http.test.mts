/** Servers behind HTTP, on the hosts that people use. */

import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Server } from 'barewire';
import { createHandler, nodeHandler } from 'barewire/http';
import express from 'express';
import fastify from 'fastify';
import * as z from 'zod';
import { deferred } from './peer.mjs';

const ACCEPT = 'application/json, text/event-stream';
const INITIALIZE = {
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
};

type Send = (request: Request) => Promise<Response>;

function newServer(): Server {
  const server = new Server({ name: 'test', version: '1', timeouts: { drain: 200 } });
  server.tool('add', { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => `${a + b}`);
  server.tool('who', {}, (_, { principal = 'nobody' }) => principal);
  server.tool('sink', { input: z.object({ text: z.string() }) }, async ({ text }) => `${text.length}`);
  server.tool('steps', {}, async (_, context) => {
    for (let step = 1; step <= 3; step += 1) await context.progress(step, 3);
    return 'done';
  });
  return server;
}

function post(message: object, session?: string): Request {
  return new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: {
      accept: ACCEPT,
      'content-type': 'application/json',
      ...(session && { 'mcp-session-id': session }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
}

function callOf(name: string, args: object, meta?: object): object {
  return { id: 2, method: 'tools/call', params: { name, arguments: args, ...(meta && { _meta: meta }) } };
}

/** Messages of a response, whether it is JSON or a stream of events. */
async function messagesOf(response: Response): Promise<Record<string, unknown>[]> {
  const text = await response.text();
  if (response.headers.get('content-type')?.startsWith('application/json')) return [JSON.parse(text)];
  const lines = text.split('\n').filter((line) => line.startsWith('data:'));
  return lines
    .map((line) => line.slice(5).trim())
    .filter((data) => data !== '')
    .map((data) => JSON.parse(data));
}

async function open(send: Send): Promise<string> {
  const response = await send(post({ id: 1, ...INITIALIZE }));
  assert.equal(response.status, 200);
  await response.text();
  const session = response.headers.get('mcp-session-id');
  assert.ok(session);
  assert.equal((await send(post({ method: 'notifications/initialized' }, session))).status, 202);
  return session;
}

async function textOfCall(send: Send, session: string, name: string, args: object): Promise<string> {
  const messages = await messagesOf(await send(post(callOf(name, args), session)));
  return (messages.at(-1) as { result: { content: [{ text: string }] } }).result.content[0].text;
}

/** Serves with `node:http`; what gives requests to it. */
async function listen(t: TestContext, listener: RequestListener): Promise<Send & { port: number }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return Object.assign(to(port), { port });
}

/** Sends requests to a port of this machine. */
function to(port: number): Send {
  return async (request) => {
    const { method, headers, signal } = request;
    const body = method === 'POST' ? await request.arrayBuffer() : null;
    return fetch(`http://127.0.0.1:${port}${new URL(request.url).pathname}`, {
      method,
      headers,
      body,
      signal,
    });
  };
}

async function serves(send: Send): Promise<void> {
  const session = await open(send);
  assert.equal(await textOfCall(send, session, 'add', { a: 1, b: 2 }), '3');
  // More than one piece.
  assert.equal(await textOfCall(send, session, 'sink', { text: 'x'.repeat(300_000) }), '300000');
  const stream = await send(post(callOf('steps', {}, { progressToken: 'p' }), session));
  const messages = await messagesOf(stream);
  assert.deepEqual(
    messages.map(({ method }) => method),
    [...Array(3).fill('notifications/progress'), undefined],
  );
  const gone = await send(
    new Request('http://127.0.0.1/mcp', { method: 'DELETE', headers: { 'mcp-session-id': session } }),
  );
  assert.ok(gone.ok);
  assert.equal((await send(post(callOf('add', { a: 1, b: 2 }), session))).status, 404);
}

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
    while (before !== sent) {
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
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const request = new Request('http://127.0.0.1/mcp', {
      method: 'POST',
      headers: {
        accept: ACCEPT,
        'content-type': 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'hang',
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...callOf('hang', {}, meta) }),
      signal: controller.signal,
    });
    const answered = send(request).catch(() => {});
    await started.promise;
    controller.abort();
    await aborted.promise;
    await answered;
  });
}
