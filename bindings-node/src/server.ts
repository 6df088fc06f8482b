/** The server object: handlers are registered on it, and a transport serves it. */

import { clockOrigin } from './clock.js';
import type { ContentBlock, PromptReturn, ResourceReturn, ToolResult } from './content.js';
import type { Connection } from './connection.js';
import type { Context, ResourceContext } from './context.js';
import type { Link } from './link.js';
import {
  Completer,
  type Endpoint,
  type Machine,
  Prompt,
  type PromptOptions,
  Resource,
  type ResourceOptions,
  Tool,
  type ToolOptions,
} from './endpoint.js';
import { MemoryLink } from './memory.js';
import type { Icon } from './received-content.js';
import { Server as StreamMachine } from './sansio/byte-stream.js';
import { isRecommendedToolName } from './sansio/facts.js';
import type { HttpServerSettings, Limits, ServerSettings, Timeouts } from './sansio/settings.js';
import type { HttpServer } from './sansio/http-server.js';
import type { AnySchema, InputOf, OutputOf } from './schema.js';
import { randomSeed } from './seed.js';
import { serveStdio } from './stdio-server.js';
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
export type ToolInput<I extends AnySchema | undefined> = I extends AnySchema
  ? OutputOf<I>
  : Record<string, unknown>;

/**
 * What the handler of a tool may return. With an output schema: what that takes, or a whole result. Without: text, content
 * blocks, an object, which becomes structured content, or a whole result.
 */
export type ToolReturn<O extends AnySchema | undefined> = O extends AnySchema
  ? InputOf<O> | ToolResult<InputOf<O>>
  : string | ContentBlock | readonly (ContentBlock | string)[] | ToolResult | object | void;

/** What the handler of a prompt gets. Arguments of prompts are strings. */
export type PromptInput<I extends AnySchema | undefined> = I extends AnySchema
  ? OutputOf<I>
  : Record<string, string>;

/** What is registered, as connections read it. @internal */
export interface Catalog {
  readonly debug: boolean;
  readonly tools: ReadonlyMap<string, Endpoint>;
  readonly resources: ReadonlyMap<string, Endpoint>;
  readonly prompts: ReadonlyMap<string, Endpoint>;
  completer(reference: string, argument: string): Endpoint | undefined;
}

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
export class Server {
  /** Its name for programs. */
  readonly name: string;
  /** Its own version. */
  readonly version: string;
  readonly #options: ServerOptions;
  readonly #tools = new Map<string, Endpoint>();
  readonly #resources = new Map<string, Endpoint>();
  readonly #prompts = new Map<string, Endpoint>();
  readonly #completers = new Map<string, Endpoint>();
  readonly #connections = new Set<Connection>();
  // Never connected: the core's judgement on definitions, at the moment they are registered.
  readonly #judge: Machine;

  /** @param options - Who the server is, and how it serves. */
  constructor(options: ServerOptions) {
    this.name = options.name;
    this.version = options.version;
    this.#options = options;
    this.#judge = new StreamMachine(this.#settings());
  }

  // ------------------------------------------------------------ registering

  /**
   * Registers a tool.
   *
   * Arguments are checked by the schema of a library before the handler runs, and results against the output schema. A
   * plain JSON Schema is announced and not checked.
   */
  tool<I extends AnySchema | undefined = undefined, O extends AnySchema | undefined = undefined>(
    name: string,
    options: ToolOptions<I, O>,
    handler: (input: ToolInput<I>, context: Context) => Made<ToolReturn<O>>,
  ): void {
    if (!isRecommendedToolName(name)) {
      const advice = '1 to 128 ASCII letters, digits, underscores, hyphens and dots';
      process.emitWarning(`clients may refuse the tool name '${name}': ${advice} are advised`);
    }
    this.#add(this.#tools, new Tool(name, options, handler));
  }

  /**
   * Registers a resource, or a template (RFC 6570) if the URI holds `{variables}`, which the handler gets by name.
   *
   * The handler returns text, bytes, any JSON value, or contents spelled out.
   */
  resource<const U extends string>(
    uri: U,
    options: ResourceOptions,
    handler: (variables: VariablesOf<U>, context: ResourceContext) => Made<ResourceReturn>,
  ): void {
    this.#add(this.#resources, new Resource(uri, options, handler));
  }

