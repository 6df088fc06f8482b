/** A protected server: its metadata, and its judgement of requests, without I/O. */
import type { Json } from './events.js';
import { type HeaderPairs } from './headers.js';
/** How a protected server is set up. */
export interface ResourceServerSettings {
    /** The URL of the MCP endpoint as clients know it. */
    readonly resource: string;
    /** The issuer identifiers of its authorization servers. Tokens of others are refused. */
    readonly authorizationServers: readonly string[];
    /** The scopes that suffice for basic use. */
    readonly scopes?: readonly string[];
    /** What tokens may name as their audience beside `resource`. */
    readonly audiences?: readonly string[];
    /** A name for people. */
    readonly name?: string;
    /** A page for developers. */
    readonly documentation?: string;
    /** Milliseconds by which clocks may differ. Default 30 000. */
    readonly leeway?: number;
}
/** Why a request is refused. */
export type DenialReason = 'noToken' | 'malformed' | 'invalidToken' | 'expired' | 'notYetValid' | 'wrongIssuer' | 'wrongAudience' | 'bound' | 'insufficientScope';
/** A refusal, ready to be sent. */
export declare class AccessDenied {
    readonly reason: DenialReason;
    readonly status: number;
    /** The value of `WWW-Authenticate`. */
    readonly challenge: string;
}
/** Who a request comes from. */
export declare class Principal {
    #private;
    /** The authorization server that vouches for it. */
    readonly issuer: string;
    /** Its identifier there. */
    readonly subject: string;
    /** The client through which it comes, if that is known. */
    readonly client: string | undefined;
    /** What was granted. */
    readonly scopes: readonly string[];
    /** When the token expires, in milliseconds since 1970, if that is known. */
    readonly expiresAt: number | undefined;
    /** The same for the same issuer, subject and client, and for no others. */
    readonly key: string;
}
/** The rules of a protected server. */
export declare class ResourceServer {
    #private;
    /** The protected resource metadata, as JSON. */
    readonly metadata: Json;
    /** The paths at which to serve it. */
    readonly metadataPaths: readonly string[];
    /** Where challenges say that it is. */
    readonly metadataUrl: string;
    /** @throws RangeError naming a setting that cannot be used. */
    constructor(settings: ResourceServerSettings);
    /** The token of a request; `query` is what stands behind the question mark. */
    bearer(headers: HeaderPairs, query?: string): string | AccessDenied;
    /** A refusal; without `scopes`, with those of the settings. */
    deny(reason: DenialReason, scopes?: readonly string[]): AccessDenied;
    /**
     * Judges the claims of a genuine token, as JSON: the payload of a JWT whose signature was verified with a key of its
     * issuer, or the answer of an introspection endpoint.
     */
    judge(claims: Json, now: number): Principal | AccessDenied;
    /**
     * A refusal if a principal may not do what needs these scopes. `implies(granted, needed)` says whether a scope stands
     * for another one beside itself.
     */
    authorize(principal: Principal, needed: readonly string[], implies?: (granted: string, needed: string) => boolean): AccessDenied | undefined;
}
/** Where the metadata of an authorization server may be, in order. What is found must name `issuer`, byte for byte. */
export declare function serverMetadataUrls(issuer: string): string[];
