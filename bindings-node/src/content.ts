/** Content as it is on the wire, and what handlers return turned into the JSON text of results. */

import type { Annotations, Icon, Role } from './received-content.js';

/** Members of extensions; their names have a prefix of their owner. */
export type Meta = Readonly<Record<string, unknown>>;

interface BlockBase {
  readonly annotations?: Annotations;
  readonly _meta?: Meta;
}

/** A block of text. */
export interface TextBlock extends BlockBase {
  readonly type: 'text';
  readonly text: string;
}

/** An image: its bytes, or their Base64, and its media type, such as `image/png`. */
export interface ImageBlock extends BlockBase {
  readonly type: 'image';
  readonly data: string | Uint8Array;
  readonly mimeType: string;
}

/** A sound: its bytes, or their Base64, and its media type, such as `audio/wav`. */
export interface AudioBlock extends BlockBase {
  readonly type: 'audio';
  readonly data: string | Uint8Array;
  readonly mimeType: string;
}

/** What a resource holds: `text` when it really is text, otherwise `blob`: bytes, or their Base64. */
export interface ResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string | Uint8Array;
  readonly _meta?: Meta;
}

/** A resource carried inside a result. */
export interface EmbeddedResource extends BlockBase {
  readonly type: 'resource';
  readonly resource: ResourceContents;
}

/** A pointer to a resource that the client can read; it need not be listed. */
export interface ResourceLink extends BlockBase {
  readonly type: 'resource_link';
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
  readonly icons?: readonly Icon[];
}

/** A piece of content. */
export type ContentBlock = TextBlock | ImageBlock | AudioBlock | EmbeddedResource | ResourceLink;

/**
 * A tool result spelled out, for what another return value cannot say. Plain strings stand for text.
 *
 * Throw {@link ToolError} rather than setting `isError`, unless an error needs more than text.
 */
export interface ToolResult<Structured = unknown> {
  readonly content: readonly (ContentBlock | string)[];
  readonly structuredContent?: Structured;
  readonly isError?: boolean;
  readonly _meta?: Meta;
}

/** One message of a prompt: who speaks, and one block or plain text. */
export interface PromptMessage {
  readonly role: Role;
  readonly content: ContentBlock | string;
}

/** A prompt result spelled out. */
export interface PromptResult {
  readonly messages: readonly (PromptMessage | ContentBlock | string)[];
  readonly description?: string;
  readonly _meta?: Meta;
}

/** What a prompt may return: text, a block, a message, a list of these, or a whole result. What has no role is said by the user. */
export type PromptReturn =
  string | ContentBlock | PromptMessage | PromptResult | readonly (PromptMessage | ContentBlock | string)[];

/**
 * What the handler of a resource may return: text, bytes, contents spelled out, or any other value, which is sent as
 * JSON text.
 */
export type ResourceReturn = string | Uint8Array | ResourceContents | readonly ResourceContents[] | object;

