/** What machines tell, and how it is read from the rows of the addon. */

import { checked, Pieces, type Row, rowsOf } from './batch.js';
import { errorFrom, type McpError, type RpcError } from './errors.js';
import { CAPABILITIES, type Era, LEGACY_REVISIONS, LOG_LEVELS, type LogLevel, REVISIONS } from './facts.js';

/** JSON text. What comes from the peer is exactly as it wrote it. */
export type Json = string;

/** Names one request for its whole life, over all its rounds. Numbers are not reused by one machine. */
export type RequestHandle = number;
/** Names a subscription to changes. */
export type SubscriptionHandle = number;
/** Names one question of the server to the client's user or model. */
export type InputHandle = number;
/** Names a legacy session. */
export type SessionHandle = number;
/** Names one HTTP request with its response. */
export type ExchangeHandle = number;

/** What a server can ask of its client. */
export type InputKind = 'elicitation' | 'sampling' | 'roots';
/** The lists of a server that can change. */
export type ListKind = 'tools' | 'resources' | 'prompts';

/** What a peer declares that it can do. */
export class Capabilities {
  /** The capabilities object as the peer wrote it, if it did. */
  readonly raw: Json | undefined;
  readonly #declared: number;

  /** @internal */
  constructor(raw: Json | undefined, declared: number) {
    this.raw = raw;
    this.#declared = declared;
  }

