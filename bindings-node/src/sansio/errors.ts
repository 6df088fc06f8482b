/** The errors of the package: one tree under {@link McpError}, numbered as in every language. */

/**
 * The root of the tree.
 *
 * `code` is a number of the table that the core shares with all its languages; a JSON-RPC error has the code of the
 * error object instead, and 0 means that the error has no number. Numbers are never reused.
 */
export class McpError extends Error {
  /** The number of the error. */
  readonly code: number;

  /**
   * @param message - What went wrong, for people.
   * @param code - The number of the error.
   */
  constructor(message: string, code = 0) {
    super(message);
    this.code = code;
  }
}

/** The caller asked for something that is not possible now. Nothing changed. Codes 101 to 199. */
export class ApiMisuseError extends McpError {}

/** The peer broke the protocol in a way that ends the connection. Codes 201 to 299. */
export class PeerMisbehavedError extends McpError {}

/** Both sides are sound but have no common ground, such as no common revision. Codes 301 to 399. */
export class PeerIncompatibleError extends McpError {}

/** The peer did not declare what a request cannot do without. */
export class MissingCapabilityError extends PeerIncompatibleError {
  /** The JSON text of the capabilities object that names what is missing. */
  readonly required: string;

  /**
   * @param message - What went wrong, for people.
   * @param code - The number of the error.
   * @param required - JSON text of a capabilities object.
   */
  constructor(message: string, code: number, required: string) {
    super(message, code);
    this.required = required;
  }
}

/** A configured bound was reached. Codes 401 to 499. */
export class LimitExceededError extends McpError {}

/** The connection is over. Codes 501 to 599; 505: an internal error was caught and the object is dead. */
export class ConnectionClosedError extends McpError {}

/** No answer came in time. */
export class RequestTimedOutError extends McpError {}

/** This side cancelled the request. */
export class RequestCancelledError extends McpError {}

/** The connection ended before the answer came. */
export class ConnectionLostError extends McpError {
  /** How the server ended, where it is a child process that has, and the client started it. */
  exitStatus: { readonly code: number | undefined; readonly signal: string | undefined } | undefined;
  /** The last that it wrote to its stderr, where that is captured. */
  stderr: string | undefined;
}

/**
 * The server answered with an HTTP status that is none of the protocol's, or with a body that is not.
 *
 * A status of 200 means that the body was no message of the protocol, as where the URL is that of a page.
 */
export class HttpStatusError extends McpError {
  /** The HTTP status. */
  readonly status: number;

  /**
   * @param message - What went wrong, for people.
   * @param code - The number of the error.
   * @param status - The HTTP status.
   */
  constructor(message: string, code: number, status: number) {
    super(message, code);
    this.status = status;
  }
}

/** The server wants other credentials (401), or does not let these do what was asked (403). */
export class UnauthorizedError extends HttpStatusError {}

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
export class AuthorizationError extends McpError {
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
  constructor(message: string, code: number, said: OAuthWords) {
    super(message, code);
    this.error = said.error ?? undefined;
    this.description = said.description ?? undefined;
    this.isRetryable = said.isRetryable;
  }
}

/**
 * The server has forgotten the session, and the new one as well.
 *
 * A session that is lost is replaced without a word to the caller; this comes when that does not help, or when the
 * request may have been carried out already.
 */
export class SessionLostError extends HttpStatusError {}

/** The server, or what stands before it, is out of order or too busy: the status is 408, 429 or 5xx. */
export class ServerUnavailableError extends HttpStatusError {}

/** The answer is malformed, or not what the method defines. */
export class InvalidResultError extends McpError {}

/** A question that the request depends on was refused. */
export class InputRefusedError extends McpError {}

/** The server asked more often than the limit on rounds allows. */
export class RoundsExceededError extends McpError {}

/** A JSON-RPC error object: what the peer answered. `code` is the code on the wire. */
export class RpcError extends McpError {
  /** What the sender gave beside code and message, as JSON text. */
  readonly rawData: string | undefined;

  /**
   * @param message - What went wrong, for people.
   * @param code - The code on the wire.
   * @param rawData - JSON text of further data.
   */
  constructor(message: string, code: number, rawData?: string) {
    super(message, code);
    this.rawData = rawData;
  }

  /** What the sender gave beside code and message, decoded each time it is read. */
  get data(): unknown {
    return this.rawData === undefined ? undefined : JSON.parse(this.rawData);
  }
}

/**
 * The name of the class, the number, the message, and what else the class has.
 *
 * @internal
 */
export type ErrorRow = readonly [
  name: string,
  code: number,
  message: string,
  extra?: string | number | object | null,
];

type ErrorClass = new (message: string, code: number, extra: never) => McpError;

const CLASSES: Readonly<Record<string, ErrorClass>> = {
  McpError,
  ApiMisuseError,
  PeerMisbehavedError,
  PeerIncompatibleError,
  MissingCapabilityError,
  LimitExceededError,
  ConnectionClosedError,
  RequestTimedOutError,
  RequestCancelledError,
  ConnectionLostError,
  HttpStatusError,
  UnauthorizedError,
  AuthorizationError,
  SessionLostError,
  ServerUnavailableError,
  InvalidResultError,
  InputRefusedError,
  RoundsExceededError,
  RpcError,
};

for (const [name, errorClass] of Object.entries(CLASSES)) {
  // On the prototype, as the errors of the language have it.
  Object.defineProperty(errorClass.prototype, 'name', { value: name, configurable: true, writable: true });
}

/**
 * The error of a row.
 *
 * @internal
 */
export function errorFrom([name, code, message, extra]: ErrorRow): McpError {
  const known = CLASSES[name] ?? McpError;
  return new known(message, code, (extra ?? undefined) as never);
}

/**
 * The error of a call, to be thrown: one of the tree, or a `RangeError` for an argument that is none.
 *
 * @internal
 */
export function failure(row: string): Error {
  const read = JSON.parse(row) as ErrorRow;
  return read[0] === 'RangeError' ? new RangeError(read[2]) : errorFrom(read);
}
