/** The errors of the package: one tree under {@link McpError}, numbered as in every language. */
/**
 * The root of the tree.
 *
 * `code` is a number of the table that the core shares with all its languages; a JSON-RPC error has the code of the
 * error object instead, and 0 means that the error has no number. Numbers are never reused.
 */
export declare class McpError extends Error {
    /** The number of the error. */
    readonly code: number;
    /**
     * @param message - What went wrong, for people.
     * @param code - The number of the error.
     */
    constructor(message: string, code?: number);
}
/** The caller asked for something that is not possible now. Nothing changed. Codes 101 to 199. */
export declare class ApiMisuseError extends McpError {
}
/** The peer broke the protocol in a way that ends the connection. Codes 201 to 299. */
export declare class PeerMisbehavedError extends McpError {
}
/** Both sides are sound but have no common ground, such as no common revision. Codes 301 to 399. */
export declare class PeerIncompatibleError extends McpError {
}
/** The peer did not declare what a request cannot do without. */
export declare class MissingCapabilityError extends PeerIncompatibleError {
    /** The JSON text of the capabilities object that names what is missing. */
    readonly required: string;
    /**
     * @param message - What went wrong, for people.
     * @param code - The number of the error.
     * @param required - JSON text of a capabilities object.
     */
    constructor(message: string, code: number, required: string);
}
/** A configured bound was reached. Codes 401 to 499. */
export declare class LimitExceededError extends McpError {
}
/** The connection is over. Codes 501 to 599; 505: an internal error was caught and the object is dead. */
export declare class ConnectionClosedError extends McpError {
}
/** No answer came in time. */
export declare class RequestTimedOutError extends McpError {
}
/** This side cancelled the request. */
export declare class RequestCancelledError extends McpError {
}
/** The connection ended before the answer came. */
export declare class ConnectionLostError extends McpError {
    /** How the server ended, where it is a child process that has, and the client started it. */
    exitStatus: {
        readonly code: number | undefined;
        readonly signal: string | undefined;
    } | undefined;
    /** The last that it wrote to its stderr, where that is captured. */
    stderr: string | undefined;
}
/**
 * The server answered with an HTTP status that is none of the protocol's, or with a body that is not.
 *
 * A status of 200 means that the body was no message of the protocol, as where the URL is that of a page.
 */
export declare class HttpStatusError extends McpError {
    /** The HTTP status. */
    readonly status: number;
    /**
     * @param message - What went wrong, for people.
     * @param code - The number of the error.
     * @param status - The HTTP status.
     */
    constructor(message: string, code: number, status: number);
}
/** The server wants other credentials (401), or does not let these do what was asked (403). */
export declare class UnauthorizedError extends HttpStatusError {
}
/** What an authorization server said of its refusal. */
interface OAuthWords {
    readonly error: string | null;
    readonly description: string | null;
    readonly isRetryable: boolean;
}
/**
 * There are no credentials for a server. Codes 701 to 799.
 *
 * It is the `cause` of the {@link UnauthorizedError} that a request ends with. None holds a secret.
 */
export declare class AuthorizationError extends McpError {
    /** The error code of the authorization server, where it refused. */
    readonly error: string | undefined;
    /** What it said of that. */
    readonly description: string | undefined;
    /** Whether the same may work a little later. */
    readonly isRetryable: boolean;
    /**
     * @param message - What went wrong, for people.
     * @param code - The number of the error.
     * @param said - What the authorization server said.
     */
    constructor(message: string, code: number, said: OAuthWords);
}
/**
 * The server has forgotten the session, and the new one as well.
 *
 * A session that is lost is replaced without a word to the caller; this comes when that does not help, or when the
 * request may have been carried out already.
 */
export declare class SessionLostError extends HttpStatusError {
}
/** The server, or what stands before it, is out of order or too busy: the status is 408, 429 or 5xx. */
export declare class ServerUnavailableError extends HttpStatusError {
}
/** The answer is malformed, or not what the method defines. */
export declare class InvalidResultError extends McpError {
}
/** A question that the request depends on was refused. */
export declare class InputRefusedError extends McpError {
}
/** The server asked more often than the limit on rounds allows. */
export declare class RoundsExceededError extends McpError {
}
/** A JSON-RPC error object: what the peer answered. `code` is the code on the wire. */
export declare class RpcError extends McpError {
    /** What the sender gave beside code and message, as JSON text. */
    readonly rawData: string | undefined;
    /**
     * @param message - What went wrong, for people.
     * @param code - The code on the wire.
     * @param rawData - JSON text of further data.
     */
    constructor(message: string, code: number, rawData?: string);
    /** What the sender gave beside code and message, decoded each time it is read. */
    get data(): unknown;
}
export {};
