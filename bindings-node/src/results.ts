/**
 * What a server answers, as typed values.
 *
 * Lists and content are read item by item: what is good is delivered, and what is not is told in `problems`. Objects
 * keep all members that they came with. For numbers with more digits than a double holds there is `raw`.
 */

import {
  annotations,
  type Annotations,
  type Content,
  type Icon,
  icons,
  LINK,
  readBlock,
  readContents,
  type ReceivedContents,
  type Role,
  roles,
} from './received-content.js';
import {
  anything,
  arrayOf,
  isObject,
  itemsOf,
  type JsonObject,
  number,
  object,
  type Problem,
  Reader,
  shaped,
  text,
  truth,
} from './received.js';
import type { ToolOmitted } from './sansio/events.js';
import type { Json, Listing } from './sansio/index.js';

/** What a tool says of itself: hints, no promises. Nothing should depend on them unless the server is trusted. */
export interface ToolAnnotations {
  readonly title?: string;
  /** It changes nothing. Taken to be false if absent. */
  readonly readOnlyHint?: boolean;
  /** It may destroy something. Taken to be true if absent. */
  readonly destructiveHint?: boolean;
  /** Calling it again changes nothing more. Taken to be false if absent. */
  readonly idempotentHint?: boolean;
  /** It deals with the world outside. Taken to be true if absent. */
  readonly openWorldHint?: boolean;
}

/** A tool as the server lists it. */
export interface Tool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** The JSON Schema of its arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** The JSON Schema of its structured content. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: ToolAnnotations;
  readonly icons?: readonly Icon[];
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** A resource as the server lists it. */
export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** In bytes. */
  readonly size?: number;
  readonly annotations?: Annotations;
  readonly icons?: readonly Icon[];
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** A family of resources. */
export interface ResourceTemplate {
  /** To be expanded as RFC 6570 says. */
  readonly uriTemplate: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly annotations?: Annotations;
  readonly icons?: readonly Icon[];
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** An argument that a prompt takes. */
export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
}

/** A prompt as the server lists it. */
export interface Prompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly PromptArgument[];
  readonly icons?: readonly Icon[];
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** One message of a prompt. */
export interface ReceivedMessage {
  readonly role: Role;
  readonly content: Content;
}

/** Who a server says it is. */
export interface Implementation {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly Icon[];
}

/** What all results have. */
export interface Result {
  /** What could not be read. Empty, as a rule. */
  readonly problems: readonly Problem[];
  /** The `_meta` of the result. */
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  /** The JSON text of the result as it came. */
  readonly raw: Json;
}

/** What a tool answered. */
export interface CallToolResult extends Result {
  readonly content: readonly Content[];
  /** Any JSON value; `undefined` if there is none. It is not checked against the output schema of the tool. */
  readonly structuredContent: unknown;
  /** Whether the tool failed; the content says what went wrong. */
  readonly isError: boolean;
}

/** What a resource holds: usually one item, more for a resource that stands for several. */
export interface ReadResourceResult extends Result {
  readonly contents: readonly ReceivedContents[];
}

/** A prompt filled in with its arguments. */
export interface GetPromptResult extends Result {
  readonly description: string | undefined;
  readonly messages: readonly ReceivedMessage[];
}

/** Suggestions for an argument. */
export interface CompleteResult extends Result {
  readonly values: readonly string[];
  /** How many there are, those not sent included. */
  readonly total: number | undefined;
  /** Whether there are more than were sent. */
  readonly hasMore: boolean | undefined;
}

/** One page of a list. */
export interface ListResult<T> extends Result {
  readonly items: readonly T[];
  /** What to ask for the next page with; `undefined` at the end. An empty text is a cursor like any other. */
  readonly nextCursor: string | undefined;
}

/** The kinds of lists, and what their items are. */
export interface Listed {
  tools: Tool;
  resources: Resource;
  resourceTemplates: ResourceTemplate;
  prompts: Prompt;
}

// ---------------------------------------------------------------- reading

const ABOUT = { title: text, description: text, icons, _meta: object };

const hints = shaped({
  required: {},
  optional: {
    title: text,
    readOnlyHint: truth,
    destructiveHint: truth,
    idempotentHint: truth,
    openWorldHint: truth,
  },
});

const promptArguments = arrayOf(
  shaped({ required: { name: text }, optional: { title: text, description: text, required: truth } }),
);

const ITEMS: { readonly [Kind in Listing]: Reader<Listed[Kind]> } = {
  tools: new Reader({
    required: { name: text, inputSchema: object },
    optional: { ...ABOUT, outputSchema: object, annotations: hints },
  }),
  resources: new Reader(LINK),
  resourceTemplates: new Reader({
    required: { uriTemplate: text, name: text },
    optional: { ...ABOUT, mimeType: text, annotations },
  }),
  prompts: new Reader({ required: { name: text }, optional: { ...ABOUT, arguments: promptArguments } }),
};

