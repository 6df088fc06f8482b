/**
 * What a call of the addon tells, as one text: everything that stays JSON text, one piece after the other, a line end,
 * and then a JSON array with a row for each thing told. A row names its pieces by their lengths, in order.
 */

import { failure } from './errors.js';

/**
 * A row, as loose as JSON: what stands where is known by its reader.
 *
 * @internal
 */
export type Row = readonly any[];

/** Follows the row of an error that is given in the place of a batch or text. */
const ERROR_MARK = '!'.charCodeAt(0);

/**
 * The text, unless it is that of an error, which is thrown.
 *
 * @internal
 */
export function checked(text: string): string {
  if (text.length > 0 && text.charCodeAt(text.length - 1) === ERROR_MARK) throw failure(text.slice(0, -1));
  return text;
}

/**
 * Cuts the pieces of a batch out, in order. Engines share the text with its parts instead of copying them.
 *
 * @internal
 */
export class Pieces {
  readonly #text: string;
  #at: number;

  /** @param at - Where the first piece begins. */
  constructor(text: string, at = 0) {
    this.#text = text;
    this.#at = at;
  }

  /** The next piece, of that length. */
  take(length: number): string {
    const from = this.#at;
    this.#at = from + length;
    return this.#text.slice(from, this.#at);
  }

  /** The next piece, if there is one in this place. */
  maybe(length: number | null | undefined): string | undefined {
    return length == null ? undefined : this.take(length);
  }

  /** The next piece as bytes: of that length, and either those bytes itself or UTF-8 for them. */
  bytes(length: number, isBytes: boolean): Uint8Array {
    const text = this.take(length);
    return isBytes ? Uint8Array.from(text, (unit) => unit.charCodeAt(0)) : new TextEncoder().encode(text);
  }
}

/**
 * The rows of a batch that tells something.
 *
 * @internal
 */
export function rowsOf(text: string): Row {
  // Rows hold no line end themselves.
  return JSON.parse(text.slice(text.lastIndexOf('\n') + 1)) as Row;
}
