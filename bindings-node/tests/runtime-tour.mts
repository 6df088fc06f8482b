/** Both roles within one process, in memory and over HTTP, for whatever runtime runs it; it prints `fine`. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from 'barewire';
import { nodeHandler } from 'barewire/http';
import { EVERYWHERE, newServer, servesEverywhere } from './serving.mjs';

const client = await Client.connect(newServer());
const { content } = await client.callTool('add', { a: 1, b: 2 });
assert.deepEqual(content, [{ type: 'text', text: '3' }]);
await client.close();

const handler = nodeHandler(newServer(), EVERYWHERE);
const listener = createServer(handler).listen(0, '127.0.0.1');
await once(listener, 'listening');
const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
await servesEverywhere(`${url}/sse`, `${url}/mcp`);
await handler.close();
listener.close();
listener.closeAllConnections();
console.log('fine');
