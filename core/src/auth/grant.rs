//! From what a token is asked for with to the token.

use crate::transport::http::headers::{DPOP_NONCE, Headers};

use super::action::{ActionKind, HttpPurpose, OAuthRequest, SigningKey, SigningRequest};
use super::config::{ClientAuthentication, Grant};
use super::error::{AuthorizationError, OAuthError};
use super::flow::{Step, plain};
use super::jwt::{Proof, complete};
use super::record::Token;
use super::registration::{AuthMethod, Origin};
use super::scopes::Scopes;
use super::secret::Secret;
use super::storing::Then;
use super::token::{Answer, Issued, Means, TokenCall, read_exchanged, read_issued};
use super::{Authorization, State, TokenStanding};

/// Milliseconds until the store is read again after a refresh token was refused.
const PAUSE: u64 = 1_000;

/// Nonces that are put up with in one flow.
const MOST_NONCES: u32 = 3;

/// A request for a token on its way.
#[derive(Debug)]
pub(super) struct Call {
    call: TokenCall,
    /// What is signed for it at the moment; none once it is sent.
    signing: Option<Secret>,
}

impl Call {
    pub(super) const fn is_sent(&self) -> bool {
        self.signing.is_none()
    }

    pub(super) const fn purpose(&self) -> HttpPurpose {
        self.call.purpose
    }
}

impl Authorization {
    /// Asks the chosen authorization server for a token.
    pub(super) fn ask_for_token(&mut self, means: Means) {
        let resource = self.resource();
        let State::Working(flow) = &self.state else { return };
        let (Some(server), Some((client, _))) = (&flow.server, &flow.client) else { return };
        let supported = server.auth_methods.as_deref();
        // A code has its scopes already, and so has what an identity provider issued.
        let has_scopes =
            matches!(means, Means::Code { .. }) || matches!(self.config.grant, Grant::Enterprise(_));
        let scopes = if has_scopes { Scopes::default() } else { flow.requested.clone() };
        let mut call = TokenCall::new(
            &server.token_endpoint,
            &server.issuer,
            client.clone(),
            supported,
            means,
            &resource,
        );
        call.scopes = scopes;
        call.is_bound = self
            .config
            .dpop
            .as_ref()
            .is_some_and(|key| key.is_required || server.dpop_algorithms.contains(&key.algorithm));
        self.advance_call(call);
    }

    /// Renews a token (OAuth 2.1, section 4.3).
    pub(super) fn refresh(&mut self, token: &Token) {
        let Some(refresh_token) = token.refresh_token.clone() else { return };
        let Some((client, _)) = self.client_of(token) else {
            // Whoever has no client any more cannot renew.
            self.drop_token();
            return self.start_anew();
        };
        let method = token.method.clone().map(|method| [method]);
        let supported = method.as_ref().map(<[_; 1]>::as_slice);
        let means = Means::Refresh(Secret::new(refresh_token));
        let mut call =
            TokenCall::new(&token.token_endpoint, &token.issuer, client, supported, means, &token.resource);
        call.is_bound = token.is_bound && self.config.dpop.is_some();
        self.advance_call(call);
    }

    /// Signs what has to be signed, one after the other, then sends.
    fn advance_call(&mut self, call: TokenCall) {
        let id = self.generator.token(16);
        let signing = if let Some(assertion) = call.missing_assertion() {
            let (client_id, algorithm) = (assertion.client_id.into(), assertion.algorithm.into());
            let input = assertion.input(self.now, &id);
            Some(SigningRequest { key: SigningKey::Client { client_id }, algorithm, input })
        } else {
            self.config.dpop.as_ref().filter(|_| call.lacks_proof()).map(|key| {
                let nonce = self.server_nonce.as_deref();
                let proof = Proof { method: "POST", url: &call.endpoint, nonce, token: None };
                let input = proof.input(key, self.now, &id);
                SigningRequest { key: SigningKey::Dpop, algorithm: key.algorithm.clone(), input }
            })
        };
        if let Some(signing) = signing {
            let step = Call { call, signing: Some(signing.input.clone()) };
            return self.go_on(Step::Token(step.into()), ActionKind::Sign(signing));
        }
        let outgoing: OAuthRequest = call.request(self.config.response_bytes);
        let step = Call { call, signing: None };
        self.go_on(Step::Token(step.into()), ActionKind::Send(outgoing));
    }

