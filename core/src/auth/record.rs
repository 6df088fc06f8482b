//! What is kept between runs and shared between processes: clients that were registered, and tokens.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::time::UnixTime;

use super::config::{ClientAuthentication, ClientRegistration, SecretMethod};
use super::scopes::Scopes;
use super::secret::Secret;
use super::urls::{Plaintext, covers, usable};

/// Most registrations that are kept; the oldest goes.
const MOST_REGISTRATIONS: usize = 32;

/// What is stored of one MCP server and principal.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    registrations: Vec<StoredClient>,
    /// The issuer that a configured client without one belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bound_issuer: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<Token>,
}

/// A client that an authorization server registered, or that the user named.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct StoredClient {
    issuer: Box<str>,
    client_id: Box<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_secret: Option<Box<str>>,
    /// `post` if the secret is sent in the body, `basic` if in the header; none if the server's metadata says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<Box<str>>,
    /// In milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
    redirect_uri: Box<str>,
}

/// A token with what is needed to use and renew it.
#[allow(clippy::struct_field_names, reason = "they are those of OAuth")]
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Token {
    pub(super) issuer: Box<str>,
    pub(super) token_endpoint: Box<str>,
    pub(super) client_id: Box<str>,
    pub(super) resource: Box<str>,
    pub(super) access_token: Box<str>,
    /// It is bound to a key (RFC 9449).
    #[serde(default)]
    pub(super) is_bound: bool,
    /// In milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expires_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) refresh_token: Option<Box<str>>,
    /// How the secret is sent, which the metadata of the server decided; for a client with a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) method: Option<Box<str>>,
    /// Scopes, separated by spaces.
    #[serde(default)]
    pub(super) requested: String,
    /// Scopes, separated by spaces.
    #[serde(default)]
    pub(super) granted: String,
}

impl Token {
    /// All scopes that it was meant to have and has.
    pub(super) fn scopes(&self) -> Scopes {
        Scopes::read(&self.requested).and(&Scopes::read(&self.granted))
    }

    /// Whether it may be sent to the MCP server and renewed where it says; the store may hold one of another server.
    pub(super) fn is_sound(&self, server_url: &str, plaintext: Plaintext) -> bool {
        let is_plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        covers(&self.resource, server_url, plaintext)
            && usable(&self.token_endpoint, plaintext).is_some()
            && is_plain(&self.access_token)
    }

    pub(super) fn is_expired(&self, now: UnixTime) -> bool {
        self.expires_at.is_some_and(|expiry| expiry <= now.as_millis())
    }
}

impl Record {
    /// Reads what was stored. What cannot be read is as good as nothing.
    pub(super) fn read(text: &Secret) -> Record {
        serde_json::from_str(text.expose()).unwrap_or_default()
    }

    pub(super) fn text(&self) -> Secret {
        // Texts and numbers can always be written.
        serde_json::to_string(self).unwrap_or_default().into()
    }

    /// The client that `issuer` knows, if the user agent can come back to where it must.
    pub(super) fn client(
        &self,
        issuer: &str,
        redirect_uri: &str,
        now: UnixTime,
    ) -> Option<ClientRegistration> {
        let fits = |client: &&StoredClient| {
            *client.issuer == *issuer
                && *client.redirect_uri == *redirect_uri
                && client.expires_at.is_none_or(|expiry| expiry > now.as_millis())
        };
        self.registrations.iter().rev().find(fits).map(StoredClient::registration)
    }

    /// The client of this id at `issuer`, wherever it comes back to.
    pub(super) fn client_of_id(&self, issuer: &str, client_id: &str) -> Option<ClientRegistration> {
        let fits = |client: &&StoredClient| *client.issuer == *issuer && *client.client_id == *client_id;
        self.registrations.iter().rev().find(fits).map(StoredClient::registration)
    }

    pub(super) fn knows_issuer(&self, issuer: &str) -> bool {
        self.registrations.iter().any(|client| *client.issuer == *issuer)
    }

    /// Keeps a client, in place of an older one of the same issuer and redirect URI.
    pub(super) fn keep_client(
        &mut self,
        issuer: &str,
        client: &ClientRegistration,
        redirect_uri: &str,
        expires_at: Option<u64>,
    ) {
        let (client_secret, method) = match &client.authentication {
            ClientAuthentication::Secret { secret, method } => {
                (Some(secret.expose().into()), method.map(|method| method_name(method).into()))
            }
            // A client with a key is configured, not registered here.
            ClientAuthentication::None | ClientAuthentication::PrivateKeyJwt { .. } => (None, None),
        };
        let (issuer, client_id, redirect_uri) =
            (issuer.into(), client.client_id.clone(), redirect_uri.into());
        self.add(StoredClient { issuer, client_id, client_secret, method, expires_at, redirect_uri });
    }

    fn add(&mut self, client: StoredClient) {
        self.registrations
            .retain(|other| other.issuer != client.issuer || other.redirect_uri != client.redirect_uri);
        if self.registrations.len() >= MOST_REGISTRATIONS {
            self.registrations.remove(0);
        }
        self.registrations.push(client);
    }

    /// Forgets the clients of an issuer, which does not know them any more.
    pub(super) fn forget_clients(&mut self, issuer: &str) {
        self.registrations.retain(|client| *client.issuer != *issuer);
    }

    /// Adds the clients that another record has.
    pub(super) fn add_clients_of(&mut self, other: &Record) {
        for client in &other.registrations {
            if !self.registrations.contains(client) {
                self.add(client.clone());
            }
        }
    }
}

impl StoredClient {
    fn registration(&self) -> ClientRegistration {
        let authentication = match &self.client_secret {
            None => ClientAuthentication::None,
            Some(secret) => ClientAuthentication::Secret {
                secret: Secret::new(secret.clone()),
                method: self.method.as_deref().and_then(method_of),
            },
        };
        ClientRegistration::new(Some(&self.issuer), &self.client_id, authentication)
    }
}

pub(super) const fn method_name(method: SecretMethod) -> &'static str {
    match method {
        SecretMethod::Basic => "client_secret_basic",
        SecretMethod::Post => "client_secret_post",
    }
}

pub(super) fn method_of(name: &str) -> Option<SecretMethod> {
    [SecretMethod::Basic, SecretMethod::Post].into_iter().find(|method| method_name(*method) == name)
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("registrations", &self.registrations.len())
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token")
            .field("issuer", &self.issuer)
            .field("resource", &self.resource)
            .field("expires_at", &self.expires_at)
            .field("granted", &self.granted)
            .finish_non_exhaustive()
    }
}
