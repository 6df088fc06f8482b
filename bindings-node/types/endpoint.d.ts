/**
 * What can be called on a server: a handler, how its arguments are read and its result written.
 *
 * Each kind knows its definition for the catalog and how a failure is answered. Nothing here waits or keeps state.
 */
import { type Meta } from './content.js';
import type { Annotations, Icon } from './received-content.js';
import type { ToolAnnotations } from './results.js';
import { type AnySchema } from './schema.js';
/** What is kept of a handler that asked until the answer is there: nothing, so that it runs again, or all of it. */
export type Resume = 'replay' | 'memory';
/** Scopes that a call needs: always the same, or depending on what it is given. */
export type Scopes = readonly string[] | ((given: Readonly<Record<string, any>>) => readonly string[]);
/** What can be said of everything in the catalog. */
export interface Described {
    /** A name for people. */
    readonly title?: string;
    readonly description?: string;
    readonly icons?: readonly Icon[];
    readonly _meta?: Meta;
    /** What happens to a handler that asked the client in a stateless revision; see {@link Context}. Default `replay`. */
    readonly resume?: Resume;
    /** What callers need beside the scopes that a protected server (`auth`) wants from everybody. */
    readonly scopes?: Scopes;
}
/** What is said of a resource or template. */
export interface ResourceOptions extends Described {
    /** Its name for programs. */
    readonly name: string;
    readonly mimeType?: string;
    /** Bytes; of a resource only. */
    readonly size?: number;
    readonly annotations?: Annotations;
}
/** What is said of a tool. */
export interface ToolOptions<I extends AnySchema | undefined, O extends AnySchema | undefined> extends Described {
    /** The schema of its arguments; without one it takes none. */
    readonly input?: I;
    /** The schema of its structured result. */
    readonly output?: O;
    readonly annotations?: ToolAnnotations;
}
/** What is said of a prompt. */
export interface PromptOptions<I extends AnySchema | undefined> extends Described {
    /** The schema of its arguments, which are strings; without one it takes none. */
    readonly input?: I;
}
