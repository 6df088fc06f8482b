/** The OAuth client as a machine: it says what to do, and is told what came of it. */
import { type AuthorizationError } from './errors.js';
import type { AuthorizationRequired, Json } from './events.js';
import { type HeaderPairs } from './headers.js';
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
export declare class SigningRequest {
    #private;
    /** Which key: that of the client, or the one that tokens are bound to. */
    readonly key: 'client' | 'dpop';
    /** The client whose key it is. */
    readonly clientId: string | undefined;
    /** Its JOSE name. The signature has the form of RFC 7518: for ECDSA the two numbers, not DER. */
    readonly algorithm: string;
    /** What is signed: ASCII. */
    get input(): Uint8Array;
}
/** A signature that one request to the MCP server needs. */
export declare class Proof extends SigningRequest {
    #private;
    /** The value of the `DPoP` header, with the signature over `input`. */
    header(signature: Uint8Array): string;
}
/** What goes with one request to the MCP server. */
export declare class Credentials {
    #private;
    /** Names the token in {@link Authorization.challenge}; 0: there is none. */
    readonly generation: number;
    /** What to sign with the key that the token is bound to. */
    readonly proof: Proof | undefined;
    /** The value of `Authorization`, if there is a token. */
    get authorization(): string | undefined;
}
/** Give the machine what is stored, as it is now: `loaded`. */
export interface LoadRecord {
    readonly type: 'loadRecord';
    readonly action: ActionHandle;
}
/** Store a record if the store still has the generation `expected`, 0 if it must have none: `saved`, or `saveConflicted`. */
export declare class SaveRecord {
    #private;
    readonly action: ActionHandle;
    readonly expected: number;
    readonly generation: number;
    readonly type = "saveRecord";
    /** The record; a secret. */
    get text(): string;
}
/** Carry out a request, with no redirects and no cookies: `receiveResponse`. Query, credentials and body do not show. */
export declare class SendRequest {
    #private;
    readonly action: ActionHandle;
    /** What it is for, so that policies can be applied. */
    readonly purpose: string;
    readonly method: string;
    /** Bytes of the body of the response, at most. */
    readonly responseBytes: number;
    readonly type = "sendRequest";
    /** Where to. */
    get url(): string;
    /** Pairs of name, in lower case, and value. */
    get headers(): [name: string, value: string][];
    /** The body; empty for GET. */
    get body(): string;
}
/** Have the user visit a URL: `receiveCallback`. It does not show. */
export declare class OpenUserAgent {
    #private;
    readonly action: ActionHandle;
    /** Where the user agent comes back to. */
    readonly redirectUri: string;
    readonly type = "openUserAgent";
    /** What to open, never through a shell. */
    get url(): string;
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
export type AuthorizationAction = LoadRecord | SaveRecord | SendRequest | OpenUserAgent | SignInput | ProvideClient | ProvideAssertion;
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
/**
 * The authorization of one principal at one MCP server.
 *
 * Times are in milliseconds since 1970. After each call, do what `pollAction` gives and hear what `pollEvent` tells, and
 * call `handleTimeout` when `pollTimeout` says so.
 */
export declare class Authorization {
    #private;
    /** @throws RangeError naming a setting that cannot be used. */
    constructor({ seed, ...settings }: AuthorizationSettings);
    /** Whether `credentials` gives the best there is; if not, `acquire` first. */
    isReady(now: number): boolean;
    /** What goes with a request to the MCP server, for every one of them. */
    credentials(method: string, url: string, now: number): Credentials;
    /** One event follows for `waiter`, a number of the caller's. Never sends the user anywhere. */
    acquire(waiter: number, now: number): void;
    /** The server has refused a request that went with the token `generation`; one event follows for `waiter`. */
    challenge(waiter: number, refusal: Refusal, generation: number, now: number): void;
    /** The server gave a nonce with a response that is no refusal. */
    noteNonce(nonce: string): void;
    /** The server took the token: its response has another status than 401. */
    noteSuccess(generation: number): void;
    /** The next thing to do, if any. */
    pollAction(): AuthorizationAction | undefined;
    /** What there is to tell, if anything. */
    pollEvent(): AuthorizationEvent | undefined;
    /** When to call `handleTimeout` at the latest, if ever. */
    pollTimeout(): number | undefined;
    /** Lets time pass. */
    handleTimeout(now: number): void;
    /** What the store holds, if anything. */
    loaded(action: ActionHandle, record: StoredRecord | undefined, now: number): void;
    /** It is stored. */
    saved(action: ActionHandle, now: number): void;
    /** The store has another generation, and holds this. */
    saveConflicted(action: ActionHandle, record: StoredRecord | undefined, now: number): void;
    /** The response to a request, whole, whatever its status. */
    receiveResponse(action: ActionHandle, status: number, headers: HeaderPairs, body: Uint8Array, now: number): void;
    /**
     * What the user agent brought back: its URL, or the query of it.
     *
     * @throws AuthorizationError. If `awaitsCallback` is still true, it was none of ours, and another one may come.
     */
    receiveCallback(query: string, now: number): void;
    /** Whether the user is to come back. */
    get awaitsCallback(): boolean;
    /** The signature over what was to be signed. */
    signed(action: ActionHandle, signature: Uint8Array, now: number): void;
    /** A client that the user named. */
    clientProvided(action: ActionHandle, client: ClientRegistration, now: number): void;
    /** An assertion that is valid now. */
    assertionProvided(action: ActionHandle, assertion: string, now: number): void;
    /** An action was not carried out: it did not work, the response is too large, a policy or the user does not want it. */
    failAction(action: ActionHandle, reason: 'unavailable' | 'tooLarge' | 'forbidden' | 'declined', now: number): void;
    /** Gives up what is under way. */
    cancel(now: number): void;
    /** Forgets that it failed. */
    reset(): void;
}
