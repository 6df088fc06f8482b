/** The user's browser: it is sent to the authorization server, and received here when it comes back. */

import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the user consents in. {@link Browser} is the one for programs on the user's machine. */
export interface UserAgent {
  /** Where the authorization server sends the user back to. It must not change. */
  redirectUri(): string | Promise<string>;
  /**
   * Has the user visit `url`; gives the URL that they come back to, whole. The signal is aborted when the user takes too
   * long. What is thrown says that the user does not want it.
   */
  visit(url: string, signal: AbortSignal): Promise<string>;
}

/** Options of a {@link Browser}. */
export interface BrowserOptions {
  /**
   * Where it is listened, while somebody is awaited. Default: a free port, which authorization servers have to take
   * whatever was registered (RFC 8252, section 7.3), though not all do.
   */
  readonly port?: number;
  /** Opens a URL. Default: the browser of the system; where there is none, the URL is written to standard error. */
  readonly open?: (url: string) => unknown;
}

const HOST = '127.0.0.1';
const PATH = '/callback';

const PAGE = `<!doctype html><meta charset="utf-8"><title>Done</title>
<p>You can close this window and go back to the application.</p>
`;
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  // The address holds the code.
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'",
  connection: 'close',
};
// Bytes of the address that a browser comes back with, at most.
const LONGEST = 16 << 10;

/** The user's own browser, and a web server on the loopback interface that it comes back to. */
export class Browser implements UserAgent {
  readonly #open: (url: string) => unknown;
  /** Who waits, by the state that tells whom a callback is for. */
  readonly #waiting = new Map<string, (url: string) => void>();
  #port: number | Promise<number>;
  #server: Promise<Server> | undefined;

  /** @param options - Where it comes back to, and how it is opened. */
  constructor({ port = 0, open = openBrowser }: BrowserOptions = {}) {
    this.#port = port;
    this.#open = open;
  }

  /** Where the browser comes back to. */
  async redirectUri(): Promise<string> {
    this.#port ||= freePort();
    return `http://${HOST}:${await this.#port}${PATH}`;
  }

  /** Opens `url`, and waits until the browser comes back from there. Others that come are turned away. */
  async visit(url: string, signal: AbortSignal): Promise<string> {
    const state = new URL(url).searchParams.get('state') ?? '';
    const cameBack = new Promise<string>((resolve, reject) => {
      this.#waiting.set(state, resolve);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    cameBack.catch(() => {}); // it may be over before it is waited for
    try {
      await this.#listen();
      signal.throwIfAborted();
      await Promise.race([this.#open(url), cameBack]);
      return await cameBack;
    } finally {
      await this.#leave(state);
    }
  }

  async #listen(): Promise<void> {
    const { port } = new URL(await this.redirectUri());
    this.#server ??= listening(Number(port), (request, response) => this.#receive(request, response));
    await this.#server;
  }

  async #leave(state: string): Promise<void> {
    this.#waiting.delete(state);
    if (this.#waiting.size > 0) return;
    const server = this.#server;
    this.#server = undefined;
    // The page that was asked for last is still being sent.
    (await server?.catch(() => undefined))?.close();
  }

  #receive({ method, url = '' }: IncomingMessage, response: ServerResponse): void {
    const [path, query = ''] = url.length > LONGEST ? [''] : url.split('?', 2);
    // Whether there may be several is not to be decided here.
    const states = new URLSearchParams(query).getAll('state');
    const state = states.find((one) => this.#waiting.has(one));
    const resolve = state === undefined ? undefined : this.#waiting.get(state);
    if (method !== 'GET' || path !== PATH || resolve === undefined) {
      response.writeHead(404, { connection: 'close' }).end();
      return;
    }
    response.writeHead(200, HEADERS).end(PAGE);
    const { port } = response.socket?.address() as AddressInfo;
    resolve(`http://${HOST}:${port}${PATH}?${query}`);
  }
}

function listening(
  port: number,
  receive: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer({ requestTimeout: 10_000 }, receive);
    server.on('error', reject);
    server.listen(port, HOST, () => resolve(server));
  });
}

async function freePort(): Promise<number> {
  const probe = await listening(0, () => {});
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** What opens a URL, by platform. No shell is among them. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};
const OPENER = ['xdg-open'];

function openBrowser(url: string): Promise<void> {
  const [file = '', ...args] = OPENERS[process.platform] ?? OPENER;
  return new Promise((resolve) => {
    const child = spawn(file, [...args, url], { stdio: 'ignore', detached: true });
    child.on('spawn', () => {
      child.unref();
      resolve();
    });
    const show = (): void => {
      console.error(`Open this page to authorize: ${url}`);
      resolve();
    };
    child.on('error', show);
    child.on('exit', (status) => {
      if (status !== 0) show();
    });
  });
}
