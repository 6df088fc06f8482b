/** The authorization machine without I/O, where requests may go, and what of all that can be seen. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { inspect, promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Client } from 'barewire';
import { AuthorizationError, Browser, clientCredentials, oauth } from 'barewire/auth';
import { Authorization, type AuthorizationAction, type AuthorizationSettings } from 'barewire/sansio';
import { serve, trickle } from './web-server.mjs';

const URL_OF_SERVER = 'https://mcp.example/mcp';
const NOW = 1_800_000_000_000;

function machine(more: Partial<AuthorizationSettings> = {}): Authorization {
  return new Authorization({
    serverUrl: URL_OF_SERVER,
    grant: 'clientCredentials',
    seed: randomBytes(32),
    clients: [{ clientId: 'us', issuer: 'https://login.example', secret: 'hunter2' }],
    ...more,
  });
}

/** The next action, which has to be of this type. */
function next<Type extends AuthorizationAction['type']>(
  authorization: Authorization,
  type: Type,
): Extract<AuthorizationAction, { type: Type }> {
  const action = authorization.pollAction();
  assert.equal(action?.type, type);
  return action as Extract<AuthorizationAction, { type: Type }>;
}

function shown(value: unknown): string {
  return inspect(value, { depth: Infinity, showHidden: true }) + JSON.stringify(value);
}

const DOCUMENTS: Readonly<Record<string, object>> = {
  'https://mcp.example/.well-known/oauth-protected-resource/mcp': {
    resource: URL_OF_SERVER,
    authorization_servers: ['https://login.example'],
  },
  'https://login.example/.well-known/oauth-authorization-server': {
    issuer: 'https://login.example',
    authorization_endpoint: 'https://login.example/authorize',
    token_endpoint: 'https://login.example/token',
    token_endpoint_auth_methods_supported: ['client_secret_post'],
    code_challenge_methods_supported: ['S256'],
  },
  'https://login.example/token': { access_token: 'sesame', token_type: 'Bearer', expires_in: 3600 },
};

test('from a challenge to a token', () => {
  const authorization = machine();
  assert.equal(authorization.isReady(NOW), false);
  authorization.acquire(1, NOW);
  authorization.loaded(next(authorization, 'loadRecord').action, undefined, NOW);
  assert.deepEqual(authorization.pollEvent(), { waiter: 1, error: undefined });
  const none = authorization.credentials('POST', URL_OF_SERVER, NOW);
  assert.deepEqual([none.generation, none.authorization, none.proof], [0, undefined, undefined]);

  const refusal = { status: 401, challenges: ['Bearer'], dpopNonce: undefined, operation: 'tools/list' };
  authorization.challenge(2, refusal, 0, NOW);
  let sent = '';
  for (let steps = 0; authorization.credentials('POST', URL_OF_SERVER, NOW).generation === 0; steps += 1) {
    assert.ok(steps < 12);
    const action = authorization.pollAction();
    if (action?.type === 'loadRecord') authorization.loaded(action.action, undefined, NOW);
    if (action?.type !== 'sendRequest') continue;
    assert.ok(!shown(action).includes('hunter2') && !shown(action).includes(action.url));
    sent += action.body;
    const body = Buffer.from(JSON.stringify(DOCUMENTS[action.url] ?? null));
    const headers = [['content-type', 'application/json']] as const;
    authorization.receiveResponse(action.action, DOCUMENTS[action.url] ? 200 : 404, headers, body, NOW);
  }
  assert.match(sent, /client_secret=hunter2/);
  const saved = next(authorization, 'saveRecord');
  assert.match(saved.text, /sesame/);
  assert.ok(!shown(saved).includes('sesame'));
  authorization.saveConflicted(saved.action, undefined, NOW);
  authorization.saved(next(authorization, 'saveRecord').action, NOW);
  assert.deepEqual(authorization.pollEvent(), { waiter: 2, error: undefined });
  const credentials = authorization.credentials('POST', URL_OF_SERVER, NOW);
  assert.equal(credentials.authorization, 'Bearer sesame');
  assert.ok(!shown(credentials).includes('sesame') && !shown(authorization).includes('sesame'));
});

test('what cannot be done is refused with a reason', () => {
  const authorization = machine();
  authorization.acquire(7, NOW);
  authorization.failAction(next(authorization, 'loadRecord').action, 'unavailable', NOW);
  const event = authorization.pollEvent();
  assert.equal(event?.waiter, 7);
  assert.ok(event.error instanceof AuthorizationError);
  assert.deepEqual([event.error.code, event.error.isRetryable], [763, true]);
  assert.throws(() => authorization.receiveCallback('?code=x', NOW), AuthorizationError);
  assert.equal(authorization.awaitsCallback, false);
});

test('settings that cannot be used', () => {
  assert.throws(() => machine({ serverUrl: 'ftp://x' }), /server_url cannot be used/);
  assert.throws(() => machine({ grant: 'authorizationCode' }), /needs redirectUri/);
  assert.throws(() => machine({ seed: randomBytes(31) }), RangeError);
  assert.throws(
    () => machine({ clients: [{ clientId: 'us', secret: 'hunter2', algorithm: 'ES256' }] }),
    (error: Error) => /a secret or a key/.test(error.message) && !shown(error).includes('hunter2'),
  );
  // @ts-expect-error there is no such grant
  assert.throws(() => machine({ grant: 'password' }), /is none of/);
  assert.throws(() => clientCredentials({ client: { clientId: 'us', key: 'no key' } }), RangeError);
  // @ts-expect-error scopes are a list
  assert.throws(() => oauth({ scopes: 'a b' }), TypeError);
});

