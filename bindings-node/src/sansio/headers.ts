/** Headers on their way into the addon and out of it. */

/** Names and values in the order of arrival. The `Headers` of fetch are some. */
export type HeaderPairs = Iterable<readonly [name: string, value: string]>;

/** Follows each name and each value; none can hold it. */
const SEPARATOR = '\0';

/**
 * Headers as the addon reads them.
 *
 * @internal
 * @throws TypeError for a header that no HTTP implementation can have read.
 */
export function headerText(headers: HeaderPairs): string {
  let text = '';
  let count = 0;
  for (const [name, value] of headers) {
    text += name + SEPARATOR + value + SEPARATOR;
    count += 2;
  }
  if (text.split(SEPARATOR).length !== count + 1) throw new TypeError('a header holds a null character');
  return text;
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
