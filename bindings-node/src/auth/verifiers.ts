/** Whether an access token is genuine, and what it says: signed tokens, and such that their issuer is asked about. */

import { createHash } from 'node:crypto';
import type { CompactVerifyResult, JSONWebKeySet } from 'jose';
import { VerifierUnavailableError } from '../failures.js';
import { serverMetadataUrls } from '../sansio/resource-server.js';
import { refusePlaintext, request, TooLarge } from './fetch.js';

type Jose = typeof import('jose');
type Keys = ReturnType<Jose['createLocalJWKSet']>;

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

/** Algorithms that need no secret of ours. A key is only used for those that fit it. */
const ALGORITHMS: readonly string[] = [
  'ES256',
  'ES384',
  'ES512',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'Ed25519',
  'EdDSA',
];
/** What access tokens say that they are. */
const TYPES: readonly string[] = ['jwt', 'at+jwt', 'application/at+jwt'];
/** Bytes of a document or an answer, at most. */
const LIMIT = 256 << 10;
/** Milliseconds for which keys are used without asking again. */
const KEYS_LAST = 600_000;
/** Milliseconds between two requests for keys, at least: a token with an unknown key must not cause one each. */
const KEYS_PAUSE = 10_000;
/** Characters of a token, at most. */
const LONGEST = 16 << 10;
/** Tokens whose verification is remembered. */
const REMEMBERED = 1024;

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
export class JwtVerifier implements TokenVerifier {
  /** Whose tokens it verifies. */
  readonly issuer: string;
  readonly #options: JwtVerifierOptions;
  readonly #algorithms: string[];
  #keys: Keys | undefined;
  /** What genuine tokens say, by their digests; as long as the keys are these. */
  readonly #genuine = new Map<string, string>();
  #fetched = -Infinity;
  #asked = -Infinity;
  #failure: unknown;
  #fetching: Promise<void> | undefined;

  /**
   * @param issuer - Whose tokens.
   * @param options - Which of them.
   * @throws RangeError for an algorithm that is none with a public key, or for keys that others could exchange.
   */
  constructor(issuer: string, options: JwtVerifierOptions = {}) {
    const { algorithms = ALGORITHMS, jwksUri } = options;
    const weak = algorithms.find((name) => !ALGORITHMS.includes(name));
    if (weak !== undefined) throw new RangeError(`'${weak}' is none of ${ALGORITHMS.join(', ')}`);
    if (jwksUri !== undefined) refusePlaintext(jwksUri);
    this.issuer = issuer;
    this.#options = options;
    this.#algorithms = [...algorithms];
  }

  /** The claims of a token that the issuer has signed. */
  async verify(token: string): Promise<Claims | undefined> {
    if (token.length > LONGEST) return undefined;
    const jose = await loadJose();
    const isOld = performance.now() - this.#fetched > KEYS_LAST;
    // One request asks whether there are new keys; those that come meanwhile do not wait for it.
    if (this.#keys === undefined || (isOld && this.#fetching === undefined)) await this.#refresh(jose);
    try {
      return await this.#claims(jose, token);
    } catch (error) {
      if (!isUnknownKey(error)) throw error;
      await this.#refresh(jose); // the issuer may have new keys
    }
    return this.#claims(jose, token).catch((error: unknown) => {
      if (isUnknownKey(error)) return undefined;
      throw error;
    });
  }

  async #claims(jose: Jose, token: string): Promise<Claims | undefined> {
    const digest = createHash('sha256').update(token).digest('base64');
    let payload = this.#genuine.get(digest);
    if (payload === undefined) {
      payload = await this.#payload(jose, token);
      if (payload === undefined) return undefined;
      remember(this.#genuine, digest, payload);
    }
    const claims = parsed(payload);
    return claims?.['iss'] === this.issuer ? claims : undefined;
  }

  /** What a token says that is signed with one of the keys. @throws JWKSNoMatchingKey for another key */
  async #payload(jose: Jose, token: string): Promise<string | undefined> {
    try {
      const keys = this.#keys as Keys;
      const { protectedHeader, payload } = await verified(jose, token, keys, this.#algorithms);
      // An ID token, a logout token and the like are for others, though the same key has signed them.
      const isOurs = TYPES.includes(String(protectedHeader.typ ?? 'JWT').toLowerCase());
      return isOurs ? new TextDecoder().decode(payload) : undefined;
    } catch (error) {
      if (isUnknownKey(error)) throw error;
      return undefined;
    }
  }

  /** Fetches the keys, unless that was tried just now. Old ones do as long as there are no others. */
  async #refresh(jose: Jose): Promise<void> {
    this.#fetching ??= this.#fetch(jose).finally(() => (this.#fetching = undefined));
    await this.#fetching;
    if (this.#keys === undefined) {
      throw new VerifierUnavailableError(`the keys of ${this.issuer} cannot be had`, {
        cause: this.#failure,
      });
    }
  }

  async #fetch(jose: Jose): Promise<void> {
    if (performance.now() - this.#asked <= KEYS_PAUSE) return;
    try {
      const uri = this.#options.jwksUri ?? (await this.#discover());
      this.#keys = jose.createLocalJWKSet((await this.#get(uri)) as unknown as JSONWebKeySet);
      this.#genuine.clear();
      this.#fetched = performance.now();
    } catch (error) {
      this.#failure = error;
    }
    this.#asked = performance.now();
  }

  /** Where the keys are, says the metadata of the issuer. */
  async #discover(): Promise<string> {
    for (const url of serverMetadataUrls(this.issuer)) {
      const document = await this.#get(url).catch(() => undefined);
      const uri = document?.['jwks_uri'];
      if (document?.['issuer'] === this.issuer && typeof uri === 'string') {
        return refusePlaintext(uri);
      }
    }
    throw new VerifierUnavailableError(`the metadata of ${this.issuer} cannot be had`);
  }

  async #get(url: string): Promise<Claims> {
    return answerOf(this.#options.fetch ?? globalThis.fetch, {
      method: 'GET',
      url,
      headers: [['accept', 'application/json']],
      limit: LIMIT,
    });
  }
}

