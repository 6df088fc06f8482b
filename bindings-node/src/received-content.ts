/** Content blocks as peers send them, and how they are read. */

import {
  arrayOf,
  isObject,
  type JsonObject,
  number,
  object,
  oneOf,
  type Problem,
  Reader,
  shaped,
  text,
  type Check,
  type Shape,
} from './received.js';

/** Whose message it is, or whom content is for. */
export type Role = 'user' | 'assistant';

/** For whom something is, and how important. */
export interface Annotations {
  /** For whom it is. */
  readonly audience?: readonly Role[];
  /** From 0, the least important, to 1. */
  readonly priority?: number;
  /** When it changed last, in ISO 8601. */
  readonly lastModified?: string;
}

/** A picture that stands for something. */
export interface Icon {
  /** A URL of http or https, or a `data:` URI. */
  readonly src: string;
  readonly mimeType?: string;
  /** Such as `48x48`, or `any`. */
  readonly sizes?: readonly string[];
  /** The background that it is made for. */
  readonly theme?: 'light' | 'dark';
}

interface Block {
  readonly annotations?: Annotations;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** Text. */
export interface TextContent extends Block {
  readonly type: 'text';
  readonly text: string;
}

/** An image. */
export interface ImageContent extends Block {
  readonly type: 'image';
  /** Its bytes, in base64. */
  readonly data: string;
  readonly mimeType: string;
}

/** Sound. */
export interface AudioContent extends Block {
  readonly type: 'audio';
  /** Its bytes, in base64. */
  readonly data: string;
  readonly mimeType: string;
}

/** What a resource holds: `text`, or `blob`, which is in base64. */
export interface ReceivedContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** A resource within a result. */
export interface ResourceContent extends Block {
  readonly type: 'resource';
  readonly resource: ReceivedContents;
}

/** Where a resource is to be read. */
export interface LinkContent extends Block {
  readonly type: 'resource_link';
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** In bytes. */
  readonly size?: number;
  readonly icons?: readonly Icon[];
}

/** A content block of a type that is not known here. */
export interface UnknownContent {
  readonly type: 'unknown';
  /** The block as it came. */
  readonly block: { readonly type: string; readonly [member: string]: unknown };
}

/** A content block: `type` tells which. Members beside those named here are kept as they came. */
export type Content =
  TextContent | ImageContent | AudioContent | ResourceContent | LinkContent | UnknownContent;

/** @internal */
export const roles: Check = oneOf('user', 'assistant');

/** @internal */
export const annotations: Check = shaped({
  required: {},
  optional: { audience: arrayOf(roles), priority: number, lastModified: text },
});

/** @internal */
export const icons: Check = arrayOf(
  shaped({
    required: { src: text },
    optional: { mimeType: text, sizes: arrayOf(text), theme: oneOf('light', 'dark') },
  }),
);

const ABOUT = { annotations, _meta: object };
const ENCODED: Shape = { required: { data: text, mimeType: text }, optional: ABOUT };

const contentsShape: Shape = {
  required: { uri: text },
  optional: { mimeType: text, _meta: object, text, blob: text },
};
const soundContents = shaped(contentsShape);

/** Contents have a text or a blob. */
const contents: Check = (value) => {
  const fault = soundContents(value);
  if (fault !== undefined) return fault;
  const { text: asText, blob } = value as JsonObject;
  const isSound = typeof asText === 'string' || typeof blob === 'string';
  return isSound ? undefined : { path: '', reason: 'it has neither text nor blob' };
};

/** @internal */
export const LINK: Shape = {
  required: { uri: text, name: text },
  optional: { ...ABOUT, title: text, description: text, mimeType: text, size: number, icons },
};

const BLOCKS = new Map<string, Reader<Content>>([
  ['text', new Reader({ required: { text }, optional: ABOUT })],
  ['image', new Reader(ENCODED)],
  ['audio', new Reader(ENCODED)],
  ['resource', new Reader({ required: { resource: contents }, optional: ABOUT })],
  ['resource_link', new Reader(LINK)],
]);

/**
 * The block, or `undefined` if it had to be rejected.
 *
 * @internal
 */
export function readBlock(
  value: unknown,
  index: number | undefined,
  problems: Problem[],
): Content | undefined {
  const type = isObject(value) ? value['type'] : undefined;
  if (typeof type !== 'string') {
    problems.push({ index, path: 'type', reason: 'a content block has a type', value, isRejected: true });
    return undefined;
  }
  const reader = BLOCKS.get(type);
  if (reader === undefined) return { type: 'unknown', block: value as UnknownContent['block'] };
  return reader.read(value, index, problems);
}

const contentsReader = new Reader<ReceivedContents>(contentsShape);

/**
 * The contents of a resource, or `undefined` if they had to be rejected.
 *
 * @internal
 */
export function readContents(
  value: unknown,
  index: number,
  problems: Problem[],
): ReceivedContents | undefined {
  const { text: asText, blob } = isObject(value) ? value : {};
  if (typeof asText !== 'string' && typeof blob !== 'string') {
    const path = blob === undefined ? 'text' : 'blob';
    problems.push({ index, path, reason: 'text or base64 text expected', value, isRejected: true });
    return undefined;
  }
  return contentsReader.read(value, index, problems);
}
