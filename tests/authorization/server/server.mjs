// An authorization server for tests, on the loopback interface: `node server.mjs [OPTIONS]`, the options as one JSON
// object. Once it listens it prints `{"issuer": "http://127.0.0.1:PORT"}` on a line; it ends with its standard input.
//
// It is `oidc-provider` with pages for login and consent that take every name and ask for no password. Revoking an access
// token ends the whole grant; POST /forget with `token` in a form makes that token invalid and nothing else. Options:
//   port                 where it listens; a free port if there is none
//   path                 what the issuer has for a path, such as "/tenant"
//   scopes               those of every resource; "tools:read tools:write" if there are none
//   resources            URLs of the resources that it has tokens for; all if there are none
//   accessTokenSeconds   how long access tokens are good (300)
//   accessTokenFormat    "jwt" or "opaque" ("jwt")
//   refreshes            whether there are refresh tokens (true), which are used once
//   registers            whether clients can register themselves (true)
//   clients              clients that it knows, as in RFC 7591
//   documents            client id metadata documents by their URLs, which stand in for fetching them
//   dpop                 whether tokens may be bound to keys (true)
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";

import { Provider } from "oidc-provider";

const options = {
  port: 0,
  path: "",
  scopes: "tools:read tools:write",
  resources: null,
  accessTokenSeconds: 300,
  accessTokenFormat: "jwt",
  refreshes: true,
  registers: true,
  clients: [],
  documents: null,
  dpop: true,
  ...JSON.parse(process.argv[2] ?? "{}"),
};

function signingKey() {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...privateKey.export({ format: "jwk" }), alg: "ES256", use: "sig", kid: "signing" };
}

function resourceServer(resource) {
  if (options.resources !== null && !options.resources.includes(resource)) {
    throw new InvalidTarget();
  }
  return {
    scope: options.scopes,
    audience: resource,
    accessTokenTTL: options.accessTokenSeconds,
    accessTokenFormat: options.accessTokenFormat,
    jwt: { sign: { alg: "ES256" } },
  };
}

class InvalidTarget extends Error {
  constructor() {
    super("invalid_target");
    Object.assign(this, { error: "invalid_target", error_description: "no such resource", expose: true });
    Object.assign(this, { status: 400, statusCode: 400 });
  }
}

async function fetchDocument(url) {
  const document = options.documents[url];
  return document === undefined
    ? new Response("", { status: 404 })
    : new Response(JSON.stringify(document), { headers: { "content-type": "application/json" } });
}

function configuration() {
  return {
    jwks: { keys: [signingKey()] },
    cookies: { keys: ["the cookies of a server for tests"] },
    clients: options.clients,
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    clientAuthMethods: ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"],
    scopes: ["openid", "offline_access"],
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { url: (_, interaction) => `${options.path}/interaction/${interaction.uid}` },
    issueRefreshToken: (_, client) => options.refreshes && client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
    expiresWithSession: () => false,
    pkce: { required: () => true },
    ttl: { AccessToken: options.accessTokenSeconds, ClientCredentials: options.accessTokenSeconds },
    fetch: options.documents === null ? fetch : fetchDocument,
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
      clientCredentials: { enabled: true },
      dPoP: { enabled: options.dpop },
      introspection: { enabled: true, allowedPolicy: () => true },
      revocation: { enabled: true, allowedPolicy: () => true },
      registration: { enabled: options.registers },
      clientIdMetadataDocument: { enabled: options.documents !== null, ack: "draft-02" },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => resourceServer(resource),
      },
    },
  };
}

const escaped = (text) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** The page for what the user has to do: log in, or consent to what a client wants. */
function page({ prompt, params }) {
  const wants = escaped(params.scope ?? "nothing in particular");
  const fields =
    prompt.name === "login"
      ? '<label>Name <input name="login" required autofocus></label>'
      : `<p>${escaped(params.client_id)} wants: <span id="scopes">${wants}</span></p>`;
  return `<!doctype html><title>${prompt.name}</title><h1>${prompt.name}</h1><form method="post">${fields}
<button name="answer" value="yes">Continue</button>
<button name="answer" value="no" formnovalidate>Cancel</button></form>`;
}

async function body(request) {
  const chunks = [];
  for await (const chunk of request) {
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString());
}

/** Everything that a client lacks is granted. */
async function granted(provider, { grantId, params, session, prompt }) {
  const grant =
    (await provider.Grant.find(grantId ?? "")) ??
    new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  const { missingOIDCScope, missingResourceScopes } = prompt.details;
  grant.addOIDCScope((missingOIDCScope ?? []).join(" "));
  for (const [resource, scopes] of Object.entries(missingResourceScopes ?? {})) {
    grant.addResourceScope(resource, scopes.join(" "));
  }
  return { consent: { grantId: await grant.save() } };
}

async function interact(provider, request, response) {
  const details = await provider.interactionDetails(request, response);
  if (request.method !== "POST") {
    response.setHeader("content-type", "text/html; charset=utf-8").end(page(details));
    return;
  }
  const form = await body(request);
  let result;
  if (form.get("answer") !== "yes") {
    result = { error: "access_denied", error_description: "the user said no" };
  } else if (details.prompt.name === "login") {
    result = { login: { accountId: form.get("login") } };
  } else {
    result = await granted(provider, details);
  }
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

async function forget(provider, request, response) {
  const token = await provider.AccessToken.find((await body(request)).get("token"));
  await token?.destroy();
  response.writeHead(token === undefined ? 404 : 204).end();
}

function answer(provider, request, response) {
  const { pathname } = new URL(request.url, "http://server");
  if (pathname === "/forget") {
    forget(provider, request, response);
    return;
  }
  if (pathname.startsWith(`${options.path}/interaction/`)) {
    interact(provider, request, response).catch((error) => {
      response.writeHead(400).end(String(error));
    });
    return;
  }
  const wellKnown = "/.well-known/oauth-authorization-server";
  if (options.path !== "" && pathname === wellKnown + options.path) {
    request.url = wellKnown; // where RFC 8414 puts the document of an issuer with a path
  } else if (pathname.startsWith(`${options.path}/`)) {
    request.originalUrl = request.url;
    request.url = request.url.slice(options.path.length);
  }
  if (request.url.startsWith("/auth?") && !new URL(request.url, "http://server").searchParams.has("scope")) {
    request.url += `&${new URLSearchParams({ scope: options.scopes })}`; // what is left out has a default
  }
  provider.callback()(request, response);
}

// It says by itself that it keeps everything in memory, and that it is reached over http.
console.info = console.warn = console.error;
let provider;
const server = createServer((request, response) => answer(provider, request, response));
server.listen(options.port, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}${options.path}`;
  provider = new Provider(issuer, configuration());
  provider.on("server_error", (_, error) => console.error(error));
  console.log(JSON.stringify({ issuer }));
});
process.stdin.resume().on("end", () => process.exit());
