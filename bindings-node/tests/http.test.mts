/** The sans-IO floor over HTTP: a server by itself, and a client and a server with nothing between them. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  ApiMisuseError,
  type ExchangeHandle,
  HttpClient,
  type HttpClientEvent,
  type HttpClientSettings,
  type HttpRequest,
  HttpServer,
  type HttpServerEvent,
  type HttpServerSettings,
  type RequestHandle,
  type ToolCalled,
  UnauthorizedError,
} from 'barewire/sansio';
import { ERAS, LEGACY, MODERN, only, SEED } from './pair.mjs';

type Pairs = [name: string, value: string][];

const HEADERS: Pairs = [
  ['host', 'localhost'],
  ['content-type', 'application/json'],
  ['accept', 'application/json, text/event-stream'],
];
const RESULT = '{"content":[]}';

function makeServer(settings: Partial<HttpServerSettings> = {}): HttpServer {
  const server = new HttpServer({ name: 's', version: '1', seed: SEED, clockOrigin: 0, ...settings });
  server.addTool('{"name":"t","inputSchema":{"type":"object"}}');
  return server;
}

function message(method: string, id: number | undefined, params: object = {}): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ jsonrpc: '2.0', method, params, ...(id && { id }) }));
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** The response of an exchange that is over. */
function whole(server: HttpServer, exchange: ExchangeHandle) {
  let [status, headers, body] = [0, new Map<string, string>(), ''];
  for (;;) {
    const part = server.pollResponse(exchange);
    assert(part !== undefined, 'it goes on');
    if (part.status !== undefined) [status, headers] = [part.status, new Map(part.headers)];
    body += text(part.data);
    if (part.isLast) return { status, headers, body };
  }
}

/** Opens a legacy session; gives the headers that name it, and what was told. */
function openSession(server: HttpServer): { headers: Pairs; events: HttpServerEvent[] } {
  const hello = { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'c', version: '1' } };
  const [exchange, events] = server.receiveWhole('POST', HEADERS, message('initialize', 1, hello), 0);
  const { status, headers } = whole(server, exchange);
  assert.equal(status, 200);
  const named: Pairs = [...HEADERS, ['mcp-session-id', headers.get('mcp-session-id') as string]];
  const note = message('notifications/initialized', undefined);
  const [second, more] = server.receiveWhole('POST', new Headers(named), note, 0);
  assert.equal(whole(server, second).status, 202);
  return { headers: named, events: [...events, ...more, ...server.events()] };
}

/** What hosts of ours ask: to answer a request, and what can be sent then. */
interface Answering {
  answer(
    request: RequestHandle,
    result: string,
  ): {
    readonly parts: readonly {
      readonly exchange: ExchangeHandle;
      readonly status: number | undefined;
      readonly headers: readonly string[];
      readonly data: Uint8Array | string;
      readonly isLast: boolean;
      readonly isAborted: boolean;
    }[];
  };
}

function answer(server: HttpServer, request: RequestHandle, result: string) {
  return (server as unknown as Answering).answer(request, result).parts;
}

/** Answers a call, and checks the response. */
function checkAnswer(server: HttpServer, call: ToolCalled, result: string, isOfPage: boolean): void {
  const [part, ...others] = answer(server, call.request, result);
  assert.deepEqual(others, []);
  assert(part !== undefined);
  const { exchange, status, headers, data, isLast, isAborted } = part;
  const body = typeof data === 'string' ? data : text(data);
  assert.deepEqual([exchange, status, isLast, isAborted], [call.context.exchange, 200, true, false]);
  assert.deepEqual(JSON.parse(body).result.content, JSON.parse(result).content);
  const pairs = new Map<string, string>();
  for (let at = 0; at < headers.length; at += 2) pairs.set(headers[at] as string, headers[at + 1] as string);
  assert.equal(pairs.get('content-length'), String(new TextEncoder().encode(body).length));
  assert.equal(pairs.get('content-type'), 'application/json');
  assert.equal(pairs.get('access-control-allow-origin'), isOfPage ? 'https://good.example' : undefined);
}

