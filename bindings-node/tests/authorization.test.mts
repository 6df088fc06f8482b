/** The package against a real authorization server, in both roles: from login to the end of a grant. */

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inspect, promisify } from 'node:util';
import { Client, type HttpClientOptions, McpError, REVISIONS, UnauthorizedError } from 'barewire';
import {
  AuthorizationError,
  Browser,
  clientCredentials,
  FileTokenStore,
  type Grant,
  Introspection,
  MemoryTokenStore,
  oauth,
  type OAuthOptions,
  type StoredRecord,
} from 'barewire/auth';
import { freePort } from './free-port.mjs';
import {
  authorizationServer,
  browse,
  chromium,
  type Ending,
  missing,
  protectedServer,
} from './protected.mjs';
import { TestUser } from './user-agent.mjs';

const NEWEST = REVISIONS.slice(0, 1);
const LEGACY = REVISIONS.slice(1, 2);

/** Lets a test look into what is kept. */
class Store extends MemoryTokenStore {
  readonly records = new Map<string, StoredRecord>();

  override save(key: string, expected: number, record: StoredRecord): boolean {
    const isSaved = super.save(key, expected, record);
    if (isSaved) this.records.set(key, record);
    return isSaved;
  }

  get record(): StoredRecord {
    const [record] = this.records.values();
    assert.ok(record);
    return record;
  }

  get token(): Record<string, any> {
    return JSON.parse(this.record.text).token;
  }
}

function consenting(user: TestUser, options: OAuthOptions = {}): Grant {
  return oauth({ userAgent: new Browser({ open: user.open }), ...options });
}

/** What tools say, called one after another. */
async function say(
  url: string,
  auth: Grant,
  tools: readonly string[],
  options: HttpClientOptions = {},
): Promise<string[]> {
  const client = await Client.connect(url, { auth, ...options });
  try {
    const said: string[] = [];
    for (const tool of tools) {
      const { content, isError } = await client.callTool(tool);
      assert.ok(!isError);
      const [block] = content;
      said.push(block?.type === 'text' ? block.text : '');
    }
    return said;
  } finally {
    await client.close();
  }
}

/** The reason why somebody has no credentials. */
async function reason(promise: Promise<unknown>): Promise<AuthorizationError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof McpError, String(error));
    assert.ok(error.cause instanceof AuthorizationError, inspect(error));
    return error.cause;
  }
  throw new Error('nothing went wrong');
}

