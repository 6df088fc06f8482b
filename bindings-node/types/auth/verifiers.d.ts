/** Whether an access token is genuine, and what it says: signed tokens, and such that their issuer is asked about. */
/** What a token says. */
export type Claims = Readonly<Record<string, unknown>>;
/** Finds out what an access token says. */
export interface TokenVerifier {
    /**
     * The claims of a genuine token, under the names of RFC 9068 and RFC 7662; undefined for any other.
     *
     * Who issued it, for whom, when it expires and what it allows is judged afterwards, by what the claims say.
     *
     * @throws VerifierUnavailableError when it cannot tell now.
     */
    verify(token: string): Promise<Claims | undefined>;
}
/** Options of {@link JwtVerifier}. */
export interface JwtVerifierOptions {
    /** Where the keys are, with https or on this machine. Default: where the metadata of the issuer says. */
    readonly jwksUri?: string;
    /** The algorithms that are accepted. Default: all that work with a public key. */
    readonly algorithms?: readonly string[];
    /** Stands in for the global `fetch`. */
    readonly fetch?: typeof globalThis.fetch;
}
/**
 * Verifies access tokens that are signed JWTs (RFC 9068), with the package `jose`.
 *
 * The keys are those of the issuer, and are kept for ten minutes.
 */
export declare class JwtVerifier implements TokenVerifier {
    #private;
    /** Whose tokens it verifies. */
    readonly issuer: string;
    /**
     * @param issuer - Whose tokens.
     * @param options - Which of them.
     * @throws RangeError for an algorithm that is none with a public key, or for keys that others could exchange.
     */
    constructor(issuer: string, options?: JwtVerifierOptions);
    /** The claims of a token that the issuer has signed. */
    verify(token: string): Promise<Claims | undefined>;
}
/** Options of {@link Introspection}. */
export interface IntrospectionOptions {
    /** The introspection endpoint of the authorization server, with https or on this machine. */
    readonly endpoint: string;
    /** This resource server, as the authorization server knows it. */
    readonly clientId: string;
    readonly clientSecret: string;
    /**
     * The issuer identifier of the authorization server: answers may leave out whom a token is from, and many do. Without
     * it such a token is refused.
     */
    readonly issuer?: string;
    /** Milliseconds for which an answer is kept, in which a revoked token is still taken. Default 0: not at all. */
    readonly remembers?: number;
    /** Stands in for the global `fetch`. */
    readonly fetch?: typeof globalThis.fetch;
}
/** Asks the authorization server about each access token (RFC 7662). */
export declare class Introspection implements TokenVerifier {
    #private;
    /**
     * @param options - Whom to ask, and as whom.
     * @throws RangeError for an endpoint on the way to which others could read along.
     */
    constructor(options: IntrospectionOptions);
    /** What the server says of an active token. */
    verify(token: string): Promise<Claims | undefined>;
}
