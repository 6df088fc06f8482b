/** Questions of a handler to the client: their parameters, and what the answers become. */
import { type ContentBlock, type PromptMessage } from './content.js';
/** What the user did with a question; `content` is there after `accept` alone. */
export type ElicitResult<T> = {
    readonly action: 'accept';
    readonly content: T;
} | {
    readonly action: 'decline' | 'cancel';
    readonly content?: undefined;
};
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
    readonly content: readonly (ContentBlock | {
        readonly type: string;
        readonly [member: string]: unknown;
    })[];
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
export type SampleMessages = string | ContentBlock | PromptMessage | readonly (string | ContentBlock | PromptMessage)[];
