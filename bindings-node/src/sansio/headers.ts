/** Headers on their way into the addon and out of it. */

/** Names and values in the order of arrival. The `Headers` of fetch are some. */
export type HeaderPairs = Iterable<readonly [name: string, value: string]>;

/** Follows each name and each value; none can hold it. */
const SEPARATOR = '\0';

/**
 * Headers as `node:http` has them: names and values in turn.
 *
 * @internal
 */
export class RawHeaders {
  readonly flat: readonly string[];

  constructor(flat: readonly string[]) {
    this.flat = flat;
  }

  /** Whether any holds a null character. Only a parser that was told to be lenient lets one in. */
  get holdsNull(): boolean {
    return this.flat.some((part) => part.includes(SEPARATOR));
  }

  *[Symbol.iterator](): Generator<readonly [name: string, value: string]> {
    yield* headerPairs(this.flat);
  }
}

/**
 * Headers as the addon reads them.
 *
 * @internal
 * @throws TypeError for a header that no HTTP implementation can have read.
 */
export function headerText(headers: HeaderPairs): string {
  const flat = checkedParts(headers instanceof RawHeaders ? headers.flat : [...headers].flat());
  return flat.length === 0 ? '' : flat.join(SEPARATOR) + SEPARATOR;
}

/**
 * Names and values in turn. Those of `node:http` are not looked through here: whoever passes them on says how many they are.
 *
 * @internal
 * @throws TypeError as {@link headerText}.
 */
export function flatHeaders(headers: HeaderPairs): readonly string[] {
  return headers instanceof RawHeaders ? headers.flat : checkedParts([...headers].flat());
}

/**
 * The head of a request as the addon reads it.
 *
 * @internal
 */
export function requestHead(method: string, flat: readonly string[]): string {
  const text = method + SEPARATOR;
  return flat.length === 0 ? text : text + flat.join(SEPARATOR) + SEPARATOR;
}

function checkedParts(flat: readonly string[]): readonly string[] {
  for (const part of flat) {
    if (part.includes(SEPARATOR)) throw new TypeError('a header holds a null character');
  }
  return flat;
}

/**
 * Headers as the addon writes them: names and values in turn.
 *
 * @internal
 */
export function headerPairs(flat: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at < flat.length; at += 2) pairs.push([flat[at] as string, flat[at + 1] as string]);
  return pairs;
}
