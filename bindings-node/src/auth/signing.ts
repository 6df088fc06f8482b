/** Signatures as JWS has them, with keys of the host. */

import {
  constants,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  KeyObject,
  sign as signWith,
  type SignKeyObjectInput,
} from 'node:crypto';
import { promisify } from 'node:util';

/** A private key: in PEM, or as `node:crypto` has it. */
export type PrivateKey = string | Buffer | KeyObject;

/** Signs bytes; the signature has the form of RFC 7518. */
export type Sign = (data: Uint8Array) => Uint8Array | Promise<Uint8Array>;

interface Algorithm {
  /** The hash; null where the algorithm has its own. */
  readonly hash: string | null;
  /** The type of key, and for elliptic curves, which. */
  readonly type: string;
  readonly curve?: string;
  readonly options?: Omit<SignKeyObjectInput, 'key'>;
}

const PSS = {
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
};
const EC = { dsaEncoding: 'ieee-p1363' } as const;

const ALGORITHMS: Readonly<Record<string, Algorithm>> = {
  ES256: { hash: 'sha256', type: 'ec', curve: 'prime256v1', options: EC },
  ES384: { hash: 'sha384', type: 'ec', curve: 'secp384r1', options: EC },
  ES512: { hash: 'sha512', type: 'ec', curve: 'secp521r1', options: EC },
  RS256: { hash: 'sha256', type: 'rsa' },
  RS384: { hash: 'sha384', type: 'rsa' },
  RS512: { hash: 'sha512', type: 'rsa' },
  PS256: { hash: 'sha256', type: 'rsa', options: PSS },
  PS384: { hash: 'sha384', type: 'rsa', options: PSS },
  PS512: { hash: 'sha512', type: 'rsa', options: PSS },
  Ed25519: { hash: null, type: 'ed25519' },
  EdDSA: { hash: null, type: 'ed25519' },
};

// In a thread of its own, because signing with RSA takes its time.
const signed = promisify(
  (
    hash: string | null,
    data: Uint8Array,
    key: SignKeyObjectInput,
    done: (error: Error | null, signature?: Buffer) => void,
  ) => signWith(hash, data, key, done),
);

/**
 * What signs with a key.
 *
 * @throws RangeError for a key that does not fit the algorithm, or an algorithm that is none for a private key.
 * @internal
 */
export function importKey(given: PrivateKey, name: string): Sign {
  const algorithm = Object.hasOwn(ALGORITHMS, name) ? ALGORITHMS[name] : undefined;
  if (algorithm === undefined) throw new RangeError(`'${name}' is no algorithm for a private key`);
  const key = privateKey(given);
  const curve = key.asymmetricKeyDetails?.namedCurve;
  if (
    key.asymmetricKeyType !== algorithm.type ||
    (algorithm.curve !== undefined && curve !== algorithm.curve)
  ) {
    throw new RangeError(`the key is none for ${name}`);
  }
  const input = { key, ...algorithm.options };
  return async (data) => (await signed(algorithm.hash, data, input)) as Buffer;
}

function privateKey(given: PrivateKey): KeyObject {
  const key = given instanceof KeyObject ? given : parsed(given);
  if (key.type !== 'private') throw new RangeError('the key is no private key');
  return key;
}

function parsed(given: string | Buffer): KeyObject {
  try {
    return createPrivateKey(given);
  } catch {
    // What OpenSSL says of it may show parts of it.
    throw new RangeError('the key is no private key in PEM');
  }
}

/** A key that tokens are bound to. @internal */
export interface ProofKey {
  readonly algorithm: string;
  /** Its public part as a JWK. */
  readonly publicKey: string;
  readonly sign: Sign;
}

/** @throws RangeError for a key that is not on the curve P-256. @internal */
export function proofKey(given: true | PrivateKey): ProofKey {
  const key =
    given === true ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey : privateKey(given);
  const sign = importKey(key, 'ES256');
  const { kty, crv, x, y } = createPublicKey(key as unknown as string).export({ format: 'jwk' });
  return { algorithm: 'ES256', publicKey: JSON.stringify({ kty, crv, x, y }), sign };
}