/** What becomes of a client whose server names this authorization server. */
async function ask(issuer: string): Promise<{ code: number; asked: string[] }> {
  const asked: string[] = [];
  const auth = clientCredentials({
    client: { clientId: 'us', secret: 'hunter2' },
    fetch: async (url) => {
      asked.push(String(url));
      if (!String(url).startsWith('https://mcp.example/')) return new Response('', { status: 404 });
      return Response.json({ resource: URL_OF_SERVER, authorization_servers: [issuer] });
    },
  });
  const refuse = async (): Promise<Response> =>
    new Response('', { status: 401, headers: { 'www-authenticate': 'Bearer' } });
  try {
    await Client.connect(URL_OF_SERVER, { auth, fetch: refuse });
  } catch (error) {
    const { cause } = error as Error;
    assert.ok(cause instanceof AuthorizationError, inspect(error));
    return { code: cause.code, asked };
  }
  throw new Error('it connected');
}

const REQUEST_FORBIDDEN = 754;

for (const host of [
  '10.0.0.1',
  '169.254.169.254',
  '172.31.0.1',
  '100.64.0.1',
  '0.0.0.0',
  '239.1.2.3',
  '2852039166',
  '[::1]',
  '[::ffff:10.0.0.1]',
  '[::a00:1]',
  '[64:ff9b::a00:1]',
  '[2002:a00:1::1]',
  '[fd00::1]',
  '[fe80::1]',
  '[ff02::1]',
  'localhost',
]) {
  test(`nothing is asked of ${host} for others`, async () => {
    const { code, asked } = await ask(`https://${host}`);
    assert.equal(code, REQUEST_FORBIDDEN);
    assert.ok(asked.every((url) => url.startsWith('https://mcp.example/')));
  });
}

for (const host of ['8.8.8.8', '[2606:4700::1111]', '[64:ff9b::808:808]']) {
  test(`the public internet may be asked: ${host}`, async () => {
    const { code, asked } = await ask(`https://${host}`);
    assert.notEqual(code, REQUEST_FORBIDDEN);
    assert.ok(asked.some((url) => url.startsWith(`https://${host}/`)));
  });
}

/** A client whose authorization server has everything but an answer of this kind to whoever sends secrets. */
async function failing(token: typeof fetch): Promise<Error> {
  const auth = clientCredentials({
    client: { clientId: 'us', secret: 'hunter2' },
    allows: () => true,
    fetch: async (url, init) => {
      if (String(url) === 'https://login.example/token') return token(url, init);
      const document = DOCUMENTS[String(url)];
      return document ? Response.json(document) : new Response('', { status: 404 });
    },
  });
  const refuse = async (): Promise<Response> =>
    new Response('', { status: 401, headers: { 'www-authenticate': 'Bearer' } });
  return Client.connect(URL_OF_SERVER, { auth, fetch: refuse }).then(
    () => assert.fail('it connected'),
    (error: Error) => error,
  );
}

test('a failure shows nothing that was sent', async (context) => {
  const origin = await serve(context, (request) =>
    request.resume().on('end', () => request.socket.destroy()),
  );
  let sent = '';
  const error = await failing((_, init) => {
    sent = String(init?.body);
    return fetch(`${origin}/`, init);
  });
  assert.match(sent, /hunter2/);
  assert.ok(error.cause instanceof AuthorizationError, inspect(error));
  assert.ok(error.cause.cause instanceof TypeError, inspect(error)); // what fetch threw
  assert.ok(!shown(error).includes('hunter2'));
});

test('a response that trickles for ever is given up, whatever is forgotten meanwhile', async (context) => {
  const origin = await serve(context, trickle);
  context.mock.timers.enable({ apis: ['setTimeout'] });
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const error = await failing(async (_, init) => {
    const response = await fetch(`${origin}/`, init);
    setImmediate(() => {
      collectGarbage();
      context.mock.timers.tick(60_000);
    });
    return response;
  });
  assert.match(String((error.cause as AuthorizationError).cause), /too long/);
});

test('the browser turns others away, and listens no longer than it is waited for', async () => {
  const opened: string[] = [];
  let redirect = '';
  const browser = new Browser({
    open: async (url) => {
      opened.push(url);
      for (const path of ['/', '/callback', '/callback?state=other&code=1', '/favicon.ico']) {
        assert.equal((await fetch(new URL(path, redirect))).status, 404);
      }
      const page = await fetch(`${redirect}?state=ours&code=a%2Fb`);
      assert.match(await page.text(), /close this window/);
      assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
    },
  });
  redirect = await browser.redirectUri();
  assert.match(redirect, /^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  const { signal } = new AbortController();
  const cameBack = await browser.visit('https://login.example/authorize?state=ours', signal);
  assert.equal(cameBack, `${redirect}?state=ours&code=a%2Fb`);
  assert.deepEqual(opened, ['https://login.example/authorize?state=ours']);
  await assert.rejects(fetch(redirect));
  // Who gives up is not waited for.
  const silent = new Browser({ open: () => {} });
  await assert.rejects(silent.visit('https://login.example/?state=x', AbortSignal.timeout(50)));
});

test('who wants no authorization loads none', async () => {
  const program = `
    const session = new (require('node:inspector').Session)();
    session.connect();
    session.on('Debugger.scriptParsed', ({ params }) => console.log(params.url));
    session.post('Debugger.enable');
    for (const entry of ['', '/stdio', '/http']) require('barewire' + entry);
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', program], {
    cwd: import.meta.dirname,
  });
  assert.match(stdout, /core\.mjs/);
  assert.doesNotMatch(stdout, /\Wauth\.m?js/);
});