describe('a server', () => {
  test('answers', () => {
    const server = makeServer();
    const { headers, events } = openSession(server);
    assert.equal(
      events.some((event) => event.type === 'sessionOpened'),
      true,
    );
    const call = message('tools/call', 2, { name: 't' });
    const [exchange, told] = server.receiveWhole('POST', headers, call, 5, { principal: undefined as never });
    const called = only(told, 'toolCalled');
    assert.equal(called.context.exchange, exchange);
    assert.equal(server.pollResponse(exchange), undefined);
    assert.deepEqual(server.ready(), []);
    server.respond(called.request, RESULT);
    assert.deepEqual(server.ready(), [exchange]);
    assert(server.backlog(exchange) > 0);
    const { status, headers: head, body } = whole(server, exchange);
    assert.deepEqual([status, JSON.parse(body).id], [200, 2]);
    assert.equal(head.get('content-length'), String(body.length));
    assert.equal(server.pollResponse(exchange), undefined);
    assert.equal(server.isIdle, true);
  });

  test('takes a body in pieces and sends a large one', () => {
    const server = makeServer();
    const { headers } = openSession(server);
    const exchange = server.receiveRequest('POST', headers, 0);
    const body = message('tools/call', 2, { name: 't' });
    server.receiveBody(exchange, body.subarray(0, 10), 0);
    server.receiveBody(exchange, body.subarray(10), 0);
    const called = only(server.receiveEnd(exchange, 0), 'toolCalled');
    assert.equal(server.progress(called.request, 1), false);
    assert.equal(server.log(called.request, 'info', '"said"'), true);
    const part = server.pollResponse(exchange);
    assert.deepEqual([part?.status, part?.isLast, part?.isAborted], [200, false, false]);
    assert.match(text(part?.data as Uint8Array), /"said"/);
    assert.equal(server.closeStream(exchange, 0, 7), true);
    assert.match(text(server.pollResponse(exchange)?.data as Uint8Array), /retry: 7/);
    const [large, told] = server.receiveWhole('POST', headers, message('tools/call', 3, { name: 't' }), 0);
    const content = JSON.stringify({ content: [{ type: 'text', text: 'é'.repeat(100_000) }] });
    server.respond(only(told, 'toolCalled').request, content);
    assert.deepEqual(JSON.parse(whole(server, large).body).result, JSON.parse(content));
    assert.deepEqual(server.receiveAbort(exchange, 0), []);
  });

  test('tells the same of a request and its response, however it is told', () => {
    const server = makeServer({ allowedOrigins: ['https://good.example'] });
    for (const name of ['é', '!']) server.addTool(JSON.stringify({ name, inputSchema: { type: 'object' } }));
    const sessions = [openSession(server).headers, openSession(server).headers];
    const fromPage: Pairs = [...(sessions[1] as Pairs), ['origin', 'https://good.example']];
    const modern: Pairs = [
      ...HEADERS,
      ['mcp-protocol-version', MODERN],
      ['mcp-method', 'tools/call'],
      ['mcp-name', 't'],
    ];
    const meta = (name: string, more: object = {}) => ({
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientInfo': { name, version: '1' },
      'io.modelcontextprotocol/clientCapabilities': { sampling: {} },
      ...more,
    });
    const requests: [headers: Pairs, params: object][] = [
      [sessions[0] as Pairs, { name: 't', arguments: { a: 1 } }],
      [sessions[1] as Pairs, { name: '!' }],
      [sessions[0] as Pairs, { name: 'é', arguments: { a: 'é😀' } }],
      [fromPage, { name: 't', arguments: { a: 'x'.repeat(50_000) }, _meta: { k: 'v' } }],
      [sessions[1] as Pairs, { name: 't', _meta: { k: 'v' } }],
      [sessions[1] as Pairs, { name: 't', _meta: { k: 'é', progressToken: 1 } }],
      [modern, { name: 't', _meta: meta('a') }],
      [modern, { name: 't', arguments: {}, _meta: meta('b') }],
      [modern, { name: 't', _meta: meta('b', { 'x.example/k': 'y'.repeat(5_000) }) }],
    ];
    const bodies = ['', 'x'.repeat(9), 'é', 'x'.repeat(20_000)];
    for (const principal of [undefined, 'p']) {
      // The second time much is known already.
      for (const [headers, params] of [...requests, ...requests]) {
        const isModern = headers === modern;
        const options = principal !== undefined && isModern ? { principal } : {};
        const body = message('tools/call', 1, params);
        const whole = server.receiveWhole('POST', headers, body, 0, options);
        const called = only(whole[1], 'toolCalled');
        const pieces = server.receiveRequest('POST', headers, 0, options);
        // The id is taken in its session until the first has its answer.
        server.receiveBody(pieces, message('tools/call', 2, params), 0);
        const again = only(server.receiveEnd(pieces, 0), 'toolCalled');
        const { request, context } = again;
        assert.equal(called.context.exchange, whole[0]);
        assert.equal(context.exchange, pieces);
        assert.equal(called.context.capabilities.has('sampling'), isModern);
        const told = { ...called, request, context: { ...called.context, exchange: pieces } };
        // Capabilities remember what was asked of them.
        assert.equal(context.capabilities.has('sampling'), isModern);
        assert.deepEqual(told, again);
        for (const [at, call] of [called, again].entries()) {
          const said = bodies[(at + String(params).length + headers.length) % bodies.length] as string;
          const result = JSON.stringify({ content: [{ type: 'text', text: said }] });
          checkAnswer(server, call, result, headers === fromPage);
        }
      }
    }
    for (const [headers] of requests) {
      // Several are ready at once, and one is a refusal.
      const [, [first]] = server.receiveWhole('POST', headers, message('ping', 7), 0);
      assert.equal(first, undefined);
    }
    const [exchange, told] = server.receiveWhole(
      'POST',
      modern,
      message('tools/call', 8, requests[6]?.[1]),
      0,
    );
    const parts = answer(server, only(told, 'toolCalled').request, RESULT);
    assert.equal(parts.length, requests.length + 1);
    assert.equal(parts.at(-1)?.exchange, exchange);
    assert.deepEqual(
      parts.map(({ status }) => status),
      [200, 200, 200, 200, 200, 200, 400, 400, 400, 200],
    );
    assert.throws(() => answer(server, only(told, 'toolCalled').request, RESULT), ApiMisuseError);
  });

  test('tells of nobody else where it could not remember what it was told', () => {
    const server = makeServer({ allowedOrigins: ['https://good.example'] });
    const call = (client: string, ...more: Pairs) => {
      const meta = {
        'io.modelcontextprotocol/protocolVersion': MODERN,
        'io.modelcontextprotocol/clientInfo': { name: client, version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      const named: Pairs = [
        ['mcp-protocol-version', MODERN],
        ['mcp-method', 'tools/call'],
        ['mcp-name', 't'],
      ];
      const body = message('tools/call', 1, { name: 't', _meta: meta });
      const [, told] = server.receiveWhole('POST', [...HEADERS, ...named, ...more], body, 0);
      const called = only(told, 'toolCalled');
      assert.equal(JSON.parse(called.context.client as string).name, client);
      assert.deepEqual(JSON.parse(called.context.meta as string), meta);
      return called;
    };
    const interrupted = (what: () => unknown) => {
      const { parse } = JSON;
      JSON.parse = () => {
        throw new RangeError('interrupted');
      };
      try {
        assert.throws(what, /interrupted/);
      } finally {
        JSON.parse = parse;
      }
    };
    // What they tell has the same lengths, and so the same place.
    const first = call('a');
    interrupted(() => call('b'));
    const second = call('b', ['origin', 'https://good.example']);
    const third = call('a', ['origin', 'https://good.example']);
    checkAnswer(server, first, RESULT, false);
    interrupted(() => answer(server, second.request, RESULT));
    checkAnswer(server, third, RESULT, true);
  });

  test('tells of each caller what is its own, where all else is the same', () => {
    const server = makeServer({ logging: true, allowedOrigins: ['https://a.example', 'https://b.example'] });
    let id = 0;
    const call = (headers: Pairs, meta?: object, principal?: string) => {
      const options = principal === undefined ? {} : { principal };
      const body = message('tools/call', ++id, { name: 't', ...(meta && { _meta: meta }) });
      const [, told] = server.receiveWhole('POST', headers, body, 0, options);
      return only(told, 'toolCalled').context;
    };
    const originOf = (origin: string) => {
      const named: Pairs = [...session, ['origin', origin]];
      const [, told] = server.receiveWhole('POST', named, message('tools/call', ++id, { name: 't' }), 0);
      const headers = answer(server, only(told, 'toolCalled').request, RESULT).at(-1)?.headers ?? [];
      return headers[headers.indexOf('access-control-allow-origin') + 1];
    };
    const modern: Pairs = [
      ...HEADERS,
      ['mcp-protocol-version', MODERN],
      ['mcp-method', 'tools/call'],
      ['mcp-name', 't'],
    ];
    const meta = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    for (const principal of ['p', 'q', undefined, '', 'p']) {
      assert.equal(call(modern, meta, principal).principal, principal);
    }
    const session = openSession(server).headers;
    for (const more of [{ k: 'v' }, { k: 'w' }, undefined, { k: 'v' }]) {
      assert.equal(call(session, more).meta, more && JSON.stringify(more));
    }
    for (const level of ['info', 'debug', 'info'] as const) {
      const [set] = server.receiveWhole('POST', session, message('logging/setLevel', ++id, { level }), 0);
      assert.equal(whole(server, set).status, 200);
      assert.equal(call(session).logLevel, level);
    }
    for (const origin of ['https://a.example', 'https://b.example', 'https://a.example']) {
      assert.equal(originOf(origin), origin);
    }
    // More sessions than contexts are remembered.
    const sessions = Array.from({ length: 130 }, () => openSession(server).headers);
    const numbers = sessions.map((headers) => call(headers).session);
    assert.equal(new Set(numbers).size, sessions.length);
    assert.deepEqual(
      sessions.map((headers) => call(headers).session),
      numbers,
    );
  });

  test('tells what is to be kept with the call that comes next', () => {
    const server = makeServer({ externalSessions: true, eventKeeping: 'external' });
    const { headers } = openSession(server);
    const call = (id: number) =>
      server.receiveWhole('POST', headers, message('tools/call', id, { name: 't' }), 0)[1];
    const first = only(call(2), 'toolCalled');
    server.log(first.request, 'info', '"said"');
    const types = call(3).map(({ type }) => type);
    assert.equal(types[0], 'toolCalled');
    assert(types.includes('eventAppended'), types.join());
    assert.deepEqual(server.events(), []);
  });

  test('refuses', () => {
    const server = makeServer({
      bodyBytes: 10,
      allowedOrigins: ['https://good.example'],
      allowedHosts: ['*'],
    });
    const [foreign] = server.receiveWhole(
      'POST',
      [...HEADERS, ['origin', 'https://bad.example']],
      message('ping', 1),
      0,
    );
    assert.equal(whole(server, foreign).status, 403);
    const [large] = server.receiveWhole('POST', HEADERS, message('ping', 1), 0);
    assert.equal(whole(server, large).status, 413);
    assert.throws(() => server.receiveWhole('POST', [['a', 'b\0c']], new Uint8Array(), 0), TypeError);
    for (const method of ['POST\0', 'POST\0origin', 'POST\0a\0b']) {
      assert.throws(() => server.receiveWhole(method, HEADERS, new Uint8Array(), 0), /null character/);
    }
    const both = { eventStream: '/messages', messages: '' };
    assert.throws(() => server.receiveRequest('POST', HEADERS, 0, both), /one endpoint/);
    assert.throws(() => makeServer({ eventKeeping: 'somewhere' as 'none' }), /eventKeeping/);
    assert.throws(() => makeServer({ allowedOrigins: ['app'] }), /is not an origin/);
    makeServer({ eventKeeping: 'memory', keptEvents: 1, keptBytes: 10, keptAge: 5, retry: 1 });
  });

  test('leaves sessions and events to the program', () => {
    const server = makeServer({ externalSessions: true, eventKeeping: 'external' });
    const { headers, events } = openSession(server);
    const named = events.find((event) => event.type === 'sessionNamed');
    assert(named !== undefined);
    const [exchange, told] = server.receiveWhole('POST', headers, message('tools/call', 2, { name: 't' }), 0);
    const called = only(told, 'toolCalled');
    server.log(called.request, 'info', '"said"');
    server.respond(called.request, RESULT);
    const { body } = whole(server, exchange);
    const kept = server.events().filter((event) => event.type === 'eventAppended');
    assert(
      kept.length > 1 && kept.every((event) => event.session === named.session && body.includes(event.data)),
    );
    const resumed: Pairs = [...headers, ['last-event-id', kept[0]?.id as string]];
    const [again, asked] = server.receiveWhole('GET', resumed, new Uint8Array(), 0);
    const replay = only(asked, 'replayRequested');
    assert.deepEqual([replay.exchange, replay.after], [again, kept[0]?.id]);
    server.replay(
      again,
      kept.slice(1).map(({ id, data }) => [id, data] as const),
      0,
    );
    assert(text(server.pollResponse(again)?.data as Uint8Array).includes(kept.at(-1)?.data as string));

    const other = makeServer({ externalSessions: true, eventKeeping: 'external' });
    const [waiting, wanted] = other.receiveWhole('POST', headers, message('tools/list', 3), 0);
    assert.equal(only(wanted, 'sessionRequested').id, named.id);
    other.resolveSession(waiting, other.importSession(server.exportSession(named.session)), 0);
    assert.match(whole(other, waiting).body, /"t"/);
    const strange: Pairs = [...HEADERS, ['mcp-session-id', 'x']];
    const [unknown] = other.receiveWhole('POST', strange, message('ping', 4), 0);
    other.resolveSession(unknown, undefined, 0);
    assert.equal(whole(other, unknown).status, 404);

    const [, ended] = server.receiveWhole('DELETE', headers, new Uint8Array(), 0);
    const types = [...ended, ...server.events()].map((event) => event.type);
    assert(types.includes('streamsForgotten') && types.includes('sessionClosed'));
  });

  test('has the channel of the first revision', () => {
    const server = makeServer();
    const [stream] = server.receiveWhole('GET', HEADERS, new Uint8Array(), 0, { eventStream: '/messages' });
    const first = text(server.pollResponse(stream)?.data as Uint8Array);
    const query = /^event: endpoint\ndata: \/messages\?(.*)\n/.exec(first)?.[1] as string;
    const [exchange] = server.receiveWhole('POST', HEADERS, message('ping', 1), 0, { messages: query });
    assert.equal(whole(server, exchange).status, 202);
    assert(server.ready().includes(stream));
  });

  test('keeps streams alive and shuts down', () => {
    const server = makeServer({ sessionIdle: 100, keepAlive: 10 });
    const { headers } = openSession(server);
    const [stream] = server.receiveWhole('GET', headers, new Uint8Array(), 0);
    assert(server.pollResponse(stream) !== undefined);
    assert((server.pollTimeout() as number) <= 10);
    server.handleTimeout(10);
    assert.deepEqual(server.ready(), [stream]);
    assert.match(text(server.pollResponse(stream)?.data as Uint8Array), /^:/);
    server.shutDown(10);
    assert.equal(server.pollResponse(stream)?.isLast, true);
    const [late] = server.receiveWhole('POST', headers, message('ping', 1), 10);
    assert.equal(whole(server, late).status, 503);
    server.close();
    assert.equal(server.events().at(-1)?.type, 'disconnected');
  });
});

/** A client and a server; what is asked for is carried out at once. */
class HttpPair {
  readonly client: HttpClient;
  readonly server = makeServer();
  readonly told: HttpClientEvent[] = [];
  readonly called: HttpServerEvent[] = [];
  readonly #open = new Map<ExchangeHandle, ExchangeHandle>();

  constructor(settings: Partial<HttpClientSettings>) {
    const url = 'http://localhost/mcp';
    this.client = new HttpClient({ name: 'c', version: '1', seed: SEED, now: 0, url, ...settings });
  }

  settle(): void {
    this.told.push(...this.client.events());
    for (let moved = true; moved;) {
      moved = false;
      for (let next = this.client.pollTransmit(0); next !== undefined; next = this.client.pollTransmit(0)) {
        moved = true;
        if (next.type === 'request') this.#send(next);
        else this.#open.delete(next.exchange);
      }
      for (const exchange of this.#open.keys()) moved = this.#receive(exchange) || moved;
    }
  }

  #send({ exchange, method, headers, body }: HttpRequest): void {
    const all: Pairs = [['host', 'localhost'], ...headers];
    const [carrier, events] = this.server.receiveWhole(method, all, new TextEncoder().encode(body), 0);
    this.#open.set(exchange, carrier);
    this.called.push(...events);
  }

  #receive(exchange: ExchangeHandle): boolean {
    const part = this.server.pollResponse(this.#open.get(exchange) as number);
    if (part === undefined) return false;
    assert.equal(this.client.wantsInput(exchange), true);
    const { client, told } = this;
    if (part.status !== undefined) told.push(...client.receiveHead(exchange, part.status, part.headers, 0));
    if (part.data.length > 0) told.push(...client.receiveBody(exchange, part.data, 0));
    if (part.isLast) {
      this.#open.delete(exchange);
      told.push(...client.receiveEnd(exchange, 0));
    }
    return true;
  }
}

describe('a client', () => {
  for (const revision of ERAS) {
    test(`calls a server (${revision})`, () => {
      const pair = new HttpPair({ revisions: [revision] });
      pair.settle();
      assert.equal(only(pair.told.splice(0), 'ready').revision, revision);
      const request = pair.client.callTool('t', '{"text":"é"}', 0, { progress: true });
      pair.settle();
      const called = pair.called.find((event) => event.type === 'toolCalled');
      assert(called !== undefined && called.arguments === '{"text":"é"}');
      assert.equal(pair.server.progress(called.request, 1), true);
      pair.server.respond(called.request, RESULT);
      pair.settle();
      const [progress, response] = pair.told.splice(0);
      assert.equal(progress?.type, 'progressReceived');
      assert.equal(response?.type === 'responseReceived' && response.request, request);
      pair.client.close();
      pair.settle();
      assert.equal(only(pair.told, 'disconnected').reason.code, 501);
      assert.equal(pair.client.isFinished, true);
    });
  }

  test('hands on what fails', () => {
    const { client } = new HttpPair({ revisions: [MODERN] });
    const request = client.pollTransmit(0) as HttpRequest;
    assert.equal(request.url, 'http://localhost/mcp');
    const [disconnected] = client.receiveFailure(request.exchange, 'notSent', 0).slice(-1);
    assert.equal(disconnected?.type === 'disconnected' && disconnected.reason.code, 611);
    assert.throws(() => client.receiveFailure(1, 'lost' as 'broken', 0), RangeError);
    assert.throws(() => new HttpPair({ url: 'ftp://x' }), { name: 'RangeError', message: /no URL of http/ });
  });

  test('is asked for authorization', () => {
    const { client } = new HttpPair({ revisions: [MODERN], authorizes: true });
    const first = client.pollTransmit(0) as HttpRequest;
    const asked = only(
      client.receiveHead(first.exchange, 401, [['www-authenticate', 'Bearer']], 0),
      'authorizationRequired',
    );
    assert.deepEqual([asked.exchange, asked.status, asked.challenges], [first.exchange, 401, ['Bearer']]);
    client.authorized(first.exchange, 0);
    const again = client.pollTransmit(0) as HttpRequest;
    assert.equal(again.body, first.body);
    client.receiveHead(again.exchange, 403, [['www-authenticate', 'Bearer']], 0);
    const refused = client.unauthorized(again.exchange, 0).at(-1);
    assert(refused?.type === 'disconnected' && refused.reason instanceof UnauthorizedError);
    assert.equal(refused.reason.status, 403);
    assert.deepEqual(client.handleTimeout(1), []);
  });
});
