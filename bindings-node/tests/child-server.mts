/** A server of the lower floor on standard input and output, run by the tests of child processes. */

import { spawn } from 'node:child_process';
import { Server } from 'barewire/sansio';

const server = new Server({
  name: 'child',
  version: '1',
  seed: crypto.getRandomValues(new Uint8Array(32)),
  clockOrigin: performance.timeOrigin,
});
const tools: Record<string, (args: any) => unknown> = {
  echo: ({ text }) => text,
  environment: () => JSON.stringify(process.env),
  folder: () => process.cwd(),
  pid: () => String(process.pid),
  big: ({ size }) => 'x'.repeat(size),
  /** Writes to stderr and dies. */
  die: ({ code }) => {
    process.stderr.write('these are\nmy last words\n');
    process.exitCode = code;
    process.stdin.destroy();
    setTimeout(() => process.exit(), 20);
    return undefined;
  },
  /** Kills itself. */
  killed: () => {
    process.kill(process.pid, 'SIGKILL');
    return undefined;
  },
  /** Does not read for a while. */
  block: ({ ms }) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    return 'blocked';
  },
  /** Ignores everything that is polite. */
  stubborn: () => {
    process.on('SIGTERM', () => {});
    setInterval(() => {}, 1000);
    return 'no';
  },
  /** Starts a process that holds its stdout open, and ends. */
  orphan: () => {
    const child = spawn('sleep', ['60'], { stdio: 'inherit' });
    process.stdin.destroy();
    setTimeout(() => process.exit(0), 20);
    return String(child.pid);
  },
};
for (const name of Object.keys(tools))
  server.addTool(JSON.stringify({ name, inputSchema: { type: 'object' } }));

process.stdin.on('data', (data) => {
  for (const event of server.receiveData(data, performance.now())) {
    if (event.type !== 'toolCalled') continue;
    const text = tools[event.name]?.(JSON.parse(event.arguments ?? '{}'));
    if (text !== undefined)
      server.respond(event.request, JSON.stringify({ content: [{ type: 'text', text }] }));
  }
  process.stdout.write(server.dataToSend());
});
