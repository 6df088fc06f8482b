/** Where tokens are kept: compared and kept in one step, locked for one at a time, and seen by nobody. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect, promisify } from 'node:util';
import { FileTokenStore, MemoryTokenStore, StoredRecord, type TokenStore } from 'barewire/auth';

const KEY = 'https://mcp.example/mcp';
const NEVER = new AbortController().signal;

async function folder(context: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'tokens-'));
  context.after(() => rm(path, { recursive: true }));
  return join(path, 'made', 'here');
}

const STORES: Readonly<Record<string, (context: TestContext) => Promise<() => TokenStore>>> = {
  async memory() {
    const store = new MemoryTokenStore();
    return () => store;
  },
  async files(context) {
    const path = await folder(context);
    return () => new FileTokenStore(path);
  },
};

for (const [name, make] of Object.entries(STORES)) {
  test(`${name}: comparing and keeping are one step`, async (context) => {
    const store = await make(context);
    assert.equal(await store().load(KEY), undefined);
    assert.ok(await store().save(KEY, 0, new StoredRecord(1, 'a\nb')));
    assert.ok(!(await store().save(KEY, 0, new StoredRecord(1, 'other'))));
    const kept = await store().load(KEY);
    assert.deepEqual([kept?.generation, kept?.text], [1, 'a\nb']);
    assert.equal(await store().load(`${KEY} bob`), undefined);
    const outcomes = await Promise.all(
      [2, 3, 4].map((next) => store().save(KEY, 1, new StoredRecord(next, ''))),
    );
    assert.equal(outcomes.filter(Boolean).length, 1);
  });

  test(`${name}: one at a time has the lock`, async (context) => {
    const store = await make(context);
    let holders = 0;
    const hold = async (): Promise<void> => {
      const unlock = await store().lock(KEY, NEVER);
      holders += 1;
      assert.equal(holders, 1);
      await sleep(5);
      holders -= 1;
      await unlock();
    };
    await Promise.all(Array.from({ length: 5 }, hold));
  });
}

test('who gives up does not wait for the lock', async (context) => {
  const store = new FileTokenStore(await folder(context));
  const unlock = await store.lock(KEY, NEVER);
  await assert.rejects(async () => store.lock(KEY, AbortSignal.timeout(50)));
  unlock();
  (await store.lock(KEY, NEVER))();
});

test('a lock goes with its process', async (context) => {
  const path = await folder(context);
  const program = `
    const { FileTokenStore } = require('barewire/auth');
    new FileTokenStore(${JSON.stringify(path)}).lock(${JSON.stringify(KEY)}, new AbortController().signal)
      .then(() => process.kill(process.pid, 'SIGKILL'));
  `;
  await assert.rejects(promisify(execFile)(process.execPath, ['-e', program], { cwd: import.meta.dirname }));
  const unlock = await new FileTokenStore(path).lock(KEY, AbortSignal.timeout(60_000));
  unlock();
});

test('files are for this user alone, and what is broken counts as nothing', async (context) => {
  const path = await folder(context);
  const store = new FileTokenStore(path);
  await store.save(KEY, 0, new StoredRecord(1, 'secret'));
  if (process.platform !== 'win32') assert.equal((await stat(path)).mode & 0o777, 0o700);
  for (const name of await readdir(path)) {
    assert.ok(!name.includes('example'));
    if (process.platform !== 'win32') assert.equal((await stat(join(path, name))).mode & 0o777, 0o600);
  }
  const [token = ''] = (await readdir(path)).filter((name) => name.endsWith('.token'));
  for (const broken of [
    'garbage',
    '',
    '1',
    '-1\n{}',
    `${'1'.repeat(5_000)}\n{}`,
    Buffer.from([255, 254, 10]),
  ]) {
    await writeFile(join(path, token), broken);
    assert.equal(await store.load(KEY), undefined);
  }
  assert.ok(await store.save(KEY, 0, new StoredRecord(1, 'new')));
});

test('nothing shows what is kept', async () => {
  const store = new MemoryTokenStore();
  const record = new StoredRecord(1, 'hunter2');
  store.save(KEY, 0, record);
  const shown =
    inspect([store, record], { depth: Infinity, showHidden: true }) + JSON.stringify([store, record]);
  assert.ok(!shown.includes('hunter2'));
});
