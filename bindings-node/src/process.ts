/** Child processes that speak on their standard streams. */

import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { now } from './clock.js';
import { childEnvironment, type Environment, type Program, windowsProgram } from './command.js';
import type { ExitStatus, Link, LinkReceiver } from './link.js';
import { reportFailure } from './notices.js';
import { type ChildAction, ChildShutdown } from './sansio/child.js';
import type { Timeouts } from './sansio/settings.js';

/**
 * Where the stderr of a child goes: to the stderr of this process, to a bounded memory of its end, nowhere, or to a
 * function that is given the bytes as they come (the end is kept in memory as well).
 */
export type Stderr = 'inherit' | 'capture' | 'discard' | ((data: Uint8Array) => void);

/** A server to be started as a child process, and spoken with on its standard streams. */
export interface Command {
  /** The program and its arguments. No shell is asked. */
  readonly command: readonly string[];
  /** Variables beside the few that a child inherits. */
  readonly env?: Environment;
  /** Its folder; by default that of this process. */
  readonly cwd?: string | URL;
  /** `'inherit'` by default. */
  readonly stderr?: Stderr;
}

const IS_WINDOWS = process.platform === 'win32';
/** Bytes kept of the end of stderr. */
const STDERR_LIMIT = 16 * 1024;
/** Bytes that are still taken after the exit of a child: what is behind them was written by descendants. */
const DRAIN_LIMIT = 1024 * 1024;
/** Milliseconds in which the last bytes and the exit status may arrive after the other. */
const GRACE = 250;
/** Milliseconds between two looks at whether descendants of a child that has exited still run. */
const GROUP_POLL = 10;
/** Milliseconds to look on after the last step, which no child can refuse. */
const KILL_WAIT = 5_000;

/**
 * A child process.
 *
 * It leads a process group of its own, which is signalled as a whole. On Windows, which has none, the tree of its
 * descendants is ended; that branch follows the documentation of the platform and has not been run.
 *
 * @internal
 */