const call = new Reader<JsonObject>({ required: {}, optional: { _meta: object, isError: truth } });
const prompt = new Reader<JsonObject>({ required: {}, optional: { _meta: object, description: text } });
const message = new Reader<JsonObject>({ required: { role: roles, content: anything }, optional: {} });
const completed = new Reader<JsonObject>({ required: { completion: object }, optional: { _meta: object } });
const completion = new Reader<JsonObject>({ required: {}, optional: { total: number, hasMore: truth } });
const page = new Reader<JsonObject>({ required: {}, optional: { _meta: object, nextCursor: text } });
const plain = new Reader<JsonObject>({ required: {}, optional: { _meta: object } });
const implementation = new Reader<Implementation>({
  required: { name: text, version: text },
  optional: { title: text, description: text, websiteUrl: text, icons },
});

/** A result as it came, as far as it is an object, and room for what is wrong with it. */
function open(raw: Json, reader: Reader<JsonObject>): { members: JsonObject; problems: Problem[] } {
  const problems: Problem[] = [];
  const members = reader.read(JSON.parse(raw), undefined, problems) ?? {};
  return { members, problems };
}

function metaOf(members: JsonObject): Result['meta'] {
  return members['_meta'] as Result['meta'];
}

/**
 * The result of a tool call.
 *
 * @internal
 */
export function readCall(raw: Json): CallToolResult {
  const { members, problems } = open(raw, call);
  const { content, structuredContent, isError } = members;
  const read = (block: unknown, index: number) => readBlock(block, index, problems);
  return {
    content: itemsOf(content, 'content', problems, read),
    structuredContent,
    isError: isError === true,
    problems,
    meta: metaOf(members),
    raw,
  };
}

/**
 * The result of reading a resource.
 *
 * @internal
 */
export function readResource(raw: Json): ReadResourceResult {
  const { members, problems } = open(raw, plain);
  const read = (item: unknown, index: number) => readContents(item, index, problems);
  const contents = itemsOf(members['contents'], 'contents', problems, read);
  return { contents, problems, meta: metaOf(members), raw };
}

/**
 * The result of getting a prompt.
 *
 * @internal
 */
export function readPrompt(raw: Json): GetPromptResult {
  const { members, problems } = open(raw, prompt);
  const messages = itemsOf(members['messages'], 'messages', problems, (value, index) => {
    const read = message.read(value, index, problems);
    const content = read && readBlock(read['content'], index, problems);
    return content && { role: read['role'] as Role, content };
  });
  const description = members['description'] as string | undefined;
  return { description, messages, problems, meta: metaOf(members), raw };
}

/**
 * The result of a completion.
 *
 * @internal
 */
export function readCompletion(raw: Json): CompleteResult {
  const { members, problems } = open(raw, completed);
  const inner = completion.read(members['completion'] ?? {}, undefined, problems) ?? {};
  const values = itemsOf(inner['values'], 'completion.values', problems, (value, index) => {
    if (typeof value === 'string') return value;
    problems.push({ index, path: '', reason: 'a string expected', value, isRejected: true });
    return undefined;
  });
  const total = inner['total'] as number | undefined;
  const hasMore = inner['hasMore'] as boolean | undefined;
  return { values, total, hasMore, problems, meta: metaOf(members), raw };
}

/**
 * A page of a list. What the core has left out of it, in the order of the list, is told among the problems.
 *
 * @internal
 */
export function readList<Kind extends Listing>(
  kind: Kind,
  raw: Json,
  omitted: readonly ToolOmitted[],
): ListResult<Listed[Kind]> {
  const { members, problems } = open(raw, page);
  const reader: Reader<Listed[Kind]> = ITEMS[kind];
  const items = reader.readAll(members[kind], kind, problems);
  const nextCursor = members['nextCursor'] as string | undefined;
  return { items, nextCursor, problems: told(problems, omitted), meta: metaOf(members), raw };
}

/** Adds what the core has left out, and gives what stood behind it its place in the list of the server. */
function told(problems: readonly Problem[], omitted: readonly ToolOmitted[]): readonly Problem[] {
  return omitted.reduce<readonly Problem[]>((before, { index, path, reason, name }) => {
    const moved = before.map((problem) =>
      problem.index === undefined || problem.index < index
        ? problem
        : { ...problem, index: problem.index + 1 },
    );
    return [...moved, { index, path, reason, value: name, isRejected: true }];
  }, problems);
}

/**
 * Who a server is, or `undefined` if it does not say so in a readable way.
 *
 * @internal
 */
export function readImplementation(raw: Json | undefined): Implementation | undefined {
  const value: unknown = raw === undefined ? undefined : JSON.parse(raw);
  return isObject(value) ? implementation.read(value, undefined, []) : undefined;
}
