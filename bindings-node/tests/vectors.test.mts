/**
 * Every vector of `tests/vectors` does what it says through `barewire/sansio`, however its bytes are cut.
 *
 * The format is described in `tests/vectors/README.md`.
 */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  Client,
  type ClientEvent,
  ConnectionClosedError,
  McpError,
  type Server,
  type ServerEvent,
} from 'barewire/sansio';
import { clientOf, OPENS, run, serverOf } from './vector-machines.mjs';
import { Disagreement, eventName, HANDLES, type Members, Names, type Value } from './vector-names.mjs';

const VECTORS = join(import.meta.dirname, '../../../tests/vectors');

/** Seeds for cutting at random, each vector; `BAREWIRE_SEED` picks one. */
const SEEDS = process.env['BAREWIRE_SEED'] === undefined ? [1, 2] : [Number(process.env['BAREWIRE_SEED'])];

/** Deadlines that may follow each other without time passing before that counts as hanging. */
const MOST_DEADLINES = 10_000;

type Cut = (data: Uint8Array) => Iterable<Uint8Array>;
type Step = Record<string, Value>;

interface Vector {
  readonly name: string;
  readonly role: 'client' | 'server';
  readonly config?: Members;
  readonly steps: readonly Step[];
  readonly fault?: string;
}

function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

/** Plays one script. */
class Player {
  readonly #names = new Names();
  readonly #machine: Client | Server;
  readonly #cut: Cut;
  readonly #isJoined: boolean;
  readonly #steps: readonly Step[];
  #now = 0;
  #fed: Uint8Array[] = [];
  #sent: Uint8Array[] = [];
  #told: (ClientEvent | ServerEvent)[] = [];

  constructor(vector: Pick<Vector, 'role' | 'config' | 'steps'>, cut: Cut, isJoined = false) {
    const config = vector.config ?? {};
    this.#machine = vector.role === 'client' ? clientOf(config) : serverOf(config);
    this.#cut = cut;
    this.#isJoined = isJoined;
    this.#steps = vector.steps;
  }

  play(): void {
    this.#collect(this.#machine.events());
    this.#steps.forEach((step, place) => {
      const [kind, value] = Object.entries(step)[0] as [string, Value];
      try {
        if (!(this.#isJoined && kind.startsWith('feed'))) this.#handOver();
        this.#play(kind, value);
      } catch (fault) {
        if (fault instanceof Disagreement) throw new Disagreement(`step ${place + 1}: ${fault.message}`);
        throw fault;
      }
    });
    this.#handOver();
    this.#onSent([]);
    this.#onEvents([]);
  }

  #play(kind: string, value: Value): void {
    switch (kind) {
      case 'feed': {
        const text = typeof value === 'string' ? value : `${JSON.stringify(value)}\n`;
        this.#fed.push(new TextEncoder().encode(this.#names.fill(text)));
        return;
      }
      case 'feed_hex':
        this.#fed.push(new Uint8Array(Buffer.from(value as string, 'hex')));
        return;
      case 'eof':
        return this.#take(() => this.#machine.receiveEof(this.#now));
      case 'lost':
        return this.#take(() => this.#machine.connectionLost(this.#now));
      case 'restart':
        return this.#collect((this.#machine as Client).restart(this.#now));
      case 'advance':
        return this.#onAdvance(value as number);
      case 'do':
        return this.#onDo(value as Members);
      case 'sent':
        return this.#onSent(value as Value[]);
      case 'events':
        return this.#onEvents(value as Members[]);
      case 'state':
        return this.#onState(value as Members);
      default:
        throw new Error(`no such step: ${kind}`);
    }
  }

  #collect(events: readonly (ClientEvent | ServerEvent)[]): void {
    this.#told.push(...events);
    this.#sent.push(this.#machine.dataToSend());
  }

  #take(verb: () => (ClientEvent | ServerEvent)[]): void {
    let events: (ClientEvent | ServerEvent)[];
    try {
      events = verb();
    } catch (error) {
      if (!(error instanceof ConnectionClosedError)) throw error;
      // How it ended was told by the last event.
      events = this.#machine.events();
    }
    this.#collect(events);
  }

  // ---------------------------------------------------------------- what goes in

  #handOver(): void {
    const fed = concatenated(this.#fed);
    this.#fed = [];
    for (const piece of this.#cut(fed)) this.#take(() => this.#machine.receiveData(piece, this.#now));
  }

  #onAdvance(milliseconds: number): void {
    const end = this.#now + milliseconds;
    for (let deadlines = 0; deadlines < MOST_DEADLINES; deadlines++) {
      const due = this.#machine.pollTimeout();
      const isDue = due !== undefined && due <= end;
      this.#now = isDue ? Math.max(due, this.#now) : end;
      this.#collect(this.#machine.handleTimeout(this.#now));
      if (!isDue) return;
    }
    throw new Disagreement('deadlines follow each other without an end');
  }

  #onDo(step: Members): void {
    const filled = JSON.parse(this.#names.fill(JSON.stringify(step))) as Members;
    const { command, as: name, fails, gives, ...args } = filled as Members & { command: string };
    for (const [member, value] of Object.entries(args)) {
      const kind = HANDLES[member];
      if (kind !== undefined && typeof value === 'string') args[member] = this.#names.handle(kind, value);
    }
    let outcome: number | boolean | void = undefined;
    try {
      outcome = run(this.#machine, command, args, this.#now);
      if (fails !== undefined) throw new Disagreement(`it did not fail with ${fails}`);
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      if (error.code !== fails) throw new Disagreement(`it failed with ${error.code}: ${error.message}`);
    }
    if (name !== undefined && fails === undefined) {
      this.#names.nameHandle(OPENS[command] as string, name as string, outcome as number);
    } else if (gives !== undefined && outcome !== gives) {
      throw new Disagreement(`it gave ${outcome}`);
    }
    this.#collect(this.#machine.events());
  }

  // ---------------------------------------------------------------- what must come out

  #onSent(expected: readonly Value[]): void {
    const lines = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
      .decode(concatenated(this.#sent))
      .split('\n');
    this.#sent = [];
    if (lines.pop() !== '' || lines.some((line) => line.includes('\r') || !/^[{[]/.test(line))) {
      throw new Disagreement(`sent what are no lines of one message: ${JSON.stringify(lines)}`);
    }
    expected.slice(0, lines.length).forEach((pattern, place) => {
      const [line, at] = [lines[place] as string, `message ${place + 1}`];
      if (typeof pattern !== 'string') this.#names.compare(pattern, JSON.parse(line), at);
      else if (this.#names.fill(pattern) !== line) {
        throw new Disagreement(`${at}: expected ${pattern}, got ${line}`);
      }
    });
    if (expected.length !== lines.length) {
      throw new Disagreement(`expected ${expected.length} messages, sent ${JSON.stringify(lines)}`);
    }
  }

  #onEvents(expected: readonly Members[]): void {
    const told = this.#told;
    this.#told = [];
    expected.slice(0, told.length).forEach((pattern, place) => {
      const event = told[place] as ClientEvent | ServerEvent;
      if (pattern['event'] !== eventName(event.type)) {
        throw new Disagreement(`event ${place + 1}: expected ${JSON.stringify(pattern)}, got ${event.type}`);
      }
      this.#names.compareRecord(pattern, event, `event ${place + 1}`);
    });
    if (expected.length !== told.length) {
      throw new Disagreement(`expected ${expected.length} events, got ${told.map((event) => event.type)}`);
    }
  }

  #onState(expected: Members): void {
    const due = this.#machine.pollTimeout();
    const state: Members = {
      timer: due === undefined ? null : Math.max(due - this.#now, 0),
      finished: this.#machine.isFinished,
      wants_input: this.#machine.wantsInput,
      era_verdict: this.#machine instanceof Client ? (this.#machine.eraVerdict ?? null) : null,
    };
    for (const [member, value] of Object.entries(expected)) {
      if (state[member] !== value) throw new Disagreement(`${member} is ${state[member]}`);
    }
  }
}

function* whole(data: Uint8Array): Iterable<Uint8Array> {
  if (data.length > 0) yield data;
}

function* oneByOne(data: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < data.length; at++) yield data.subarray(at, at + 1);
}

/** Cuts by a small generator of numbers (xorshift), so that a seed repeats a run. */
function atRandom(seed: number): Cut {
  let state = seed * 0x9e3779b1 || 1;
  const below = (bound: number) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % bound;
  };
  return function* cut(data) {
    for (let at = 0; at < data.length;) {
      const count = 1 + below(data.length - at);
      yield data.subarray(at, at + count);
      at += count;
    }
  };
}

