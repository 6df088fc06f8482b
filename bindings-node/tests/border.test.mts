/** The border between JavaScript and the core: defects, garbage, memory. */

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Client, ConnectionClosedError, HttpClient, HttpServer, Server } from 'barewire/sansio';
import { connected, MODERN, only, SEED } from './pair.mjs';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const MIB = 1 << 20;

type Methods = Record<string, (...args: unknown[]) => unknown>;

const native = createRequire(import.meta.url)('../barewire.node') as Methods;

const SETTINGS = { name: 'n', version: '1', seed: SEED, now: 0 };
const MACHINES = [
  () => new Server({ ...SETTINGS, clockOrigin: 0, now: undefined } as never),
  () => new Client(SETTINGS),
  () => new HttpServer({ ...SETTINGS, clockOrigin: 0, now: undefined } as never),
  () => new HttpClient({ ...SETTINGS, url: 'http://localhost/' }),
];

/** Arguments that every method takes before it finds out that the machine is dead. */
const ARGUMENTS: Readonly<Record<string, readonly unknown[]>> = {
  complete: [{ prompt: 'p', argument: 'a', value: '' }, 0],
  log: [undefined, 'info', '1'],
  progress: [1, 1],
  publishListChanged: ['tools'],
  receiveBody: [1, new Uint8Array(1), 0],
  receiveData: [new Uint8Array(1), 0],
  deny: [1, { status: 403 }, 0],
  receiveDenied: ['GET', [], { status: 401 }, 0],
  receiveFailure: [1, 'broken', 0],
  receiveHead: [1, 200, [], 0],
  receiveRequest: ['GET', [], 0],
  receiveWhole: ['GET', [], new Uint8Array(1), 0],
  request: ['m', undefined, 0],
  requireInput: [1, [], 0],
  respondError: [1, { code: 1, message: '' }],
  setLogLevel: ['info', 0],
  subscribe: [{}, 0],
  list: ['tools', undefined, 0],
  callTool: ['t', undefined, 0],
  getPrompt: ['t', undefined, 0],
  readResource: ['t', 0],
  cancel: [1],
  notify: ['m'],
  respond: [1, '{}'],
  respondText: [1, ''],
  answer: [1, '{}'],
  respondInvalidArguments: [1, ''],
  respondMissingCapability: [1, '{}'],
  ping: [1, undefined],
  provideInput: [1, '{}', 0],
  refuseInput: [1, 1, '', 0],
  importSession: [''],
  replay: [1, undefined, 0],
};

/** A method of a server that has another shape on a client. */
const OF_SERVERS: Readonly<Record<string, readonly unknown[]>> = {
  request: [1, 'm', undefined, 0],
  notify: [1, 'm'],
  ping: [1, 0],
};

/** Every method and getter of a machine. */
function members(machine: object): Map<string, PropertyDescriptor> {
  const found = new Map<string, PropertyDescriptor>();
  for (
    let from = Object.getPrototypeOf(machine);
    from !== Object.prototype;
    from = Object.getPrototypeOf(from)
  ) {
    for (const [name, member] of Object.entries(Object.getOwnPropertyDescriptors(from))) {
      if (name !== 'constructor' && !found.has(name)) found.set(name, member as PropertyDescriptor);
    }
  }
  return found;
}

describe('after a defect every call says so', () => {
  for (const make of MACHINES) {
    const machine = make();
    const isServer = machine instanceof Server || machine instanceof HttpServer;
    const poisoned = (error: unknown) => error instanceof ConnectionClosedError && error.code === 505;
    native['failInside']?.((machine as unknown as { handle: object }).handle);
    const names = members(machine);
    assert(names.size > 25);
    for (const [name, member] of names) {
      test(`${machine.constructor.name}.${name}`, () => {
        const text = /^(add|remove|publishResource)/.test(name) ? ['{}'] : [1, 1, 1];
        const args = (isServer ? OF_SERVERS[name] : undefined) ?? ARGUMENTS[name] ?? text;
        const timed = name === 'receiveEnd' || name === 'receiveAbort' ? [1, 0] : args;
        const call = member.get ?? (member.value as (...args: unknown[]) => unknown);
        assert.throws(() => call.apply(machine, timed as unknown[]), poisoned);
      });
    }
  }
});

test('a function of one kind of machine refuses another', () => {
  const server = MACHINES[0]?.() as unknown as { handle: object };
  for (const [name, args] of [
    ['ready', []],
    ['ping', [0, undefined]],
    ['pollTransmit', [0]],
  ] as const) {
    assert.match(String(native[name]?.(server.handle, ...args)), /another kind/);
  }
  assert.throws(() => native['ready']?.({}), /./);
});

test('machines are freed with their objects', async () => {
  const grown = () => {
    collectGarbage();
    return process.memoryUsage().rss;
  };
  const churn = async (rounds: number) => {
    for (let round = 0; round < rounds; round++) {
      for (let count = 0; count < 200; count++) {
        const server = MACHINES[0]?.() as Server;
        server.addTool(`{"name":"t","description":"${'x'.repeat(20_000)}","inputSchema":{"type":"object"}}`);
      }
      collectGarbage();
      // Finalizers run after the code that is running.
      await new Promise(setImmediate);
    }
  };
  await churn(5);
  const before = grown();
  await churn(20);
  // All of them would be 80 MiB.
  assert(grown() - before < 24 * MIB, `${(grown() - before) / MIB} MiB`);
});

test('memory does not grow with messages', () => {
  const pair = connected(MODERN);
  const exchange = (count: number) => {
    for (let number = 0; number < count; number++) {
      pair.client.callTool('echo', '{"text":"hello"}', 0);
      const [called] = pair.server.receiveData(pair.client.dataToSend(), 0);
      pair.server.respond((called as { request: number }).request, '{"content":[]}');
      only(pair.client.receiveData(pair.server.dataToSend(), 0), 'responseReceived');
    }
    collectGarbage();
    const { rss, heapUsed, external } = process.memoryUsage();
    return { rss, heapUsed, external };
  };
  const before = exchange(20_000);
  const after = exchange(100_000);
  assert(after.heapUsed - before.heapUsed < 2 * MIB, JSON.stringify({ before, after }));
  assert(after.external - before.external < 2 * MIB, JSON.stringify({ before, after }));
  assert(after.rss - before.rss < 16 * MIB, JSON.stringify({ before, after }));
});
