/**
 * What can be called on a server: a handler, how its arguments are read and its result written.
 *
 * Each kind knows its definition for the catalog and how a failure is answered. Nothing here waits or keeps state.
 */

import type { Call } from './call.js';
import {
  errorResult,
  isToolResult,
  type Meta,
  promptResult,
  resourceResult,
  structuredResult,
  toolResult,
  wholeResult,
} from './content.js';
import { Context, ResourceContext } from './context.js';
import { InvalidAnswerError, ResourceNotFoundError, ToolError } from './failures.js';
import type { Annotations, Icon } from './received-content.js';
import type { ToolAnnotations } from './results.js';
import { InputRefusedError, MissingCapabilityError, RpcError } from './sansio/errors.js';
import type {
  CompletionRequested,
  HttpServerEvent,
  Json,
  PromptRequested,
  ResourceReadRequested,
  ToolCalled,
} from './sansio/events.js';
import { INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND } from './sansio/facts.js';
import type { ServerCommands } from './sansio/server-commands.js';
import { type AnySchema, type Checked, type Checker, checker, jsonSchema } from './schema.js';

/** @internal */
export type Machine = ServerCommands<HttpServerEvent>;

/** @internal */
export type CalledEvent = ToolCalled | ResourceReadRequested | PromptRequested | CompletionRequested;

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
export interface ToolOptions<
  I extends AnySchema | undefined,
  O extends AnySchema | undefined,
