/** A protected server: its metadata, and its judgement of requests, without I/O. */

import { checked } from './batch.js';
import type { Json } from './events.js';
import { type HeaderPairs, headerText } from './headers.js';
import { given } from './machine.js';
import { native, type PrincipalHandle, type ResourceServerHandle } from './native.js';
import { settingsText } from './settings.js';

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
export type DenialReason =
  | 'noToken'
  | 'malformed'
  | 'invalidToken'
  | 'expired'
  | 'notYetValid'
  | 'wrongIssuer'
  | 'wrongAudience'
  | 'bound'
  | 'insufficientScope';

/** A refusal, ready to be sent. */
export class AccessDenied {
  /** @internal */
  constructor(
    readonly reason: DenialReason,
    readonly status: number,
    /** The value of `WWW-Authenticate`. */
    readonly challenge: string,
  ) {}
}

/** Who a request comes from. */
export class Principal {
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
  /** @internal */
  readonly #handle: PrincipalHandle;

  /** @internal */
  constructor([issuer, subject, client, scopes, expiresAt, key]: readonly any[], handle: PrincipalHandle) {
    this.issuer = issuer;
    this.subject = subject;
    this.client = client ?? undefined;
    this.scopes = scopes;
    this.expiresAt = expiresAt ?? undefined;
    this.key = key;
    this.#handle = handle;
  }

  /** @internal */
  static handleOf(principal: Principal): PrincipalHandle {
    return principal.#handle;
  }
}

function denialOf(row: readonly [DenialReason, number, string]): AccessDenied {
  return new AccessDenied(...row);
}

/** The rules of a protected server. */
export class ResourceServer {
  readonly #handle: ResourceServerHandle;
  /** The protected resource metadata, as JSON. */
  readonly metadata: Json;
  /** The paths at which to serve it. */
  readonly metadataPaths: readonly string[];
  /** Where challenges say that it is. */
  readonly metadataUrl: string;

  /** @throws RangeError naming a setting that cannot be used. */
  constructor(settings: ResourceServerSettings) {
    this.#handle = given(native.openResourceServer(settingsText(settings)));
    [this.metadata, this.metadataPaths, this.metadataUrl] = JSON.parse(
      native.resourceServerFacts(this.#handle),
    );
  }

  /** The token of a request; `query` is what stands behind the question mark. */
  bearer(headers: HeaderPairs, query?: string): string | AccessDenied {
    const found = JSON.parse(native.resourceServerBearer(this.#handle, headerText(headers), query));
    return typeof found === 'string' ? found : denialOf(found);
  }

  /** A refusal; without `scopes`, with those of the settings. */
  deny(reason: DenialReason, scopes?: readonly string[]): AccessDenied {
    const given = scopes && [...scopes];
    return denialOf(JSON.parse(checked(native.resourceServerDeny(this.#handle, reason, given))));
  }

  /**
   * Judges the claims of a genuine token, as JSON: the payload of a JWT whose signature was verified with a key of its
   * issuer, or the answer of an introspection endpoint.
   */
  judge(claims: Json, now: number): Principal | AccessDenied {
    const found = native.resourceServerJudge(this.#handle, claims, now);
    if (typeof found === 'string') return denialOf(JSON.parse(checked(found)));
    return new Principal(JSON.parse(found[0]), found[1]);
  }

  /**
   * A refusal if a principal may not do what needs these scopes. `implies(granted, needed)` says whether a scope stands
   * for another one beside itself.
   */
  authorize(
    principal: Principal,
    needed: readonly string[],
    implies: (granted: string, needed: string) => boolean = () => false,
  ): AccessDenied | undefined {
    const implied = needed.filter((one) => principal.scopes.some((granted) => implies(granted, one)));
    const handle = Principal.handleOf(principal);
    const denial = JSON.parse(native.resourceServerAuthorize(this.#handle, handle, [...needed], implied));
    return denial === null ? undefined : denialOf(denial);
  }
}

/** Where the metadata of an authorization server may be, in order. What is found must name `issuer`, byte for byte. */
export function serverMetadataUrls(issuer: string): string[] {
  return native.serverMetadataUrls(issuer);
}
