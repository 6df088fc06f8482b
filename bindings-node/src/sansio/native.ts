/** The native addon: where it is found, and what it has. */

/**
 * A machine inside the addon.
 *
 * @internal
 */
export type Handle = { readonly __machine: unique symbol };

/**
 * The steps that end a child, inside the addon.
 *
 * @internal
 */
export type ChildHandle = { readonly __child: unique symbol };

/**
 * The OAuth client, inside the addon.
 *
 * @internal
 */
export type AuthorizationHandle = { readonly __authorization: unique symbol };

/**
 * What is to be signed, inside the addon.
 *
 * @internal
 */
export type ProofHandle = { readonly __proof: unique symbol };

/**
 * The rules of a protected server, inside the addon.
 *
 * @internal
 */
export type ResourceServerHandle = { readonly __rules: unique symbol };

/**
 * Who a request comes from, inside the addon.
 *
 * @internal
 */
export type PrincipalHandle = { readonly __principal: unique symbol };

/**
 * A locked file, inside the addon.
 *
 * @internal
 */
export type FileLockHandle = { readonly __lock: unique symbol };

/**
 * What the call gives, or the row of its error as text.
 *
 * @internal
 */
export type Given<T> = T | string;

/**
 * Nothing, or the row of the error as text.
 *
 * @internal
 */
export type Done = string | null;

/**
 * A batch, or the row of an error with its mark (see `batch.ts`).
 *
 * @internal
 */
export type Told = string;

type Optional = string | null | undefined;

/**
 * What the addon has; `native/src` documents it.
 *
 * @internal
 */
export interface Native {
  facts(): string;
  templateVariables(template: string): Given<string[]>;
  isRecommendedToolName(name: string): boolean;
  randomSeed(): Uint8Array | null;

  openServer(settings: string, seed: Uint8Array, keys: Uint8Array): Given<Handle>;
  openClient(settings: string, seed: Uint8Array, now: number): Given<Handle>;
  openHttpServer(settings: string, http: string, seed: Uint8Array, keys: Uint8Array): Given<Handle>;
  openHttpClient(settings: string, http: string, seed: Uint8Array, now: number): Given<Handle>;

  receiveData(handle: Handle, data: Uint8Array, now: number): Told;
  receiveEof(handle: Handle, now: number): Told;
  connectionLost(handle: Handle, now: number): Told;
  restart(handle: Handle, now: number): Told;
  dataToSend(handle: Handle, pool: Uint8Array, used: number): number | Uint8Array | string;
  turn(handle: Handle, pool: Uint8Array, used: number): Told | Uint8Array | null;
  wantsInput(handle: Handle): Given<boolean>;
  isFinished(handle: Handle): Given<boolean>;
  events(handle: Handle): Told;
  handleTimeout(handle: Handle, now: number): Told;
  pollTimeout(handle: Handle): Given<number>;
  close(handle: Handle): Done;
  failInside(handle: Handle): Done;

  addTool(handle: Handle, definition: string): Done;
  removeTool(handle: Handle, name: string): Done;
  addResource(handle: Handle, definition: string): Done;
  removeResource(handle: Handle, uri: string): Done;
  addResourceTemplate(handle: Handle, definition: string): Done;
  removeResourceTemplate(handle: Handle, template: string): Done;
  addPrompt(handle: Handle, definition: string): Done;
  removePrompt(handle: Handle, name: string): Done;
  respond(handle: Handle, request: number, result: string): Done;
  respondText(handle: Handle, request: number, text: string): Done;
  respondError(handle: Handle, request: number, code: number, message: string, data: Optional): Done;
  respondMissingCapability(handle: Handle, request: number, required: string): Done;
  respondInvalidArguments(handle: Handle, request: number, message: string): Done;
  requireInput(handle: Handle, request: number, questions: string, now: number, state: Optional): Done;
  progress(
    handle: Handle,
    request: number,
    progress: number,
    total: number | null | undefined,
    message: Optional,
  ): Given<boolean>;
  log(
    handle: Handle,
    request: number | null | undefined,
    level: string,
    data: string,
    logger: Optional,
  ): Given<boolean>;
  notifyWithin(handle: Handle, request: number, method: string, params: Optional): Given<boolean>;
  publishListChanged(handle: Handle, kind: string): Done;
  publishResourceUpdated(handle: Handle, uri: string): Done;
  endSubscription(handle: Handle, subscription: number): Done;
  requestOfClient(
    handle: Handle,
    session: number,
    method: string,
    params: Optional,
    now: number,
  ): Given<number>;
  pingClient(handle: Handle, session: number, now: number): Given<number>;
  exportSession(handle: Handle, session: number): Told;
  importSession(handle: Handle, text: string): Given<number>;
  endSession(handle: Handle, session: number): Done;

