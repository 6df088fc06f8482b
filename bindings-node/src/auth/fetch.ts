/** Requests beside those of the protocol: to authorization servers, whose addresses others have named. */

import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import type { HeaderPairs } from '../sansio/headers.js';
import { serverMetadataUrls } from '../sansio/resource-server.js';

/** The body of a response has more bytes than it may. @internal */
export class TooLarge extends Error {}

/** The address belongs to a network that is not reached for others. @internal */
export class AddressRefused extends Error {}

/** What came back. @internal */
export interface Answer {
  readonly status: number;
  readonly headers: HeaderPairs & Headers;
  readonly body: Uint8Array;
}

/** What is asked for. @internal */
export interface Question {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly [name: string, value: string][];
  readonly body?: string;
  /** Bytes that the body of the answer may have. */
  readonly limit: number;
  readonly signal?: AbortSignal;
}

/** Milliseconds that a request takes with all of its response, at most. */
const PATIENCE = 30_000;

/**
 * Makes one request, and follows no redirect. It is given up when it takes long, be it that the response never stalls.
 *
 * @throws TooLarge, or what `fetch` throws.
 * @internal
 */
export async function request(fetch: typeof globalThis.fetch, question: Question): Promise<Answer> {
  const { method, url, headers, body, limit, signal } = question;
  // Not AbortSignal.any: its signal is forgotten while nobody but `fetch` has it, and then aborts nothing.
  const ending = new AbortController();
  const giveUp = (): void => ending.abort(signal?.reason);
  const timer = setTimeout(() => ending.abort(new Error('it takes too long')), PATIENCE);
  signal?.addEventListener('abort', giveUp);
  if (signal?.aborted) giveUp();
  try {
    const response = await fetch(url, {
      method,
      headers: [...headers],
      redirect: 'manual',
      signal: ending.signal,
      ...(body && { body }),
    });
    return { status: response.status, headers: response.headers, body: await read(response, limit) };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

async function read(response: Response, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    // Leaving the loop closes the connection.
    if (length > limit) throw new TooLarge(`the response has more than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The URL of an endpoint. @throws RangeError if others could read along. @internal */
export function refusePlaintext(url: string): string {
  if (serverMetadataUrls(url).length === 0) {
    throw new RangeError(`'${url}' is no URL with https, nor one of this machine`);
  }
  return url;
}

/** Networks that are no part of the public internet (IANA, Special-Purpose Address Registries). */
const INSIDE_4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
];
/** The public part of IPv6, and what of it is special; `64:ff9b::/96` stands for all of IPv4. */
const OUTSIDE_6 = ['2000::', 3] as const;
const INSIDE_6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];
const TRANSLATED = '64:ff9b::';

const inside = new BlockList();
for (const [network, prefix] of INSIDE_4) inside.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of INSIDE_6) inside.addSubnet(network, prefix, 'ipv6');
const outside = new BlockList();
outside.addSubnet(...OUTSIDE_6, 'ipv6');
const translated = new BlockList();
translated.addSubnet(TRANSLATED, 96, 'ipv6');

/** Whether an address is not one of the public internet. @internal */
export function isInsideAddress(address: string): boolean {
  if (isIP(address) === 4) return inside.check(address, 'ipv4');
  const plain = address.split('%')[0] as string;
  if (translated.check(plain, 'ipv6')) return inside.check(lastFour(plain), 'ipv4');
  return !outside.check(plain, 'ipv6') || inside.check(plain, 'ipv6');
}

/** The IPv4 address at the end of one of IPv6. */
function lastFour(address: string): string {
  // In this form all groups are hexadecimal.
  const { hostname } = new URL(`http://[${address}]`);
  const groups = hostname.slice(1, -1).split(':').slice(-2);
  const [high = 0, low = 0] = groups.map((group) => Number.parseInt(group || '0', 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/**
 * Whether any address of the host is on this machine or in a private network.
 *
 * A name that leads nowhere from here is left to whoever connects, which may be a proxy.
 *
 * @internal
 */
export async function isInside(url: string): Promise<boolean> {
  const { hostname } = new URL(url);
  const name = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  try {
    const found = await lookup(name, { all: true });
    return found.some(({ address }) => isInsideAddress(address));
  } catch {
    return false;
  }
}

/** @throws AddressRefused if the host is not on the public internet. @internal */
export async function refuseInside(url: string): Promise<void> {
  if (await isInside(url)) {
    throw new AddressRefused(`${new URL(url).hostname} is not on the public internet`);
  }
}
