/** A protected server: who is let in, what they are told, and what they may do. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { inspect } from 'node:util';
import { Client, ResourceNotFoundError, Server } from 'barewire';
import {
  type Claims,
  ResourceServer,
  type ResourceServerOptions,
  type TokenVerifier,
  VerifierUnavailableError,
} from 'barewire/auth';
import { createHandler, type Handler, nodeHandler } from 'barewire/http';
import { LEGACY_REVISIONS, MODERN_REVISIONS } from 'barewire/sansio';

const RESOURCE = 'https://mcp.example/mcp';
const ISSUER = 'https://login.example';
const METADATA = 'https://mcp.example/.well-known/oauth-protected-resource/mcp';
const LATER = Math.floor(Date.now() / 1000) + 3600;

function claims(more: Claims = {}): Claims {
  return { iss: ISSUER, aud: RESOURCE, sub: 'alice', exp: LATER, scope: 'basic', ...more };
}

/** Claims in which one is nested so deep. */
function nested(depth: number): Claims {
  return claims({ deep: JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown });
}

const TOKENS: Readonly<Record<string, Claims>> = {
  alice: claims({ client_id: 'app' }),
  bob: claims({ sub: 'bob' }),
  writer: claims({ scope: 'basic write' }),
  admin: claims({ scope: 'basic admin' }),
  stranger: claims({ scope: 'other' }),
  expired: claims({ exp: 1_000 }),
  elsewhere: claims({ aud: 'https://other.example/mcp' }),
  foreign: claims({ iss: 'https://evil.example' }),
  deep: nested(2_000),
  deeper: nested(100_000),
};

class Known implements TokenVerifier {
  readonly asked: string[] = [];

  async verify(token: string): Promise<Claims | undefined> {
    this.asked.push(token);
    if (token === 'outage') throw new VerifierUnavailableError('the issuer is away');
    return TOKENS[token];
  }
}

function makeServer(): Server {
  const server = new Server({ name: 'files', version: '1' });
  server.tool('whoami', {}, (_, { caller }) =>
    [caller?.subject, caller?.client, caller?.scopes.join(), caller?.issuer].join(' '),
  );
  server.tool('write', { scopes: ['write'] }, () => 'written');
  server.tool(
    'save',
    {
      input: { type: 'object', properties: { path: { type: 'string' } } } as const,
      scopes: ({ path }) => (String(path).startsWith('/etc') ? ['admin'] : ['write']),
    },
    ({ path }) => `saved ${path}`,
  );
  server.resource('file:///secret', { name: 'secret', scopes: ['write'] }, () => 'secret');
  server.prompt('persuade', { scopes: ['write'] }, () => 'please');
  server.tool('lost', {}, () => {
    throw new ResourceNotFoundError();
  });
  return server;
}

function protect(options: Partial<ResourceServerOptions> = {}): { handler: Handler; known: Known } {
  const known = new Known();
  const auth = new ResourceServer({
    resource: RESOURCE,
    authorizationServers: [ISSUER],
    scopes: ['basic'],
    verifier: known,
    name: 'Files',
    documentation: 'https://docs.example',
    ...options,
  });
  const handler = createHandler(makeServer(), { path: '/mcp', auth, allowedHosts: ['mcp.example'] });
  return { handler, known };
}