describe('with one authorization server', { skip: missing }, () => {
  let issuer: Ending;
  let server: Ending;

  before(async () => {
    issuer = await authorizationServer();
    server = await protectedServer([issuer.url]);
  });
  after(async () => {
    await server?.[Symbol.asyncDispose]();
    await issuer?.[Symbol.asyncDispose]();
  });

  for (const revisions of [NEWEST, LEGACY, REVISIONS]) {
    test(`a user logs in once (${revisions.length === 1 ? revisions : 'any revision'})`, async () => {
      const user = new TestUser();
      const auth = consenting(user);
      assert.deepEqual(await say(server.url, auth, ['whoami', 'granted'], { revisions }), [
        'alice',
        'tools:read',
      ]);
      assert.deepEqual(user.asked, ['tools:read offline_access']);
      const page = user.visited.find((address) => address.includes('/auth?')) as string;
      assert.equal(new URL(page).searchParams.get('resource'), server.url);
      // Another client with the same tokens needs no user.
      user.visited = [];
      assert.deepEqual(await say(server.url, auth, ['whoami'], { revisions }), ['alice']);
      assert.deepEqual(user.visited, []);
    });
  }

  test(
    'a user logs in with a browser',
    { skip: chromium ? false : 'chromium is not installed' },
    async () => {
      let seen = '';
      const open = (url: string): void => {
        void browse(url, 'carol').then((text) => (seen = text));
      };
      const auth = oauth({ userAgent: new Browser({ open }) });
      assert.deepEqual(await say(server.url, auth, ['whoami']), ['carol']);
      await until(async () => assert.match(seen, /close this window/));
    },
  );

  test('a user who says no', async () => {
    const failed = say(server.url, consenting(new TestUser('alice', false)), ['whoami']);
    await assert.rejects(failed, (error) => {
      assert.ok(error instanceof UnauthorizedError);
      assert.match(error.message, /the user said no/);
      return true;
    });
    const { code, error, isRetryable } = await reason(failed);
    assert.deepEqual([code, error, isRetryable], [726, 'access_denied', false]);
  });

  test('more is asked for when it is needed', async () => {
    const user = new TestUser();
    const auth = consenting(user);
    for (const revisions of [NEWEST, LEGACY]) {
      user.visited = [];
      const said = await say(server.url, auth, ['granted', 'write', 'granted'], { revisions });
      assert.deepEqual(said.slice(1), ['written by alice', 'tools:read tools:write']);
      // What there was is asked for again, so that nothing is lost.
      const first = ['tools:read offline_access', 'tools:read offline_access tools:write'];
      assert.deepEqual(user.asked, revisions === NEWEST ? first : []);
    }
  });

  test('secrets are seen nowhere', async () => {
    const store = new Store();
    const user = new TestUser();
    const auth = consenting(user, { store });
    await say(server.url, auth, ['whoami', 'write']);
    const secrets = [store.token['access_token'], store.token['refresh_token']] as string[];
    for (const address of user.visited) {
      const code = new URL(address).searchParams.get('code');
      if (code !== null) secrets.push(code);
    }
    assert.ok(secrets.length >= 4);
    const shown = [auth, store, store.record].map(
      (one) => inspect(one, { depth: Infinity, showHidden: true }) + JSON.stringify(one),
    );
    assert.deepEqual(
      secrets.filter((secret) => shown.join('').includes(secret)),
      [],
    );
  });

  test('a policy decides where requests go', async () => {
    const asked: string[] = [];
    const user = new TestUser();
    const auth = consenting(user, {
      allows: (purpose, url) => {
        asked.push(purpose);
        return !url.startsWith(issuer.url);
      },
    });
    assert.equal((await reason(say(server.url, auth, ['whoami']))).code, 754);
    assert.equal(asked[0], 'protected resource metadata');
    assert.deepEqual(user.visited, []);
  });

  test('a store that is out of order', async () => {
    class Broken extends MemoryTokenStore {
      override load(): never {
        throw new Error('the disk is gone');
      }
    }
    const failed = await reason(
      say(server.url, consenting(new TestUser(), { store: new Broken() }), ['whoami']),
    );
    assert.deepEqual([failed.code, failed.isRetryable], [763, true]);
    assert.match(String((failed.cause as Error).message), /the disk is gone/);
  });

  test('a user who does not come back', async () => {
    const auth = oauth({ userAgent: new Browser({ open: () => {} }), timeout: 300 });
    assert.equal((await reason(say(server.url, auth, ['whoami']))).code, 728);
  });

  test('a user who cannot be asked', async () => {
    const open = (): never => {
      throw new Error('no screen');
    };
    const failed = await reason(say(server.url, oauth({ userAgent: new Browser({ open }) }), ['whoami']));
    assert.equal((failed.cause as Error).message, 'no screen');
  });

  test('tokens bound to a key come from a server that knows how', async () => {
    // This resource server takes no bound tokens, and says so; the authorization server has taken the proof.
    const store = new Store();
    await reason(say(server.url, consenting(new TestUser(), { store, dpop: true }), ['whoami']));
    assert.equal(store.token['is_bound'], true);
  });
});

