/** Questions of a server as the handlers of a client see them, and the JSON of what the handlers answer. */

import { type Content, readBlock, type Role, roles } from './received-content.js';
import {
  anything,
  arrayOf,
  isObject,
  itemsOf,
  type JsonObject,
  number,
  object,
  oneOf,
  type Problem,
  Reader,
  text,
} from './received.js';
import type { InputKind, Json } from './sansio/index.js';

/** The server asks the user: to fill in a form, or to visit a page. */
export interface ElicitRequest {
  /** What to show. */
  readonly message: string;
  /** Whether `requestedSchema` describes a form, or `url` is to be visited. Absent means a form. */
  readonly mode?: 'form' | 'url';
  /** The JSON Schema of the form: an object of plain values. */
  readonly requestedSchema?: Readonly<Record<string, unknown>>;
  /** The page to visit. Ask the user before it is opened. */
  readonly url?: string;
  /** Names the question where the server tells later that the visit is complete. */
  readonly elicitationId?: string;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** What the user decided. */
export type ElicitAnswer =
  | { readonly action: 'accept'; readonly content?: Readonly<Record<string, unknown>> }
  | { readonly action: 'decline' | 'cancel' };

/** One message of a conversation. */
export interface SamplingMessage {
  readonly role: Role;
  readonly content: readonly Content[];
}

/** The server asks the model of the client to continue a conversation. */
export interface SampleRequest {
  readonly messages: readonly SamplingMessage[];
  /** The most tokens wanted. */
  readonly maxTokens?: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  /** From which servers to include context. */
  readonly includeContext?: string;
  /** Which kind of model is wanted. */
  readonly modelPreferences?: Readonly<Record<string, unknown>>;
  /** For the provider of the model. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Tools that the model may use. */
  readonly tools?: readonly Readonly<Record<string, unknown>>[];
  /** How the model may use them. */
  readonly toolChoice?: Readonly<Record<string, unknown>>;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** A content block of an answer, of any type that the protocol has. */
export interface AnsweredBlock {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** What the model said: a text, or the whole of it. */
export type SampleAnswer =
  | string
  | {
      /** Text, or content blocks. */
      readonly content: string | AnsweredBlock | readonly AnsweredBlock[];
      /** The name of the model that was used. */
      readonly model: string;
      /** `'assistant'` by default. */
      readonly role?: Role;
      /** Why it ended, such as `endTurn`. */
      readonly stopReason?: string;
    };

/** A folder or file that the server may work on: a `file://` URI, and a name for people. */
export type ClientRoot = string | URL | { readonly uri: string; readonly name?: string };

/** What a handler is told beside its question. */
export interface QuestionContext {
  /** Aborted when the answer is not wanted any more. */
  readonly signal: AbortSignal;
}

/** What answers the questions of a server. */
export interface QuestionHandlers {
  /** Asks the user. */
  readonly onElicit?: (
    question: ElicitRequest,
    context: QuestionContext,
  ) => ElicitAnswer | Promise<ElicitAnswer>;
  /** Asks a model. */
  readonly onSample?: (
    question: SampleRequest,
    context: QuestionContext,
  ) => SampleAnswer | Promise<SampleAnswer>;
  /** Says which folders and files the server may work on. */
  readonly onRoots?: (context: QuestionContext) => readonly ClientRoot[] | Promise<readonly ClientRoot[]>;
}

const elicitation = new Reader<ElicitRequest>({
  required: { message: text },
  optional: {
    mode: oneOf('form', 'url'),
    requestedSchema: object,
    url: text,
    elicitationId: text,
    _meta: object,
  },
});

const sampling = new Reader<JsonObject>({
  required: { messages: arrayOf(anything) },
  optional: {
    maxTokens: number,
    systemPrompt: text,
    temperature: number,
    stopSequences: arrayOf(text),
    includeContext: text,
    modelPreferences: object,
    metadata: object,
    tools: arrayOf(object),
    toolChoice: object,
    _meta: object,
  },
});

const message = new Reader<JsonObject>({ required: { role: roles, content: anything }, optional: {} });

function readSampling(params: unknown, problems: Problem[]): SampleRequest | undefined {
  const read = sampling.read(params, undefined, problems);
  if (read === undefined) return undefined;
  const messages = itemsOf(read['messages'], 'messages', problems, (value, index) => {
    const each = message.read(value, index, problems);
    if (each === undefined) return undefined;
    const content = each['content'];
    const blocks = Array.isArray(content) ? content : [content];
    const readable = blocks.map((block) => readBlock(block, index, problems));
    return { role: each['role'] as Role, content: readable.filter((block) => block !== undefined) };
  });
  return { ...read, messages };
}

/** What to ask a handler of each kind, in the form that it takes. */
type Ask = (handlers: QuestionHandlers, params: unknown, context: QuestionContext) => Promise<JsonObject>;

/** Throws what is wrong with a question that cannot be put to a handler. */
function readable<T>(question: T | undefined, problems: readonly Problem[]): T {
  const rejected = problems.filter((problem) => problem.isRejected);
  if (question === undefined || rejected.length > 0) {
    throw new UnreadableQuestion(rejected.map(({ path, reason }) => `${path}: ${reason}`).join('; '));
  }
  return question;
}

function handlerOf<T>(handler: T | undefined): T {
  if (handler === undefined) throw new UnreadableQuestion('the client does not answer such questions');
  return handler;
}

/**
 * The question itself is at fault, and no handler was asked.
 *
 * @internal
 */
export class UnreadableQuestion extends Error {}

const ASK: { readonly [Kind in InputKind]: Ask } = {
  elicitation: async ({ onElicit }, params, context) => {
    const problems: Problem[] = [];
    const question = readable(elicitation.read(params, undefined, problems), problems);
    return elicited(await handlerOf(onElicit)(question, context));
  },
  sampling: async ({ onSample }, params, context) => {
    const problems: Problem[] = [];
    const question = readable(readSampling(params, problems), problems);
    return sampled(await handlerOf(onSample)(question, context));
  },
  roots: async ({ onRoots }, _, context) => ({
    roots: (await handlerOf(onRoots)(context)).map(rootOf),
  }),
};

function elicited(answer: unknown): JsonObject {
  if (!isObject(answer) || typeof answer['action'] !== 'string') {
    throw new TypeError("onElicit answers { action: 'accept', content }, or 'decline' or 'cancel'");
  }
  const { action, content } = answer;
  return action === 'accept' && content !== undefined ? { action, content } : { action };
}

function sampled(answer: SampleAnswer): JsonObject {
  const whole = typeof answer === 'string' ? { content: answer, model: 'unspecified' } : answer;
  if (!isObject(whole) || typeof whole.model !== 'string') {
    throw new TypeError('onSample answers text, or { content, model }');
  }
  const { role = 'assistant', content, model, stopReason } = whole;
  return { role, content: contentOf(content), model, ...(stopReason === undefined ? {} : { stopReason }) };
}

function contentOf(content: string | AnsweredBlock | readonly AnsweredBlock[]): unknown {
  if (typeof content === 'string') return { type: 'text', text: content };
  // One block alone is what every revision understands.
  return Array.isArray(content) && content.length === 1 ? content[0] : content;
}

function rootOf(root: ClientRoot): JsonObject {
  const { uri, name } =
    typeof root === 'string' || root instanceof URL ? { uri: String(root), name: undefined } : root;
  if (!uri.startsWith('file://')) throw new TypeError(`a root is a file:// URI, not ${uri}`);
  return name === undefined ? { uri } : { uri, name };
}

/**
 * Asks the handler for questions of this kind; gives the JSON of the answer.
 *
 * @internal
 */
export async function answer(
  handlers: QuestionHandlers,
  kind: InputKind,
  params: Json | undefined,
  context: QuestionContext,
): Promise<Json> {
  return JSON.stringify(await ASK[kind](handlers, JSON.parse(params ?? '{}'), context));
}

/**
 * The capabilities that the handlers amount to, in full; the core leaves out what older revisions lack.
 *
 * @internal
 */
export function capabilitiesOf(
  { onElicit, onSample, onRoots }: QuestionHandlers,
  more: Readonly<Record<string, unknown>>,
): Json {
  const declared: JsonObject = {
    ...(onElicit && { elicitation: { form: {}, url: {} } }),
    ...(onSample && { sampling: {} }),
    ...(onRoots && { roots: { listChanged: true } }),
  };
  for (const [name, value] of Object.entries(more)) {
    const before = declared[name];
    declared[name] = isObject(before) && isObject(value) ? { ...before, ...value } : value;
  }
  return JSON.stringify(declared);
}
