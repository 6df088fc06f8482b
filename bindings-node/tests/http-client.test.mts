/** The client over HTTP, against a server of the lower floor behind `node:http`, and against odd ones. */

import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import {
  Client,
  ConnectionLostError,
  type HttpClientOptions,
  HttpStatusError,
  McpError,
  RequestTimedOutError,
  UnauthorizedError,
} from 'barewire';
import {
  type ExchangeHandle,
  HttpServer,
  type HttpServerEvent,
  LEGACY_REVISIONS,
  MODERN_REVISIONS,
} from 'barewire/sansio';

const ERAS: readonly (readonly [era: string, revisions: readonly string[]])[] = [
  ['legacy', LEGACY_REVISIONS.slice(0, 1)],
  ['modern', MODERN_REVISIONS],
];

async function listen(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The lower floor of a server behind `node:http`. */
class Host {
  readonly machine = new HttpServer({
    name: 'http',
    version: '1',
    seed: crypto.getRandomValues(new Uint8Array(32)),
    clockOrigin: performance.timeOrigin,
  });
  /** Methods of the requests that the machine has taken, and names of the tools that they call. */
  readonly methods: (string | undefined)[] = [];
  readonly called: string[] = [];
  readonly fields: IncomingMessage['headers'][] = [];
  readonly cancelled: number[] = [];
  readonly #responses = new Map<ExchangeHandle, ServerResponse>();

  constructor() {
    for (const name of ['echo', 'wait', 'count', 'big', 'ask']) {
      this.machine.addTool(JSON.stringify({ name, inputSchema: { type: 'object' } }));
    }
  }

  readonly listener: RequestListener = (request, response) => {
    this.fields.push(request.headers);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]);
      const body = Buffer.concat(chunks);
      const [exchange, events] = this.machine.receiveWhole(
        request.method ?? '',
        headers,
        body,
        performance.now(),
      );
      this.methods.push(request.method);
      this.#responses.set(exchange, response);
      response.on('close', () => {
        if (this.#responses.delete(exchange))
          this.#see(this.machine.receiveAbort(exchange, performance.now()));
      });
      this.#see(events);
    });
  };

  #see(events: readonly HttpServerEvent[]): void {
    for (const event of events) this.#answer(event);
    this.flush();
  }

  #answer(event: HttpServerEvent): void {
    if (event.type === 'requestCancelled') this.cancelled.push(event.request);
    if (event.type !== 'toolCalled') return;
    const { request, name, context } = event;
    this.called.push(name);
    const respond = (text: string) =>
      this.machine.respond(request, JSON.stringify({ content: [{ type: 'text', text }] }));
    const args = JSON.parse(event.arguments ?? '{}');
    if (name === 'echo') respond(args.text);
    if (name === 'big') respond('x'.repeat(args.size));
    if (name === 'count') {
      for (let step = 1; step <= 3; step++) this.machine.progress(request, step, 3, `step ${step}`);
      respond('counted');
    }
    if (name === 'ask') {
      const [answer] = context.inputAnswers;
      if (answer) respond(answer.result ?? '');
      else this.machine.requireInput(request, [{ key: 'r', kind: 'roots', params: '{}' }], performance.now());
    }
  }

  flush(): void {
    for (const exchange of this.machine.ready()) {
      const response = this.#responses.get(exchange);
      for (let part = this.machine.pollResponse(exchange); part; part = this.machine.pollResponse(exchange)) {
        if (response === undefined) continue;
        if (part.status !== undefined) response.writeHead(part.status, Object.fromEntries(part.headers));
        if (part.data.length > 0) response.write(part.data.slice());
        if (part.isAborted) response.destroy();
        else if (part.isLast) {
          this.#responses.delete(exchange);
          response.end();
        } else response.flushHeaders();
      }
    }
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}

async function text(client: Client, tool: string, args: object = {}): Promise<string> {
  const { content } = await client.callTool(tool, args);
  return (content[0] as { text: string }).text;
}

