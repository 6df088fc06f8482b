/** What handlers throw, and what is thrown into them. */
import { McpError } from './sansio/errors.js';
/**
 * Thrown by a handler whose failure the caller shall read: the model, in a tool.
 *
 * All other errors of a handler are defects: clients learn nothing of them but that there was one.
 */
export declare class ToolError extends McpError {
}
/** Thrown by the handler of a resource: there is none at this URI. */
export declare class ResourceNotFoundError extends McpError {
    /** @param message - What to tell the client. */
    constructor(message?: string);
}
/** Thrown into a handler that asked: what the client answered does not fit the question. */
export declare class InvalidAnswerError extends McpError {
}
/**
 * Thrown into a handler whose run is over: it has asked the client, and runs again once the answer is there; or its
 * request has been cancelled or answered.
 *
 * It is there so that `finally` blocks run. What a handler does with it changes nothing.
 */
export declare class RunEndedError extends McpError {
}
/** It cannot be found out now whether a token is genuine: the request is answered with 503. */
export declare class VerifierUnavailableError extends Error {
    readonly name = "VerifierUnavailableError";
    /**
     * @param message - What cannot be had, for the operator.
     * @param options - The cause.
     */
    constructor(message: string, options?: ErrorOptions);
}
