/**
 * A server that wants access tokens: `node protected-server.mjs ISSUER [PORT]`, then http://127.0.0.1:3000/mcp.
 *
 * ISSUER is the issuer identifier of an authorization server that gives tokens for this URL, with the scopes
 * `notes:read` and `notes:write`. It takes `npm install jose`.
 */

import { createServer } from 'node:http';
import { Server } from 'barewire';
import { ResourceServer } from 'barewire/auth';
import { nodeHandler } from 'barewire/http';
import * as z from 'zod';

const [issuer = '', port = '3000'] = process.argv.slice(2);
const server = new Server({ name: 'notes', version: '1.0.0' });
const notes = new Map<string, string[]>();

server.tool('read_notes', { description: 'The notes of whoever asks.' }, (_, { caller }) => ({
  notes: notes.get(caller!.key) ?? [],
}));

const note = z.object({ text: z.string() });
server.tool('add_note', { input: note, scopes: ['notes:write'] }, ({ text }, { caller }) => {
  notes.set(caller!.key, [...(notes.get(caller!.key) ?? []), text]);
  return `kept for ${caller!.subject}`;
});

const auth = new ResourceServer({
  resource: `http://127.0.0.1:${port}/mcp`,
  authorizationServers: [issuer],
  scopes: ['notes:read'],
});
const handler = nodeHandler(server, { path: '/mcp', auth });
createServer(handler).listen(Number(port), '127.0.0.1');
