/** What large messages and slow readers cost: time of the event loop, and memory. */

import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';
import { Client } from 'barewire';
import { connected, LEGACY, MODERN, only } from './pair.mjs';

const LINE = 'All work and no play makes "Jack" a dull boy, so he went home.\n ';
const MIB = 1 << 20;

/** Texts of 1 MiB, and how much longer than reading them as JSON a call may take: newer engines read wide text faster. */
const TEXTS = [
  ['ASCII', LINE.repeat(MIB / LINE.length), 1],
  ['wide', '只工作不玩耍,聪明的孩子也变傻。\n'.repeat(MIB / 47), 2],
] as const;

/** Questions of a stream, far more than the limits of the client let wait. */
const MOST = 20_000;

/** The least milliseconds that each of the named steps took. */
class Stopwatch {
  readonly least = new Map<string, number>();

  run<T>(name: string, step: () => T): T {
    const start = performance.now();
    const outcome = step();
    const took = performance.now() - start;
    this.least.set(name, Math.min(took, this.least.get(name) ?? Infinity));
    return outcome;
  }
}

for (const [kind, text, factor] of TEXTS) {
  test(`no call of the addon takes longer on a message of 1 MiB than reading it as JSON: ${kind}`, (t) => {
    const pair = connected(MODERN);
    const watch = new Stopwatch();
    const args = JSON.stringify({ text });
    const result = JSON.stringify({ content: [{ type: 'text', text }] });
    for (let round = 0; round < 20; round++) {
      watch.run('client: callTool', () => pair.client.callTool('echo', args, 0));
      const request = watch.run('client: dataToSend', () => pair.client.dataToSend());
      const called = watch.run('server: receiveData', () => pair.server.receiveData(request, 0));
      watch.run('server: respond', () => pair.server.respond(only(called, 'toolCalled').request, result));
      const response = watch.run('server: dataToSend', () => pair.server.dataToSend());
      watch.run('client: receiveData', () => pair.client.receiveData(response, 0));
      watch.run('JSON', () => JSON.stringify(JSON.parse(Buffer.from(request).toString())));
    }
    for (const [name, took] of watch.least) t.diagnostic(`${name}: ${took.toFixed(2)} ms`);
    const most = factor * (watch.least.get('JSON') as number);
    for (const [name, took] of watch.least) assert.ok(took <= most, `${name}: ${took} of ${most} ms`);
  });
}

test('a client whose answers are not taken stops reading the stream that asks', async () => {
  const encoder = new TextEncoder();
  let pulled = 0;
  const asking = () =>
    new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (pulled === MOST) {
            controller.close();
            return;
          }
          pulled += 1;
          const ping = JSON.stringify({ jsonrpc: '2.0', id: pulled, method: 'ping' });
          controller.enqueue(encoder.encode(`data: ${ping}\n\n`));
        },
      },
      { highWaterMark: 0 },
    );
  const fetch = async (_url: string, { method, body, signal }: RequestInit): Promise<Response> => {
    if (method !== 'POST') return new Response(null, { status: 405 });
    const message = JSON.parse(String(body));
    if (message.method === 'initialize') {
      const about = { protocolVersion: LEGACY, capabilities: {}, serverInfo: { name: 's', version: '1' } };
      return Response.json({ jsonrpc: '2.0', id: message.id, result: about });
    }
    if (message.id === undefined) return new Response(null, { status: 202 });
    if (message.method !== undefined) {
      return new Response(asking(), { headers: { 'content-type': 'text/event-stream' } });
    }
    // The answers to what the stream asks are never taken.
    return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  };
  await using client = await Client.connect('http://127.0.0.1/mcp', {
    fetch,
    revisions: [LEGACY],
    limits: { queuedBytes: 20_000 },
  });
  const controller = new AbortController();
  const asked = client.request('x/asks', {}, { signal: controller.signal });
  let before = -1;
  for (let still = 0; still < 50; still = pulled === before ? still + 1 : 0) {
    before = pulled;
    await nextTurn();
  }
  assert.ok(pulled > 10 && pulled < MOST, `${pulled} questions were read`);
  controller.abort();
  await assert.rejects(asked);
});
