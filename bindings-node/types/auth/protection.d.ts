/** A protected server: who may come in, and what they may do. `createHandler` and `nodeHandler` take it as `auth`. */
import { type TokenVerifier } from './verifiers.js';
/** Who sends a request, as the token says that came with it: `caller` of a context. The token itself is kept nowhere. */
export declare class Caller {
    #private;
    /** The authorization server that vouches for the subject. */
    readonly issuer: string;
    /** Its identifier there: a user, or a client that acts for itself. */
    readonly subject: string;
    /** The client through which it acts, if that is known. */
    readonly client: string | undefined;
    /** What was granted. */
    readonly scopes: readonly string[];
    /** All that the token says. */
    readonly claims: Readonly<Record<string, unknown>>;
    /** The same for the same issuer, subject and client, and for no others: what data may be filed under. */
    readonly key: string;
}
/** How a server is protected. */
export interface ResourceServerOptions {
    /** The URL of the endpoint as clients know it, such as `https://mcp.example/mcp`. */
    readonly resource: string;
    /** The issuer identifiers of those whose tokens are taken. */
    readonly authorizationServers: readonly string[];
    /**
     * Finds out whether a token is genuine. Default: a {@link JwtVerifier} for each authorization server, which needs the
     * package `jose`.
     */
    readonly verifier?: TokenVerifier;
    /** What every request needs, and clients are told that have no token yet. */
    readonly scopes?: readonly string[];
    /** Whether a scope that was granted stands for one that is needed, beside itself. */
    readonly implies?: (granted: string, needed: string) => boolean;
    /** What tokens may be for beside `resource`. */
    readonly audiences?: readonly string[];
    /** A name for people. */
    readonly name?: string;
    /** A page for developers. */
    readonly documentation?: string;
    /** Milliseconds by which clocks may differ. Default 30 000. */
    readonly leeway?: number;
}
/**
 * Protects a server with access tokens (OAuth 2.1): `createHandler(server, { auth: new ResourceServer({ … }) })`.
 *
 * What more than `scopes` a tool needs says its option `scopes`. The metadata is served at the paths of `metadataPaths`,
 * at the root of the host, by the handler itself where it gets these requests: an application that gives it only those of
 * one path gives it these, too.
 */
export declare class ResourceServer {
    #private;
    /** The paths of the host at which clients look for the metadata. */
    readonly metadataPaths: readonly string[];
    /**
     * @param options - How the server is protected.
     * @throws RangeError naming an option that cannot be used.
     */
    constructor(options: ResourceServerOptions);
}
