/** What handlers throw, and what is thrown into them. */

import { McpError } from './sansio/errors.js';

function named(errorClass: typeof McpError, name: string): void {
  Object.defineProperty(errorClass.prototype, 'name', { value: name, configurable: true, writable: true });
}

/**
 * Thrown by a handler whose failure the caller shall read: the model, in a tool.
 *
 * All other errors of a handler are defects: clients learn nothing of them but that there was one.
 */
export class ToolError extends McpError {}

/** Thrown by the handler of a resource: there is none at this URI. */
export class ResourceNotFoundError extends McpError {
  /** @param message - What to tell the client. */
  constructor(message = 'Resource not found') {
    super(message);
  }
}

/** Thrown into a handler that asked: what the client answered does not fit the question. */
export class InvalidAnswerError extends McpError {}

/**
 * Thrown into a handler whose run is over: it has asked the client, and runs again once the answer is there; or its
 * request has been cancelled or answered.
 *
 * It is there so that `finally` blocks run. What a handler does with it changes nothing.
 */
export class RunEndedError extends McpError {
  /** @internal */
  constructor() {
    super('this run of the handler is over');
  }
}

/** It cannot be found out now whether a token is genuine: the request is answered with 503. */
export class VerifierUnavailableError extends Error {
  override readonly name = 'VerifierUnavailableError';

  /**
   * @param message - What cannot be had, for the operator.
   * @param options - The cause.
   */
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

named(ToolError, 'ToolError');
named(ResourceNotFoundError, 'ResourceNotFoundError');
named(InvalidAnswerError, 'InvalidAnswerError');
named(RunEndedError, 'RunEndedError');