function base64(bytes: string | Uint8Array): string {
  if (typeof bytes === 'string') return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isBlock(value: unknown): value is ContentBlock {
  if (!isObject(value)) return false;
  switch (value['type']) {
    case 'text':
      return typeof value['text'] === 'string';
    case 'image':
    case 'audio':
      return 'data' in value && typeof value['mimeType'] === 'string';
    case 'resource':
      return isObject(value['resource']);
    case 'resource_link':
      return typeof value['uri'] === 'string';
    default:
      return false;
  }
}

/** A block as it is sent. */
function block(item: unknown): object {
  if (typeof item === 'string') return { type: 'text', text: item };
  if (!isBlock(item)) throw new TypeError('something among the content is neither text nor a content block');
  switch (item.type) {
    case 'image':
    case 'audio':
      return { ...item, data: base64(item.data) };
    case 'resource':
      return { ...item, resource: contents(item.resource) };
    default:
      return item;
  }
}

function contents(resource: ResourceContents): object {
  return resource.blob === undefined ? resource : { ...resource, blob: base64(resource.blob) };
}

/** JSON of a value that has to have one. */
function json(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError(`a value of the type ${typeof value} has no JSON form`);
  return text;
}

// ------------------------------------------------------------ tools

/**
 * Whether a returned value is a whole result. Where there is an output schema, one that neither fails nor has
 * structured content would not do, so that it has to be data.
 *
 * @internal
 */
export function isToolResult(value: unknown, hasOutput: boolean): value is ToolResult {
  if (!isObject(value) || !Array.isArray(value['content'])) return false;
  return !hasOutput || 'structuredContent' in value || value['isError'] === true;
}

/**
 * The result of a tool without an output schema.
 *
 * @internal
 */
export function toolResult(value: unknown): string {
  if (typeof value === 'string') return `{"content":[{"type":"text","text":${JSON.stringify(value)}}]}`;
  if (value === undefined || value === null) return '{"content":[]}';
  if (Array.isArray(value) && value.every((item) => typeof item === 'string' || isBlock(item))) {
    return JSON.stringify({ content: value.map(block) });
  }
  if (isBlock(value)) return JSON.stringify({ content: [block(value)] });
  if (isToolResult(value, false)) return wholeResult(value, value.structuredContent);
  if (!isObject(value) || Array.isArray(value)) return toolResult(json(value));
  return structuredResult(value);
}

/**
 * The result of a tool that has structured content. The core adds the same as text.
 *
 * @internal
 */
export function structuredResult(value: unknown): string {
  return `{"structuredContent":${json(value)}}`;
}

/**
 * A result that was spelled out, with its structured content as it was checked.
 *
 * @internal
 */
export function wholeResult({ content, isError, _meta }: ToolResult, structuredContent: unknown): string {
  const blocks = content.map(block);
  if (structuredContent !== undefined && blocks.length === 0) blocks.push(block(json(structuredContent)));
  return JSON.stringify({ content: blocks, structuredContent, isError, _meta });
}

/**
 * A tool result that says what went wrong.
 *
 * @internal
 */
export function errorResult(text: string): string {
  return `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"isError":true}`;
}

// ------------------------------------------------------------ resources and prompts

/**
 * The contents of a read resource.
 *
 * @internal
 */
export function resourceResult(value: unknown, uri: string, mimeType: string | undefined): string {
  const many = Array.isArray(value) && value.length > 0 && value.every(isContents);
  const items = many ? value.map(contents) : [oneContents(value, uri, mimeType)];
  return JSON.stringify({ contents: items });
}

function isContents(value: unknown): value is ResourceContents {
  return isObject(value) && typeof value['uri'] === 'string' && ('text' in value || 'blob' in value);
}

function oneContents(value: unknown, uri: string, mimeType: string | undefined): object {
  if (isContents(value)) return contents(value);
  if (typeof value === 'string') return { uri, mimeType: mimeType ?? 'text/plain', text: value };
  if (value instanceof Uint8Array) {
    return { uri, mimeType: mimeType ?? 'application/octet-stream', blob: base64(value) };
  }
  return { uri, mimeType: mimeType ?? 'application/json', text: json(value) };
}

/**
 * The messages of a prompt.
 *
 * @internal
 */
export function promptResult(value: unknown): string {
  if (isObject(value) && Array.isArray(value['messages'])) {
    const { messages, description, _meta } = value as unknown as PromptResult;
    return JSON.stringify({ messages: promptMessages(messages), description, _meta });
  }
  return JSON.stringify({ messages: promptMessages(value) });
}

/**
 * Messages from text, a block, a message, or a list of these.
 *
 * @internal
 */
export function promptMessages(value: unknown): object[] {
  return (Array.isArray(value) ? value : [value]).map(message);
}

function message(item: unknown): object {
  if (!isObject(item) || !('role' in item)) return { role: 'user', content: block(item) };
  // Messages of a model may hold blocks that no prompt has, and lists of them: they are sent as they are.
  const said = item['content'];
  return typeof said === 'string' || isBlock(said) ? { ...item, content: block(said) } : item;
}
