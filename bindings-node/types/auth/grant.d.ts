/** How a client comes by the tokens that a protected server wants: what `Client.connect` takes as `auth`. */
import { type UserAgent } from './browser.js';
import { type PrivateKey, type Sign } from './signing.js';
import { type TokenStore } from './token-store.js';
/**
 * A client that is registered with an authorization server.
 *
 * It authenticates with `secret`; or with JWTs that `key` signs (`private_key_jwt`); or, a public client, not at all.
 */
export interface OAuthClient {
    readonly clientId: string;
    /**
     * The issuer identifier of the server that it is registered with, character for character: its secret is sent to no
     * other. Without it, that is the first server which the MCP server names.
     */
    readonly issuer?: string | undefined;
    readonly secret?: string | undefined;
    /** How the secret is sent. Default: as the server likes it. */
    readonly method?: 'basic' | 'post';
    /** A private key, or a function that signs bytes and gives the signature as JWS has it. */
    readonly key?: PrivateKey | Sign | undefined;
    /** The JOSE name of the algorithm that the key signs with. Default `ES256`. */
    readonly algorithm?: string | undefined;
    /** What the JWTs name the key. */
    readonly keyId?: string;
    /** Whom the JWTs are for. Default `issuer`. */
    readonly audience?: 'issuer' | 'tokenEndpoint';
}
/** What all ways to come by tokens have in common. */
export interface GrantOptions {
    /** Scopes to ask for instead of those that the server names. */
    readonly scopes?: readonly string[];
    /** Keeps tokens and registrations; by default, in memory, as long as the grant lives. */
    readonly store?: TokenStore;
    /** Tells several users of one server apart in the store. */
    readonly account?: string;
    /**
     * Binds tokens to a key, where the authorization server knows how: one that is made anew with each grant, or a P-256
     * key of yours, which a store that outlives the process needs. Default false.
     */
    readonly dpop?: boolean | PrivateKey;
    /**
     * Decides of each request, by its purpose and URL, whether it may be made. By default addresses of this machine and of
     * private networks are reached only if the MCP server is there itself.
     */
    readonly allows?: (purpose: string, url: string) => boolean | Promise<boolean>;
    /** Stands in for the global `fetch` in requests to authorization servers. It must not add credentials of its own. */
    readonly fetch?: typeof globalThis.fetch;
}
/** Options of {@link oauth}. */
export interface OAuthOptions extends GrantOptions {
    /** The client to be, or several, each with its issuer. */
    readonly client?: OAuthClient | readonly OAuthClient[];
    /** The URL of a document that describes this client (a client id metadata document), for servers that take such. */
    readonly clientMetadataUrl?: string;
    /** The name under which the client registers itself where nothing else serves; null: never. Default `barewire`. */
    readonly clientName?: string | null;
    /** What it registers itself as. Default: as the redirect URI says. */
    readonly applicationType?: 'native' | 'web';
    /** Has the user name a client, where the client cannot register itself. */
    readonly askClient?: (issuer: string) => OAuthClient | Promise<OAuthClient>;
    /** Where the user consents. Default: a {@link Browser}. */
    readonly userAgent?: UserAgent;
    /** Milliseconds that the user has for it. Default ten minutes. */
    readonly timeout?: number;
    /** Asks for a refresh token. Default true. */
    readonly offline?: boolean;
    /** Falls back to the fixed endpoints of 2025-03-26, which later revisions forbid. Default false. */
    readonly legacyEndpoints?: boolean;
}
/** Options of {@link clientCredentials}. */
export interface ClientCredentialsOptions extends GrantOptions {
    /** The client, which has a secret or a key. */
    readonly client: OAuthClient;
}
/** Gives an assertion that is valid now, for an issuer and a resource. */
export type AssertionSource = (issuer: string, resource: string) => string | Promise<string>;
/** Options of {@link workloadIdentity}. */
export interface WorkloadIdentityOptions extends GrantOptions {
    /** The client that the workload is. */
    readonly client: OAuthClient;
    /** Gives the JWT of the platform, for the issuer. */
    readonly assertion: AssertionSource;
}
/** Options of {@link enterpriseManaged}. */
export interface EnterpriseManagedOptions extends GrantOptions {
    /** This client at the authorization server. */
    readonly client: OAuthClient;
    /** The token endpoint of the identity provider. */
    readonly tokenEndpoint: string;
    /** This client at the identity provider. */
    readonly providerClient: OAuthClient;
    /** Gives the assertion of the user's identity. */
    readonly assertion: AssertionSource;
    /** What kind it is. Default `idToken`. */
    readonly assertionType?: 'idToken' | 'saml2';
}
/**
 * A way to come by tokens, to be given to `Client.connect` as `auth`; to any number of clients, which then share tokens.
 *
 * It shows nothing of what it holds.
 */
export declare class Grant {
    #private;
}
/**
 * A user consents in a browser (authorization code with PKCE): `Client.connect(url, { auth: oauth() })`.
 *
 * Nobody is asked before the server wants a token, nor as long as a stored token is good or can be renewed. What goes
 * wrong is an {@link AuthorizationError}, the `cause` of the error of the request.
 *
 * @throws RangeError or TypeError for settings that cannot be used.
 */
export declare function oauth(options?: OAuthOptions): Grant;
/**
 * The client acts for itself, with a secret or a key of its own.
 *
 * @throws RangeError or TypeError for settings that cannot be used.
 */
export declare function clientCredentials(options: ClientCredentialsOptions): Grant;
/**
 * The identity provider of an organisation vouches for its user (enterprise-managed authorization).
 *
 * @throws RangeError or TypeError for settings that cannot be used.
 */
export declare function enterpriseManaged(options: EnterpriseManagedOptions): Grant;
/**
 * A workload exchanges the JWT that its platform gives it (RFC 7523).
 *
 * @throws RangeError or TypeError for settings that cannot be used.
 */
export declare function workloadIdentity(options: WorkloadIdentityOptions): Grant;
