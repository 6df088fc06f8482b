/** A server on standard input and output, or any other pair of byte streams. */

import type { Readable, Writable } from 'node:stream';
import type { Call } from './call.js';
import { now } from './clock.js';
import { Connection, type Host } from './connection.js';
import type { Server as StreamMachine } from './sansio/byte-stream.js';
import { McpError } from './sansio/errors.js';
import type { RequestHandle } from './sansio/events.js';
import type { Server } from './server.js';

/** Where to serve. */
export interface StdioOptions {
  /** Where the messages of the client come from. Default: standard input. */
  readonly input?: Readable;
  /** Where those of the server go. Default: standard output, which then belongs to the protocol. */
  readonly output?: Writable;
  /** Ends the connection in order. */
  readonly signal?: AbortSignal;
}

/**
 * Serves on standard input and output until the client closes them.
 *
 * Standard output belongs to the protocol: what else is written to it from here on, by `console.log` too, goes to
 * standard error. Answers that are owed at the end of input are still sent. Signals are left alone; see {@link run}.
 * While the client does not read, handlers that report wait, and no more is taken from it than the limits allow.
 *
 * @returns a promise that is kept at the end of the connection
 */
export function serveStdio(server: Server, options: StdioOptions = {}): Promise<void> {
  return new Promise((resolve) => {
    const host = begin(server, options, resolve);
    const { signal } = options;
    if (signal?.aborted) host.close();
    signal?.addEventListener('abort', () => host.close(), { once: true });
  });
}

function begin(server: Server, options: StdioOptions, ended: () => void): StreamHost {
  const host = new StreamHost(server, options.input ?? process.stdin, outputOf(options), ended);
  host.start();
  return host;
}

/**
 * As {@link serveStdio}, for a program that does nothing else: SIGTERM and SIGINT end the connection in order, and then
 * the program.
 */
export async function run(server: Server): Promise<void> {
  let host: StreamHost | undefined;
  let caught: NodeJS.Signals | undefined;
  const signals: NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];
  const end = (signal: NodeJS.Signals): void => {
    caught = signal;
    host?.close();
  };
  for (const signal of signals) process.once(signal, end);
  try {
    await new Promise<void>((resolve) => {
      host = begin(server, {}, resolve);
    });
  } finally {
    for (const signal of signals) process.removeListener(signal, end);
  }
  const raised = caught;
  // The signal does what it would have done, once those who wait for this have had their say.
  if (raised !== undefined) setImmediate(() => process.kill(process.pid, raised));
}

type Write = (data: Uint8Array) => boolean;

interface Output {
  readonly stream: Writable;
  readonly write: Write;
  /** Gives standard output back. */
  readonly release: () => void;
}

function outputOf({ output }: StdioOptions): Output {
  if (output !== undefined) return { stream: output, write: (data) => output.write(data), release: () => {} };
  const { stdout } = process;
  const own = stdout.write;
  stdout.write = ((...given: Parameters<typeof own>) => process.stderr.write(...given)) as typeof own;
  return {
    stream: stdout,
    write: (data) => own.call(stdout, data),
    release: () => {
      stdout.write = own;
    },
  };
}

// Milliseconds for which a report may wait for others to be written with it, where its handler never rests.
const REPORT_DELAY = 1;

// To look it up takes longer than what it is looked up for.
const node = process;

// What waits for it goes on when all have that could before. `queueMicrotask` does more, and costs more.
const QUIET = Promise.resolve();

// Milliseconds that a client has for the last words.
const LINGER = 2_000;

/** @internal */
class StreamConnection extends Connection<StreamMachine> {
  protected override answerText(request: RequestHandle, text: string): void {
    // The core escapes it where it is sent from. `JSON.stringify` takes most of the time of a long answer.
    this.command((machine) => machine.respondText(request, text));
  }
}

class StreamHost implements Host {
  readonly #server: Server;
  readonly #connection: StreamConnection;
  readonly #input: Readable;
  readonly #output: Output;
  readonly #ended: () => void;
  #isScheduled = false;
  #isBlocked = false;
  #isOver = false;
  /** Since when what is reported may wait. */
  #waitingSince = 0;
  #timer: NodeJS.Timeout | undefined;
  #due: number | undefined;
  #lingering: NodeJS.Timeout | undefined;
  #waiters: (() => void)[] = [];

