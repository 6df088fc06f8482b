/** Changes at a server: who asked to be told of them, and what waits to be told. */
/// <reference lib="esnext.disposable" preserve="true" />
import type { SubscriptionFilter } from './sansio/events.js';
/** Something to fetch again: a list of the server, or a resource. */
export type Change = {
    readonly kind: 'tools' | 'resources' | 'prompts';
} | {
    readonly kind: 'resource';
    readonly uri: string;
};
/**
 * Changes as they come, to be iterated by one consumer.
 *
 * A change says only that something is to be fetched again, so that equal ones are told once while nobody takes them.
 * The iteration ends when it is left, when the client is closed, or when the server ends it in order. When it is lost,
 * it throws a {@link ConnectionLostError}, and changes may have been missed.
 */
export declare class Subscription implements AsyncIterableIterator<Change> {
    #private;
    /** What the server agreed to tell, which may be less than was asked for. */
    get honoured(): SubscriptionFilter | undefined;
    /** How many changes were dropped because more than 1024 different ones waited. */
    get missed(): number;
    /** The next change. */
    next(): Promise<IteratorResult<Change, undefined>>;
    /** Ends the subscription, as leaving a `for await` does. */
    return(): Promise<IteratorResult<Change, undefined>>;
    /** Ends the subscription. */
    close(): Promise<void>;
    [Symbol.asyncIterator](): this;
    [Symbol.asyncDispose](): Promise<void>;
}
