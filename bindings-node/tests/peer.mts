/** A client of a server in the same process, over two streams, of the era that a test wants. */

import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import type { Server } from 'barewire';
import {
  Client,
  type ClientEvent,
  type Era,
  type InputKind,
  LEGACY_REVISIONS,
  type McpError,
  MODERN_REVISIONS,
  type RequestHandle,
  type RequestOptions,
} from 'barewire/sansio';
import { serveStdio } from 'barewire/stdio';

export const ERAS: readonly Era[] = ['legacy', 'modern'];

type Answer = (params: Record<string, unknown>, kind: InputKind) => unknown;

interface Waiter {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: McpError) => void;
}

/** A result, or as much of it as tests look at. */
export interface Result {
  readonly content: { readonly type: string; readonly text?: string; readonly [member: string]: unknown }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly [member: string]: unknown;
}

export class Peer {
  readonly toServer = new PassThrough();
  readonly fromServer = new PassThrough();
  readonly served: Promise<void>;
  readonly events: ClientEvent[] = [];
  readonly client: Client;
  #waiters = new Map<RequestHandle, Waiter>();
  #answer: Answer;

  constructor(server: Server, era: Era, answer: Answer = () => ({})) {
    this.#answer = answer;
    this.client = new Client({
      name: 'peer',
      version: '1',
      seed: randomBytes(32),
      now: performance.now(),
      revisions: era === 'legacy' ? LEGACY_REVISIONS : MODERN_REVISIONS,
      capabilities: '{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}',
    });
    this.served = serveStdio(server, { input: this.toServer, output: this.fromServer });
    this.fromServer.on('data', (data: Buffer) =>
      this.#take(this.client.receiveData(data, performance.now())),
    );
    this.#flush();
  }

  #flush(): void {
    const data = this.client.dataToSend();
    if (data.length > 0) this.toServer.write(data);
  }

  #take(events: ClientEvent[]): void {
    for (const event of events) {
      this.events.push(event);
      if (event.type === 'responseReceived') {
        this.#waiters.get(event.request)?.resolve(JSON.parse(event.result) as Result);
      } else if (event.type === 'requestFailed') {
        this.#waiters.get(event.request)?.reject(event.error);
      } else if (event.type === 'inputRequired') {
        for (const { input, kind, params } of event.inputs) {
          const answer = this.#answer(params === undefined ? {} : JSON.parse(params), kind);
          this.client.provideInput(input, JSON.stringify(answer), performance.now());
        }
      }
    }
    this.#flush();
  }

  #result(request: RequestHandle): Promise<Result> {
    const result = new Promise<Result>((resolve, reject) => this.#waiters.set(request, { resolve, reject }));
    this.#flush();
    return result;
  }

  call(name: string, args: unknown = {}, options?: RequestOptions): Promise<Result> {
    return this.#result(this.client.callTool(name, JSON.stringify(args), performance.now(), options));
  }

  /** Calls a tool and gives its handle, to be cancelled by. */
  begin(name: string): RequestHandle {
    const request = this.client.callTool(name, '{}', performance.now());
    this.#flush();
    return request;
  }

  cancel(request: RequestHandle): void {
    this.client.cancel(request);
    this.#flush();
  }

  list(kind: 'tools' | 'prompts' | 'resourceTemplates'): Promise<Result> {
    return this.#result(this.client.list(kind, undefined, performance.now()));
  }

  read(uri: string): Promise<Result> {
    return this.#result(this.client.readResource(uri, performance.now()));
  }

  prompt(name: string, args: unknown = {}): Promise<Result> {
    return this.#result(this.client.getPrompt(name, JSON.stringify(args), performance.now()));
  }

  complete(prompt: string, argument: string, value: string): Promise<Result> {
    return this.#result(this.client.complete({ prompt, argument, value }, performance.now()));
  }

  /** Ends in order; the promise is kept when the server has ended too. */
  async close(): Promise<void> {
    this.toServer.end();
    await this.served;
  }
}

/** The text of the first block. */
export function textOf(result: Result): string | undefined {
  return result.content[0]?.text;
}

/** A promise, and what keeps it. */
export function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((keep) => (resolve = keep));
  return { promise, resolve };
}
