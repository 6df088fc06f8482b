/** Names in vectors: handles, values of the wire, and how expectations are compared. */

import { McpError, RpcError } from 'barewire/sansio';

/** JSON as it is parsed. */
export type Value = null | boolean | number | string | Value[] | { [member: string]: Value };

/** A parsed object. */
export type Members = { [member: string]: Value };

/** Machine and script differ. */
export class Disagreement extends Error {}

/** Members of events and commands that name handles, with the kind of handle. */
export const HANDLES: Readonly<Record<string, string>> = {
  request: 'request',
  subscription: 'subscription',
  input: 'input',
  session: 'session',
  abandoned: 'request',
};

/** Members of events that hold JSON text. */
const JSON_MEMBERS = new Set([
  'arguments',
  'client',
  'data',
  'meta',
  'params',
  'progressToken',
  'result',
  'server',
  'state',
]);

/** The name that JavaScript has for a name of the vectors. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Whether a value is an object, and no array. */
export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether two JSON values are the same: members in any order, numbers by value. */
function same(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((value, place) => same(value, other[place]));
  }
  if (isObject(one) && isObject(other)) {
    const names = Object.keys(one);
    return (
      names.length === Object.keys(other).length &&
      names.every((name) => Object.hasOwn(other, name) && same(one[name], other[name]))
    );
  }
  return one === other;
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

/** What the names of a script stand for. */
export class Names {
  readonly values = new Map<string, unknown>();
  readonly handles = new Map<string, number>();

  /** Gives a handle its name, which both keep. */
  nameHandle(kind: string, name: string, handle: number): void {
    for (const [key, known] of this.handles) {
      const [of, other] = key.split('\0');
      if (of === kind && (other === name) !== (known === handle)) {
        throw new Disagreement(`${kind} ${name} is ${handle}, but ${other} is ${known}`);
      }
    }
    this.handles.set(`${kind}\0${name}`, handle);
  }

  /** The handle of that name. */
  handle(kind: string, name: string): number {
    const handle = this.handles.get(`${kind}\0${name}`);
    if (handle === undefined) throw new Disagreement(`no ${kind} is called ${name}`);
    return handle;
  }

  /** Replaces `"${name}"` and `${name}` by the JSON of what the name stands for. */
  fill(text: string): string {
    let filled = text;
    for (const [name, value] of this.values) {
      const token = JSON.stringify(value);
      filled = filled.replaceAll(`"\${${name}}"`, () => token).replaceAll(`\${${name}}`, () => token);
    }
    const unknown = /\$\{.*?\}/.exec(filled);
    if (unknown) throw new Disagreement(`nothing is known as ${unknown[0]}`);
    return filled;
  }

