/** A protected server: who may come in, and what they may do. `createHandler` and `nodeHandler` take it as `auth`. */

import { ApiMisuseError } from '../sansio/errors.js';
import type { HeaderPairs } from '../sansio/headers.js';
import { AccessDenied, type Principal, ResourceServer as Rules } from '../sansio/resource-server.js';
import { type Claims, JwtVerifier, type TokenVerifier } from './verifiers.js';

/** Who sends a request, as the token says that came with it: `caller` of a context. The token itself is kept nowhere. */
export class Caller {
  readonly #principal: Principal;
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

  /** @internal */
  constructor(principal: Principal, claims: Readonly<Record<string, unknown>>) {
    this.#principal = principal;
    this.issuer = principal.issuer;
    this.subject = principal.subject;
    this.client = principal.client;
    this.scopes = principal.scopes;
    this.claims = claims;
    this.key = principal.key;
  }

  /** @internal */
  static principalOf(caller: Caller): Principal {
    return caller.#principal;
  }
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
export class ResourceServer {
  readonly #rules: Rules;
  readonly #scopes: readonly string[];
  readonly #implies: ResourceServerOptions['implies'];
  readonly #verifier: TokenVerifier;
  /** The paths of the host at which clients look for the metadata. */
  readonly metadataPaths: readonly string[];

  /**
   * @param options - How the server is protected.
   * @throws RangeError naming an option that cannot be used.
   */
  constructor(options: ResourceServerOptions) {
    const { verifier, implies, ...settings } = options;
    const { scopes = [], audiences = [], authorizationServers } = settings;
    for (const list of [scopes, audiences, authorizationServers]) {
      if (!Array.isArray(list)) throw new TypeError('scopes, audiences and authorizationServers are lists');
    }
    this.#rules = new Rules(settings);
    this.#scopes = scopes;
    this.#implies = implies;
    this.#verifier = verifier ?? new OneOf(authorizationServers);
    this.metadataPaths = this.#rules.metadataPaths;
  }

  /** Whether the metadata is at this path of the host. @internal */
  serves(path: string): boolean {
    return this.metadataPaths.includes(path);
  }

  /** The response to a request for the metadata, which is for anybody. @internal */
  metadata(method: string | undefined): { status: number; headers: Record<string, string>; body: string } {
    if (method !== 'GET' && method !== 'HEAD') {
      return { status: 405, headers: { allow: 'GET, HEAD' }, body: '' };
    }
    const headers = {
      'content-type': 'application/json',
      'access-control-allow-origin': '*',
      'cache-control': 'max-age=3600',
    };
    return { status: 200, headers, body: method === 'HEAD' ? '' : this.#rules.metadata };
  }

  /**
   * Who sends a request with these headers and this query, or why it is refused.
   *
   * @throws VerifierUnavailableError, or what the verifier throws.
   * @internal
   */
  async admit(headers: HeaderPairs, query: string): Promise<Caller | AccessDenied> {
    const rules = this.#rules;
    const token = rules.bearer(headers, query);
    if (token instanceof AccessDenied) return token;
    const claims = await this.#verifier.verify(token);
    if (claims === undefined) return rules.deny('invalidToken');
    const principal = this.#judge(claims);
    if (principal instanceof AccessDenied) return principal;
    const caller = new Caller(principal, claims);
    return this.forbids(caller, this.#scopes) ?? caller;
  }

  /** Claims that are nested too deep to be written or read are none of a good token. */
  #judge(claims: Claims): Principal | AccessDenied {
    try {
      return this.#rules.judge(JSON.stringify(claims), Date.now());
    } catch (error) {
      if (!(error instanceof RangeError || error instanceof ApiMisuseError)) throw error;
      return this.#rules.deny('invalidToken');
    }
  }

  /** A refusal, if somebody lacks one of the scopes that an operation needs. @internal */
  forbids(caller: Caller, needed: readonly string[]): AccessDenied | undefined {
    // One challenge names all of what an operation needs.
    const more = this.#scopes.filter((scope) => !needed.includes(scope));
    return this.#rules.authorize(Caller.principalOf(caller), [...more, ...needed], this.#implies);
  }
}

/** Verifies the tokens of several issuers, each by its own keys. */
class OneOf implements TokenVerifier {
  readonly #verifiers: ReadonlyMap<string, JwtVerifier>;

  constructor(issuers: readonly string[]) {
    this.#verifiers = new Map(issuers.map((issuer) => [issuer, new JwtVerifier(issuer)]));
  }

  async verify(token: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    return this.#verifiers.get(issuerOf(token) ?? '')?.verify(token);
  }
}

/** Who a token says that it is from. That proves nothing. */
function issuerOf(token: string): string | undefined {
  const [, payload, signature] = token.split('.');
  if (payload === undefined || signature === undefined) return undefined;
  try {
    const { iss } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { iss?: unknown };
    return typeof iss === 'string' ? iss : undefined;
  } catch {
    return undefined;
  }
}
