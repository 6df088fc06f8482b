/** Machines for tests, and bytes between them. */

import {
  Client,
  type ClientEvent,
  type ClientSettings,
  LEGACY_REVISIONS,
  MODERN_REVISIONS,
  Server,
  type ServerEvent,
  type ServerSettings,
} from 'barewire/sansio';

/** A seed, which is no secret in a test. */
export const SEED = new Uint8Array(32).fill(7);
/** The newest revision with a handshake. */
export const LEGACY = LEGACY_REVISIONS[0] as string;
/** The newest stateless revision. */
export const MODERN = MODERN_REVISIONS[0] as string;
/** One revision of each era. */
export const ERAS = [LEGACY, MODERN];

/** A server with one of everything. */
export function makeServer(settings: Partial<ServerSettings> = {}): Server {
  const server = new Server({ name: 's', version: '1', seed: SEED, clockOrigin: 0, ...settings });
  server.addTool('{"name":"echo","inputSchema":{"type":"object"}}');
  server.addResource('{"uri":"memo://one","name":"one"}');
  server.addResourceTemplate('{"uriTemplate":"memo://{name}","name":"memo"}');
  server.addPrompt('{"name":"greet"}');
  return server;
}

/** A client of one revision. */
export function makeClient(revision: string, settings: Partial<ClientSettings> = {}): Client {
  return new Client({ name: 'c', version: '1', seed: SEED, now: 0, revisions: [revision], ...settings });
}

/** A client and a server, and what they have told. */
export class Pair {
  readonly client: Client;
  readonly server: Server;
  now = 0;

  constructor(client: Client, server: Server) {
    this.client = client;
    this.server = server;
  }

  /** Moves bytes until none are left; gives what was told. */
  settle(): { client: ClientEvent[]; server: ServerEvent[] } {
    const told = { client: this.client.events(), server: this.server.events() };
    for (;;) {
      const up = this.client.dataToSend();
      const down = this.server.dataToSend();
      if (up.length === 0 && down.length === 0) return told;
      told.server.push(...this.server.receiveData(up, this.now));
      told.client.push(...this.client.receiveData(down, this.now));
    }
  }
}

/** A pair that is ready. */
export function connected(revision: string, client: Partial<ClientSettings> = {}): Pair {
  const pair = new Pair(makeClient(revision, client), makeServer({ completions: true }));
  pair.settle();
  return pair;
}

/** The only event, which has to be of that type. */
export function only<E extends { type: string }, T extends E['type']>(
  events: readonly E[],
  type: T,
): Extract<E, { type: T }> {
  const [event] = events;
  if (events.length !== 1 || event?.type !== type) {
    throw new Error(`expected ${type}, got ${events.map((one) => one.type).join(', ') || 'nothing'}`);
  }
  return event as Extract<E, { type: T }>;
}
