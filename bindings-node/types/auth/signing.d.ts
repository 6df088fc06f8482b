/** Signatures as JWS has them, with keys of the host. */
import { KeyObject } from 'node:crypto';
/** A private key: in PEM, or as `node:crypto` has it. */
export type PrivateKey = string | Buffer | KeyObject;
/** Signs bytes; the signature has the form of RFC 7518. */
export type Sign = (data: Uint8Array) => Uint8Array | Promise<Uint8Array>;