  /** Compares JSON values: exactly, but for wildcards. */
  compare(expected: Value, actual: unknown, at: string): void {
    if (expected === '$any' && actual !== undefined) return;
    if (typeof expected === 'string' && expected.startsWith('${') && expected.endsWith('}')) {
      this.#compareNamed(expected.slice(2, -1), actual, at);
    } else if (
      isObject(expected) &&
      typeof expected['$contains'] === 'string' &&
      typeof actual === 'string'
    ) {
      const part = expected['$contains'];
      if (part === '' || !actual.includes(part)) {
        throw new Disagreement(`${at}: ${shown(actual)} does not contain ${shown(part)}`);
      }
    } else if (isObject(expected) && isObject(actual)) {
      const { $more, ...wanted } = expected;
      const missing = Object.keys(wanted).some((name) => !Object.hasOwn(actual, name));
      const extra = Object.keys(actual).some((name) => !Object.hasOwn(wanted, name));
      if (missing || (extra && $more === undefined)) this.#differ(expected, actual, at);
      for (const [name, value] of Object.entries(wanted)) this.compare(value, actual[name], `${at}.${name}`);
    } else if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
      expected.forEach((value, place) => this.compare(value, actual[place], `${at}[${place}]`));
    } else if (!same(expected, actual ?? null)) {
      this.#differ(expected, actual, at);
    }
  }

  /** Compares an event, or a record within one, by the members that are expected. */
  compareRecord(expected: Members, actual: unknown, at: string): void {
    for (const [member, pattern] of Object.entries(expected)) {
      const where = `${at}.${member}`;
      const value = described(actual, member);
      const kind = HANDLES[member];
      if (kind !== undefined) this.#compareHandles(kind, pattern, value, where);
      else this.#compareMember(pattern, value, where);
    }
  }

  #compareNamed(name: string, actual: unknown, at: string): void {
    if (actual === undefined) throw new Disagreement(`${at}: nothing is there for ${name}`);
    if (!this.values.has(name)) this.values.set(name, actual);
    if (!same(this.values.get(name), actual)) {
      throw new Disagreement(`${at}: ${name} is ${shown(this.values.get(name))}, not ${shown(actual)}`);
    }
  }

  #compareMember(expected: Value, actual: unknown, at: string): void {
    if (actual instanceof Text) {
      if (isObject(expected) && typeof expected['$text'] === 'string') {
        if (actual.json !== expected['$text']) this.#differ(expected, actual.json, at);
      } else {
        this.compare(expected, JSON.parse(actual.json), at);
      }
    } else if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
      expected.forEach((pattern, place) => this.#compareMember(pattern, actual[place], `${at}[${place}]`));
    } else if (isObject(expected) && typeof actual === 'object' && actual !== null && !('hex' in expected)) {
      this.compareRecord(expected, actual, at);
    } else {
      this.compare(expected, actual ?? null, at);
    }
  }

  #compareHandles(kind: string, expected: Value, actual: unknown, at: string): void {
    if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
      expected.forEach((name, place) => this.#compareHandles(kind, name, actual[place], at));
    } else if (expected === null && actual === undefined) {
      return;
    } else if (typeof expected === 'string' && typeof actual === 'number') {
      if (expected !== '$any') this.nameHandle(kind, expected, actual);
    } else {
      this.#differ(expected, actual, at);
    }
  }

  #differ(expected: unknown, actual: unknown, at: string): never {
    throw new Disagreement(`${at}: expected ${shown(expected)}, got ${shown(actual)}`);
  }
}

/** JSON text of an event. */
class Text {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}

/** A member of an event as scripts write it; JSON text is marked. */
function described(record: unknown, member: string): unknown {
  if (record instanceof McpError) return describedError(record, member);
  const members = record as Record<string, unknown>;
  const name = member === 'event' ? 'type' : camelCase(member);
  if (!(name in members)) throw new Disagreement(`${shown(record)} has no ${name}`);
  const value = members[name];
  if (member === 'event') return eventName(value as string);
  if (value instanceof Uint8Array) return describedBytes(value);
  if (name === 'capabilities') {
    const { raw } = value as { raw: string | undefined };
    return raw === undefined ? undefined : new Text(raw);
  }
  return typeof value === 'string' && JSON_MEMBERS.has(name) ? new Text(value) : value;
}

/** The name that vectors have for a type of event. */
export function eventName(type: string): string {
  return type.charAt(0).toUpperCase() + type.slice(1);
}

function describedBytes(bytes: Uint8Array): unknown {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { hex: Buffer.from(bytes).toString('hex') };
  }
}

function describedError(error: McpError, member: string): unknown {
  const isOfPeer = error instanceof RpcError;
  if (isOfPeer === (member === 'local')) {
    throw new Disagreement(`${error} is ${isOfPeer ? 'an' : 'no'} error of the peer`);
  }
  if (member === 'local') return error.code;
  if (member === 'data') {
    const { rawData } = error as RpcError;
    return rawData === undefined ? undefined : new Text(rawData);
  }
  return error[member as 'code' | 'message'];
}
