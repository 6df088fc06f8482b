/** How the client of each authorization scenario comes by its tokens. */

import {
  clientCredentials,
  enterpriseManaged,
  type Grant,
  oauth,
  type OAuthClient,
  type UserAgent,
  workloadIdentity,
} from 'barewire/auth';

/** What a scenario tells its client. */
export type Context = Readonly<Record<string, any>>;

/** The document that the suite takes for ours; nothing is there. */
const CLIENT_METADATA = 'https://conformance-test.local/client-metadata.json';

/** A user who consents to everything: the servers of the suite send whoever comes back at once. */
const passer: UserAgent = {
  redirectUri: () => 'http://127.0.0.1:53123/callback',
  async visit(url, signal) {
    const response = await fetch(url, { redirect: 'manual', signal });
    await response.body?.cancel();
    return response.headers.get('location') ?? '';
  },
};

/** The client that the suite has registered, if it has. */
function clientOf(context: Context): OAuthClient {
  return {
    clientId: context['client_id'],
    issuer: context['issuer'],
    secret: context['client_secret'],
    key: context['private_key_pem'],
    algorithm: context['signing_algorithm'],
  };
}

/** The identity provider of the suite vouches for its user. */
function enterprise(context: Context): Grant {
  return enterpriseManaged({
    client: clientOf(context),
    tokenEndpoint: context['idp_token_endpoint'],
    providerClient: { clientId: context['idp_client_id'], issuer: context['idp_issuer'] },
    assertion: () => context['idp_id_token'],
  });
}

/** What `Client.connect` takes as `auth` in a scenario; none where nothing is protected. */
export function grantFor(name: string, context: Context): Grant | undefined {
  const [kind, ...rest] = name.split('/');
  const scenario = rest.join('/');
  if (kind !== 'auth') return undefined;
  if (scenario.startsWith('client-credentials')) return clientCredentials({ client: clientOf(context) });
  if (scenario === 'enterprise-managed-authorization' || scenario === 'cross-app-access-complete-flow') {
    return enterprise(context);
  }
  if (scenario === 'wif-jwt-bearer') {
    // The platform of the suite has given its workload a JWT.
    return workloadIdentity({ client: clientOf(context), assertion: () => context['valid_jwt'] });
  }
  return oauth({
    client: 'client_id' in context ? [clientOf(context)] : [],
    clientMetadataUrl: CLIENT_METADATA,
    userAgent: passer,
    dpop: scenario.startsWith('dpop'),
    legacyEndpoints: scenario.startsWith('2025-03-26'),
  });
}
