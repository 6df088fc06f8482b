/**
 * A client for the benchmark: `bench-client.mjs REVISION SERVER-COMMAND...`.
 *
 * It prints `ready`, then reads commands from standard input and answers each with `done`: `seq N` calls the tool `echo`
 * N times, one after the other, and `conc N W` does so W at a time.
 */

import { Client } from 'barewire';
import { createInterface } from 'node:readline';

const TEXT = 'The quick brown fox jumps over the lazy dog; it did so 64 times.';

const [revision = '', ...command] = process.argv.slice(2);
await using client = await Client.connect({ command }, { revisions: [revision] });

let left = 0;

async function call(): Promise<void> {
  while (left-- > 0) {
    const { content } = await client.callTool('echo', { text: TEXT });
    const [block] = content;
    if (block?.type !== 'text' || block.text !== TEXT) throw new Error('a wrong answer');
  }
}

console.log('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const [kind, count, width] = line.split(' ');
  left = Number(count);
  const workers = kind === 'seq' ? 1 : Number(width);
  await Promise.all(Array.from({ length: workers }, call));
  console.log('done');
}
