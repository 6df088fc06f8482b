/**
 * The core without I/O: bytes in, events out, for programs that bring their own.
 *
 * {@link Server} and {@link Client} read no clock, open no file and start no timer. The program reads and writes bytes
 * where it likes, tells the time in milliseconds, and answers events. A server on standard input and output:
 *
 * ```ts
 * const server = new Server({ name: 'clock', version: '1.0', seed: randomBytes(32), clockOrigin: performance.timeOrigin });
 * server.addTool('{"name": "now", "inputSchema": {"type": "object"}}');
 * process.stdin.on('data', (data) => {
 *   for (const event of server.receiveData(data, performance.now())) {
 *     if (event.type === 'toolCalled') {
 *       server.respond(event.request, JSON.stringify({ content: [{ type: 'text', text: Date() }] }));
 *     }
 *   }
 *   process.stdout.write(server.dataToSend());
 * });
 * ```
 *
 * A program also calls `handleTimeout` when `pollTimeout` says so, and stops reading while `wantsInput` is false. After
 * a command that causes events, such as `cancel` or `close`, it takes them with `events`. The events are the same in all
 * revisions of the protocol.
 *
 * {@link HttpServer} and {@link HttpClient} are the same machines behind HTTP: heads and bodies in, heads and bodies
 * out, whatever speaks HTTP around them.
 *
 * Every fault of a peer is an event or an answer. What is thrown is an error of the tree under {@link McpError}; a
 * mistake of the caller, {@link ApiMisuseError}, changes nothing. An argument that is none is a `RangeError` or
 * `TypeError`.
 */

export {
  Authorization,
  type ActionHandle,
  type AuthorizationAction,
  type AuthorizationEvent,
  type AuthorizationSettings,
  type ClientRegistration,
  Credentials,
  type DpopKey,
  type LoadRecord,
  OpenUserAgent,
  Proof,
  type ProvideAssertion,
  type ProvideClient,
  type Refusal,
  SaveRecord,
  SendRequest,
  type SignInput,
  SigningRequest,
  type StoredRecord,
} from './authorization.js';
export { Server } from './byte-stream.js';
export { Client } from './byte-stream-client.js';
export { type ChildAction, ChildShutdown } from './child.js';
export type { ClientCommands, Completion, Listing } from './client-commands.js';
export {
  ApiMisuseError,
  AuthorizationError,
  ConnectionClosedError,
  ConnectionLostError,
  HttpStatusError,
  InputRefusedError,
  InvalidResultError,
  LimitExceededError,
  McpError,
  MissingCapabilityError,
  PeerIncompatibleError,
  PeerMisbehavedError,
  RequestCancelledError,
  RequestTimedOutError,
  RoundsExceededError,
  RpcError,
  ServerUnavailableError,
  SessionLostError,
  UnauthorizedError,
} from './errors.js';
export type * from './events.js';
export {
  type Era,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  isRecommendedToolName,
  LEGACY_REVISIONS,
  LOG_LEVELS,
  type LogLevel,
  MODERN_REVISIONS,
  RESOURCE_NOT_FOUND,
  REVISIONS,
  templateVariables,
  VERSION,
} from './facts.js';
export type { HeaderPairs } from './headers.js';
export { type HttpAbort, HttpClient, type HttpRequest } from './http-client.js';
export { type Denial, HttpServer, type ReceiveOptions, type ResponsePart } from './http-server.js';
export type { Machine } from './machine.js';
export {
  AccessDenied,
  type DenialReason,
  Principal,
  ResourceServer,
  type ResourceServerSettings,
  serverMetadataUrls,
} from './resource-server.js';
export type { InputQuestion, RpcErrorValue, ServerCommands } from './server-commands.js';
export type {
  ClientSettings,
  CommonSettings,
  HttpClientSettings,
  HttpServerSettings,
  Limits,
  RequestOptions,
  ServerSettings,
  Timeouts,
} from './settings.js';
