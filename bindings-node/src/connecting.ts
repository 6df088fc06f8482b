/** How a client connects: what it is made of, which programs that only serve do not load. */

import { capabilitiesOf } from './answers.js';
import { type Carriage, HttpCarriage, StreamCarriage } from './carriage.js';
import type { ClientOptions, HttpClientOptions, ServerInMemory } from './client.js';
import { now } from './clock.js';
import { Engine } from './engine.js';
import type { Command } from './process.js';
import { randomSeed } from './seed.js';
import { VERSION } from './sansio/facts.js';
import type { ClientSettings } from './sansio/settings.js';

/** What reads results. @internal */
export * as results from './results.js';

/**
 * Connects to a server; gives what runs the connection.
 *
 * @internal
 */
export async function connectTo(
  server: string | URL | Command | ServerInMemory,
  options: HttpClientOptions,
): Promise<Engine> {
  const engine = new Engine(await carriageTo(server, options), options);
  await engine.start();
  return engine;
}

async function carriageTo(
  server: string | URL | Command | ServerInMemory,
  options: HttpClientOptions,
): Promise<Carriage> {
  const settings = settingsOf(options);
  if (typeof server === 'string' || server instanceof URL) {
    const { fetch = globalThis.fetch, headers, auth } = options;
    const url = String(server);
    const authorizer = await auth?.authorizer(url);
    return new HttpCarriage({ ...settings, url }, fetch, new Headers(headers), authorizer);
  }
  if ('openLink' in server) return new StreamCarriage(settings, () => server.openLink());
  checkCommand(server);
  const { ChildLink } = await import('./process.js'); // which programs without children do without
  return new StreamCarriage(settings, () => new ChildLink(server, options.timeouts ?? {}));
}

function checkCommand({ command }: Command): void {
  if (!Array.isArray(command) || typeof command[0] !== 'string') {
    throw new TypeError("a client needs a URL, a server, or a command such as ['node', 'server.js']");
  }
}

function settingsOf(options: ClientOptions): ClientSettings {
  const { name = 'barewire', version = VERSION, title, revisions, era, limits, timeouts } = options;
  return {
    name,
    version,
    ...(title !== undefined && { title }),
    seed: randomSeed(),
    now: now(),
    capabilities: capabilitiesOf(options, options.capabilities ?? {}),
    ...(revisions !== undefined && { revisions }),
    ...(era !== undefined && { era }),
    ...(limits !== undefined && { limits }),
    ...(timeouts !== undefined && { timeouts }),
  };
}
