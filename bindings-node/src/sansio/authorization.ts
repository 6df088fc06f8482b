/** The OAuth client as a machine: it says what to do, and is told what came of it. */

import { checked } from './batch.js';
import { errorFrom, failure, type AuthorizationError, type ErrorRow } from './errors.js';
import type { AuthorizationRequired, Json } from './events.js';
import { type HeaderPairs, headerPairs, headerText } from './headers.js';
import { done, given } from './machine.js';
import { type AuthorizationHandle, native, type ProofHandle } from './native.js';
import { settingsText } from './settings.js';

/**
 * A client as one authorization server knows it.
 *
 * It authenticates with `secret`, or with a JWT that is signed with `algorithm`, or not at all.
 */
export interface ClientRegistration {
  readonly clientId: string;
  /** The issuer identifier of the server that it is registered with. Default: the first one that is named. */
  readonly issuer?: string;
  readonly secret?: string;
  /** How the secret is sent. Default: as the server likes it. */
  readonly method?: 'basic' | 'post';
  /** The JOSE name of the algorithm that the client's key signs with. */
  readonly algorithm?: string;
  /** What the server calls the key. */
  readonly keyId?: string;
  /** Whom the JWT is for. Default `issuer`. */
  readonly audience?: 'issuer' | 'tokenEndpoint';
}

/** A key that tokens are bound to. */
export interface DpopKey {
  /** The JOSE name of the algorithm that it signs with. */
  readonly algorithm: string;
  /** The public key as a JWK. */
  readonly publicKey: Json;
  /** Tokens that are not bound are refused. Default false. */
  readonly isRequired?: boolean;
}

/** How an {@link Authorization} is set up. */
export interface AuthorizationSettings {
  /** The URL of the MCP server. */
  readonly serverUrl: string;
  readonly grant: 'authorizationCode' | 'clientCredentials' | 'enterprise' | 'workloadIdentity';
  /** 32 random bytes, used once. */
  readonly seed: Uint8Array;
  /** For `authorizationCode`: where the user agent comes back to. */
  readonly redirectUri?: string;
  /** For `authorizationCode`: the name to register under; without one nothing is registered. */
  readonly clientName?: string;
  /** For `authorizationCode`: what to register as. Default: as the redirect URI says. */
  readonly applicationType?: 'native' | 'web';
  /** For `authorizationCode`: a client whose id is the URL of a document that describes it. */
  readonly metadataClient?: ClientRegistration;
  /** For `authorizationCode`: the user can be asked for a client. Default false. */
  readonly asksForClient?: boolean;
  /** For `enterprise`: the token endpoint of the identity provider. */
  readonly tokenEndpoint?: string;
  /** For `enterprise`: the client as the identity provider knows it. */
  readonly providerClient?: ClientRegistration;
  /** For `enterprise`: what kind of assertion there is. Default `idToken`. */
  readonly subjectTokenType?: 'idToken' | 'saml2';
  /** The clients that are registered already. */
  readonly clients?: readonly ClientRegistration[];
  /** What is asked for instead of what the server names. */
  readonly scopes?: readonly string[];
  /** Asks for a refresh token. Default true. */
  readonly wantsRefresh?: boolean;
  readonly dpop?: DpopKey;
  /** Falls back to fixed endpoints, as 2025-03-26 has them. Default false. */
  readonly legacyEndpoints?: boolean;
  /** Milliseconds for the user to come back. */
  readonly callbackTimeout?: number;
  /** Milliseconds before its end at which a token is renewed. */
  readonly renewBefore?: number;
  /** Bytes of a response, at most. */
  readonly responseBytes?: number;
}

/** Names an action. */
export type ActionHandle = number;

