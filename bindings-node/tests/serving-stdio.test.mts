/** Servers as child processes: what a client meets that starts one. */

import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type TestContext, test } from 'node:test';

const require = createRequire(import.meta.url);
const INITIALIZE =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},' +
  '"clientInfo":{"name":"c","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n';

/** A program with a server of these tools, which then serves on standard input and output. */
function start(t: TestContext, tools: string): ChildProcessWithoutNullStreams {
  const program = `
    const { Server } = require(${JSON.stringify(require.resolve('barewire'))});
    const { run, serveStdio } = require(${JSON.stringify(require.resolve('barewire/stdio'))});
    const server = new Server({ name: 'test', version: '1' });
    ${tools}
    run(server).then(() => console.error('ended'));`;
  const child = spawn(process.execPath, ['--eval', program]);
  t.after(() => child.kill('SIGKILL'));
  return child;
}

function call(id: number, name: string, meta: object = {}): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, _meta: meta } })}\n`;
}

async function all(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test('what else is printed goes to standard error, and the end of input ends the program', async (t) => {
  const child = start(
    t,
    `server.tool('print', {}, async () => {
       console.log('printed');
       process.stdout.write('written\\n');
       await new Promise(setImmediate);
       return 'told';
     });`,
  );
  child.stdin.end(INITIALIZE + call(2, 'print'));
  const [output, errors, [code]] = await Promise.all([
    all(child.stdout),
    all(child.stderr),
    once(child, 'exit'),
  ]);
  const messages = output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: number; result: unknown });
  assert.deepEqual(
    messages.map(({ id }) => id),
    [1, 2],
  );
  assert.deepEqual(messages[1]?.result, { content: [{ type: 'text', text: 'told' }] });
  assert.equal(errors, 'printed\nwritten\nended\n');
  assert.equal(code, 0);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(
    `${signal} ends the connection, and then the program`,
    { skip: process.platform === 'win32' },
    async (t) => {
      const child = start(
        t,
        `setInterval(() => {}, 1000); // Something of the program's own goes on.
       server.tool('hang', {}, (_, { signal }) => new Promise((resolve) => {
         signal.onabort = () => { console.error('aborted'); resolve(); };
         console.error('hangs');
       }));`,
      );
      child.stdin.write(INITIALIZE + call(2, 'hang'));
      const errors = all(child.stderr);
      await once(child.stderr, 'data');
      child.kill(signal);
      const [, ended] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
      assert.equal(ended, signal);
      assert.match(await errors, /aborted\nended\n$/);
    },
  );
}

test('a client that does not read holds the server within its limits', async (t) => {
  const child = start(
    t,
    `let sent = 0;
     server.tool('flood', {}, async (_, context) => {
       for (; sent < 100000; sent += 1) await context.progress(sent + 1, undefined, 'x'.repeat(100));
       return 'done';
     });
     server.tool('sent', {}, () => { console.error('sent ' + sent); return ''; });`,
  );
  child.stdin.write(INITIALIZE + call(2, 'flood', { progressToken: 'p' }));
  child.stdout.pause();
  let before = -1;
  let sent = 0;
  for (let id = 3; sent === 0 || sent !== before; id += 1) {
    before = sent;
    await new Promise((resolve) => setTimeout(resolve, 50));
    child.stdin.write(call(id, 'sent'));
    const [data] = (await once(child.stderr, 'data')) as [Buffer];
    sent = Number(/sent (\d+)/.exec(data.toString())?.[1]);
  }
  assert.ok(sent > 0 && sent < 20_000, `${sent} were sent to nobody`);
  child.stdin.end();
  const output = await all(child.stdout);
  assert.ok(output.includes('"progress":100000,'));
  assert.ok(output.includes('"text":"done"'));
});