  constructor(server: Server, input: Readable, output: Output, ended: () => void) {
    this.#server = server;
    this.#input = input;
    this.#output = output;
    this.#ended = ended;
    this.#connection = new StreamConnection(server.catalog, this, server.streamMachine());
  }

  start(): void {
    this.#server.connected(this.#connection as unknown as Connection);
    this.#output.stream.on('drain', this.#drained);
    this.#output.stream.on('error', this.#lost);
    this.#output.stream.on('close', this.#lost);
    this.#input.on('data', this.#received);
    this.#input.on('end', this.#inputEnded);
    this.#input.on('error', this.#inputEnded);
    this.touched();
  }

  close(): void {
    this.#connection.close();
  }

  // ------------------------------------------------------------ what a connection asks of its host

  touched(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // After all handlers that can go on now: what they all answer is written at once.
    void QUIET.then(this.#whenQuiet);
  }

  readonly #whenQuiet = (): void => {
    node.nextTick(this.#turn);
  };

  reported(_call: Call): Promise<void> | undefined {
    const at = now();
    if (!this.#isBlocked && at - this.#waitingSince >= REPORT_DELAY) {
      this.#waitingSince = at;
      this.#flush();
    }
    if (!this.#isBlocked && this.#output.stream.writableLength < this.#output.stream.writableHighWaterMark) {
      return undefined;
    }
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  // ------------------------------------------------------------ input

  readonly #received = (data: Uint8Array): void => {
    this.#connection.step((machine, at) => {
      this.#waitingSince = at;
      return machine.receiveData(data, at);
    });
    this.touched();
  };

  readonly #inputEnded = (): void => {
    this.#connection.step((machine, at) => machine.receiveEof(at));
    this.touched();
  };

  // ------------------------------------------------------------ output and time

  readonly #turn = (): void => {
    this.#isScheduled = false;
    if (this.#isOver) return;
    const turn = this.#connection.attempt((machine) => machine.turn(!this.#isBlocked));
    if (turn === undefined) {
      this.#finish(); // the machine is dead
      return;
    }
    this.#write(turn.data);
    if (turn.isPart) this.touched();
    this.#connection.dispatch(turn.events);
    if (!this.#connection.finished) {
      this.#setReading(turn.wantsInput);
      this.#setTimer(turn.due);
    }
    if (turn.isFinished && !this.#isBlocked) this.#finish();
    else if (this.#connection.finished) this.#linger();
  };

  /** Writes what there is, unless the reader is behind: it then waits in the machine, whose limits hold. */
  #flush(): void {
    if (this.#isBlocked || this.#isOver) return;
    try {
      this.#write(this.#connection.machine.dataToSend());
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
    }
  }

  #write(data: Uint8Array): void {
    if (data.length > 0) this.#isBlocked = !this.#output.write(data);
  }

  readonly #drained = (): void => {
    this.#isBlocked = false;
    this.#turn();
    if (!this.#isBlocked) this.#release();
  };

  #release(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }

  #setReading(reads: boolean): void {
    if (reads === this.#input.isPaused()) {
      if (reads) this.#input.resume();
      else this.#input.pause();
    }
  }

  #setTimer(due: number | undefined): void {
    if (due === this.#due) return;
    clearTimeout(this.#timer);
    this.#due = due;
    if (due !== undefined) this.#timer = setTimeout(this.#timeout, Math.max(1, Math.ceil(due - now())));
  }

  readonly #timeout = (): void => {
    this.#due = undefined;
    this.#connection.step((machine, at) => machine.handleTimeout(at));
    this.touched();
  };

  // ------------------------------------------------------------ the end

  /** Nothing can be sent any more. */
  readonly #lost = (): void => {
    this.#isBlocked = false;
    if (!this.#connection.finished) this.#connection.step((machine, at) => machine.connectionLost(at));
    this.#finish();
  };

  /** Gives the client some time to read the last words. */
  #linger(): void {
    if (this.#lingering !== undefined) return;
    clearTimeout(this.#timer);
    this.#lingering = setTimeout(() => this.#finish(), LINGER);
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#lingering);
    this.#server.disconnected(this.#connection as unknown as Connection);
    this.#input.removeListener('data', this.#received);
    this.#input.removeListener('end', this.#inputEnded);
    this.#input.destroy();
    const { stream, release } = this.#output;
    stream.removeListener('drain', this.#drained);
    stream.removeListener('close', this.#lost);
    release();
    this.#release();
    this.#ended();
  }
}