for (const [era, revisions] of ERAS) {
  const connect = (url: string, options: HttpClientOptions = {}) =>
    Client.connect(url, { revisions, ...options });

  test(`http, ${era}: calls, one after the other and at once`, async () => {
    const host = new Host();
    await using server = await listen(host.listener);
    await using client = await connect(server.url, { headers: { 'X-Key': 'k' } });
    assert.equal(client.revision, revisions[0]);
    assert.equal(await text(client, 'echo', { text: 'one' }), 'one');
    const calls = Array.from({ length: 200 }, (_, index) => text(client, 'echo', { text: `${index}` }));
    assert.deepEqual(
      await Promise.all(calls),
      Array.from({ length: 200 }, (_, index) => `${index}`),
    );
    assert.ok(host.fields.every((fields) => fields['x-key'] === 'k'));
  });

  test(`http, ${era}: progress, questions and large results`, async () => {
    const host = new Host();
    await using server = await listen(host.listener);
    await using client = await connect(server.url, {
      onRoots: () => ['file:///a', { uri: 'file:///b', name: 'B' }],
    });
    const seen: unknown[] = [];
    await client.callTool('count', {}, { onProgress: ({ progress }) => seen.push(progress) });
    assert.deepEqual(seen, [1, 2, 3]);
    assert.deepEqual(JSON.parse(await text(client, 'ask')), {
      roots: [{ uri: 'file:///a' }, { uri: 'file:///b', name: 'B' }],
    });
    assert.equal((await text(client, 'big', { size: 1 << 20 })).length, 1 << 20);
  });

  test(`http, ${era}: a signal gives a call up, and the server sees it`, async () => {
    const host = new Host();
    await using server = await listen(host.listener);
    await using client = await connect(server.url);
    const controller = new AbortController();
    const call = assert.rejects(client.callTool('wait', {}, { signal: controller.signal }), {
      name: 'AbortError',
    });
    await until(() => host.called.includes('wait'));
    controller.abort();
    await call;
    await until(() => host.cancelled.length === 1);
    // Time may run out before the call has got to the server, where the machine is busy.
    const before = host.called.length;
    while (host.called.length === before)
      await assert.rejects(client.callTool('wait', {}, { timeout: 50 }), RequestTimedOutError);
    await until(() => host.cancelled.length === 2);
  });

  test(`http, ${era}: closing ends the session, and what runs`, async () => {
    const host = new Host();
    await using server = await listen(host.listener);
    const client = await connect(server.url);
    const call = assert.rejects(client.callTool('wait'), McpError);
    await until(() => host.called.includes('wait'));
    await client.close();
    await call;
    assert.equal(host.methods.includes('DELETE'), era === 'legacy');
  });

  test(`http, ${era}: changes of a server`, async () => {
    const host = new Host();
    await using server = await listen(host.listener);
    await using client = await connect(server.url);
    const changes = await client.subscribe({ tools: true });
    if (era === 'legacy') await until(() => host.methods.includes('GET')); // its stream opens behind
    host.machine.addTool('{"name":"new","inputSchema":{"type":"object"}}');
    host.machine.publishListChanged('tools');
    host.flush();
    assert.deepEqual((await changes.next()).value, { kind: 'tools' });
  });

  test(`http, ${era}: a server that goes away`, async () => {
    const host = new Host();
    let client: Client;
    {
      await using server = await listen(host.listener);
      client = await connect(server.url, { timeouts: { request: 500 } });
      assert.equal(await text(client, 'echo', { text: 'one' }), 'one');
    }
    await assert.rejects(client.callTool('echo', { text: '' }), (error) => {
      assert.ok(error instanceof ConnectionLostError);
      assert.ok(error.cause instanceof Error, 'the cause is what fetch threw');
      return true;
    });
    await client.close();
  });
}

test('http: nobody there', async () => {
  const { url } = await (async () => {
    await using server = await listen(() => {});
    return server;
  })();
  await assert.rejects(Client.connect(url), (error) => {
    assert.ok(error instanceof ConnectionLostError);
    assert.match(error.message, /: connect ECONNREFUSED 127\.0\.0\.1:\d+$/);
    assert.match(String((error.cause as { cause?: unknown }).cause), /ECONNREFUSED/);
    return true;
  });
});

test('http: statuses that are none of the protocol', async () => {
  await using server = await listen((request, response) => {
    if (request.url === '/moved') response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end();
    else response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
  });
  await assert.rejects(Client.connect(server.url), UnauthorizedError);
  await assert.rejects(Client.connect(server.url.replace('/mcp', '/moved')), (error) => {
    assert.ok(error instanceof HttpStatusError);
    assert.equal(error.status, 307);
    assert.match(error.message, /redirects to http:\/\/127\.0\.0\.1:1\/$/);
    return true;
  });
});

test('http: a fetch of the application', async () => {
  const asked: string[] = [];
  const own = new Error('offline');
  const connecting = Client.connect('https://example.com/mcp', {
    fetch: async (url) => {
      asked.push(url);
      throw own;
    },
  });
  await assert.rejects(connecting, (error) => {
    assert.ok(error instanceof ConnectionLostError);
    assert.equal(error.cause, own);
    return true;
  });
  assert.equal(asked[0], 'https://example.com/mcp');
});
