/** The server object: handlers are registered on it, and a transport serves it. */
import type { ContentBlock, PromptReturn, ResourceReturn, ToolResult } from './content.js';
import type { Context, ResourceContext } from './context.js';
import type { Link } from './link.js';
import { type PromptOptions, type ResourceOptions, type ToolOptions } from './endpoint.js';
import type { Icon } from './received-content.js';
import type { Limits, Timeouts } from './sansio/settings.js';
import type { AnySchema, InputOf, OutputOf } from './schema.js';
import type { VariablesOf } from './template.js';
/** Who a server is, and how it serves. */
export interface ServerOptions {
    /** Its name for programs. */
    readonly name: string;
    /** Its own version. */
    readonly version: string;
    /** Its name for people. */
    readonly title?: string;
    readonly description?: string;
    readonly websiteUrl?: string;
    readonly icons?: readonly Icon[];
    /** What a model should know to use the server. */
    readonly instructions?: string;
    /** Clients see the text of unexpected errors. Default false. */
    readonly debug?: boolean;
    /** The revisions to serve. Default: all. */
    readonly revisions?: readonly string[];
    /** How long lists and resources may be cached, in milliseconds. Default 0. */
    readonly cacheTtl?: number;
    /** By whom they may be cached: by each client for itself, or by anybody. Default `private`. */
    readonly cacheScope?: 'public' | 'private';
    /**
     * Keys of 32 bytes, shared by all processes that shall understand each other's questions; the first one seals.
     * Default: one that is made up for each connection or HTTP endpoint.
     */
    readonly requestStateKeys?: readonly Uint8Array[];
    readonly limits?: Limits;
    readonly timeouts?: Timeouts;
}
/** What the handler of a tool gets: what the schema makes of the arguments. */
export type ToolInput<I extends AnySchema | undefined> = I extends AnySchema ? OutputOf<I> : Record<string, unknown>;
/**
 * What the handler of a tool may return. With an output schema: what that takes, or a whole result. Without: text, content
 * blocks, an object, which becomes structured content, or a whole result.
 */
export type ToolReturn<O extends AnySchema | undefined> = O extends AnySchema ? InputOf<O> | ToolResult<InputOf<O>> : string | ContentBlock | readonly (ContentBlock | string)[] | ToolResult | object | void;
/** What the handler of a prompt gets. Arguments of prompts are strings. */
export type PromptInput<I extends AnySchema | undefined> = I extends AnySchema ? OutputOf<I> : Record<string, string>;
type Made<T> = T | Promise<T>;
/**
 * A server: register handlers on it, then serve it with `barewire/stdio` or `barewire/http`, or both.
 *
 * ```ts
 * const server = new Server({ name: 'weather', version: '1.0.0' });
 * server.tool('add', { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => `${a + b}`);
 * ```
 *
 * Handlers may be async or not, and may be added and removed while the server runs. A mistake in a schema is a
 * `TypeError` where it is registered, and one in a definition, such as a malformed template, an {@link ApiMisuseError}.
 * What a handler throws is hidden from clients and written to standard error, unless it is a {@link ToolError},
 * {@link ResourceNotFoundError} or {@link RpcError}.
 */
export declare class Server {
    #private;
    /** Its name for programs. */
    readonly name: string;
    /** Its own version. */
    readonly version: string;
    /** @param options - Who the server is, and how it serves. */
    constructor(options: ServerOptions);
    /**
     * Registers a tool.
     *
     * Arguments are checked by the schema of a library before the handler runs, and results against the output schema. A
     * plain JSON Schema is announced and not checked.
     */
    tool<I extends AnySchema | undefined = undefined, O extends AnySchema | undefined = undefined>(name: string, options: ToolOptions<I, O>, handler: (input: ToolInput<I>, context: Context) => Made<ToolReturn<O>>): void;
    /**
     * Registers a resource, or a template (RFC 6570) if the URI holds `{variables}`, which the handler gets by name.
     *
     * The handler returns text, bytes, any JSON value, or contents spelled out.
     */
    resource<const U extends string>(uri: U, options: ResourceOptions, handler: (variables: VariablesOf<U>, context: ResourceContext) => Made<ResourceReturn>): void;
    /** Registers a prompt. The properties of its input schema are the arguments that clients see. */
    prompt<I extends AnySchema | undefined = undefined>(name: string, options: PromptOptions<I>, handler: (input: PromptInput<I>, context: Context) => Made<PromptReturn>): void;
    /**
     * Registers what completes one argument of a prompt, or one variable of a template; before the server is served.
     *
     * `reference` is the name of the prompt, or the template as registered. The handler gets what was typed and the
     * arguments that are settled so far, and returns suggestions, best first.
     */
    completion(reference: string, argument: string, handler: (typed: {
        readonly value: string;
        readonly settled: Readonly<Record<string, string>>;
    }, context: Context) => Made<Iterable<string>>): void;
    /** Takes a tool out again. @returns whether there was one of that name */
    removeTool(name: string): boolean;
    /** Takes a resource or template out again. @returns whether there was one */
    removeResource(uri: string): boolean;
    /** Takes a prompt out again. @returns whether there was one of that name */
    removePrompt(name: string): boolean;
    /** Tells the clients that watch a resource that it has changed. */
    resourceUpdated(uri: string): void;
    /** Begins to serve a client of this process: `Client.connect(server)` calls it. */
    openLink(): Link;
}
export {};