/** Bytes to be signed with a key of the host: which one, and how. What is signed does not show. */
export class SigningRequest {
  /** Which key: that of the client, or the one that tokens are bound to. */
  readonly key: 'client' | 'dpop';
  /** The client whose key it is. */
  readonly clientId: string | undefined;
  /** Its JOSE name. The signature has the form of RFC 7518: for ECDSA the two numbers, not DER. */
  readonly algorithm: string;
  readonly #input: string;

  /** @internal */
  constructor([key, clientId, algorithm, input]: readonly any[]) {
    this.key = key;
    this.clientId = clientId ?? undefined;
    this.algorithm = algorithm;
    this.#input = input;
  }

  /** What is signed: ASCII. */
  get input(): Uint8Array {
    return new TextEncoder().encode(this.#input);
  }
}

/** A signature that one request to the MCP server needs. */
export class Proof extends SigningRequest {
  readonly #handle: ProofHandle;

  /** @internal */
  constructor(row: readonly any[], handle: ProofHandle) {
    super(row);
    this.#handle = handle;
  }

  /** The value of the `DPoP` header, with the signature over `input`. */
  header(signature: Uint8Array): string {
    return native.dpopProof(this.#handle, signature);
  }
}

/** What goes with one request to the MCP server. */
export class Credentials {
  /** Names the token in {@link Authorization.challenge}; 0: there is none. */
  readonly generation: number;
  /** What to sign with the key that the token is bound to. */
  readonly proof: Proof | undefined;
  readonly #authorization: string | undefined;

  /** @internal */
  constructor(generation: number, authorization: string | null, proof: Proof | undefined) {
    this.generation = generation;
    this.proof = proof;
    this.#authorization = authorization ?? undefined;
  }

  /** The value of `Authorization`, if there is a token. */
  get authorization(): string | undefined {
    return this.#authorization;
  }
}

/** Give the machine what is stored, as it is now: `loaded`. */
export interface LoadRecord {
  readonly type: 'loadRecord';
  readonly action: ActionHandle;
}

/** Store a record if the store still has the generation `expected`, 0 if it must have none: `saved`, or `saveConflicted`. */
export class SaveRecord {
  readonly type = 'saveRecord';
  readonly #text: string;

  /** @internal */
  constructor(
    readonly action: ActionHandle,
    readonly expected: number,
    readonly generation: number,
    text: string,
  ) {
    this.#text = text;
  }

  /** The record; a secret. */
  get text(): string {
    return this.#text;
  }
}

/** Carry out a request, with no redirects and no cookies: `receiveResponse`. Query, credentials and body do not show. */
export class SendRequest {
  readonly type = 'sendRequest';
  readonly #url: string;
  readonly #headers: [name: string, value: string][];
  readonly #body: string;

  /** @internal */
  constructor(
    readonly action: ActionHandle,
    /** What it is for, so that policies can be applied. */
    readonly purpose: string,
    readonly method: string,
    url: string,
    headers: string[],
    body: string,
    /** Bytes of the body of the response, at most. */
    readonly responseBytes: number,
  ) {
    this.#url = url;
    this.#headers = headerPairs(headers);
    this.#body = body;
  }

  /** Where to. */
  get url(): string {
    return this.#url;
  }

  /** Pairs of name, in lower case, and value. */
  get headers(): [name: string, value: string][] {
    return this.#headers;
  }

  /** The body; empty for GET. */
  get body(): string {
    return this.#body;
  }
}

/** Have the user visit a URL: `receiveCallback`. It does not show. */
export class OpenUserAgent {
  readonly type = 'openUserAgent';
  readonly #url: string;

  /** @internal */
  constructor(
    readonly action: ActionHandle,
    url: string,
    /** Where the user agent comes back to. */
    readonly redirectUri: string,
  ) {
    this.#url = url;
  }

