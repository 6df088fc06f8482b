/** Child processes. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client, type Command, ConnectionLostError } from 'barewire';

const SERVER = fileURLToPath(new URL('child-server.mjs', import.meta.url));

function command(more: Partial<Command> = {}): Command {
  return { command: [process.execPath, SERVER], stderr: 'capture', ...more };
}

async function text(client: Client, tool: string, args: object = {}): Promise<string> {
  const { content } = await client.callTool(tool, args);
  return (content[0] as { text: string }).text;
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('a child inherits little of the environment', async () => {
  process.env['SECRET_KEY'] = 'x';
  await using client = await Client.connect(command({ env: { EXTRA: '1' }, cwd: '/' }));
  const environment = JSON.parse(await text(client, 'environment'));
  assert.equal(environment.SECRET_KEY, undefined);
  assert.equal(environment.EXTRA, '1');
  assert.equal(environment.PATH, process.env['PATH']);
  assert.equal(await text(client, 'folder'), '/');
});

test('closing ends the child and leaves nothing behind', async () => {
  const client = await Client.connect(command());
  const pid = Number(await text(client, 'pid'));
  assert.ok(runs(pid));
  await client.close();
  assert.ok(!runs(pid));
});

test('a stubborn child is killed', async () => {
  const timeouts = { childExit: 50, childTerminate: 50 };
  const client = await Client.connect(command(), { timeouts });
  const pid = Number(await text(client, 'pid'));
  await text(client, 'stubborn');
  await client.close();
  assert.ok(!runs(pid));
});

test('a program that is not there', async () => {
  await assert.rejects(Client.connect(command({ command: ['/no/such/program'] })), (error) => {
    assert.ok(error instanceof ConnectionLostError);
    assert.match(error.message, /cannot be started: .*ENOENT/);
    assert.ok(error.cause instanceof Error);
    return true;
  });
});

test('a program that is no server', async () => {
  const failing = command({ command: [process.execPath, '-e', 'console.error("usage"); process.exit(3)'] });
  await assert.rejects(Client.connect(failing), (error) => {
    assert.ok(error instanceof ConnectionLostError);
    assert.deepEqual(error.exitStatus, { code: 3, signal: undefined });
    assert.equal(error.stderr, 'usage\n');
    assert.match(error.message, /exit status 3: usage$/);
    return true;
  });
});

test('a child that dies in the middle says how', async () => {
  await using client = await Client.connect(command());
  const calls = [client.callTool('die', { code: 7 }), client.callTool('die', { code: 7 })];
  for (const call of calls) {
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof ConnectionLostError);
      assert.deepEqual(error.exitStatus, { code: 7, signal: undefined });
      assert.match(error.stderr ?? '', /my last words\n$/);
      return true;
    });
  }
});

test('a child that is killed', async () => {
  await using client = await Client.connect(command());
  await assert.rejects(client.callTool('killed'), (error) => {
    assert.ok(error instanceof ConnectionLostError);
    assert.deepEqual(error.exitStatus, { code: undefined, signal: 'SIGKILL' });
    return true;
  });
});

test('descendants of a child are ended with it', async () => {
  const timeouts = { childExit: 50, childTerminate: 1000 };
  const client = await Client.connect(command(), { timeouts });
  const pid = Number(await text(client, 'orphan'));
  await assert.rejects(client.callTool('block', { ms: 5_000 }), ConnectionLostError);
  await client.close();
  // What is killed ends when it gets the processor next, and would end by itself in a minute.
  const latest = performance.now() + 30_000;
  let state: string;
  do {
    state = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)])
      .stdout.toString()
      .trim();
  } while (state !== '' && !state.startsWith('Z') && performance.now() < latest);
  assert.ok(state === '' || state.startsWith('Z'), `it is in state ${state}`);
});

test('stderr goes to a function', async () => {
  let heard = '';
  await using client = await Client.connect(command({ stderr: (data) => (heard += Buffer.from(data)) }));
  await assert.rejects(client.callTool('die', { code: 0 }), ConnectionLostError);
  assert.equal(heard, 'these are\nmy last words\n');
});

test('a child that does not read holds up what is sent, and gets all of it', async () => {
  await using client = await Client.connect(command());
  const long = 'y'.repeat(300_000);
  const calls = [client.callTool('block', { ms: 200 })];
  for (let call = 0; call < 10; call++) calls.push(client.callTool('echo', { text: long }));
  const [, ...results] = await Promise.all(calls);
  for (const { content } of results) assert.equal((content[0] as { text: string }).text.length, long.length);
});

test('large results', async () => {
  await using client = await Client.connect(command());
  const sizes = [1 << 20, 1 << 21];
  const results = await Promise.all(sizes.map((size) => text(client, 'big', { size })));
  assert.deepEqual(
    results.map(({ length }) => length),
    sizes,
  );
});

test('no listener is left on the process', async () => {
  const before = process.eventNames().map((name) => process.listenerCount(name));
  for (let round = 0; round < 3; round++) await (await Client.connect(command())).close();
  assert.deepEqual(
    process.eventNames().map((name) => process.listenerCount(name)),
    before,
  );
});

test('a program ends once its client is closed', () => {
  const script = `
    const { Client } = require('barewire');
    Client.connect({ command: [process.execPath, ${JSON.stringify(SERVER)}] }).then(async (client) => {
      await client.callTool('echo', { text: '' }, { timeout: 60_000 });
      await client.close();
      console.log('closed');
    });`;
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const { stdout, status } = spawnSync(process.execPath, ['-e', script], { cwd, timeout: 120_000 });
  assert.equal(stdout.toString(), 'closed\n');
  assert.equal(status, 0);
});