> extends Described {
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

type Handler = (given: never, context: never) => unknown;

/** @internal */
export abstract class Endpoint {
  readonly handler: (given: unknown, context: Context) => unknown;
  abstract readonly definition: Json;

  constructor(
    readonly key: string,
    readonly check: Checker,
    readonly resume: Resume,
    handler: Handler,
    readonly scopes: Scopes | undefined = undefined,
  ) {
    if (typeof scopes === 'string') throw new TypeError("scopes is a list, such as ['files:read']");
    if (typeof handler !== 'function') throw new TypeError(`the handler of '${key}' is not a function`);
    this.handler = handler as (given: unknown, context: Context) => unknown;
  }

  /** What the schema is to check. */
  given(event: CalledEvent): unknown {
    const text = (event as ToolCalled).arguments;
    return text === undefined ? {} : JSON.parse(text);
  }

  /** The scopes that a call needs. */
  neededScopes(event: CalledEvent): readonly string[] {
    const { scopes = [] } = this;
    return typeof scopes === 'function' ? scopes(this.given(event) as Record<string, unknown>) : scopes;
  }

  contextOf(call: Call): Context {
    return new Context(call);
  }

  /** Whether a returned value is all of the result, as a text that UTF-8 can carry. */
  isText(_value: unknown): _value is string {
    return false;
  }

  /** The JSON of a result; throws, or rejects, for what a handler must not return. */
  abstract encode(value: unknown, event: CalledEvent): Json | Promise<Json>;

  abstract register(machine: Machine): void;

  abstract unregister(machine: Machine): void;

  /** Answers a request whose arguments do not fit. */
  refuse(machine: Machine, event: CalledEvent, reason: string): void {
    machine.respondError(event.request, { code: INVALID_PARAMS, message: `Invalid arguments: ${reason}` });
  }

  /** Answers a request whose handler threw; true if that was meant, false for a defect. */
  fail(machine: Machine, event: CalledEvent, error: unknown, debug: boolean): boolean {
    const { request } = event;
    if (error instanceof MissingCapabilityError) {
      machine.respondMissingCapability(request, error.required);
    } else if (error instanceof RpcError) {
      const { code, message, rawData } = error;
      machine.respondError(request, { code, message, ...(rawData === undefined ? {} : { data: rawData }) });
    } else if (error instanceof ResourceNotFoundError && event.type === 'resourceReadRequested') {
      const data = JSON.stringify({ uri: event.uri });
      machine.respondError(request, { code: RESOURCE_NOT_FOUND, message: error.message, data });
    } else {
      const meant = isMeant(error);
      const message = meant ? error.message : publicText(error, debug);
      machine.respondError(request, { code: INTERNAL_ERROR, message });
      return meant;
    }
    return true;
  }
}

/** Whether a handler threw what the caller is to read. */
function isMeant(error: unknown): error is Error {
  return (
    error instanceof ToolError || error instanceof InputRefusedError || error instanceof InvalidAnswerError
  );
}

/** What the client may know of a defect: nothing, unless the server is being debugged. */
function publicText(error: unknown, debug: boolean): string {
  return debug ? String(error) : 'Internal error';
}

/** What a schema has promised, or an error: a fault of the handler. */
function fitting(checked: Checked): unknown {
  if ('fault' in checked) throw new TypeError(`the result does not fit the output schema: ${checked.fault}`);
  return checked.value;
}

/** @internal */
export class Tool extends Endpoint {
  readonly definition: Json;
  readonly #checkOutput: Checker | undefined;

  constructor(
    name: string,
    options: ToolOptions<AnySchema | undefined, AnySchema | undefined>,
    handler: Handler,
  ) {
    const { input, output, resume = 'replay', scopes, ...rest } = options;
    for (const member of ['inputSchema', 'outputSchema', 'parameters']) {
      // As other packages call them; without a schema nothing would be checked.
      if (member in rest) throw new TypeError(`tool '${name}' has '${member}': here it is input and output`);
    }
    super(name, checker(input), resume, handler, scopes);
    this.#checkOutput = output && checker(output);
    this.definition = JSON.stringify({
      name,
      ...rest,
      inputSchema: input ? jsonSchema(input, 'input', `the input of tool '${name}'`) : { type: 'object' },
      outputSchema: output && jsonSchema(output, 'output', `the output of tool '${name}'`),
    });
  }

  override isText(value: unknown): value is string {
    return typeof value === 'string' && this.#checkOutput === undefined && value.isWellFormed();
  }

  encode(value: unknown): Json | Promise<Json> {
    const check = this.#checkOutput;
    if (check === undefined) return toolResult(value);
    const isWhole = isToolResult(value, true);
    if (isWhole && value.isError) return wholeResult(value, value.structuredContent);
    const encode = (checked: Checked): Json =>
      isWhole ? wholeResult(value, fitting(checked)) : structuredResult(fitting(checked));
    const checked = check(isWhole ? value.structuredContent : value);
    return checked instanceof Promise ? checked.then(encode) : encode(checked);
  }

  register(machine: Machine): void {
    machine.addTool(this.definition);
  }

  unregister(machine: Machine): void {
    machine.removeTool(this.key);
  }

  override refuse(machine: Machine, event: CalledEvent, reason: string): void {
    machine.respondInvalidArguments(event.request, `Invalid arguments for ${this.key}: ${reason}`);
  }

  override fail(machine: Machine, event: CalledEvent, error: unknown, debug: boolean): boolean {
    if (error instanceof MissingCapabilityError || error instanceof RpcError) {
      return super.fail(machine, event, error, debug);
    }
    const meant = isMeant(error);
    machine.respond(event.request, errorResult(meant ? error.message : publicText(error, debug)));
    return meant;
  }
}

/** A resource or a template of resources; its key is the URI or the template. @internal */
export class Resource extends Endpoint {
  readonly definition: Json;
  readonly #isTemplate: boolean;
  readonly #mimeType: string | undefined;

  constructor(uri: string, options: ResourceOptions, handler: Handler) {
    const { resume = 'replay', scopes, ...rest } = options;
    super(uri, checker(undefined), resume, handler, scopes);
    this.#isTemplate = uri.includes('{');
    this.#mimeType = options.mimeType;
    this.definition = JSON.stringify({ [this.#isTemplate ? 'uriTemplate' : 'uri']: uri, ...rest });
  }

  override given(event: CalledEvent): unknown {
    return (event as ResourceReadRequested).variables;
  }

  override contextOf(call: Call): Context {
    return new ResourceContext(call, (call.event as ResourceReadRequested).uri);
  }

  encode(value: unknown, event: CalledEvent): Json {
    return resourceResult(value, (event as ResourceReadRequested).uri, this.#mimeType);
  }

  register(machine: Machine): void {
    if (this.#isTemplate) machine.addResourceTemplate(this.definition);
    else machine.addResource(this.definition);
  }

  unregister(machine: Machine): void {
    if (this.#isTemplate) machine.removeResourceTemplate(this.key);
    else machine.removeResource(this.key);
  }
}

/** @internal */
export class Prompt extends Endpoint {
  readonly definition: Json;

  constructor(name: string, options: PromptOptions<AnySchema | undefined>, handler: Handler) {
    const { input, resume = 'replay', scopes, ...rest } = options;
    super(name, checker(input), resume, handler, scopes);
    const schema = input && jsonSchema(input, 'input', `the input of prompt '${name}'`);
    const known = Object.entries(schema?.properties ?? {}) as [string, { description?: string } | boolean][];
    this.definition = JSON.stringify({
      name,
      ...rest,
      arguments: known.map(([argument, about]) => ({
        name: argument,
        description: typeof about === 'object' ? about.description : undefined,
        required: schema?.required?.includes(argument) || undefined,
      })),
    });
  }

  encode(value: unknown): Json {
    return promptResult(value);
  }

  register(machine: Machine): void {
    machine.addPrompt(this.definition);
  }

  unregister(machine: Machine): void {
    machine.removePrompt(this.key);
  }
}

/** Suggestions for one argument of a prompt, or one variable of a template; it is in no catalog. @internal */
export class Completer extends Endpoint {
  readonly definition = '';

  constructor(key: string, handler: Handler) {
    super(key, checker(undefined), 'replay', handler);
  }

  override given(event: CalledEvent): unknown {
    const { value, arguments: settled } = event as CompletionRequested;
    return { value, settled: settled === undefined ? {} : JSON.parse(settled) };
  }

  encode(value: unknown): Json {
    // The core shortens what is more than the protocol allows, and says so.
    const values = [...(value as Iterable<string>)];
    return JSON.stringify({ completion: { values, total: values.length, hasMore: false } });
  }

  register(): void {}

  unregister(): void {}
}

/** The result where nothing is suggested. @internal */
export const NO_COMPLETIONS: Json = '{"completion":{"values":[]}}';
