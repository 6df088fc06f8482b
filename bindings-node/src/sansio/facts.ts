/** What the core knows; this package keeps no list of its own. */

import { failure } from './errors.js';
import { native } from './native.js';

interface Facts {
  readonly version: string;
  readonly revisions: readonly string[];
  readonly legacyRevisions: readonly string[];
  readonly modernRevisions: readonly string[];
  readonly logLevels: readonly LogLevel[];
  readonly capabilities: readonly string[];
  readonly invalidParams: number;
  readonly internalError: number;
  readonly resourceNotFound: number;
}

/** The two ways the protocol has worked: with a handshake and sessions, or stateless. */
export type Era = 'legacy' | 'modern';

/** How severe a log message is, least severe first. */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

const facts = JSON.parse(native.facts()) as Facts;

/** The version of the core. */
export const VERSION: string = facts.version;

/** The names of all protocol revisions, newest first. */
export const REVISIONS: readonly string[] = Object.freeze(facts.revisions);

/** The names of the revisions with a handshake, newest first. */
export const LEGACY_REVISIONS: readonly string[] = Object.freeze(facts.legacyRevisions);

/** The names of the stateless revisions, newest first. */
export const MODERN_REVISIONS: readonly string[] = Object.freeze(facts.modernRevisions);

/** The names of the log levels, least severe first. */
export const LOG_LEVELS: readonly LogLevel[] = Object.freeze(facts.logLevels);

/** The JSON-RPC code of wrong parameters. */
export const INVALID_PARAMS: number = facts.invalidParams;

/** The JSON-RPC code of a failure of the receiver. */
export const INTERNAL_ERROR: number = facts.internalError;

/** The code of a resource that does not exist; the core writes it as each revision wants it. */
export const RESOURCE_NOT_FOUND: number = facts.resourceNotFound;

/**
 * The member paths of the capabilities that the core knows, in the order of their bits.
 *
 * @internal
 */
export const CAPABILITIES: readonly string[] = facts.capabilities;

/**
 * The names of the variables of a URI template (RFC 6570), in its order.
 *
 * @throws RangeError if it is none.
 */
export function templateVariables(template: string): string[] {
  const variables = native.templateVariables(template);
  if (typeof variables === 'string') throw failure(variables);
  return variables;
}

/** Whether a tool's name is one that the specification advises, which every client should take. */
export function isRecommendedToolName(name: string): boolean {
  return native.isRecommendedToolName(name);
}