/** Verifies with the key that the token names; where several fit, with each of them. */
async function verified(
  jose: Jose,
  token: string,
  keys: Keys,
  algorithms: string[],
): Promise<CompactVerifyResult> {
  try {
    return await jose.compactVerify(token, keys, { algorithms });
  } catch (error) {
    if (!(error instanceof jose.errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      const found = await jose.compactVerify(token, key, { algorithms }).catch(() => undefined);
      if (found !== undefined) return found;
    }
    throw new jose.errors.JWSSignatureVerificationFailed();
  }
}

function isUnknownKey(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === 'ERR_JWKS_NO_MATCHING_KEY';
}

let loading: Promise<Jose> | undefined;

function loadJose(): Promise<Jose> {
  loading ??= import('jose').catch((cause: unknown) => {
    throw new Error('verifying tokens needs the package jose: npm install jose', { cause });
  });
  return loading;
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
export class Introspection implements TokenVerifier {
  readonly #options: IntrospectionOptions;
  /** Claims by the digest of the token, and until when they are good. */
  readonly #known = new Map<string, readonly [until: number, claims: Claims | undefined]>();

  /**
   * @param options - Whom to ask, and as whom.
   * @throws RangeError for an endpoint on the way to which others could read along.
   */
  constructor(options: IntrospectionOptions) {
    refusePlaintext(options.endpoint);
    this.#options = options;
  }

  /** What the server says of an active token. */
  async verify(token: string): Promise<Claims | undefined> {
    if (token.length > LONGEST) return undefined;
    const { remembers = 0 } = this.#options;
    const digest = createHash('sha256').update(token).digest('base64');
    const now = performance.now();
    const known = this.#known.get(digest);
    if (known !== undefined && known[0] > now) return known[1];
    const claims = await this.#ask(token);
    if (remembers > 0) remember(this.#known, digest, [now + remembers, claims]);
    return claims;
  }

  async #ask(token: string): Promise<Claims | undefined> {
    const { endpoint, clientId, clientSecret, issuer, fetch = globalThis.fetch } = this.#options;
    const answer = await answerOf(fetch, {
      method: 'POST',
      url: endpoint,
      headers: [
        ['accept', 'application/json'],
        ['content-type', 'application/x-www-form-urlencoded'],
        ['authorization', basic(clientId, clientSecret)],
      ],
      body: String(new URLSearchParams({ token, token_type_hint: 'access_token' })),
      limit: LIMIT,
    });
    if (answer['active'] !== true) return undefined;
    return issuer === undefined ? answer : { iss: issuer, ...answer };
  }
}

/** Remembers so much and no more; the oldest is forgotten. */
function remember<T>(known: Map<string, T>, digest: string, value: T): void {
  known.set(digest, value);
  if (known.size <= REMEMBERED) return;
  for (const oldest of known.keys()) {
    known.delete(oldest);
    return;
  }
}

/** Credentials as OAuth wants them, encoded before they are joined (RFC 6749, section 2.3.1). */
function basic(name: string, secret: string): string {
  const [encodedName, encodedSecret] = [name, secret].map((text) =>
    String(new URLSearchParams({ '': text })).slice(1),
  );
  return `Basic ${Buffer.from(`${encodedName}:${encodedSecret}`).toString('base64')}`;
}

/** The JSON object that comes back. @throws VerifierUnavailableError */
async function answerOf(
  fetch: typeof globalThis.fetch,
  question: Parameters<typeof request>[1],
): Promise<Claims> {
  const { url } = question;
  const answer = await request(fetch, question).catch((cause: unknown) => {
    const why = cause instanceof TooLarge ? 'answers too much' : 'cannot be had';
    throw new VerifierUnavailableError(`${url} ${why}`, { cause });
  });
  if (answer.status !== 200) throw new VerifierUnavailableError(`${url} answers ${answer.status}`);
  const value = parsed(new TextDecoder().decode(answer.body));
  if (value === undefined) throw new VerifierUnavailableError(`${url} answers no JSON object`);
  return value;
}

function parsed(text: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Claims) : undefined;
  } catch {
    return undefined;
  }
}
