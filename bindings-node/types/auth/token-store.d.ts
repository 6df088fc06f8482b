/** Where tokens and registrations are kept between connections, processes and runs. */
/** What is kept for one server and account: tokens and registrations, as text of barewire's own. It does not show. */
export declare class StoredRecord {
    #private;
    /** Counts the changes: it tells whether somebody else has renewed the tokens meanwhile. */
    readonly generation: number;
    /**
     * @param generation - How many changes there were.
     * @param text - What is kept.
     */
    constructor(generation: number, text: string);
    /** What is kept; a secret. */
    get text(): string;
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
export declare class MemoryTokenStore implements TokenStore {
    #private;
    /** What is kept under `key`. */
    load(key: string): StoredRecord | undefined;
    /** Keeps `record`, if the generation still is `expected`. */
    save(key: string, expected: number, record: StoredRecord): boolean;
    /** A lock for all that share this object. */
    lock(key: string): Promise<() => void>;
}
/**
 * Keeps tokens in files of a folder that only this user can read, shared by all processes of this machine, in whatever
 * language.
 *
 * They are not encrypted. The folder is made when it is missing; it must not be one that others can write to, and not on
 * a network file system without locks.
 */
export declare class FileTokenStore implements TokenStore {
    #private;
    /** @param folder - Where the files are. */
    constructor(folder: string);
    /** What is kept under `key`. */
    load(key: string): Promise<StoredRecord | undefined>;
    /** Keeps `record`, if the generation still is `expected`. */
    save(key: string, expected: number, record: StoredRecord): Promise<boolean>;
    /** A lock of this machine. It goes with the process that holds it. */
    lock(key: string, signal: AbortSignal): Promise<() => void>;
}
export {};