  /**
   * Whether a capability is declared.
   *
   * @param path - Its member path, for example `'sampling.tools'`.
   * @throws RangeError for a path that the protocol does not have.
   */
  has(path: string): boolean {
    const place = CAPABILITIES.indexOf(path);
    if (place < 0) throw new RangeError(`'${path}' is none of ${CAPABILITIES.join(', ')}`);
    return (this.#declared & (1 << place)) !== 0;
  }
}

/** What a subscription is about: changes of the lists, and of single resources by URI. */
export interface SubscriptionFilter {
  /** Whether the list of tools is watched. */
  readonly tools: boolean;
  /** Whether the list of resources is watched. */
  readonly resources: boolean;
  /** Whether the list of prompts is watched. */
  readonly prompts: boolean;
  /** The resources that are watched. */
  readonly resourceUris: readonly string[];
}

/** A question of the server, as the client sees it: answer it with `provideInput` or `refuseInput`. */
export interface InputRequest {
  /** Names the question. */
  readonly input: InputHandle;
  /** What is asked. */
  readonly kind: InputKind;
  /** Its parameters. */
  readonly params: Json | undefined;
  /** The server's own name for it, where the revision has one. */
  readonly key: string | undefined;
}

/** An answer of the client, as the server sees it: `result` or `error`. */
export interface InputAnswer {
  /** The name that the server gave the question. */
  readonly key: string;
  /** The result object. */
  readonly result: Json | undefined;
  /** Why there is none. */
  readonly error: RpcError | undefined;
}

/** Who sent a request, and what came with it. */
export interface RequestContext {
  /** The name of the revision that governs this request. */
  readonly revision: string;
  /** The era of the revision. */
  readonly era: Era;
  /** The name and version object that the client gave, which proves nothing. */
  readonly client: Json | undefined;
  /** What the client declared, for its session or with this very request. */
  readonly capabilities: Capabilities;
  /** The least severe level of log messages it wants; `undefined` for none. */
  readonly logLevel: LogLevel | undefined;
  /** The token to report progress under; `undefined` if it wants none. */
  readonly progressToken: Json | undefined;
  /** The `_meta` object of the request: trace context, extensions. */
  readonly meta: Json | undefined;
  /** The session, in the legacy era only. */
  readonly session: SessionHandle | undefined;
  /** The HTTP exchange that carries the request. */
  readonly exchange: ExchangeHandle | undefined;
  /** Who the host says the client is. */
  readonly principal: string | undefined;
  /** Answers to all questions of this request so far. */
  readonly inputAnswers: readonly InputAnswer[];
  /** What was kept with the last question. */
  readonly state: Json | undefined;
  /** How many times the request has asked before. */
  readonly round: number;
}

// ---------------------------------------------------------------- events of both roles

/** Any other notification, those of extensions included. */
export interface NotificationReceived {
  readonly type: 'notificationReceived';
  /** The session it came in: on servers in the legacy era only. */
  readonly session: SessionHandle | undefined;
  readonly method: string;
  readonly params: Json | undefined;
}

/** The peer deviated from the protocol in a way that did not matter. */
export interface ViolationTolerated {
  readonly type: 'violationTolerated';
  /** How, in a word that never changes, such as `byte_order_mark`. */
  readonly violation: string;
  readonly request: RequestHandle | undefined;
  /** The message as it arrived. */
  readonly bytes: Uint8Array;
}

/** The peer sent something unusable; the connection goes on. */
export interface MessageDiscarded {
  readonly type: 'messageDiscarded';
  /** What was wrong, in a word that never changes. */
  readonly violation: string;
  /** What arrived, or its head up to the limit. */
  readonly bytes: Uint8Array;
}

/** The last event. */
export interface Disconnected {
  readonly type: 'disconnected';
  /** Why. It is made, not thrown. */
  readonly reason: McpError;
}

// ---------------------------------------------------------------- events of a server

/**
 * A registered tool is called; `arguments` is an object, not checked against the tool's schema.
 *
 * Like every request it is answered once, by `respond`, `respondError` or `requireInput`; after the latter it comes
 * again with the answers: with the same number in the legacy era, later with a new one.
 */
export interface ToolCalled {
  readonly type: 'toolCalled';
  readonly request: RequestHandle;
  readonly name: string;
  readonly arguments: Json | undefined;
  readonly context: RequestContext;
}

/** A resource is read: registered itself, or matched by a registered template. */
export interface ResourceReadRequested {
  readonly type: 'resourceReadRequested';
  readonly request: RequestHandle;
  readonly uri: string;
  /** The template as registered, if it was one. */
  readonly template: string | undefined;
  /** What the template's variables stand for, percent-decoded. */
  readonly variables: Readonly<Record<string, string>>;
  readonly context: RequestContext;
}

/** A registered prompt is asked for; `arguments` is an object of strings. */
export interface PromptRequested {
  readonly type: 'promptRequested';
  readonly request: RequestHandle;
  readonly name: string;
  readonly arguments: Json | undefined;
  readonly context: RequestContext;
}

/** Suggestions for `argument` are asked for, of which `value` is typed so far. */
export interface CompletionRequested {
  readonly type: 'completionRequested';
  readonly request: RequestHandle;
  /** The prompt that it is for. Exactly one of `prompt` and `resource` is set. */
  readonly prompt: string | undefined;
  /** The resource template, or the URI of a resource. */
  readonly resource: string | undefined;
  readonly argument: string;
  readonly value: string;
  /** Arguments settled before: an object of strings. */
  readonly arguments: Json | undefined;
  readonly context: RequestContext;
}

/** A request of one of the `extensionMethods`. */
export interface RequestReceived {
  readonly type: 'requestReceived';
  readonly request: RequestHandle;
  readonly method: string;
  readonly params: Json | undefined;
  readonly context: RequestContext;
}

/** The client no longer wants the answer. A late answer is accepted and sends nothing. */
export interface RequestCancelled {
  readonly type: 'requestCancelled';
  readonly request: RequestHandle;
  readonly reason: string | undefined;
}

/** A client watches what `filter` says. */
export interface SubscriptionOpened {
  readonly type: 'subscriptionOpened';
  readonly subscription: SubscriptionHandle;
  readonly filter: SubscriptionFilter;
}

/** A client no longer watches. */
export interface SubscriptionClosed {
  readonly type: 'subscriptionClosed';
  readonly subscription: SubscriptionHandle;
}

/** A legacy client has finished its handshake. */
export interface SessionOpened {
  readonly type: 'sessionOpened';
  readonly session: SessionHandle;
  readonly revision: string;
  readonly client: Json | undefined;
  readonly capabilities: Capabilities;
}

/** A legacy session is over. */
export interface SessionClosed {
  readonly type: 'sessionClosed';
  readonly session: SessionHandle;
}

/** The end of input was reached; requests that never got their answer are `abandoned`. */
export interface Drained {
  readonly type: 'drained';
  readonly abandoned: readonly RequestHandle[];
}

/** A request of the server's own ended, which exist in the legacy era only: `result` or `error`. */
export interface ClientResponseReceived {
  readonly type: 'responseReceived';
  readonly request: RequestHandle;
  readonly result: Json | undefined;
  readonly ttlMs: undefined;
  readonly cacheScope: undefined;
  /** Why there is no result. It is made, not thrown. */
  readonly error: McpError | undefined;
}

// ---------------------------------------------------------------- events of a server behind HTTP

/**
 * A session that is not known here is asked for, with `externalSessions`.
 *
 * Import it and answer with `resolveSession`; the exchange waits. `id` may be anything that a client wrote, and the
 * session may belong to another principal: that is for the program to check.
 */
export interface SessionRequested {
  readonly type: 'sessionRequested';
  readonly exchange: ExchangeHandle;
  readonly id: string;
}

/** A session has got its id, a secret between client and server. Only where sessions or events live outside. */
export interface SessionNamed {
  readonly type: 'sessionNamed';
  readonly session: SessionHandle;
  readonly id: string;
}

/** Keep this event of a stream, where events are kept by the program. */
export interface EventAppended {
  readonly type: 'eventAppended';
  readonly session: SessionHandle;
  readonly stream: string;
  readonly id: string;
  /** The message; empty for the first event of a stream, which only gives an id. */
  readonly data: string;
}

/** Give the events after this one with `replay`; the exchange waits. */
export interface ReplayRequested {
  readonly type: 'replayRequested';
  readonly exchange: ExchangeHandle;
  readonly session: SessionHandle;
  readonly stream: string;
  readonly after: string;
}

/** Nobody will ask for the streams of this session any more: it is over. */
export interface StreamsForgotten {
  readonly type: 'streamsForgotten';
  readonly session: SessionHandle;
}

// ---------------------------------------------------------------- events of a client

/** The revision is settled and queued requests go out; what the server tells of itself. */
export interface Ready {
  readonly type: 'ready';
  readonly revision: string;
  readonly server: Json | undefined;
  readonly capabilities: Capabilities;
  readonly instructions: string | undefined;
}

/**
 * The server had lost the session, and a new one is there: over HTTP, in the legacy era.
 *
 * Lists may have changed, and changes may have been missed.
 */
export interface SessionReplaced {
  readonly type: 'sessionReplaced';
  readonly revision: string;
  readonly server: Json | undefined;
  readonly capabilities: Capabilities;
  readonly instructions: string | undefined;
}

/**
 * The server ended on the probe, as some old ones do.
 *
 * Start it afresh and call `restart`; queued requests are kept. It comes at most once.
 */
export interface RestartRequired {
  readonly type: 'restartRequired';
}

/** A request was answered. */
export interface ResponseReceived {
  readonly type: 'responseReceived';
  readonly request: RequestHandle;
  readonly result: Json;
  /** How long the result stays fresh, in milliseconds, where the revision says so. */
  readonly ttlMs: number | undefined;
  /** Who may share it, where the revision says so. */
  readonly cacheScope: 'public' | 'private' | undefined;
  readonly error: undefined;
}

/** A request ended without a result. */
export interface RequestFailed {
  readonly type: 'requestFailed';
  readonly request: RequestHandle;
  /**
   * {@link RpcError} if the server answered so, otherwise the local reason, which can never pass for the server's.
   * It is made, not thrown.
   */
  readonly error: McpError;
}

/** The server asks something; answer each question, in any order. */
export interface InputRequired {
  readonly type: 'inputRequired';
  /** `undefined` where the revision does not say what it is for. */
  readonly request: RequestHandle | undefined;
  readonly inputs: readonly InputRequest[];
  /** Counts from 1. */
  readonly round: number;
}

/** A question no longer stands; an answer would be refused. */
export interface InputWithdrawn {
  readonly type: 'inputWithdrawn';
  readonly input: InputHandle;
}

/**
 * A tool was left out of the list that `request` asked for, and whose result follows: its definition wants arguments
 * repeated in headers in a way that is not possible.
 */
export interface ToolOmitted {
  readonly type: 'toolOmitted';
  readonly request: RequestHandle;
  /** Its place in the list as the server sent it. */
  readonly index: number;
  readonly name: string | undefined;
  /** The member that is wrong. */
  readonly path: string;
  readonly reason: string;
}

/** A request reports progress. */
export interface ProgressReceived {
  readonly type: 'progressReceived';
  readonly request: RequestHandle;
  readonly progress: number;
  readonly total: number | undefined;
  readonly message: string | undefined;
  /** False if it is not more than the last time. */
  readonly increasing: boolean;
}

/** The server logs something. */
export interface LogReceived {
  readonly type: 'logReceived';
  readonly request: RequestHandle | undefined;
  /** `undefined` if the server wrote an unknown one. */
  readonly level: LogLevel | undefined;
  readonly logger: string | undefined;
  readonly data: Json;
}

/** A subscription is in force; `honoured` may be less than was asked. */
export interface SubscriptionAcknowledged {
  readonly type: 'subscriptionAcknowledged';
  readonly subscription: SubscriptionHandle;
  readonly honoured: SubscriptionFilter;
}

/** A subscription is over. Unless `graceful`, changes may have been missed. */
export interface SubscriptionEnded {
  readonly type: 'subscriptionEnded';
  readonly subscription: SubscriptionHandle;
  readonly graceful: boolean;
}

/** A list of the server changed: fetch it again. */
export interface ListChanged {
  readonly type: 'listChanged';
  readonly kind: ListKind;
  readonly subscription: SubscriptionHandle | undefined;
}

/** A resource changed: read it again. It may lie below the URI that was subscribed to. */
export interface ResourceUpdated {
  readonly type: 'resourceUpdated';
  readonly uri: string;
  readonly subscription: SubscriptionHandle | undefined;
}

/** The server answered 401 or 403; the exchange waits for `authorized` or `unauthorized`. */
export interface AuthorizationRequired {
  readonly type: 'authorizationRequired';
  readonly exchange: ExchangeHandle;
  readonly status: number;
  /** The values of `WWW-Authenticate`, in order. */
  readonly challenges: readonly string[];
  /** The value of `DPoP-Nonce`. */
  readonly dpopNonce: string | undefined;
  /** What was tried, for counting. */
  readonly operation: string;
}

// ---------------------------------------------------------------- unions

type CommonEvent = NotificationReceived | ViolationTolerated | MessageDiscarded | Disconnected;

/** Whatever a server tells its application. */
export type ServerEvent =
  | CommonEvent
  | ToolCalled
  | ResourceReadRequested
  | PromptRequested
  | CompletionRequested
  | RequestReceived
  | RequestCancelled
  | SubscriptionOpened
  | SubscriptionClosed
  | SessionOpened
  | SessionClosed
  | ClientResponseReceived
  | Drained;

/** Whatever a server behind HTTP tells its application. */
export type HttpServerEvent =
  ServerEvent | SessionRequested | SessionNamed | EventAppended | ReplayRequested | StreamsForgotten;

/** Whatever a client tells its application. */
export type ClientEvent =
  | CommonEvent
  | Ready
  | SessionReplaced
  | RestartRequired
  | ResponseReceived
  | RequestFailed
  | InputRequired
  | InputWithdrawn
  | ToolOmitted
  | ProgressReceived
  | LogReceived
  | SubscriptionAcknowledged
  | SubscriptionEnded
  | ListChanged
  | ResourceUpdated;

/** Whatever a client over HTTP tells its application. */
export type HttpClientEvent = ClientEvent | AuthorizationRequired;

/** Whatever a machine tells its application. */
export type Event = HttpServerEvent | HttpClientEvent;

// ---------------------------------------------------------------- reading

const NO_ANSWERS: readonly InputAnswer[] = Object.freeze([]);

function answers(rows: readonly Row[] | null | undefined, pieces: Pieces): readonly InputAnswer[] {
  if (rows == null) return NO_ANSWERS;
  return rows.map(([key, result, error]) => ({
    key,
    result: pieces.maybe(result),
    error: error === null ? undefined : (errorFrom(error) as RpcError),
  }));
}

function filter(row: Row, at: number): SubscriptionFilter {
  return { tools: row[at], resources: row[at + 1], prompts: row[at + 2], resourceUris: row[at + 3] };
}

function variables(names: readonly string[]): Record<string, string> {
  const pairs: [string, string][] = [];
  for (let at = 0; at < names.length; at += 2) pairs.push([names[at] as string, names[at + 1] as string]);
  // Whatever a variable is called, it becomes a member of its own.
  return Object.fromEntries(pairs);
}

const isLegacy = REVISIONS.map((revision) => LEGACY_REVISIONS.includes(revision));

function revisionOf(place: number): string {
  return REVISIONS[place] as string;
}

function levelOf(place: number | null | undefined): LogLevel | undefined {
  return place == null ? undefined : LOG_LEVELS[place];
}

/**
 * The context that was told last, as far as it is worth remembering: the next one is mostly the same.
 *
 * @internal
 */
export interface Remembered {
  context?: RequestContext;
}

/** The context in a row: a row of its own, after which 1 stands if it is to be remembered, or 0 for the one that is. */
function context(
  told: Row | 0,
  isToRemember: 1 | undefined,
  pieces: Pieces,
  last: Remembered,
): RequestContext {
  if (told === 0) return last.context as RequestContext;
  const read = wholeContext(told, pieces);
  if (isToRemember) last.context = read;
  return read;
}

/**
 * The context in a row of its own.
 *
 * @internal
 */
// Literals are evaluated in order, and so pieces are taken in the order of the row. What a request lacks may be cut off.
export function wholeContext(row: Row, pieces: Pieces): RequestContext {
  const revision = revisionOf(row[0]);
  return {
    revision,
    era: isLegacy[row[0]] ? 'legacy' : 'modern',
    client: pieces.maybe(row[1]),
    capabilities: new Capabilities(pieces.maybe(row[2]), row[3]),
    logLevel: levelOf(row[4]),
    session: row[5] ?? undefined,
    meta: pieces.maybe(row[6]),
    exchange: row[7] ?? undefined,
    progressToken: pieces.maybe(row[8]),
    principal: row[9] ?? undefined,
    round: row[10] ?? 0,
    state: pieces.maybe(row[11]),
    inputAnswers: answers(row[12], pieces),
  };
}

type Reader = (row: Row, pieces: Pieces, last: Remembered) => Event;

/** By the first member of a row, in the order of `Kind` in `native/src/events.rs`. The other members follow. */
const READERS: readonly Reader[] = [
  (row, pieces, last) => ({
    type: 'toolCalled',
    request: row[1],
    name: row[2],
    arguments: pieces.maybe(row[3]),
    context: context(row[4], row[5], pieces, last),
  }),
  (row, pieces, last) => ({
    type: 'resourceReadRequested',
    request: row[1],
    uri: row[2],
    template: row[3] ?? undefined,
    variables: variables(row[4]),
    context: context(row[5], row[6], pieces, last),
  }),
  (row, pieces, last) => ({
    type: 'promptRequested',
    request: row[1],
    name: row[2],
    arguments: pieces.maybe(row[3]),
    context: context(row[4], row[5], pieces, last),
  }),
  (row, pieces, last) => ({
    type: 'completionRequested',
    request: row[1],
    prompt: row[2] ?? undefined,
    resource: row[3] ?? undefined,
    argument: row[4],
    value: row[5],
    arguments: pieces.maybe(row[6]),
    context: context(row[7], row[8], pieces, last),
  }),
  (row, pieces, last) => ({
    type: 'requestReceived',
    request: row[1],
    method: row[2],
    params: pieces.maybe(row[3]),
    context: context(row[4], row[5], pieces, last),
  }),
  (row) => ({ type: 'requestCancelled', request: row[1], reason: row[2] ?? undefined }),
  (row) => ({ type: 'subscriptionOpened', subscription: row[1], filter: filter(row, 2) }),
  (row) => ({ type: 'subscriptionClosed', subscription: row[1] }),
  (row, pieces) => ({
    type: 'sessionOpened',
    session: row[1],
    revision: revisionOf(row[2]),
    client: pieces.maybe(row[3]),
    capabilities: new Capabilities(pieces.maybe(row[4]), row[5]),
  }),
  (row) => ({ type: 'sessionClosed', session: row[1] }),
  (row) => ({ type: 'drained', abandoned: row[1] }),
  (row, pieces) =>
    ({
      type: 'responseReceived',
      request: row[1],
      result: pieces.maybe(row[2]),
      ttlMs: row[3] ?? undefined,
      cacheScope: row[4] ?? undefined,
      error: row[5] === null ? undefined : errorFrom(row[5]),
    }) as ResponseReceived | ClientResponseReceived,
  (row, pieces) => ({
    type: 'notificationReceived',
    session: row[1] ?? undefined,
    method: row[2],
    params: pieces.maybe(row[3]),
  }),
  (row, pieces) => ({
    type: 'violationTolerated',
    violation: row[1],
    request: row[2] ?? undefined,
    bytes: pieces.bytes(row[3], row[4]),
  }),
  (row, pieces) => ({ type: 'messageDiscarded', violation: row[1], bytes: pieces.bytes(row[2], row[3]) }),
  (row) => ({ type: 'disconnected', reason: errorFrom(row[1]) }),
  (row, pieces) => ({ type: 'ready', ...aboutServer(row, pieces) }),
  (row, pieces) => ({ type: 'sessionReplaced', ...aboutServer(row, pieces) }),
  () => ({ type: 'restartRequired' }),
  (row) => ({ type: 'requestFailed', request: row[1], error: errorFrom(row[2]) }),
  (row, pieces) => ({
    type: 'inputRequired',
    request: row[1] ?? undefined,
    inputs: (row[2] as readonly Row[]).map(([input, kind, params, key]) => ({
      input,
      kind,
      params: pieces.maybe(params),
      key: key ?? undefined,
    })),
    round: row[3],
  }),
  (row) => ({ type: 'inputWithdrawn', input: row[1] }),
  (row) => ({
    type: 'toolOmitted',
    request: row[1],
    index: row[2],
    name: row[3] ?? undefined,
    path: row[4],
    reason: row[5],
  }),
  (row) => ({
    type: 'progressReceived',
    request: row[1],
    progress: row[2],
    total: row[3] ?? undefined,
    message: row[4] ?? undefined,
    increasing: row[5],
  }),
  (row, pieces) => ({
    type: 'logReceived',
    request: row[1] ?? undefined,
    level: levelOf(row[2]),
    logger: row[3] ?? undefined,
    data: pieces.take(row[4]),
  }),
  (row) => ({ type: 'subscriptionAcknowledged', subscription: row[1], honoured: filter(row, 2) }),
  (row) => ({ type: 'subscriptionEnded', subscription: row[1], graceful: row[2] }),
  (row) => ({ type: 'listChanged', kind: row[1], subscription: row[2] ?? undefined }),
  (row) => ({ type: 'resourceUpdated', uri: row[1], subscription: row[2] ?? undefined }),
  (row) => ({ type: 'sessionRequested', exchange: row[1], id: row[2] }),
  (row) => ({ type: 'sessionNamed', session: row[1], id: row[2] }),
  (row, pieces) => ({
    type: 'eventAppended',
    session: row[1],
    stream: row[2],
    id: row[3],
    data: pieces.take(row[4]),
  }),
  (row) => ({ type: 'replayRequested', exchange: row[1], session: row[2], stream: row[3], after: row[4] }),
  (row) => ({ type: 'streamsForgotten', session: row[1] }),
  (row) => ({
    type: 'authorizationRequired',
    exchange: row[1],
    status: row[2],
    challenges: row[3],
    dpopNonce: row[4] ?? undefined,
    operation: row[5],
  }),
];

function aboutServer(row: Row, pieces: Pieces) {
  return {
    revision: revisionOf(row[1]),
    server: pieces.maybe(row[2]),
    capabilities: new Capabilities(pieces.maybe(row[3]), row[4]),
    instructions: (row[5] ?? undefined) as string | undefined,
  };
}

function read(rows: Row, from: number, pieces: Pieces, last: Remembered): Event[] {
  const events: Event[] = [];
  for (let at = from; at < rows.length; at++) {
    const row = rows[at] as Row;
    events.push((READERS[row[0]] as Reader)(row, pieces, last));
  }
  return events;
}

/**
 * The events of a batch; `last` is what is remembered of those before it, on the machines where that is done.
 *
 * @internal
 */
export function eventsOf<E extends Event>(told: string, last: Remembered = {}): E[] {
  const text = checked(told);
  return (text === '' ? [] : read(rowsOf(text), 0, new Pieces(text), last)) as E[];
}
