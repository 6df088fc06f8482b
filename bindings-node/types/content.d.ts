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
export type PromptReturn = string | ContentBlock | PromptMessage | PromptResult | readonly (PromptMessage | ContentBlock | string)[];
/**
 * What the handler of a resource may return: text, bytes, contents spelled out, or any other value, which is sent as
 * JSON text.
 */
export type ResourceReturn = string | Uint8Array | ResourceContents | readonly ResourceContents[] | object;
export {};
