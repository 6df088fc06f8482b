/**
 * What a server answers, as typed values.
 *
 * Lists and content are read item by item: what is good is delivered, and what is not is told in `problems`. Objects
 * keep all members that they came with. For numbers with more digits than a double holds there is `raw`.
 */
import { type Annotations, type Content, type Icon, type ReceivedContents, type Role } from './received-content.js';
import { type Problem } from './received.js';
import type { Json } from './sansio/index.js';
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
