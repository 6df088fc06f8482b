/** Content blocks as peers send them, and how they are read. */
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
    readonly block: {
        readonly type: string;
        readonly [member: string]: unknown;
    };
}
/** A content block: `type` tells which. Members beside those named here are kept as they came. */
export type Content = TextContent | ImageContent | AudioContent | ResourceContent | LinkContent | UnknownContent;
export {};
