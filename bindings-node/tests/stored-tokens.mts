/** Calls a tool a few times with tokens of a folder, and must never ask a user. */

import { Client } from 'barewire';
import { Browser, FileTokenStore, oauth } from 'barewire/auth';

const [url = '', folder = ''] = process.argv.slice(2);
const open = (): never => {
  throw new Error('a user was asked');
};
const auth = oauth({ store: new FileTokenStore(folder), userAgent: new Browser({ open }) });
for (let call = 0; call < 6; call += 1) {
  await using client = await Client.connect(url, { auth });
  const { content } = await client.callTool('whoami');
  console.log(content[0]?.type === 'text' ? content[0].text : content);
}