  receiveRequest(
    handle: Handle,
    method: string,
    headers: string,
    now: number,
    principal: Optional,
    eventStream: Optional,
    messages: Optional,
  ): Given<number>;
  receiveDenied(
    handle: Handle,
    method: string,
    headers: string,
    status: number,
    challenge: Optional,
    now: number,
    eventStream: Optional,
    messages: Optional,
  ): Given<number>;
  deny(handle: Handle, exchange: number, status: number, challenge: Optional, now: number): Given<boolean>;
  receiveBody(handle: Handle, exchange: number, data: Uint8Array, now: number): Done;
  receiveEnd(handle: Handle, exchange: number, now: number): Told;
  receiveWhole(
    handle: Handle,
    head: string,
    parts: number,
    body: Uint8Array,
    now: number,
    numbers: Uint8Array,
    principal: Optional,
    eventStream: Optional,
    messages: Optional,
  ): Told;
  receiveAbort(handle: Handle, exchange: number, now: number): Told;
  ready(handle: Handle): Given<number[]>;
  pollResponse(
    handle: Handle,
    exchange: number,
    pool: Uint8Array,
    used: number,
  ): Told | readonly [part: string, data: Uint8Array];
  readyParts(
    handle: Handle,
    pool: Uint8Array,
    used: number,
  ): Told | readonly [parts: string, data: Uint8Array];
  answer(
    handle: Handle,
    request: number,
    result: string,
    numbers: Uint8Array,
  ): Told | readonly [parts: string, data: Uint8Array];
  backlog(handle: Handle, exchange: number): Given<number>;
  resolveSession(handle: Handle, exchange: number, session: number, now: number): Told;
  replay(handle: Handle, exchange: number, events: string[] | null | undefined, now: number): Done;
  closeStream(handle: Handle, exchange: number, now: number, retry: number): Given<boolean>;
  shutDown(handle: Handle, now: number): Told;
  isIdle(handle: Handle): Given<boolean>;

  request(handle: Handle, method: string, params: Optional, now: number, options: Optional): Given<number>;
  callTool(handle: Handle, name: string, args: Optional, now: number, options: Optional): Given<number>;
  list(handle: Handle, kind: string, cursor: Optional, now: number, options: Optional): Given<number>;
  readResource(handle: Handle, uri: string, now: number, options: Optional): Given<number>;
  getPrompt(handle: Handle, name: string, args: Optional, now: number, options: Optional): Given<number>;
  complete(
    handle: Handle,
    isPrompt: boolean,
    reference: string,
    argument: string,
    value: string,
    args: Optional,
    now: number,
    options: Optional,
  ): Given<number>;
  ping(handle: Handle, now: number, options: Optional): Given<number>;
  cancel(handle: Handle, request: number, reason: Optional): Done;
  provideInput(handle: Handle, input: number, result: string, now: number): Done;
  refuseInput(handle: Handle, input: number, code: number, message: string, now: number): Done;
  subscribe(handle: Handle, filter: string, now: number): Given<number>;
  unsubscribe(handle: Handle, subscription: number, now: number): Done;
  setLogLevel(handle: Handle, level: string, now: number): Given<number>;
  notify(handle: Handle, method: string, params: Optional): Done;
  notifyRootsChanged(handle: Handle): Done;
  revision(handle: Handle): Given<number>;
  eraVerdict(handle: Handle): Given<string[]>;

  pollTransmit(handle: Handle, now: number): Told;
  receiveHead(handle: Handle, exchange: number, status: number, headers: string, now: number): Told;
  receiveResponseBody(handle: Handle, exchange: number, data: Uint8Array, now: number): Told;
  receiveResponseEnd(handle: Handle, exchange: number, now: number): Told;
  receiveFailure(handle: Handle, exchange: number, failure: string, now: number): Told;
  wantsInputOf(handle: Handle, exchange: number): Given<boolean>;
  authorized(handle: Handle, exchange: number, now: number): Told;
  unauthorized(handle: Handle, exchange: number, now: number): Told;

  openChildShutdown(timeouts: string): Given<ChildHandle>;
  childStart(handle: ChildHandle): void;
  childExited(handle: ChildHandle): void;
  childPollAction(handle: ChildHandle, now: number): string | null;
  childPollTimeout(handle: ChildHandle): number;
  childHandleTimeout(handle: ChildHandle, now: number): void;
  childIsFinished(handle: ChildHandle): boolean;

