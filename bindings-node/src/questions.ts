/** Questions of a handler to the client: their parameters, and what the answers become. */

import { promptMessages, type ContentBlock, type PromptMessage } from './content.js';
import { InvalidAnswerError } from './failures.js';
import { formSchema } from './form.js';
import type { InputKind, Json } from './sansio/events.js';
import { type AnySchema, checker, type OutputOf } from './schema.js';

/**
 * One question: what to send, and how to read the answer.
 *
 * @internal
 */
export interface Question<T> {
  readonly key: string;
  readonly kind: InputKind;
  readonly params: Json;
  readonly read: (answer: Record<string, unknown>) => T | Promise<T>;
}

/** What the user did with a question; `content` is there after `accept` alone. */
export type ElicitResult<T> =
  | { readonly action: 'accept'; readonly content: T }
  | { readonly action: 'decline' | 'cancel'; readonly content?: undefined };

/** How a model is to be asked. */
export interface SampleOptions {
  /** The most tokens to make. Default 1024. */
  readonly maxTokens?: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly modelPreferences?: Readonly<Record<string, unknown>>;
  readonly includeContext?: 'none' | 'thisServer' | 'allServers';
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly tools?: readonly Readonly<Record<string, unknown>>[];
  readonly toolChoice?: Readonly<Record<string, unknown>>;
  /** What the question is found by in the next run of the handler, in place of its order. */
  readonly key?: string;
}

/** What the client's model said. */
export interface SampleResult {
  readonly role: string;
  /** The blocks, among them kinds that no tool result has, such as `tool_use`. */
  readonly content: readonly (ContentBlock | { readonly type: string; readonly [member: string]: unknown })[];
  readonly model: string;
  readonly stopReason: string | undefined;
  /** The text of all text blocks. */
  readonly text: string;
}

/** A folder or file that the client lets servers work on: a `file://` URI and a name for it. */
export interface Root {
  readonly uri: string;
  readonly name?: string;
}

/** What a model can be asked: text, a block, a message, or a list of these. */
export type SampleMessages =
  string | ContentBlock | PromptMessage | readonly (string | ContentBlock | PromptMessage)[];

function misfit(reason: string): InvalidAnswerError {
  return new InvalidAnswerError(`The answer does not fit the question: ${reason}`);
}

function actionOf(answer: Record<string, unknown>): 'accept' | 'decline' | 'cancel' {
  const action = answer['action'];
  if (action === 'accept' || action === 'decline' || action === 'cancel') return action;
  throw misfit('its action is not known');
}

/**
 * Asks the user to fill a form.
 *
 * @internal
 */
export function elicitation<S extends AnySchema>(
  key: string,
  message: string,
  form: S,
): Question<ElicitResult<OutputOf<S>>> {
  const check = checker(form);
  return {
    key,
    kind: 'elicitation',
    params: JSON.stringify({ mode: 'form', message, requestedSchema: formSchema(form) }),
    read: async (answer) => {
      const action = actionOf(answer);
      if (action !== 'accept') return { action };
      const checked = await check(answer['content'] ?? {});
      if ('fault' in checked) throw misfit(checked.fault);
      return { action, content: checked.value as OutputOf<S> };
    },
  };
}

/**
 * Asks the user to visit a URL.
 *
 * @internal
 */
export function visit(key: string, message: string, url: string): Question<'accept' | 'decline' | 'cancel'> {
  return {
    key,
    kind: 'elicitation',
    params: JSON.stringify({ mode: 'url', message, url }),
    read: actionOf,
  };
}

/**
 * Asks the client's model.
 *
 * @internal
 */
export function sampling(
  key: string,
  messages: SampleMessages,
  options: SampleOptions,
): Question<SampleResult> {
  const { key: _, maxTokens = 1024, ...rest } = options;
  return {
    key,
    kind: 'sampling',
    params: JSON.stringify({ messages: promptMessages(messages), maxTokens, ...rest }),
    read: readSample,
  };
}

function readSample({ role, content, model, stopReason }: Record<string, unknown>): SampleResult {
  const blocks = (Array.isArray(content) ? content : [content]) as Record<string, unknown>[];
  if (typeof role !== 'string' || !blocks.every((block) => typeof block === 'object' && block !== null)) {
    throw misfit('it is no message');
  }
  const texts = blocks.map(({ type, text }) => (type === 'text' && typeof text === 'string' ? text : ''));
  return {
    role,
    content: blocks as unknown as SampleResult['content'],
    model: typeof model === 'string' ? model : '',
    stopReason: typeof stopReason === 'string' ? stopReason : undefined,
    text: texts.join(''),
  };
}

/**
 * Asks for the client's roots.
 *
 * @internal
 */
export function roots(key: string): Question<Root[]> {
  return { key, kind: 'roots', params: '{}', read: readRoots };
}

function readRoots({ roots }: Record<string, unknown>): Root[] {
  const isRoot = (root: unknown) => typeof (root as Root | null)?.uri === 'string';
  if (!Array.isArray(roots) || !roots.every(isRoot)) throw misfit('it is no list of roots');
  return roots as Root[];
}
