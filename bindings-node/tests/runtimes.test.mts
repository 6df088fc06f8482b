/** The package in other versions of Node, in Bun and in Deno, as far as they are installed. */

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from 'barewire';
import { servesEverywhere } from './serving.mjs';

interface Runtime {
  /** The program, below the folder that `make node-runtimes` fills. */
  readonly program: string;
  /** What comes before a script. */
  readonly run: readonly string[];
  /** What comes before a module that exports `fetch`, where the runtime serves one. */
  readonly serve?: readonly string[];
}

const RUNTIMES: Readonly<Record<string, Runtime>> = {
  'Node 22': { program: 'node22/bin/node', run: [] },
  'Node 24': { program: 'node24/bin/node', run: [] },
  Bun: { program: 'bun/bin/bun', run: [], serve: [] },
  Deno: {
    program: 'deno/deno',
    run: ['run', '--allow-all'],
    serve: ['serve', '--allow-all', '--host', '127.0.0.1', '--port', '0'],
  },
};
const INSTALLED = new URL('../../../.work/runtimes/node_modules/', import.meta.url);
const MILLISECONDS = 180_000;

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));

for (const [name, { program, run, serve }] of Object.entries(RUNTIMES)) {
  const file = fileURLToPath(new URL(program, INSTALLED));
  const options = {
    skip: !existsSync(file) && 'it is not installed, or there is none for this platform: make node-runtimes',
    timeout: MILLISECONDS,
  };
  const running = async (path: string, ...args: string[]) =>
    (await promisify(execFile)(file, [...run, script(path), ...args], { timeout: MILLISECONDS })).stdout;

  test(`${name} serves on standard input and output`, options, async () => {
    for (const revision of ['2025-11-25', '2026-07-28']) {
      const command = [file, ...run, script('../examples/hello-server.mjs')];
      const client = await Client.connect({ command }, { revisions: [revision] });
      const { content } = await client.callTool('add', { a: 2, b: 3 });
      assert.deepEqual(content, [{ type: 'text', text: '5' }]);
      await client.close();
    }
  });

  test(`${name} connects to a child process`, options, async () => {
    assert.match(await running('../examples/hello-client.mjs'), /^add: Add two numbers\.$[^]*^5$/m);
  });

  test(`${name} has both roles in memory and over HTTP`, options, async () => {
    assert.match(await running('runtime-tour.mjs'), /^fine$/m);
  });

  if (serve === undefined) continue;
  test(`${name} serves a module that exports fetch`, options, async (t) => {
    // Deno finds `barewire` by the package that it is started in.
    const cwd = fileURLToPath(new URL('../..', import.meta.url));
    const server = spawn(file, [...serve, script('fetch-host.mjs')], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    t.after(() => server.kill());
    const url = await new Promise<string>((resolve, reject) => {
      let printed = '';
      const look = (data: Buffer) => {
        printed += String(data);
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(printed);
        if (found !== null) resolve(found[0]);
      };
      server.stdout.on('data', look);
      server.stderr.on('data', look);
      server.on('exit', (status) => reject(new Error(`it ended with status ${status}: ${printed}`)));
    });
    await servesEverywhere(`${url}/sse`, `${url}/mcp`);
  });
}
