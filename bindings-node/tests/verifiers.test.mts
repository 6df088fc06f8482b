/** Whether a token is genuine: signatures by the keys of an issuer, and answers of one that is asked. */

import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { Introspection, JwtVerifier, VerifierUnavailableError } from 'barewire/auth';
import { exportJWK, generateKeyPair, type JWK, SignJWT, UnsecuredJWT } from 'jose';
import { serve, trickle } from './web-server.mjs';

/** An authorization server that answers what a test wants. */
class Issuer {
  readonly asked: string[] = [];
  keys: JWK[] = [];
  answer: (request: IncomingMessage, body: string) => unknown = () => undefined;
  url = '';

  static async start(context: TestContext): Promise<Issuer> {
    const issuer = new Issuer();
    issuer.url = await serve(context, async (request, response) => {
      issuer.asked.push(request.url ?? '');
      let body = '';
      for await (const chunk of request) body += chunk;
      const document = issuer.document(request, body);
      response.writeHead(document === undefined ? 404 : 200).end(JSON.stringify(document));
    });
    return issuer;
  }

  document(request: IncomingMessage, body: string): unknown {
    switch (request.url) {
      case '/.well-known/openid-configuration':
        return { issuer: this.url, jwks_uri: `${this.url}/keys` };
      case '/keys':
        return { keys: this.keys };
      default:
        return this.answer(request, body);
    }
  }

  /** How often its keys were fetched. */
  get fetches(): number {
    return this.asked.filter((path) => path === '/keys').length;
  }
}

async function makeKey(
  kid?: string,
  algorithm = 'ES256',
): Promise<{ sign: (issuer: string, typ?: string, more?: object) => Promise<string>; jwk: JWK }> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm);
  const sign = (issuer: string, typ = 'at+jwt', more: object = {}): Promise<string> =>
    new SignJWT({ scope: 'a', ...more })
      .setProtectedHeader({ alg: algorithm, typ, ...(kid !== undefined && { kid }) })
      .setIssuer(issuer)
      .sign(privateKey);
  return { sign, jwk: { ...(await exportJWK(publicKey)), ...(kid !== undefined && { kid }) } };
}

for (const algorithm of ['ES256', 'RS256', 'PS384', 'EdDSA']) {
  test(`a token that its issuer has signed with ${algorithm}`, async (context) => {
    const issuer = await Issuer.start(context);
    const key = await makeKey('one', algorithm);
    issuer.keys = [key.jwk, { kty: 'unheard-of' }];
    const verifier = new JwtVerifier(issuer.url);
    const claims = await verifier.verify(await key.sign(issuer.url));
    assert.deepEqual(claims, { scope: 'a', iss: issuer.url });
  });
}

test('tokens that are not genuine', async (context) => {
  const issuer = await Issuer.start(context);
  const [key, other] = [await makeKey('one'), await makeKey('one')];
  issuer.keys = [key.jwk];
  const verifier = new JwtVerifier(issuer.url);
  const good = await key.sign(issuer.url);
  const secret = new TextEncoder().encode(JSON.stringify(key.jwk));
  const bad = {
    forged: await other.sign(issuer.url),
    changed: `${good.slice(0, -4)}AAAA`,
    unsigned: new UnsecuredJWT({}).setIssuer(issuer.url).encode(),
    'of another issuer': await key.sign('https://other.example'),
    'an ID token': await key.sign(issuer.url, 'id_token+jwt'),
    'signed with the public key': await new SignJWT({})
      .setProtectedHeader({ alg: 'HS256', kid: 'one' })
      .setIssuer(issuer.url)
      .sign(secret),
    'too long': `${good}${'A'.repeat(20_000)}`,
    'no JWT': 'opaque',
    nothing: '',
  };
  for (const [what, token] of Object.entries(bad)) {
    assert.equal(await verifier.verify(token), undefined, what);
  }
  assert.ok(await verifier.verify(good));
  const narrow = new JwtVerifier(issuer.url, { algorithms: ['RS256'], jwksUri: `${issuer.url}/keys` });
  assert.equal(await narrow.verify(good), undefined);
});