  /** What to open, never through a shell. */
  get url(): string {
    return this.#url;
  }
}

/** Sign: `signed`. */
export interface SignInput {
  readonly type: 'signInput';
  readonly action: ActionHandle;
  readonly request: SigningRequest;
}

/** Ask the user for a client that is registered with an authorization server: `clientProvided`. */
export interface ProvideClient {
  readonly type: 'provideClient';
  readonly action: ActionHandle;
  readonly issuer: string;
}

/** Get an assertion that is valid now: `assertionProvided`. */
export interface ProvideAssertion {
  readonly type: 'provideAssertion';
  readonly action: ActionHandle;
  readonly issuer: string;
  readonly resource: string;
}

/** Something to do. One is open at a time. */
export type AuthorizationAction =
  LoadRecord | SaveRecord | SendRequest | OpenUserAgent | SignInput | ProvideClient | ProvideAssertion;

/** There is something to try, or, with an error, there is not. */
export interface AuthorizationEvent {
  readonly waiter: number;
  readonly error: AuthorizationError | undefined;
}

/** What a store keeps. The text is a secret. */
export interface StoredRecord {
  readonly generation: number;
  readonly text: string;
}

/** What was refused, as `authorizationRequired` tells it. */
export type Refusal = Pick<AuthorizationRequired, 'status' | 'challenges' | 'dpopNonce' | 'operation'>;

const ACTIONS: Readonly<Record<string, (row: readonly any[]) => AuthorizationAction>> = {
  loadRecord: ([, action]) => ({ type: 'loadRecord', action }),
  saveRecord: ([, action, expected, generation, text]) => new SaveRecord(action, expected, generation, text),
  sendRequest: ([, action, purpose, method, url, headers, body, bytes]) =>
    new SendRequest(action, purpose, method, url, headers, body, bytes),
  openUserAgent: ([, action, url, redirectUri]) => new OpenUserAgent(action, url, redirectUri),
  signInput: ([, action, request]) => ({ type: 'signInput', action, request: new SigningRequest(request) }),
  provideClient: ([, action, issuer]) => ({ type: 'provideClient', action, issuer }),
  provideAssertion: ([, action, issuer, resource]) => ({
    type: 'provideAssertion',
    action,
    issuer,
    resource,
  }),
};

/**
 * The authorization of one principal at one MCP server.
 *
 * Times are in milliseconds since 1970. After each call, do what `pollAction` gives and hear what `pollEvent` tells, and
 * call `handleTimeout` when `pollTimeout` says so.
 */
export class Authorization {
  readonly #handle: AuthorizationHandle;

  /** @throws RangeError naming a setting that cannot be used. */
  constructor({ seed, ...settings }: AuthorizationSettings) {
    this.#handle = given(native.openAuthorization(settingsText(settings), seed));
  }

