/** A server to try on the hosts that people use, and requests to it. */

import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { Client, Server } from 'barewire';
import * as z from 'zod';

export const ACCEPT = 'application/json, text/event-stream';
export const INITIALIZE = {
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
};

export type Send = (request: Request) => Promise<Response>;

export function newServer(): Server {
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

export function post(message: object, session?: string): Request {
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

export function callOf(name: string, args: object, meta?: object): object {
  return { id: 2, method: 'tools/call', params: { name, arguments: args, ...(meta && { _meta: meta }) } };
}

/** Messages of a response, whether it is JSON or a stream of events. */
export async function messagesOf(response: Response): Promise<Record<string, unknown>[]> {
  const text = await response.text();
  if (response.headers.get('content-type')?.startsWith('application/json')) return [JSON.parse(text)];
  const lines = text.split('\n').filter((line) => line.startsWith('data:'));
  return lines
    .map((line) => line.slice(5).trim())
    .filter((data) => data !== '')
    .map((data) => JSON.parse(data));
}

export async function open(send: Send): Promise<string> {
  const response = await send(post({ id: 1, ...INITIALIZE }));
  assert.equal(response.status, 200);
  await response.text();
  const session = response.headers.get('mcp-session-id');
  assert.ok(session);
  assert.equal((await send(post({ method: 'notifications/initialized' }, session))).status, 202);
  return session;
}

export async function textOfCall(send: Send, session: string, name: string, args: object): Promise<string> {
  const messages = await messagesOf(await send(post(callOf(name, args), session)));
  return (messages.at(-1) as { result: { content: [{ text: string }] } }).result.content[0].text;
}

/** Serves with `node:http`; what gives requests to it. */
export async function listen(t: TestContext, listener: RequestListener): Promise<Send & { port: number }> {
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
export function to(port: number): Send {
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

export async function serves(send: Send): Promise<void> {
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

/** Options for all that is served over HTTP. */
export const EVERYWHERE = { path: '/mcp', sse: true };

/** What a client of 2024-11-05 does on its two channels, and one of later revisions on the endpoint beside them. */
export async function servesEverywhere(stream: string, endpoint: string): Promise<void> {
  const urls = [
    [stream, '2024-11-05'],
    [endpoint, '2025-11-25'],
    [endpoint, '2026-07-28'],
  ] as const;
  for (const [url, revision] of urls) {
    const seen: number[] = [];
    const client = await Client.connect(url, { revisions: [revision] });
    assert.equal(client.revision, revision);
    const done = await client.callTool('steps', {}, { onProgress: ({ progress }) => seen.push(progress) });
    assert.deepEqual(seen, [1, 2, 3]);
    assert.deepEqual(done.content, [{ type: 'text', text: 'done' }]);
    const added = await client.callTool('add', { a: 1, b: 2 });
    assert.deepEqual(added.content, [{ type: 'text', text: '3' }]);
    await client.close();
  }
}
