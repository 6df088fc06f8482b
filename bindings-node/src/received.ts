/** Reads what a peer sent member by member: what is good is kept, and what is not is told beside it. */

/** Something in a result that could not be read. */
export interface Problem {
  /** The position in the list or content, from 0; `undefined` if it is a member of the result itself. */
  readonly index: number | undefined;
  /** The member, such as `inputSchema` or `annotations.priority`; empty if it is the item as a whole. */
  readonly path: string;
  /** What is wrong with it. */
  readonly reason: string;
  /** The item that was left out, or the member that its item was delivered without. */
  readonly value: unknown;
  /** True if the item was left out; false if it was delivered without this optional member. */
  readonly isRejected: boolean;
}

/**
 * A decoded JSON object.
 *
 * @internal
 */
export type JsonObject = Record<string, unknown>;

/**
 * What is wrong with a value, and in which member of it; `undefined` if it is sound.
 *
 * @internal
 */
export type Check = (value: unknown) => { path: string; reason: string } | undefined;

/**
 * The members that an object has to have, and those that it may have. A `null` in one of the latter counts as absent.
 *
 * @internal
 */
export interface Shape {
  readonly required: Readonly<Record<string, Check>>;
  readonly optional: Readonly<Record<string, Check>>;
}

/**
 * Whether a decoded JSON value is an object.
 *
 * @internal
 */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function wanted(what: string, value: unknown): { path: string; reason: string } {
  return {
    path: '',
    reason: value === undefined ? 'it is missing' : `${what} expected, not ${kindOf(value)}`,
  };
}

function basic(what: string, isSound: (value: unknown) => boolean): Check {
  return (value) => (isSound(value) ? undefined : wanted(what, value));
}

/** @internal */
export const text = basic('a string', (value) => typeof value === 'string');
/** @internal */
export const number = basic('a number', (value) => typeof value === 'number');
/** @internal */
export const truth = basic('a boolean', (value) => typeof value === 'boolean');
/** @internal */
export const object = basic('an object', isObject);
/** @internal */
export const anything: Check = (value) => (value === undefined ? wanted('a value', value) : undefined);

/**
 * One of some texts.
 *
 * @internal
 */
export function oneOf(...known: readonly string[]): Check {
  return (value) =>
    known.includes(value as string) ? undefined : wanted(`one of ${known.join(', ')}`, value);
}

/**
 * An array of sound items.
 *
 * @internal
 */
export function arrayOf(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return wanted('an array', value);
    for (const [index, item] of value.entries()) {
      const fault = check(item);
      if (fault !== undefined) return below(`[${index}]`, fault);
    }
    return undefined;
  };
}

/**
 * An object within another, which is sound or not as a whole.
 *
 * @internal
 */
export function shaped(shape: Shape): Check {
  const members = Object.entries({ ...shape.optional, ...shape.required });
  return (value) => {
    if (!isObject(value)) return wanted('an object', value);
    for (const [name, check] of members) {
      const member = value[name];
      if (!(name in shape.required) && (member === undefined || member === null)) continue;
      const fault = check(member);
      if (fault !== undefined) return below(name, fault);
    }
    return undefined;
  };
}

function below(name: string, { path, reason }: { path: string; reason: string }) {
  return { path: path === '' || path.startsWith('[') ? name + path : `${name}.${path}`, reason };
}

/** The members of a shape in the form in which they are gone through for every item. */
type Members = readonly (readonly [name: string, check: Check])[];

/**
 * Reads objects of one shape.
 *
 * @internal
 */
export class Reader<T> {
  readonly #required: Members;
  readonly #optional: Members;

  constructor(shape: Shape) {
    this.#required = Object.entries(shape.required);
    this.#optional = Object.entries(shape.optional);
  }

  /**
   * The object, rid of members that are odd, or `undefined` if it had to be rejected.
   *
   * The value was decoded for this alone: members are taken out of it, and not out of a copy.
   */
  read(value: unknown, index: number | undefined, problems: Problem[]): T | undefined {
    if (!isObject(value)) {
      problems.push({ index, ...wanted('an object', value), value, isRejected: true });
      return undefined;
    }
    for (const [name, check] of this.#required) {
      const fault = check(value[name]);
      if (fault !== undefined) {
        problems.push({ index, ...below(name, fault), value, isRejected: true });
        return undefined;
      }
    }
    for (const [name, check] of this.#optional) {
      const member = value[name];
      if (member === undefined) continue;
      const fault = member === null ? undefined : check(member);
      if (fault !== undefined) {
        problems.push({ index, ...below(name, fault), value: member, isRejected: false });
      }
      if (fault !== undefined || member === null) delete value[name];
    }
    return value as T;
  }

  /** The items of an array that can be read. */
  readAll(values: unknown, member: string, problems: Problem[]): T[] {
    return itemsOf(values, member, problems, (value, index) => this.read(value, index, problems));
  }
}

/**
 * What `read` makes of the items of an array, without those that it rejects.
 *
 * @internal
 */
export function itemsOf<T>(
  values: unknown,
  member: string,
  problems: Problem[],
  read: (value: unknown, index: number) => T | undefined,
): T[] {
  if (!Array.isArray(values)) {
    const fault = below(member, wanted('an array', values));
    problems.push({ index: undefined, ...fault, value: values, isRejected: true });
    return [];
  }
  const items: T[] = [];
  for (let index = 0; index < values.length; index++) {
    const item = read(values[index], index);
    if (item !== undefined) items.push(item);
  }
  return items;
}
