/** Where tokens and registrations are kept between connections, processes and runs. */

import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { given } from '../sansio/machine.js';
import { type FileLockHandle, native } from '../sansio/native.js';

/** What is kept for one server and account: tokens and registrations, as text of barewire's own. It does not show. */
export class StoredRecord {
  /** Counts the changes: it tells whether somebody else has renewed the tokens meanwhile. */
  readonly generation: number;
  readonly #text: string;

  /**
   * @param generation - How many changes there were.
   * @param text - What is kept.
   */
  constructor(generation: number, text: string) {
    this.generation = generation;
    this.#text = text;
  }

  /** What is kept; a secret. */
  get text(): string {
    return this.#text;
  }
}

type Made<T> = T | Promise<T>;

/** What keeps records, each under a key. What its methods throw ends the authorization with the code 763. */
export interface TokenStore {
  /** What is kept under `key`, as it is now. */
  load(key: string): Made<StoredRecord | undefined>;
  /**
   * Keeps `record`, if the generation under `key` still is `expected`; 0: if nothing is kept there. Comparing and keeping
   * are one step, for all that share the store. False if it is another generation.
   */
  save(key: string, expected: number, record: StoredRecord): Made<boolean>;
  /**
   * Waits for a lock that one of those that share the store holds while it renews what is under `key`; gives what unlocks
   * it. A refresh token may be good for one use only, so that two that use it at the same time both lose it. When the
   * signal is aborted, nothing need be locked any more.
   */
  lock(key: string, signal: AbortSignal): Made<() => Made<void>>;
}

/** Keeps tokens as long as this object lives. Any number of clients may share it. */
export class MemoryTokenStore implements TokenStore {
  readonly #records = new Map<string, StoredRecord>();
  readonly #locks = new Map<string, Promise<void>>();

  /** What is kept under `key`. */
  load(key: string): StoredRecord | undefined {
    return this.#records.get(key);
  }

  /** Keeps `record`, if the generation still is `expected`. */
  save(key: string, expected: number, record: StoredRecord): boolean {
    if ((this.#records.get(key)?.generation ?? 0) !== expected) return false;
    this.#records.set(key, record);
    return true;
  }

  /** A lock for all that share this object. */
  async lock(key: string): Promise<() => void> {
    const before = this.#locks.get(key);
    let unlock = (): void => {};
    const held = new Promise<void>((resolve) => (unlock = resolve));
    const last = (before ?? Promise.resolve()).then(() => held);
    this.#locks.set(key, last);
    await before;
    return () => {
      unlock();
      if (this.#locks.get(key) === last) this.#locks.delete(key);
    };
  }
}

/** Milliseconds between two attempts to lock what another process has. */
const PAUSE = 25;

/**
 * Keeps tokens in files of a folder that only this user can read, shared by all processes of this machine, in whatever
 * language.
 *
 * They are not encrypted. The folder is made when it is missing; it must not be one that others can write to, and not on
 * a network file system without locks.
 */
export class FileTokenStore implements TokenStore {
  readonly #folder: string;

  /** @param folder - Where the files are. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** What is kept under `key`. */
  async load(key: string): Promise<StoredRecord | undefined> {
    try {
      return parsed(await readFile(await this.#path(key, 'token'), 'utf8'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Keeps `record`, if the generation still is `expected`. */
  async save(key: string, expected: number, record: StoredRecord): Promise<boolean> {
    const unlock = await lockFile(await this.#path(key, 'write'));
    try {
      if (((await this.load(key))?.generation ?? 0) !== expected) return false;
      // A reader sees the old file or the new one, and a crash leaves one of them.
      const fresh = await this.#path(key, 'new');
      const file = await open(fresh, 'w', 0o600);
      try {
        await file.writeFile(`${record.generation}\n${record.text}`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(fresh, await this.#path(key, 'token'));
      return true;
    } finally {
      unlock();
    }
  }

  /** A lock of this machine. It goes with the process that holds it. */
  async lock(key: string, signal: AbortSignal): Promise<() => void> {
    return lockFile(await this.#path(key, 'lock'), signal);
  }

  async #path(key: string, kind: string): Promise<string> {
    await mkdir(this.#folder, { mode: 0o700, recursive: true });
    const digest = createHash('sha256').update(key).digest('hex').slice(0, 32);
    return join(this.#folder, `${digest}.${kind}`);
  }

  /** @internal */
  [inspect.custom](): string {
    return `FileTokenStore(${inspect(this.#folder)})`;
  }
}

/** Waits for a lock that is a file; gives what unlocks it. */
async function lockFile(path: string, signal?: AbortSignal): Promise<() => void> {
  for (;;) {
    const lock: FileLockHandle | null = given(native.tryLockFile(path));
    if (lock !== null) return () => native.unlockFile(lock);
    await sleep(PAUSE, undefined, signal && { signal });
  }
}

/** A record as it was written. What is none counts as nothing kept, which the next change replaces. */
function parsed(text: string): StoredRecord | undefined {
  const [, generation, rest] = /^(\d{1,15})\n([^]*)$/.exec(text) ?? [];
  return generation === undefined || rest === undefined
    ? undefined
    : new StoredRecord(Number(generation), rest);
}
