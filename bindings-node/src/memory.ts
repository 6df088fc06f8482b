/** A server of this process, reached through two streams in memory. */

import type { Duplex, Readable, Writable } from 'node:stream';
import type { Link, LinkReceiver } from './link.js';

/** Milliseconds that handlers at work have to end, as those of a child process have. */
const GRACE = 2_000;

/**
 * The way to a server that serves a pair of byte streams.
 *
 * @internal
 */
export class MemoryLink implements Link {
  readonly exitStatus = undefined;
  readonly stderrTail = '';
  failure: unknown;
  readonly #toServer: Duplex;
  readonly #toClient: Duplex;
  readonly #served: Promise<void>;
  #receiver: LinkReceiver | undefined;

  /** `serve` begins to serve; its promise is kept at the end of the connection. */
  constructor(serve: (input: Readable, output: Writable) => Promise<void>) {
    // Asked for here, because programs without a server in memory need not load it.
    const { PassThrough } = process.getBuiltinModule('node:stream');
    this.#toServer = new PassThrough();
    this.#toClient = new PassThrough();
    this.#served = serve(this.#toServer, this.#toClient).then(
      () => this.#end(),
      (error: unknown) => {
        this.failure = error;
        this.#end();
      },
    );
  }

  get pending(): number {
    return this.#toServer.writableLength;
  }

  start(receiver: LinkReceiver): void {
    this.#toClient.on('data', (data: Uint8Array) => receiver.data(data));
    this.#toClient.once('end', () => receiver.end());
    this.#receiver = receiver;
  }

  write(data: Uint8Array): void {
    if (!this.#toServer.writable) return;
    let hasWaited = false;
    this.#toServer.write(data, (error) => {
      if (hasWaited && !error) this.#receiver?.drained();
    });
    hasWaited = this.pending > 0;
  }

  pause(): void {
    this.#toClient.pause();
  }

  resume(): void {
    this.#toClient.resume();
  }

  /** Ends the input of the server, which then still answers what it owes; but not for as long as it likes. */
  async close(): Promise<void> {
    this.resume();
    this.#toServer.end();
    const impatience = setTimeout(() => this.#toClient.destroy(), GRACE);
    await this.#served;
    clearTimeout(impatience);
  }

  #end(): void {
    this.#toClient.end();
  }
}
