/** What the core knows; this package keeps no list of its own. */
/** The two ways the protocol has worked: with a handshake and sessions, or stateless. */
export type Era = 'legacy' | 'modern';
/** How severe a log message is, least severe first. */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';
/** The version of the core. */
export declare const VERSION: string;
/** The names of all protocol revisions, newest first. */
export declare const REVISIONS: readonly string[];
/** The names of the revisions with a handshake, newest first. */
export declare const LEGACY_REVISIONS: readonly string[];
/** The names of the stateless revisions, newest first. */
export declare const MODERN_REVISIONS: readonly string[];
/** The names of the log levels, least severe first. */
export declare const LOG_LEVELS: readonly LogLevel[];
/** The JSON-RPC code of wrong parameters. */
export declare const INVALID_PARAMS: number;
/** The JSON-RPC code of a failure of the receiver. */
export declare const INTERNAL_ERROR: number;
/** The code of a resource that does not exist; the core writes it as each revision wants it. */
export declare const RESOURCE_NOT_FOUND: number;
/**
 * The names of the variables of a URI template (RFC 6570), in its order.
 *
 * @throws RangeError if it is none.
 */
export declare function templateVariables(template: string): string[];
/** Whether a tool's name is one that the specification advises, which every client should take. */
export declare function isRecommendedToolName(name: string): boolean;
