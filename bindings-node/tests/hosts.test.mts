/** The hosts of web-standard handlers, as their users write them, and HTTP+SSE beside Streamable HTTP. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '@hono/node-server';
import { Client, type Progress } from 'barewire';
import { createHandler, nodeHandler } from 'barewire/http';
import express from 'express';
import { Hono } from 'hono';
import { EVERYWHERE, listen, newServer, type Send, serves, servesEverywhere } from './serving.mjs';

test('Hono serves, called with a request', async () => {
  const app = new Hono();
  const handler = createHandler(newServer());
  app.all('/mcp', (context) => handler(context.req.raw));
  await serves(async (request) => app.fetch(request));
  assert.equal((await app.request('/other')).status, 404);
});

test('Hono serves where it has mounted the handler', async () => {
  const app = new Hono().mount('/mcp', createHandler(newServer()));
  await serves(async (request) => app.fetch(request));
});

/** Serves with the listener of Hono for Node; gives its URL. */
async function honoOnNode(t: TestContext, app: Hono): Promise<string> {
  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
      resolve(`http://127.0.0.1:${port}`),
    );
    t.after(() => {
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
    });
  });
}

test('Hono serves on Node', async (t) => {
  const app = new Hono();
  const handler = createHandler(newServer());
  app.all('/mcp', (context) => handler(context.req.raw));
  const url = await honoOnNode(t, app);
  await serves((request) => fetch(new Request(`${url}/mcp`, request)));
});

test('exports named after methods serve, as Next calls them', async () => {
  const handler = createHandler(newServer());
  const route = { GET: handler, POST: handler, DELETE: handler };
  const call: Send = async (request) => {
    const method = route[request.method as keyof typeof route] as (
      request: Request,
      context: { params: Promise<object> },
    ) => Promise<Response>;
    return method(request, { params: Promise.resolve({}) });
  };
  await serves(call);
});

test('a default export with fetch serves, as Bun and Deno call it', async () => {
  const { fetch } = { fetch: createHandler(newServer()) } as {
    fetch: (request: Request, environment: object) => Promise<Response>;
  };
  await serves((request) => fetch(request, { remoteAddr: { hostname: '127.0.0.1' } }));
});

test('HTTP+SSE stands beside Streamable HTTP on node:http', async (t) => {
  const { port } = await listen(t, nodeHandler(newServer(), EVERYWHERE));
  const url = `http://127.0.0.1:${port}`;
  await servesEverywhere(`${url}/sse`, `${url}/mcp`);
  assert.equal((await fetch(`${url}/other`)).status, 404);
  // Without a session that a stream has opened, messages go nowhere.
  const headers = { 'content-type': 'application/json' };
  assert.equal((await fetch(`${url}/messages`, { method: 'POST', headers, body: '{}' })).status, 404);
});

test('HTTP+SSE stands where express has mounted it', async (t) => {
  const app = express().use(
    '/below',
    nodeHandler(newServer(), { path: '/mcp/', sse: { stream: '/events', messages: '/post' } }),
  );
  const { port } = await listen(t, app);
  const url = `http://127.0.0.1:${port}/below`;
  await servesEverywhere(`${url}/events`, `${url}/mcp`);
});

test('HTTP+SSE stands beside Streamable HTTP on Hono', async (t) => {
  const handler = createHandler(newServer(), EVERYWHERE);
  const app = new Hono();
  for (const path of ['/mcp', '/sse', '/messages']) app.all(path, (context) => handler(context.req.raw));
  const url = await honoOnNode(t, app);
  await servesEverywhere(`${url}/sse`, `${url}/mcp`);
});

test('HTTP+SSE is not served unless it is asked for', async (t) => {
  const { port } = await listen(t, nodeHandler(newServer(), { path: '/mcp' }));
  assert.equal((await fetch(`http://127.0.0.1:${port}/sse`)).status, 404);
});

test('the example over HTTP serves, and ends in order', async (t) => {
  const example = fileURLToPath(new URL('../examples/http-server.mjs', import.meta.url));
  const program = spawn('node', [example, '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => program.kill('SIGKILL'));
  const exited = once(program, 'exit');
  const [printed] = await once(program.stdout, 'data');
  const client = await Client.connect(String(printed).trim());
  const seen: number[] = [];
  const onProgress = ({ progress }: Progress) => {
    if (seen.push(progress) === 1) program.kill('SIGTERM');
  };
  const { content } = await client.callTool('count', { to: 3 }, { onProgress });
  assert.deepEqual(content, [{ type: 'text', text: 'done' }]);
  assert.deepEqual(seen, [1, 2, 3]);
  await client.close();
  assert.deepEqual(await exited, [0, null]);
});