  /** Whether `credentials` gives the best there is; if not, `acquire` first. */
  isReady(now: number): boolean {
    return given(native.authorizationIsReady(this.#handle, now));
  }

  /** What goes with a request to the MCP server, for every one of them. */
  credentials(method: string, url: string, now: number): Credentials {
    const found = native.authorizationCredentials(this.#handle, method, url, now);
    const [text, handle] = typeof found === 'string' ? [checked(found), undefined] : found;
    const [generation, authorization, proof] = JSON.parse(text);
    return new Credentials(generation, authorization, handle && new Proof(proof, handle));
  }

  /** One event follows for `waiter`, a number of the caller's. Never sends the user anywhere. */
  acquire(waiter: number, now: number): void {
    done(native.authorizationAcquire(this.#handle, waiter, now));
  }

  /** The server has refused a request that went with the token `generation`; one event follows for `waiter`. */
  challenge(waiter: number, refusal: Refusal, generation: number, now: number): void {
    const { status, challenges, dpopNonce, operation } = refusal;
    done(
      native.authorizationChallenge(
        this.#handle,
        waiter,
        status,
        [...challenges],
        dpopNonce,
        generation,
        operation,
        now,
      ),
    );
  }

  /** The server gave a nonce with a response that is no refusal. */
  noteNonce(nonce: string): void {
    done(native.authorizationNoteNonce(this.#handle, nonce));
  }

  /** The server took the token: its response has another status than 401. */
  noteSuccess(generation: number): void {
    done(native.authorizationNoteSuccess(this.#handle, generation));
  }

  /** The next thing to do, if any. */
  pollAction(): AuthorizationAction | undefined {
    const row = JSON.parse(checked(native.authorizationPollAction(this.#handle)));
    return row === null ? undefined : ACTIONS[row[0]]?.(row);
  }

  /** What there is to tell, if anything. */
  pollEvent(): AuthorizationEvent | undefined {
    const row = JSON.parse(checked(native.authorizationPollEvent(this.#handle))) as
      readonly [waiter: number, error?: ErrorRow] | null;
    if (row === null) return undefined;
    const [waiter, error] = row;
    return { waiter, error: error && (errorFrom(error) as AuthorizationError) };
  }

  /** When to call `handleTimeout` at the latest, if ever. */
  pollTimeout(): number | undefined {
    const due = given(native.authorizationPollTimeout(this.#handle));
    return due < 0 ? undefined : due;
  }

  /** Lets time pass. */
  handleTimeout(now: number): void {
    done(native.authorizationHandleTimeout(this.#handle, now));
  }

  /** What the store holds, if anything. */
  loaded(action: ActionHandle, record: StoredRecord | undefined, now: number): void {
    done(native.authorizationLoaded(this.#handle, action, record?.generation ?? 0, record?.text, now));
  }

  /** It is stored. */
  saved(action: ActionHandle, now: number): void {
    done(native.authorizationSaved(this.#handle, action, now));
  }

  /** The store has another generation, and holds this. */
  saveConflicted(action: ActionHandle, record: StoredRecord | undefined, now: number): void {
    const { generation = 0, text } = record ?? {};
    done(native.authorizationSaveConflicted(this.#handle, action, generation, text, now));
  }

  /** The response to a request, whole, whatever its status. */
  receiveResponse(
    action: ActionHandle,
    status: number,
    headers: HeaderPairs,
    body: Uint8Array,
    now: number,
  ): void {
    const text = headerText(headers);
    done(native.authorizationReceiveResponse(this.#handle, action, status, text, body, now));
  }

  /**
   * What the user agent brought back: its URL, or the query of it.
   *
   * @throws AuthorizationError. If `awaitsCallback` is still true, it was none of ours, and another one may come.
   */
  receiveCallback(query: string, now: number): void {
    const outcome = native.authorizationReceiveCallback(this.#handle, query, now);
    if (outcome !== null) throw failure(outcome);
  }

  /** Whether the user is to come back. */
  get awaitsCallback(): boolean {
    return given(native.authorizationAwaitsCallback(this.#handle));
  }

  /** The signature over what was to be signed. */
  signed(action: ActionHandle, signature: Uint8Array, now: number): void {
    done(native.authorizationSigned(this.#handle, action, signature, now));
  }

  /** A client that the user named. */
  clientProvided(action: ActionHandle, client: ClientRegistration, now: number): void {
    done(native.authorizationClientProvided(this.#handle, action, JSON.stringify(client), now));
  }

  /** An assertion that is valid now. */
  assertionProvided(action: ActionHandle, assertion: string, now: number): void {
    done(native.authorizationAssertionProvided(this.#handle, action, assertion, now));
  }

  /** An action was not carried out: it did not work, the response is too large, a policy or the user does not want it. */
  failAction(
    action: ActionHandle,
    reason: 'unavailable' | 'tooLarge' | 'forbidden' | 'declined',
    now: number,
  ): void {
    done(native.authorizationFailAction(this.#handle, action, reason, now));
  }

  /** Gives up what is under way. */
  cancel(now: number): void {
    done(native.authorizationCancel(this.#handle, now));
  }

  /** Forgets that it failed. */
  reset(): void {
    done(native.authorizationReset(this.#handle));
  }
}
