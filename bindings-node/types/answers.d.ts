/** Questions of a server as the handlers of a client see them, and the JSON of what the handlers answer. */
import { type Content, type Role } from './received-content.js';
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
export type ElicitAnswer = {
    readonly action: 'accept';
    readonly content?: Readonly<Record<string, unknown>>;
} | {
    readonly action: 'decline' | 'cancel';
};
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
export type SampleAnswer = string | {
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
export type ClientRoot = string | URL | {
    readonly uri: string;
    readonly name?: string;
};
/** What a handler is told beside its question. */
export interface QuestionContext {
    /** Aborted when the answer is not wanted any more. */
    readonly signal: AbortSignal;
}
/** What answers the questions of a server. */
export interface QuestionHandlers {
    /** Asks the user. */
    readonly onElicit?: (question: ElicitRequest, context: QuestionContext) => ElicitAnswer | Promise<ElicitAnswer>;
    /** Asks a model. */
    readonly onSample?: (question: SampleRequest, context: QuestionContext) => SampleAnswer | Promise<SampleAnswer>;
    /** Says which folders and files the server may work on. */
    readonly onRoots?: (context: QuestionContext) => readonly ClientRoot[] | Promise<readonly ClientRoot[]>;
}