test('keys without names are all tried', async (context) => {
  const issuer = await Issuer.start(context);
  const keys = [await makeKey(), await makeKey()];
  issuer.keys = keys.map(({ jwk }) => jwk);
  const verifier = new JwtVerifier(issuer.url);
  for (const key of keys) assert.ok(await verifier.verify(await key.sign(issuer.url)));
  assert.equal(await verifier.verify(await (await makeKey()).sign(issuer.url)), undefined);
});

test('a new key is fetched at once, but not for every token', async (context) => {
  const issuer = await Issuer.start(context);
  const [first, second, unknown] = [await makeKey('1'), await makeKey('2'), await makeKey('3')];
  issuer.keys = [first.jwk];
  let now = 0;
  context.mock.method(performance, 'now', () => now);
  const verifier = new JwtVerifier(issuer.url);
  assert.ok(await verifier.verify(await first.sign(issuer.url)));
  assert.equal(issuer.fetches, 1);
  issuer.keys = [second.jwk];
  now += 20_000;
  assert.ok(await verifier.verify(await second.sign(issuer.url)));
  assert.equal(issuer.fetches, 2);
  // The key of the first is withdrawn, though the token was found genuine before.
  assert.equal(await verifier.verify(await first.sign(issuer.url)), undefined);
  for (let count = 0; count < 5; count += 1) {
    assert.equal(await verifier.verify(await unknown.sign(issuer.url)), undefined);
  }
  assert.equal(issuer.fetches, 2);
  // They are fetched again when they are old.
  now += 700_000;
  assert.ok(await verifier.verify(await second.sign(issuer.url)));
  assert.equal(issuer.fetches, 3);
});

test('many at once fetch the keys once', async (context) => {
  const issuer = await Issuer.start(context);
  const key = await makeKey('one');
  issuer.keys = [key.jwk];
  const verifier = new JwtVerifier(issuer.url);
  const tokens = await Promise.all([1, 2, 3, 4].map((jti) => key.sign(issuer.url, 'JWT', { jti })));
  assert.ok((await Promise.all(tokens.map((token) => verifier.verify(token)))).every(Boolean));
  assert.equal(issuer.fetches, 1);
});

test('an issuer that is away', async (context) => {
  const issuer = await Issuer.start(context);
  const key = await makeKey('one');
  const verifier = new JwtVerifier(issuer.url, { jwksUri: `${issuer.url}/nowhere` });
  await assert.rejects(verifier.verify(await key.sign(issuer.url)), VerifierUnavailableError);
  const nobody = new JwtVerifier(`${issuer.url}/tenant`);
  await assert.rejects(nobody.verify(await key.sign(issuer.url)), /cannot be had/);
});

test('nobody waits for a slow issuer while there are old keys', async (context) => {
  const issuer = await Issuer.start(context);
  const key = await makeKey('one');
  issuer.keys = [key.jwk];
  let now = 0;
  context.mock.method(performance, 'now', () => now);
  let asked = (): void => {};
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  let answer = (): void => {};
  const answers = new Promise<void>((resolve) => (answer = resolve));
  const verifier = new JwtVerifier(issuer.url, {
    jwksUri: `${issuer.url}/keys`,
    fetch: async (...request) => {
      if (now > 0) {
        asked();
        await answers;
      }
      return fetch(...request);
    },
  });
  const token = await key.sign(issuer.url);
  assert.ok(await verifier.verify(token));
  now = 700_000;
  let isDone = false;
  const asking = verifier.verify(token).finally(() => (isDone = true));
  await isAsked;
  assert.ok(await verifier.verify(token));
  assert.equal(isDone, false);
  answer();
  assert.ok(await asking);
  assert.equal(issuer.fetches, 2);
});