export class ChildLink implements Link {
  exitStatus: ExitStatus | undefined;
  failure: unknown;
  readonly #timeouts: Timeouts;
  readonly #onStderr: ((data: Uint8Array) => void) | undefined;
  #child: ChildProcess | undefined;
  #receiver: LinkReceiver | undefined;
  #tail: Uint8Array = new Uint8Array(0);
  #isEnded = false;
  #isGroupGone = false;
  #drained = 0;
  #grace: NodeJS.Timeout | undefined;
  #wake: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  constructor(command: Command, timeouts: Timeouts) {
    this.#timeouts = timeouts;
    const { stderr = 'inherit' } = command;
    if (typeof stderr === 'function') this.#onStderr = stderr;
    try {
      this.#child = start(command);
    } catch (error) {
      this.failure = notStarted(error);
    }
  }

  get stderrTail(): string {
    return new TextDecoder().decode(this.#tail);
  }

  get pending(): number {
    return this.#input?.writableLength ?? 0;
  }

  start(receiver: LinkReceiver): void {
    this.#receiver = receiver;
    const child = this.#child;
    if (child === undefined) {
      process.nextTick(() => this.#end());
      return;
    }
    child.on('error', (error) => {
      if (child.pid === undefined) {
        this.failure = notStarted(error);
        this.#isGroupGone = true;
        this.#end();
      }
    });
    child.on('exit', (code, signal) => this.#exited(code ?? undefined, signal ?? undefined));
    child.on('close', () => this.#end());
    child.stdin?.on('error', () => {}); // that it reads no more shows by its end
    child.stdout?.on('data', (data: Uint8Array) => this.#received(data));
    child.stdout?.on('end', () => this.#endSoon());
    child.stderr?.on('data', (data: Uint8Array) => this.#addStderr(data));
  }

  write(data: Uint8Array): void {
    const input = this.#input;
    if (input === undefined) return;
    let hasWaited = false;
    input.write(data, (error) => {
      if (hasWaited && !error) this.#receiver?.drained();
    });
    hasWaited = input.writableLength > 0;
  }

  pause(): void {
    this.#child?.stdout?.pause();
  }

  resume(): void {
    this.#child?.stdout?.resume();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** The stdin of the child, as long as it takes something. */
  get #input(): Writable | undefined {
    const input = this.#child?.stdin;
    return input?.writable ? input : undefined;
  }

  // -- what the child does

  #received(data: Uint8Array): void {
    if (this.#isEnded) return;
    if (this.exitStatus !== undefined) {
      this.#drained += data.length;
      if (this.#drained > DRAIN_LIMIT) {
        this.#end();
        return;
      }
      this.#endSoon();
    }
    this.#receiver?.data(data);
  }

  #exited(code: number | undefined, signal: string | undefined): void {
    this.exitStatus = { code, signal };
    this.#wake?.();
    // Descendants may hold its streams open for ever.
    this.#endSoon();
  }

  /** Reports the end when nothing more has come for a while. */
  #endSoon(): void {
    if (this.#isEnded) return;
    clearTimeout(this.#grace);
    this.#grace = setTimeout(() => {
      // What is held back here waits for the machine, and was sent before the end.
      if (this.exitStatus !== undefined && this.#child?.stdout?.isPaused()) this.#endSoon();
      else this.#end();
    }, GRACE);
  }

  #end(): void {
    clearTimeout(this.#grace);
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#receiver?.end();
  }

  #addStderr(data: Uint8Array): void {
    this.#tail = Buffer.concat([this.#tail, data]).subarray(-STDERR_LIMIT);
    try {
      this.#onStderr?.(data);
    } catch (error) {
      reportFailure('the function for stderr', error);
    }
  }

  // -- its end

  async #close(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.resume();
    const shutdown = new ChildShutdown(this.#timeouts);
    shutdown.start();
    for (let at = now(), action = shutdown.pollAction(at); action; action = shutdown.pollAction(at)) {
      this.#carryOut(action);
      const until = shutdown.pollTimeout() ?? at + KILL_WAIT;
      if (await this.#hasEndedBy(until)) break;
      at = Math.max(now(), until);
      shutdown.handleTimeout(at);
    }
    this.#end();
    const streams: (Readable | Writable | null)[] = [child.stdin, child.stdout, child.stderr];
    for (const stream of streams) stream?.destroy();
  }

  #carryOut(action: ChildAction): void {
    const child = this.#child;
    if (action === 'closeInput') {
      child?.stdin?.end();
      return;
    }
    // A child that has not read by now gets no more time for it.
    child?.stdin?.destroy();
    if (this.#hasEnded() || child?.pid === undefined) return;
    if (IS_WINDOWS) endTreeOnWindows(child.pid);
    else signalGroup(child.pid, action === 'kill' ? 'SIGKILL' : 'SIGTERM');
  }

  /** Whether the child and its descendants have ended by `deadline`, which is waited for at the most. */
  async #hasEndedBy(deadline: number): Promise<boolean> {
    while (!this.#hasEnded()) {
      const left = deadline - now();
      if (left <= 0) return false;
      const hasExited = this.exitStatus !== undefined;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, hasExited ? Math.min(GROUP_POLL, left) : left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    return true;
  }

  /** Once the group was seen empty its number may get another owner, and is not looked at again. */
  #hasEnded(): boolean {
    const pid = this.#child?.pid;
    if (this.#isGroupGone || pid === undefined) return true;
    if (this.exitStatus === undefined) return false;
    this.#isGroupGone = IS_WINDOWS || !groupRuns(pid);
    return this.#isGroupGone;
  }
}

function start({ command, env = {}, cwd, stderr = 'inherit' }: Command): ChildProcess {
  const environment = childEnvironment(process.env, env, IS_WINDOWS);
  const { file, args, isVerbatim } = programOf(command, environment);
  const errors = stderr === 'inherit' ? 'inherit' : stderr === 'discard' ? 'ignore' : 'pipe';
  const stdio: StdioOptions = ['pipe', 'pipe', errors];
  return spawn(file, args, {
    cwd: cwd instanceof URL ? fileURLToPath(cwd) : cwd,
    env: environment,
    stdio,
    detached: !IS_WINDOWS, // leads a process group of its own
    windowsHide: true,
    windowsVerbatimArguments: isVerbatim,
  });
}

function programOf(command: readonly string[], environment: Environment): Program {
  if (IS_WINDOWS) return windowsProgram(command, environment, existsSync);
  const [file = '', ...args] = command;
  return { file, args, isVerbatim: false };
}

function notStarted(error: unknown): Error {
  const reason = error instanceof Error ? error.message : String(error);
  return new Error(`the server cannot be started: ${reason}`, { cause: error });
}

function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // It is gone.
  }
}

/** A process without a console takes no polite signal. */
function endTreeOnWindows(pid: number): void {
  spawn('taskkill', ['/T', '/F', '/PID', String(pid)], { stdio: 'ignore', windowsHide: true }).on(
    'error',
    () => process.kill(pid),
  );
}

/**
 * Whether a process of the group still runs. Ended ones that nobody reaps (a container without an init process leaves
 * them behind) do not count where that can be told.
 */
function groupRuns(group: number): boolean {
  try {
    process.kill(-group, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  return readdirSync('/proc').some((entry) => /^\d+$/.test(entry) && isRunningIn(group, entry));
}

function isRunningIn(group: number, pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state = '', , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(processGroup) === group && !'ZX'.includes(state);
  } catch {
    return false;
  }
}