const CUTS: readonly (readonly [how: string, cut: () => Cut])[] = [
  ['as written', () => whole],
  ['joined', () => whole],
  ['bytes', () => oneByOne],
  ...SEEDS.map((seed) => [`seed ${seed}`, () => atRandom(seed)] as const),
];

function load(line: string): Vector {
  const vector = JSON.parse(line) as Vector;
  const expects = (step: Step) =>
    [step['sent'], step['events']].some((list) => (list as Value[])?.length > 0);
  if (!vector.steps.some(expects)) throw new Error(`${vector.name}: it expects nothing`);
  return vector;
}

function play(vector: Vector): void {
  for (const [how, cut] of CUTS) {
    try {
      new Player(vector, cut(), how !== 'as written').play();
    } catch (fault) {
      if (fault instanceof Disagreement) throw new Disagreement(`fed ${how}: ${fault.message}`);
      throw fault;
    }
  }
}

for (const file of readdirSync(VECTORS).filter((name) => name.endsWith('.jsonl'))) {
  for (const line of readFileSync(join(VECTORS, file), 'utf8').trimEnd().split('\n')) {
    const vector = load(line);
    test(vector.name, () => {
      if (vector.fault === undefined) play(vector);
      else assert.throws(() => play(vector), Disagreement, `passes, though known to fail: ${vector.fault}`);
    });
  }
}

test('a vector that expects nothing is refused', () => {
  const line = '{"name":"x","role":"server","steps":[{"feed":"{}"},{"sent":[]},{"events":[]}]}';
  assert.throws(() => load(line), /expects nothing/);
});

const DIFFERENCES = [
  '{"sent":[]}',
  '{"sent":[{"jsonrpc":"2.0","id":"1","result":{}}]}',
  '{"sent":[{"jsonrpc":"2.0","id":1,"result":{}},{}]}',
  '{"sent":[{"jsonrpc":"2.0","id":1,"result":{}}]},{"feed":"noise\\n"}',
  '{"sent":[{"jsonrpc":"2.0","id":1,"result":{}}]},{"events":[{"event":"Ready"}]}',
  '{"sent":[{"jsonrpc":"2.0","id":1,"result":{}}]},{"state":{"timer":5}}',
  '{"sent":[{"jsonrpc":"2.0","id":1,"result":{}}]},{"do":{"command":"close"}}',
];

for (const steps of DIFFERENCES) {
  test(`the player notices a difference: ${steps}`, () => {
    const ping = '{"feed":{"jsonrpc":"2.0","id":1,"method":"ping"}}';
    const vector = JSON.parse(`{"role":"server","steps":[${ping},${steps}]}`) as Vector;
    assert.throws(() => new Player(vector, whole).play(), Disagreement);
  });
}
