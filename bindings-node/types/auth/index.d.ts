/**
 * Authorization (OAuth 2.1): clients that come by tokens, and servers that want them.
 *
 * ```ts
 * const client = await Client.connect('https://mcp.example/mcp', { auth: oauth() });
 * const handler = createHandler(server, {
 *   auth: new ResourceServer({ resource: 'https://mcp.example/mcp', authorizationServers: ['https://login.example'] }),
 * });
 * ```
 *
 * Tokens, codes and secrets show in no log, error or inspection.
 */
export { VerifierUnavailableError } from '../failures.js';
export { AuthorizationError } from '../sansio/errors.js';
export { Browser, type BrowserOptions, type UserAgent } from './browser.js';
export { type AssertionSource, clientCredentials, type ClientCredentialsOptions, enterpriseManaged, type EnterpriseManagedOptions, type Grant, type GrantOptions, oauth, type OAuthClient, type OAuthOptions, workloadIdentity, type WorkloadIdentityOptions, } from './grant.js';
export { Caller, ResourceServer, type ResourceServerOptions } from './protection.js';
export type { PrivateKey, Sign } from './signing.js';
export { FileTokenStore, MemoryTokenStore, StoredRecord, type TokenStore } from './token-store.js';
export { type Claims, Introspection, type IntrospectionOptions, JwtVerifier, type JwtVerifierOptions, type TokenVerifier, } from './verifiers.js';