    fn take_call(&mut self) -> Option<Call> {
        let flow = self.flow()?;
        match core::mem::replace(&mut flow.step, Step::Loading) {
            Step::Token(call) => Some(*call),
            other => {
                flow.step = other;
                None
            }
        }
    }

    pub(super) fn on_signed(&mut self, signature: &[u8]) {
        let Some(Call { mut call, signing }) = self.take_call() else { return };
        let jwt = signing.map(|input| complete(&input, signature));
        if call.missing_assertion().is_some() {
            call.assertion = jwt;
        } else {
            call.proof = jwt;
        }
        if signature.is_empty() {
            return self.fail(AuthorizationError::SigningFailed);
        }
        self.advance_call(call);
    }

    /// An assertion of the workload, or of the user's identity.
    pub(super) fn on_assertion_provided(&mut self, assertion: Secret) {
        let resource = self.resource();
        let State::Working(flow) = &self.state else { return };
        if !matches!(flow.step, Step::Assertion) {
            return;
        }
        let Grant::Enterprise(grant) = &self.config.grant else {
            return self.ask_for_token(Means::Assertion(assertion));
        };
        let (kind, audience) = (grant.subject_token_type, flow.issuer().into());
        let means = Means::Exchange { subject: assertion, kind, audience };
        let issuer = grant.client.issuer.clone().unwrap_or_default();
        let mut call =
            TokenCall::new(&grant.token_endpoint, &issuer, grant.client.clone(), None, means, &resource);
        call.purpose = HttpPurpose::IdentityProvider;
        call.scopes = flow.requested.clone();
        self.advance_call(call);
    }

    /// A response of a metadata, registration or token endpoint.
    pub(super) fn on_response(&mut self, status: u16, headers: &[(&str, &str)], body: &[u8]) {
        let headers = Headers::new(headers);
        let State::Working(flow) = &self.state else { return };
        let purpose = match &flow.step {
            Step::Resource(_) | Step::Server(_) => return self.on_metadata(status, headers, body),
            Step::Registration { .. } => HttpPurpose::Registration,
            Step::Token(call) => call.purpose(),
            _ => return,
        };
        match status {
            300..=399 => self.fail(AuthorizationError::Redirected { purpose }),
            429 | 500..=599 => self.fail(AuthorizationError::Unavailable { purpose, status: Some(status) }),
            _ if body.len() > self.config.response_bytes => {
                self.fail(AuthorizationError::ResponseTooLarge { purpose });
            }
            _ if purpose == HttpPurpose::Registration => self.on_registration(status, body),
            _ => self.on_token(status, headers, body),
        }
    }

    fn on_token(&mut self, status: u16, headers: Headers<'_>, body: &[u8]) {
        let nonce = headers.first(DPOP_NONCE).and_then(plain);
        let has_nonce = nonce.is_some();
        self.server_nonce = nonce.or(self.server_nonce.take());
        let Some(Call { call, .. }) = self.take_call() else { return };
        if call.purpose == HttpPurpose::IdentityProvider {
            return match read_exchanged(status, body) {
                Answer::Issued(Some(grant)) => self.ask_for_token(Means::Assertion(grant)),
                Answer::Issued(None) => self.fail(AuthorizationError::NotIdentityAssertionGrant),
                Answer::Refused(error) => {
                    let error = error.without(call.secrets());
                    self.fail(AuthorizationError::TokenRequestRejected(error));
                }
                Answer::Invalid => self.fail(AuthorizationError::InvalidTokenResponse),
            };
        }
        match read_issued(status, body) {
            Answer::Issued(issued) => self.on_issued(&call, issued),
            Answer::Refused(error) => {
                let error = error.without(call.secrets());
                self.on_refused(call, error, has_nonce);
            }
            Answer::Invalid => self.fail(AuthorizationError::InvalidTokenResponse),
        }
    }