describe('with servers of their own', { skip: missing }, () => {
  test('tokens are renewed without a user, once for all who wait', async () => {
    // They are about to expire as soon as they are there.
    await using issuer = await authorizationServer({ accessTokenSeconds: 20 });
    await using server = await protectedServer([issuer.url]);
    const store = new Store();
    const user = new TestUser();
    let refreshes = 0;
    const auth = consenting(user, {
      store,
      fetch: (url, init) => {
        if (String(init?.body).includes('grant_type=refresh_token')) refreshes += 1;
        return fetch(url, init);
      },
    });
    await say(server.url, auth, ['whoami']);
    const [first, generation] = [store.token, store.record.generation];
    user.visited = [];
    await using client = await Client.connect(server.url, { auth, revisions: NEWEST });
    assert.ok(store.record.generation >= generation);
    refreshes = 0;
    const results = await Promise.all(Array.from({ length: 10 }, () => client.callTool('whoami')));
    assert.ok(results.every(({ isError }) => !isError));
    assert.ok(refreshes <= 2, `${refreshes} refreshes`);
    assert.deepEqual(user.visited, []);
    await say(server.url, auth, ['whoami', 'whoami']);
    assert.equal(user.visited.length, 0);
    assert.ok(first['access_token']);
  });

  test('processes share one renewal', async () => {
    // A refresh token that is used twice revokes the whole grant at this server.
    await using issuer = await authorizationServer({ accessTokenSeconds: 4 });
    await using server = await protectedServer([issuer.url]);
    const folder = await mkdtemp(join(tmpdir(), 'tokens-'));
    try {
      const auth = consenting(new TestUser(), { store: new FileTokenStore(folder) });
      assert.deepEqual(await say(server.url, auth, ['whoami']), ['alice']);
      const program = fileURLToPath(new URL('stored-tokens.mjs', import.meta.url));
      const run = promisify(execFile);
      const outputs = await Promise.all(
        [1, 2, 3].map(() => run(process.execPath, [program, server.url, folder])),
      );
      for (const { stdout } of outputs)
        assert.deepEqual(stdout.split(/\s+/).slice(0, 6), Array(6).fill('alice'));
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('a revoked token is renewed, and a revoked grant asked for anew', async () => {
    const about = {
      client_id: 'resource-server',
      client_secret: 'a secret of a server for tests',
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
      token_endpoint_auth_method: 'client_secret_basic',
    };
    await using issuer = await authorizationServer({ accessTokenFormat: 'opaque', clients: [about] });
    const verifier = new Introspection({
      endpoint: `${issuer.url}/token/introspection`,
      clientId: about.client_id,
      clientSecret: about.client_secret,
      issuer: issuer.url, // it leaves out whom its tokens are from
    });
    await using server = await protectedServer([issuer.url], verifier);
    const store = new Store();
    const user = new TestUser();
    const auth = consenting(user, { store });
    assert.deepEqual(await say(server.url, auth, ['whoami']), ['alice']);
    const first = store.token;
    user.visited = [];
    const forgotten = new URLSearchParams({ token: first['access_token'] });
    assert.equal((await fetch(`${issuer.url}/forget`, { method: 'POST', body: forgotten })).status, 204);
    assert.deepEqual(await say(server.url, auth, ['whoami']), ['alice']);
    assert.notEqual(store.token['access_token'], first['access_token']);
    assert.deepEqual(user.visited, []);
    const body = new URLSearchParams({ token: store.token['refresh_token'], client_id: first['client_id'] });
    assert.equal((await fetch(`${issuer.url}/token/revocation`, { method: 'POST', body })).status, 200);
    assert.deepEqual(await say(server.url, auth, ['whoami']), ['alice']);
    assert.equal(user.asked.length, 1);
  });

  test('a client that is known by its document', async () => {
    const document = 'https://client.example/client.json';
    const userAgent = new Browser({ open: new TestUser().open });
    const about = {
      client_id: document,
      client_name: 'A document',
      redirect_uris: [await userAgent.redirectUri()],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    };
    await using issuer = await authorizationServer({ documents: { [document]: about } });
    await using server = await protectedServer([issuer.url]);
    const store = new Store();
    const auth = oauth({ clientMetadataUrl: document, userAgent, store });
    assert.deepEqual(await say(server.url, auth, ['whoami']), ['alice']);
    assert.equal(store.token['client_id'], document);
  });

  test('a client can be closed while a user logs in', async () => {
    await using issuer = await authorizationServer();
    await using server = await protectedServer([issuer.url]);
    let opened = (): void => {};
    const isOpen = new Promise<void>((resolve) => (opened = resolve));
    const browser = new Browser({ open: () => opened() });
    // The newest revision asks nothing at the start of a connection whose era is known.
    const known = await Client.connect(server.url, {
      auth: consenting(new TestUser()),
      revisions: NEWEST,
    });
    const client = await Client.connect(server.url, {
      auth: oauth({ userAgent: browser }),
      era: known.era,
      revisions: NEWEST,
    });
    await known.close();
    const call = client.callTool('whoami');
    call.catch(() => {});
    await isOpen;
    await client.close();
    await assert.rejects(call, McpError);
    await until(async () => assert.rejects(fetch(await browser.redirectUri())));
  });

  test('a call can be given up while a user logs in, who may come back all the same', async () => {
    await using issuer = await authorizationServer();
    await using server = await protectedServer([issuer.url]);
    const user = new TestUser();
    const pages: string[] = [];
    let isAway = false;
    const open = (url: string): unknown => (isAway ? pages.push(url) : user.open(url));
    const store = new Store();
    const auth = oauth({ store, userAgent: new Browser({ open }) });
    await using client = await Client.connect(server.url, { auth, revisions: NEWEST });
    await client.callTool('whoami');
    isAway = true;
    const givenUp = new AbortController();
    const call = client.callTool('write', {}, { signal: givenUp.signal });
    call.catch(() => {});
    await until(async () => assert.equal(pages.length, 1));
    givenUp.abort();
    await assert.rejects(call);
    // Others are not held up by it.
    assert.ok(!(await client.callTool('whoami')).isError);
    const { generation } = store.record;
    await user.open(pages[0] as string);
    await until(async () => assert.ok(store.record.generation > generation));
    assert.ok(!(await client.callTool('write')).isError);
    assert.equal(pages.length, 1);
  });

  test('the server moves to another authorization server', async () => {
    await using first = await authorizationServer();
    await using second = await authorizationServer();
    const store = new Store();
    const user = new TestUser();
    const auth = consenting(user, { store });
    await using server = await protectedServer([first.url]);
    assert.deepEqual(await say(server.url, auth, ['whoami']), ['alice']);
    assert.equal(store.token['issuer'], first.url);
    const client = store.token['client_id'];
    user.visited = [];
    server.protect([second.url]);
    assert.deepEqual(await say(server.url, auth, ['whoami']), ['alice']);
    assert.equal(store.token['issuer'], second.url);
    // The client of one is none of the other.
    assert.notEqual(store.token['client_id'], client);
    assert.ok(!user.visited.some((address) => address.includes(client)));
  });

  test('a client acts for itself, with a secret or a key', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const about = { grant_types: ['client_credentials'], response_types: [], redirect_uris: [] };
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'ES256' };
    const clients = [
      {
        ...about,
        client_id: 'service:1',
        client_secret: 'se cret/of+the service',
        token_endpoint_auth_method: 'client_secret_basic',
      },
      {
        ...about,
        client_id: 'signer',
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_signing_alg: 'ES256',
        jwks: { keys: [jwk] },
      },
    ];
    await using issuer = await authorizationServer({ clients });
    await using server = await protectedServer([issuer.url]);
    const secret = clientCredentials({
      client: { clientId: 'service:1', issuer: issuer.url, secret: 'se cret/of+the service' },
    });
    assert.deepEqual(await say(server.url, secret, ['whoami']), ['service:1']);
    const signer = { clientId: 'signer', issuer: issuer.url, keyId: 'one' };
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
    const signed = clientCredentials({ client: { ...signer, key: pem } });
    assert.deepEqual(await say(server.url, signed, ['whoami']), ['signer']);
    // Another key is not taken, and the server's words reach the caller.
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const failed = await reason(
      say(server.url, clientCredentials({ client: { ...signer, key: other } }), ['whoami']),
    );
    assert.equal(failed.error, 'invalid_client');
  });

  test(
    'the examples',
    { skip: process.platform === 'linux' ? false : 'browsers open otherwise' },
    async () => {
      await using issuer = await authorizationServer({ scopes: 'notes:read notes:write' });
      const home = await mkdtemp(join(tmpdir(), 'home-'));
      const user = fileURLToPath(new URL('visit.mjs', import.meta.url));
      await writeFile(join(home, 'xdg-open'), `#!/bin/sh\nexec '${process.execPath}' '${user}' "$1"\n`, {
        mode: 0o755,
      });
      const port = await freePort();
      const example = (name: string): string =>
        fileURLToPath(new URL(`../examples/${name}.mjs`, import.meta.url));
      const server = spawn(process.execPath, [example('protected-server'), issuer.url, String(port)], {
        stdio: 'inherit',
      });
      try {
        const url = `http://127.0.0.1:${port}/mcp`;
        await until(() => fetch(url));
        const run = promisify(execFile);
        let said = '';
        for (const note of ['buy milk', 'call Bob']) {
          // The second time no browser is needed.
          const path = said === '' ? `${home}:${process.env['PATH']}` : '';
          const env = { ...process.env, HOME: home, PATH: path };
          said = (await run(process.execPath, [example('protected-client'), url, note], { env })).stdout;
        }
        assert.match(said, /'buy milk', 'call Bob'/);
      } finally {
        server.kill();
        await rm(home, { recursive: true });
      }
    },
  );
});

/** Waits until something works. */
async function until(attempt: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < 2_400; tries += 1) {
    if (
      await attempt().then(
        () => true,
        () => false,
      )
    )
      return;
    await sleep(50);
  }
  throw new Error('it does not work');
}