  /** Registers a prompt. The properties of its input schema are the arguments that clients see. */
  prompt<I extends AnySchema | undefined = undefined>(
    name: string,
    options: PromptOptions<I>,
    handler: (input: PromptInput<I>, context: Context) => Made<PromptReturn>,
  ): void {
    this.#add(this.#prompts, new Prompt(name, options, handler));
  }

  /**
   * Registers what completes one argument of a prompt, or one variable of a template; before the server is served.
   *
   * `reference` is the name of the prompt, or the template as registered. The handler gets what was typed and the
   * arguments that are settled so far, and returns suggestions, best first.
   */
  completion(
    reference: string,
    argument: string,
    handler: (
      typed: { readonly value: string; readonly settled: Readonly<Record<string, string>> },
      context: Context,
    ) => Made<Iterable<string>>,
  ): void {
    const key = completerKey(reference, argument);
    this.#completers.set(key, new Completer(reference, handler));
  }

  /** Takes a tool out again. @returns whether there was one of that name */
  removeTool(name: string): boolean {
    return this.#remove(this.#tools, name);
  }

  /** Takes a resource or template out again. @returns whether there was one */
  removeResource(uri: string): boolean {
    return this.#remove(this.#resources, uri);
  }

  /** Takes a prompt out again. @returns whether there was one of that name */
  removePrompt(name: string): boolean {
    return this.#remove(this.#prompts, name);
  }

  /** Tells the clients that watch a resource that it has changed. */
  resourceUpdated(uri: string): void {
    this.#publish((machine) => machine.publishResourceUpdated(uri));
  }

  /** Begins to serve a client of this process: `Client.connect(server)` calls it. */
  openLink(): Link {
    return new MemoryLink((input, output) => serveStdio(this, { input, output }));
  }

  #add(registry: Map<string, Endpoint>, endpoint: Endpoint): void {
    endpoint.register(this.#judge);
    registry.set(endpoint.key, endpoint);
    this.#publish((machine) => endpoint.register(machine));
  }

  #remove(registry: Map<string, Endpoint>, key: string): boolean {
    const endpoint = registry.get(key);
    if (endpoint === undefined) return false;
    registry.delete(key);
    endpoint.unregister(this.#judge);
    this.#publish((machine) => endpoint.unregister(machine));
    return true;
  }

  #publish(command: (machine: Machine) => void): void {
    for (const connection of this.#connections) connection.command(command);
  }

  // ------------------------------------------------------------ for transports

  /** @internal */
  get catalog(): Catalog {
    return {
      debug: this.#options.debug ?? false,
      tools: this.#tools,
      resources: this.#resources,
      prompts: this.#prompts,
      completer: (reference, argument) => this.#completers.get(completerKey(reference, argument)),
    };
  }

  /** How long what is in flight may take at the end, in milliseconds. @internal */
  get drain(): number {
    return this.#options.timeouts?.drain ?? 10_000;
  }

  /** A machine for one peer on a byte stream, with all that is registered. @internal */
  streamMachine(): StreamMachine {
    return this.#stocked(new StreamMachine(this.#settings()));
  }

  /** A machine for all clients over HTTP, which programs on streams do not load, with all that is registered. @internal */
  httpMachine(Machine: typeof HttpServer, options: Partial<HttpServerSettings>): HttpServer {
    return this.#stocked(new Machine({ ...this.#settings(), ...options }));
  }

  /** From here on a connection hears of changes. @internal */
  connected(connection: Connection): void {
    this.#connections.add(connection);
  }

  /** @internal */
  disconnected(connection: Connection): void {
    this.#connections.delete(connection);
  }

  #settings(): ServerSettings {
    const { debug: _, icons, cacheTtl, ...options } = this.#options;
    return {
      ...options,
      ...(icons && { icons: JSON.stringify(icons) }),
      ...(cacheTtl !== undefined && { ttlMs: cacheTtl }),
      seed: randomSeed(),
      clockOrigin: clockOrigin(),
      completions: this.#completers.size > 0,
    };
  }

  #stocked<M extends Machine>(machine: M): M {
    for (const registry of [this.#tools, this.#resources, this.#prompts]) {
      for (const endpoint of registry.values()) endpoint.register(machine);
    }
    return machine;
  }
}

function completerKey(reference: string, argument: string): string {
  return JSON.stringify([reference, argument]);
}