  openAuthorization(settings: string, seed: Uint8Array): Given<AuthorizationHandle>;
  authorizationIsReady(handle: AuthorizationHandle, now: number): Given<boolean>;
  authorizationCredentials(
    handle: AuthorizationHandle,
    method: string,
    url: string,
    now: number,
  ): Told | readonly [text: string, proof: ProofHandle];
  dpopProof(request: ProofHandle, signature: Uint8Array): string;
  authorizationAcquire(handle: AuthorizationHandle, waiter: number, now: number): Done;
  authorizationChallenge(
    handle: AuthorizationHandle,
    waiter: number,
    status: number,
    challenges: string[],
    dpopNonce: Optional,
    generation: number,
    operation: string,
    now: number,
  ): Done;
  authorizationNoteNonce(handle: AuthorizationHandle, nonce: string): Done;
  authorizationNoteSuccess(handle: AuthorizationHandle, generation: number): Done;
  authorizationPollAction(handle: AuthorizationHandle): Told;
  authorizationPollEvent(handle: AuthorizationHandle): Told;
  authorizationPollTimeout(handle: AuthorizationHandle): Given<number>;
  authorizationHandleTimeout(handle: AuthorizationHandle, now: number): Done;
  authorizationLoaded(
    handle: AuthorizationHandle,
    action: number,
    generation: number,
    text: Optional,
    now: number,
  ): Done;
  authorizationSaved(handle: AuthorizationHandle, action: number, now: number): Done;
  authorizationSaveConflicted(
    handle: AuthorizationHandle,
    action: number,
    generation: number,
    text: Optional,
    now: number,
  ): Done;
  authorizationReceiveResponse(
    handle: AuthorizationHandle,
    action: number,
    status: number,
    headers: string,
    body: Uint8Array,
    now: number,
  ): Done;
  authorizationReceiveCallback(handle: AuthorizationHandle, query: string, now: number): Done;
  authorizationAwaitsCallback(handle: AuthorizationHandle): Given<boolean>;
  authorizationSigned(handle: AuthorizationHandle, action: number, signature: Uint8Array, now: number): Done;
  authorizationClientProvided(handle: AuthorizationHandle, action: number, client: string, now: number): Done;
  authorizationAssertionProvided(
    handle: AuthorizationHandle,
    action: number,
    assertion: string,
    now: number,
  ): Done;
  authorizationFailAction(handle: AuthorizationHandle, action: number, failure: string, now: number): Done;
  authorizationCancel(handle: AuthorizationHandle, now: number): Done;
  authorizationReset(handle: AuthorizationHandle): Done;

  openResourceServer(settings: string): Given<ResourceServerHandle>;
  resourceServerFacts(handle: ResourceServerHandle): string;
  resourceServerBearer(handle: ResourceServerHandle, headers: string, query: Optional): string;
  resourceServerDeny(handle: ResourceServerHandle, reason: string, scopes: string[] | null | undefined): Told;
  resourceServerJudge(
    handle: ResourceServerHandle,
    claims: string,
    now: number,
  ): Told | readonly [row: string, principal: PrincipalHandle];
  resourceServerAuthorize(
    handle: ResourceServerHandle,
    principal: PrincipalHandle,
    needed: string[],
    implied: string[],
  ): string;
  serverMetadataUrls(issuer: string): string[];

  tryLockFile(path: string): Given<FileLockHandle | null>;
  unlockFile(handle: FileLockHandle): void;
}

/** The file that the addon is. */
const ADDON = 'barewire.node';

/** Where the addon of a checkout lies, seen from the files of the package. */
const BUILT_HERE = `../dist/${ADDON}`;

/**
 * Where packages that were installed with this one lie, seen from there. One within it comes first, because what lies
 * beside it is of another version then.
 */
const INSTALLED = ['../node_modules', '../..'];

/** The packages that may hold the addon of this platform. A package manager installs one of them at most. */
function packages(): string[] {
  const platform = `barewire-${process.platform}-${process.arch}`;
  switch (process.platform) {
    case 'linux':
      return [`${platform}-gnu`, `${platform}-musl`];
    case 'win32':
      return [`${platform}-msvc`];
    default:
      return [platform];
  }
}

/** What `require` does with an addon. It loads more than all that is needed here, and a server is started often. */
function open(path: string): Native {
  const module = { exports: {} };
  process.dlopen(module, path);
  return module.exports as Native;
}

function openPackage(name: string): Native {
  const { fileURLToPath } = process.getBuiltinModule('node:url');
  return open(fileURLToPath(import.meta.resolve(name)));
}

function load(): Native {
  const causes: unknown[] = [];
  const names = packages();
  const attempts = [
    () => open(`${import.meta.dirname}/${BUILT_HERE}`),
    // Where package managers put it, unless they do without folders. To resolve a name takes a start longer.
    ...names.flatMap((name) =>
      INSTALLED.map((place) => () => open(`${import.meta.dirname}/${place}/${name}/${ADDON}`)),
    ),
    ...names.map((name) => () => openPackage(name)),
  ];
  for (const attempt of attempts) {
    try {
      return attempt();
    } catch (error) {
      causes.push(error);
    }
  }
  const wanted = names.join(' or ');
  throw new AggregateError(
    causes,
    `barewire has no addon for ${process.platform} on ${process.arch}. It comes in the optional dependency ${wanted}: ` +
      'install again without leaving out optional dependencies, on the platform where it is to run.',
  );
}

/**
 * The addon.
 *
 * @internal
 */
export const native: Native = load();