function ask(handler: Handler, headers: HeadersInit, query = '', method = 'POST'): Promise<Response> {
  const all = new Headers(headers);
  all.set('content-type', 'application/json');
  const init = method === 'POST' ? { body: '{}' } : {};
  return handler(new Request(`${RESOURCE}${query}`, { method, headers: all, ...init }));
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** The parameters of a challenge. */
function challenge(response: Response): Record<string, string> {
  const text = response.headers.get('www-authenticate') ?? '';
  return Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
}

/** A client of a handler, which sends a token and remembers the last refusal. */
async function connect(
  handler: Handler,
  token: string,
  revisions: readonly string[],
): Promise<{ client: Client; refused: () => Response | undefined }> {
  let refused: Response | undefined;
  const client = await Client.connect(RESOURCE, {
    revisions,
    headers: bearer(token),
    fetch: async (url, init) => {
      const response = await handler(new Request(url, init));
      if (response.status >= 400) refused = response.clone();
      return response;
    },
  });
  return { client, refused: () => refused };
}

async function said(client: Client, name: string, args: object = {}): Promise<string> {
  const { content } = await client.callTool(name, args);
  const [block] = content;
  return block?.type === 'text' ? block.text : '';
}

test('who has no token is told where to get one', async () => {
  const { handler } = protect();
  for (const headers of [{}, { authorization: 'Basic YTpi' }]) {
    const response = await ask(handler, headers);
    assert.equal(response.status, 401);
    assert.deepEqual(challenge(response), { scope: 'basic', resource_metadata: METADATA });
  }
  await handler.close();
});

test('the metadata is for anybody', async () => {
  const { handler } = protect();
  for (const path of ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource']) {
    const url = `https://mcp.example${path}`;
    const response = await handler(new Request(url));
    assert.equal(response.headers.get('access-control-allow-origin'), '*');
    assert.deepEqual(await response.json(), {
      resource: RESOURCE,
      authorization_servers: [ISSUER],
      bearer_methods_supported: ['header'],
      scopes_supported: ['basic'],
      resource_name: 'Files',
      resource_documentation: 'https://docs.example',
    });
    const head = await handler(new Request(url, { method: 'HEAD' }));
    assert.deepEqual([head.status, await head.text()], [200, '']);
    const posted = await handler(new Request(url, { method: 'POST' }));
    assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD']);
  }
  await handler.close();
});

for (const [token, error] of [
  ['unknown', 'invalid'],
  ['expired', 'expired'],
  ['elsewhere', 'another resource'],
  ['foreign', 'another issuer'],
  ['deep', 'invalid'],
  ['deeper', 'invalid'],
] as const) {
  test(`a token that is no good: ${token}`, async () => {
    const { handler } = protect();
    const response = await ask(handler, bearer(token));
    assert.equal(response.status, 401);
    const { error: code, scope, error_description: description } = challenge(response);
    assert.deepEqual([code, scope], ['invalid_token', 'basic']);
    assert.ok(description?.includes(error), description);
    await handler.close();
  });
}

test('what a token says may be nested too deep to tell its issuer', async () => {
  const auth = new ResourceServer({ resource: RESOURCE, authorizationServers: [ISSUER] });
  const handler = createHandler(makeServer(), { path: '/mcp', auth, allowedHosts: ['mcp.example'] });
  const deep = Buffer.from('['.repeat(9_000)).toString('base64url');
  assert.equal((await ask(handler, bearer(`e30.${deep}.e30`))).status, 401);
  await handler.close();
});

test('credentials that are malformed', async () => {
  const { handler, known } = protect();
  const refusals = [
    await ask(handler, [
      ['authorization', 'Bearer alice'],
      ['authorization', 'Bearer alice'],
    ]),
    await ask(handler, bearer('a b')),
    await ask(handler, bearer('alice'), '?access_token=alice'),
  ];
  for (const response of refusals) {
    assert.deepEqual([response.status, challenge(response)['error']], [400, 'invalid_request']);
  }
  assert.deepEqual(known.asked, []);
  await handler.close();
});

test('an outage is no refusal', async (context) => {
  const { handler } = protect();
  const logged = context.mock.method(console, 'error', () => {});
  const response = await ask(handler, bearer('outage'));
  assert.deepEqual([response.status, response.headers.get('www-authenticate')], [503, null]);
  assert.match(inspect(logged.mock.calls[0]?.arguments), /cannot be verified.*the issuer is away/s);
  await handler.close();
});

for (const revisions of [MODERN_REVISIONS.slice(0, 1), LEGACY_REVISIONS.slice(0, 1)]) {
  describe(`in ${revisions}`, () => {
    test('handlers know who calls', async () => {
      const { handler } = protect();
      const { client } = await connect(handler, 'alice', revisions);
      assert.equal(await said(client, 'whoami'), `alice app basic ${ISSUER}`);
      await client.close();
      await handler.close();
    });

    test('what an operation needs is asked for', async (context) => {
      const logged = context.mock.method(console, 'error', () => {});
      const { handler } = protect();
      const { client, refused } = await connect(handler, 'bob', revisions);
      for (const operation of [
        () => client.callTool('write'),
        () => client.callTool('save', { path: '/home/x' }),
        () => client.readResource('file:///secret'),
        () => client.getPrompt('persuade'),
      ]) {
        await assert.rejects(operation());
        const response = refused();
        assert.equal(response?.status, 403);
        // All that the operation needs, in one.
        const { error, scope, resource_metadata: metadata } = challenge(response);
        assert.deepEqual([error, scope, metadata], ['insufficient_scope', 'basic write', METADATA]);
      }
      // It is not mistaken for the refusal of an origin.
      assert.deepEqual(logged.mock.calls, []);
      await client.close();
      await handler.close();
    });

    test('who has what is needed gets through', async () => {
      const { handler } = protect();
      const { client } = await connect(handler, 'writer', revisions);
      assert.equal(await said(client, 'write'), 'written');
      assert.equal(await said(client, 'save', { path: '/home/x' }), 'saved /home/x');
      assert.equal((await client.getPrompt('persuade')).messages.length, 1);
      assert.equal((await client.readResource('file:///secret')).contents.length, 1);
      await assert.rejects(client.callTool('save', { path: '/etc/passwd' }));
      await client.close();
      await handler.close();
    });
  });
}

test('one scope may stand for another', async () => {
  const { handler } = protect({ implies: (granted) => granted === 'admin' });
  const { client } = await connect(handler, 'admin', MODERN_REVISIONS);
  assert.equal(await said(client, 'write'), 'written');
  await client.close();
  await handler.close();
});

test('what everything needs is needed for everything', async () => {
  const { handler } = protect();
  const response = await ask(handler, bearer('stranger'));
  assert.deepEqual([response.status, challenge(response)['scope']], [403, 'basic']);
  await handler.close();
});

test('a session serves nobody else', async () => {
  const { handler } = protect();
  const { client } = await connect(handler, 'alice', LEGACY_REVISIONS.slice(0, 1));
  let session = '';
  const peer = await Client.connect(RESOURCE, {
    revisions: LEGACY_REVISIONS.slice(0, 1),
    headers: bearer('alice'),
    fetch: async (url, init) => {
      const response = await handler(new Request(url, init));
      session ||= response.headers.get('mcp-session-id') ?? '';
      return response;
    },
  });
  const about = { 'mcp-session-id': session, accept: 'application/json, text/event-stream' };
  const end = (token: string): Promise<Response> =>
    ask(handler, { ...about, ...bearer(token) }, '', 'DELETE');
  assert.equal((await end('bob')).status, 404);
  // A token that is no good any more says nothing of the session.
  assert.equal((await end('expired')).status, 401);
  assert.equal(await said(peer, 'whoami'), `alice app basic ${ISSUER}`);
  await peer.close();
  await client.close();
  await handler.close();
});

test('pages of allowed origins can read the challenge', async (context) => {
  context.mock.method(console, 'error', () => {});
  const { handler } = protect();
  const origin = 'http://localhost:5173';
  const response = await ask(handler, { origin });
  assert.deepEqual([response.status, response.headers.get('access-control-allow-origin')], [401, origin]);
  assert.match(response.headers.get('access-control-expose-headers') ?? '', /www-authenticate/i);
  const preflight = { origin, 'access-control-request-method': 'POST' };
  const asked = await ask(handler, preflight, '', 'OPTIONS');
  assert.equal(asked.status, 204);
  assert.match(asked.headers.get('access-control-allow-headers') ?? '', /authorization/i);
  const foreign = await ask(handler, { origin: 'http://evil.example' });
  assert.deepEqual([foreign.status, foreign.headers.get('www-authenticate')], [403, null]);
  await handler.close();
});

test('who wants scopes needs protection', async (context) => {
  const logged = context.mock.method(console, 'error', () => {});
  const handler = createHandler(makeServer(), { allowedHosts: ['mcp.example'] }); // forgot auth
  const { client } = await connect(handler, 'alice', MODERN_REVISIONS);
  assert.doesNotMatch(await said(client, 'write'), /written/);
  assert.match(inspect(logged.mock.calls[0]?.arguments), /the server is not protected/);
  await client.close();
  await handler.close();
});

test('who starts a server may do all', async () => {
  await using client = await Client.connect(makeServer());
  assert.equal(await said(client, 'write'), 'written');
});

test('mistakes are found where they are written', () => {
  const server = makeServer();
  const good = { resource: RESOURCE, authorizationServers: [ISSUER] };
  assert.throws(() => new ResourceServer({ ...good, resource: 'http://mcp.example/mcp' }), /resource cannot/);
  assert.throws(
    () => new ResourceServer({ ...good, authorizationServers: [] }),
    /authorization_servers cannot be used/,
  );
  // @ts-expect-error scopes are a list
  assert.throws(() => new ResourceServer({ ...good, scopes: 'a b' }), /are lists/);
  const auth = new ResourceServer(good);
  assert.throws(() => createHandler(server, { auth, principal: () => 'x' }), /another answer/);
  assert.throws(() => nodeHandler(server, { auth, principal: () => 'x' }), /another answer/);
  // @ts-expect-error scopes are a list
  assert.throws(() => server.tool('tool', { scopes: 'a b' }, () => ''), /scopes is a list/);
});

test('the same with node:http', async () => {
  const listener = createServer();
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const root = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const auth = new ResourceServer({
    resource: `${root}/mcp`,
    authorizationServers: [ISSUER],
    scopes: ['basic'],
    verifier: { verify: async (token) => TOKENS[token] && { ...TOKENS[token], aud: `${root}/mcp` } },
  });
  const handler = nodeHandler(makeServer(), { path: '/mcp', auth });
  listener.on('request', handler);
  try {
    const refused = await fetch(`${root}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: 'x'.repeat(100_000),
    });
    assert.equal(refused.status, 401);
    assert.equal(challenge(refused)['resource_metadata'], `${root}${auth.metadataPaths[0]}`);
    const metadata = await fetch(`${root}${auth.metadataPaths[0]}`);
    assert.equal(((await metadata.json()) as { resource: string }).resource, `${root}/mcp`);
    const client = await Client.connect(`${root}/mcp`, { headers: bearer('writer') });
    assert.equal(await said(client, 'whoami'), `alice  basic,write ${ISSUER}`);
    assert.equal(
      await said(client, 'save', { path: `/${'x'.repeat(100_000)}` }),
      `saved /${'x'.repeat(100_000)}`,
    );
    await client.close();
  } finally {
    await handler.close();
    listener.closeAllConnections();
    listener.close();
  }
});
