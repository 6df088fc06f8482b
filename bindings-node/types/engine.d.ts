/** What runs a client: the core's machine, its timer, and those who wait for what it says. */
import { type QuestionHandlers } from './answers.js';
import { type Change } from './changes.js';
import { type LogLevel } from './sansio/facts.js';
/** How far a request is. */
export interface Progress {
    readonly progress: number;
    /** `undefined` if the server does not know it. */
    readonly total: number | undefined;
    readonly message: string | undefined;
    /** False if it is not more than the last time, which the protocol forbids. */
    readonly increasing: boolean;
}
/** What the server logs. */
export interface LogMessage {
    /** `undefined` if the server wrote an unknown one. */
    readonly level: LogLevel | undefined;
    readonly logger: string | undefined;
    /** Any JSON value. */
    readonly data: unknown;
}
/** What the application wants to be asked and told. */
export interface ClientHandlers extends QuestionHandlers {
    /** Is told what the server logs, one call after the other. */
    readonly onLog?: (message: LogMessage) => unknown;
    /** Is told of changes of the server's lists, one call after the other. */
    readonly onChange?: (change: Change) => unknown;
}
