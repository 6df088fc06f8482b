/**
 * A client of a protected server: keeps a note there, and reads all of them. `node protected-client.mjs URL NOTE`.
 *
 * The first time it opens a browser, for the user to log in and to consent. Afterwards it has tokens, which it renews.
 */

import { homedir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'barewire';
import { FileTokenStore, oauth } from 'barewire/auth';

const [url = '', text] = process.argv.slice(2);
const tokens = join(homedir(), '.local', 'state', 'notes-client');

const auth = oauth({ clientName: 'Notes', store: new FileTokenStore(tokens) });
await using client = await Client.connect(url, { auth });
await client.callTool('add_note', { text });
console.log((await client.callTool('read_notes')).structuredContent);