    fn on_refused(&mut self, mut call: TokenCall, error: OAuthError, has_nonce: bool) {
        let Some(flow) = self.flow() else { return };
        let tried = &mut flow.tried;
        let is_kept = matches!(flow.client, Some((_, Origin::Kept)));
        match (&*error.code, &call.means) {
            ("use_dpop_nonce", _) if call.is_bound && has_nonce && tried.nonces < MOST_NONCES => {
                tried.nonces += 1;
                // Each request has a proof and an assertion of its own.
                (call.proof, call.assertion) = (None, None);
                self.advance_call(call);
            }
            // Whatever the reason: the refresh token is of no use.
            (_, Means::Refresh(_)) => {
                self.go_on(Step::Reloading, ActionKind::Load);
            }
            ("invalid_grant", Means::Code { .. }) if !tried.consent => {
                tried.consent = true;
                self.ask_for_consent();
            }
            ("invalid_client", Means::Code { .. }) if is_kept && !tried.registration => {
                tried.registration = true;
                self.record.forget_clients(&call.issuer);
                self.choose_client();
            }
            _ => self.fail(AuthorizationError::TokenRequestRejected(error)),
        }
    }

    /// The refresh token was refused, and the store was read again.
    pub(super) fn after_reloading(&mut self) {
        let deadline = self.now.after(PAUSE);
        let Some(flow) = self.flow() else { return };
        if !core::mem::replace(&mut flow.tried.reload, true) {
            // Another process may have used the refresh token, and not have stored the new one yet.
            flow.step = Step::Pausing;
            flow.deadline = Some(deadline);
            return;
        }
        self.drop_token();
        self.start_anew();
    }

    /// The token is of no use any more.
    pub(super) fn drop_token(&mut self) {
        self.former_scopes = self.scopes();
        self.replace_token(None, TokenStanding::default());
    }

    fn on_issued(&mut self, call: &TokenCall, issued: Issued) {
        let is_required = self.config.dpop.as_ref().is_some_and(|key| key.is_required);
        if issued.is_bound != call.is_bound && (issued.is_bound || is_required) {
            return self.fail(AuthorizationError::TokenNotBound);
        }
        let State::Working(flow) = &self.state else { return };
        let is_refreshed = matches!(call.means, Means::Refresh(_));
        let old = self.record.token.as_ref().filter(|_| is_refreshed);
        let requested = match old {
            Some(old) => Scopes::read(&old.requested),
            None => flow.requested.clone(),
        };
        let granted = issued.scopes.unwrap_or_else(|| match old {
            Some(old) => Scopes::read(&old.granted),
            None => requested.clone(),
        });
        let kept = old.and_then(|old| old.refresh_token.clone());
        let token = Token {
            issuer: call.issuer.clone(),
            token_endpoint: call.endpoint.clone(),
            client_id: call.client.client_id.clone(),
            resource: call.resource.clone(),
            access_token: issued.access_token.expose().into(),
            is_bound: issued.is_bound,
            expires_at: issued
                .expires_in
                .map(|seconds| self.now.after(seconds.saturating_mul(1000)).as_millis()),
            refresh_token: issued.refresh_token.map(|token| token.expose().into()).or(kept),
            method: method_of(call).map(Into::into).or_else(|| old.and_then(|old| old.method.clone())),
            requested: requested.text(),
            granted: granted.text(),
        };
        let binds = matches!(&flow.client, Some((client, Origin::Configured)) if client.issuer.is_none());
        if binds {
            self.record.bound_issuer = Some(call.issuer.clone());
        }
        let refusals = self.token.refusals;
        let issued_at = Some(self.now);
        let standing = TokenStanding { issued_at, is_refreshed, refusals, ..TokenStanding::default() };
        self.replace_token(Some(token), standing);
        self.save(Then::Finish);
    }
}

/// How the secret was sent, if there is one.
fn method_of(call: &TokenCall) -> Option<&'static str> {
    match (&call.client.authentication, call.method) {
        (ClientAuthentication::Secret { .. }, AuthMethod::Basic) => Some("client_secret_basic"),
        (ClientAuthentication::Secret { .. }, AuthMethod::Post) => Some("client_secret_post"),
        (ClientAuthentication::Secret { .. }, _) => Some("none"),
        _ => None,
    }
}