for (const url of ['http://login.example/x', 'file:///etc/passwd', 'https://me@login.example/x', '']) {
  test(`keys and tokens do not travel where others read along: '${url}'`, async (context) => {
    const credentials = { clientId: 'us', clientSecret: 'secret' };
    assert.throws(() => new JwtVerifier('https://login.example', { jwksUri: url }), RangeError);
    assert.throws(() => new Introspection({ endpoint: url, ...credentials }), RangeError);
    const issuer = await Issuer.start(context);
    issuer.answer = ({ url: path }) =>
      path === '/.well-known/oauth-authorization-server' && { issuer: issuer.url, jwks_uri: url };
    const verifier = new JwtVerifier(issuer.url);
    await assert.rejects(verifier.verify(await (await makeKey()).sign(issuer.url)), (error: Error) => {
      assert.ok(error instanceof VerifierUnavailableError);
      assert.ok(error.cause instanceof RangeError, inspect(error));
      return true;
    });
  });
}

test('a response that trickles for ever is given up', async (context) => {
  const url = `${await serve(context, trickle)}/`;
  context.mock.timers.enable({ apis: ['setTimeout'] });
  // The time is over when the body has begun.
  const trickling: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    setImmediate(() => context.mock.timers.tick(60_000));
    return response;
  };
  const credentials = { clientId: 'us', clientSecret: 'hunter2' };
  const introspection = new Introspection({ endpoint: url, ...credentials, fetch: trickling });
  await assert.rejects(introspection.verify('sesame'), (error: Error) => {
    assert.ok(error instanceof VerifierUnavailableError);
    assert.match(String(error.cause), /too long/);
    const shown = inspect(error, { depth: Infinity, showHidden: true });
    for (const secret of ['sesame', 'hunter2', btoa('us:hunter2')]) assert.ok(!shown.includes(secret));
    return true;
  });
  const verifier = new JwtVerifier('https://login.example', { jwksUri: url, fetch: trickling });
  await assert.rejects(verifier.verify(await (await makeKey()).sign(url)), VerifierUnavailableError);
});

test('algorithms that need a secret are none', () => {
  assert.throws(() => new JwtVerifier('https://login.example', { algorithms: ['HS256'] }), RangeError);
});

test('an issuer is asked about a token', async (context) => {
  const issuer = await Issuer.start(context);
  issuer.answer = ({ headers }, body) => {
    const [user, password] = Buffer.from(headers.authorization?.split(' ')[1] ?? '', 'base64')
      .toString()
      .split(':');
    assert.deepEqual([user, password], ['server%3A1', 'se+cret']);
    const token = new URLSearchParams(body).get('token');
    return token === 'broken' ? [] : { active: token === 'good', sub: 'alice' };
  };
  const options = { endpoint: `${issuer.url}/introspect`, clientId: 'server:1', clientSecret: 'se cret' };
  const verifier = new Introspection(options);
  assert.equal((await verifier.verify('good'))?.['sub'], 'alice');
  assert.equal(await verifier.verify('revoked'), undefined);
  await assert.rejects(verifier.verify('broken'), VerifierUnavailableError);
  await verifier.verify('good');
  assert.equal(issuer.asked.length, 4);
  assert.equal((await verifier.verify('good'))?.['iss'], undefined);
  const stating = new Introspection({ ...options, issuer: 'https://as.example' });
  assert.equal((await stating.verify('good'))?.['iss'], 'https://as.example');
  assert.equal(await stating.verify('revoked'), undefined);
  issuer.asked.length = 4;
  const remembering = new Introspection({ ...options, remembers: 60_000 });
  for (let count = 0; count < 3; count += 1) assert.ok(await remembering.verify('good'));
  assert.equal(issuer.asked.length, 5);
  const nowhere = new Introspection({ ...options, endpoint: 'http://127.0.0.1:9/' });
  await assert.rejects(nowhere.verify('good'), VerifierUnavailableError);
});
