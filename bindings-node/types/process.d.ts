/** Child processes that speak on their standard streams. */
import { type Environment } from './command.js';
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
