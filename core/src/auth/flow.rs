//! What is under way: why it began, how far it is, and how it ends for those who wait.

use alloc::boxed::Box;

use crate::time::UnixTime;
use crate::transport::http::url::Url;

use super::action::{
    Action, ActionFailure, ActionHandle, ActionKind, AuthorizationEvent, HttpPurpose, SigningKey,
    SigningRequest,
};
use super::challenge::Challenge;
use super::config::{ApplicationType, ClientRegistration};
use super::config::{AuthorizationConfig, Grant};
use super::discovery::Search;
use super::error::AuthorizationError;
use super::grant::Call;
use super::jwt::{Proof, is_asymmetric, is_public_key};
use super::metadata::{ResourceMetadata, ServerMetadata};
use super::pkce::PendingConsent;
use super::record::Token;
use super::registration::{Origin, configured};
use super::scopes::Scopes;
use super::secret::Secret;
use super::storing::Then;
use super::urls::{Plaintext, is_redirect_uri, usable};
use super::{Authorization, Credentials, MOST_REFUSALS, State, TokenStanding, YOUNG};

/// How often an operation may be tried with more scopes.
const MOST_STEP_UPS: u32 = 3;

/// Operations that are counted.
const MOST_OPERATIONS: usize = 256;

/// Longest nonce that is used, in bytes.
const MOST_NONCE_BYTES: usize = 1024;

/// Why something is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// Somebody wants credentials, and the store was not read yet.
    Read,
    /// The token is about to expire.
    Renew,
    /// The MCP server refused the token, or there was none.
    Refused,
    /// The token lacks scopes.
    StepUp,
}

/// Something under way.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) reason: Reason,
    /// What the MCP server said.
    pub(super) challenge: Challenge,
    /// Which token it began with.
    pub(super) generation: u64,
    /// The same, as it was stored.
    pub(super) began_with: Option<Token>,
    /// The scopes that it was meant to have.
    pub(super) previous: Scopes,
    /// Those that are asked for.
    pub(super) requested: Scopes,
    pub(super) step: Step,
    pub(super) deadline: Option<UnixTime>,
    /// Found on the way.
    pub(super) resource: Option<ResourceMetadata>,
    pub(super) server: Option<ServerMetadata>,
    pub(super) client: Option<(ClientRegistration, Origin)>,
    /// What was tried once already.
    pub(super) tried: Tried,
}

/// What may be tried once, or a few times.
#[derive(Debug, Default)]
pub(super) struct Tried {
    /// The code was not taken, and consent is asked for again.
    pub(super) consent: bool,
    /// The client was not known any more, and is registered again.
    pub(super) registration: bool,
    /// Nonces that were asked for.
    pub(super) nonces: u32,
    /// The store was read again after the refresh token was refused.
    pub(super) reload: bool,
    /// The store had changed when it was to be written.
    pub(super) conflicts: u32,
}

/// How far it is, named for what it waits for.
#[derive(Debug)]
pub(super) enum Step {
    /// What the store holds, before anything is done.
    Loading,
    /// The time at which the store is read once more: another process may have used the refresh token.
    Pausing,
    /// What the store holds after the refresh token was refused.
    Reloading,
    /// Metadata of the MCP server.
    Resource(Search),
    /// Metadata of the authorization server.
    Server(Search),
    /// A client from the user.
    Client,
    /// The answer to a registration.
    Registration { application_type: ApplicationType, is_second: bool },
    /// The user.
    Callback(PendingConsent),
    /// An assertion from the host.
    Assertion,
    /// A signature, or a token.
    Token(Box<Call>),
    /// The store has what is new.
    Saving(Then),
}

impl Flow {
    pub(super) const fn awaits_callback(&self) -> bool {
        matches!(self.step, Step::Callback(_))
    }

    /// The issuer of the authorization server, once it is chosen.
    pub(super) fn issuer(&self) -> &str {
        self.server.as_ref().map_or("", |server| &server.issuer)
    }
}

impl Authorization {
    /// Something begins: the store is read first, as another process may have done it already.
    pub(super) fn begin(&mut self, reason: Reason, challenge: Challenge, waiter: u64) {
        self.waiters.push(waiter);
        let (began_with, previous) = (self.record.token.clone(), self.scopes());
        self.state = State::Working(Box::new(Flow {
            reason,
            challenge,
            generation: self.current_generation(),
            began_with,
            previous,
            requested: Scopes::default(),
            step: Step::Loading,
            deadline: None,
            resource: None,
            server: None,
            client: None,
            tried: Tried::default(),
        }));
        self.ask(ActionKind::Load);
    }

    /// Asks the host for something. One thing at a time is asked for.
    pub(super) fn ask(&mut self, kind: ActionKind) {
        self.last_handle += 1;
        let handle = ActionHandle::from_number(self.last_handle);
        self.awaited = Some((handle, kind.answer()));
        self.actions.push_back(Action::new(handle, kind));
    }

    pub(super) const fn flow(&mut self) -> Option<&mut Flow> {
        match &mut self.state {
            State::Working(flow) => Some(flow),
            _ => None,
        }
    }

    /// Goes on to a step that waits for an answer.
    pub(super) fn go_on(&mut self, step: Step, kind: ActionKind) {
        if let Some(flow) = self.flow() {
            flow.step = step;
            flow.deadline = None;
            self.ask(kind);
        }
    }

    /// There is something to try.
    pub(super) fn finish(&mut self) {
        self.stop(State::Idle);
        for waiter in core::mem::take(&mut self.waiters) {
            self.settle(waiter);
        }
    }

    /// There is not.
    pub(super) fn fail(&mut self, error: AuthorizationError) {
        let State::Working(flow) = &self.state else { return };
        let reason = flow.reason;
        let is_usable = self.usable_token().is_some();
        // Before a request nobody is turned away: it goes out with what there is. More scopes are a matter of one operation.
        let goes_on = matches!(reason, Reason::Read | Reason::Renew) && (is_usable || !error.is_retryable());
        let is_passing = error.is_retryable() || (reason == Reason::StepUp && is_usable);
        for waiter in core::mem::take(&mut self.waiters) {
            if goes_on { self.settle(waiter) } else { self.refuse(waiter, error.clone()) }
        }
        self.stop(match reason {
            Reason::Read if is_passing => State::Unread,
            _ if is_passing => State::Idle,
            _ => State::Failed(error),
        });
    }

    fn stop(&mut self, state: State) {
        self.state = state;
        self.awaited = None;
        self.actions.clear();
    }

    pub(super) fn settle(&mut self, waiter: u64) {
        self.events.push_back(AuthorizationEvent::Settled { waiter });
    }

    pub(super) fn refuse(&mut self, waiter: u64, error: AuthorizationError) {
        self.events.push_back(AuthorizationEvent::Refused { waiter, error });
    }

    /// Time has passed.
    pub(super) fn expire(&mut self) {
        let State::Working(flow) = &mut self.state else { return };
        if flow.deadline.is_none_or(|deadline| deadline > self.now) {
            return;
        }
        flow.deadline = None;
        match flow.step {
            Step::Callback(_) => self.fail(AuthorizationError::TimedOut),
            Step::Pausing => self.go_on(Step::Reloading, ActionKind::Load),
            _ => {}
        }
    }

    /// The host did not do what it was asked for.
    pub(super) fn on_action_failed(&mut self, failure: ActionFailure) {
        let Some(flow) = self.flow() else { return };
        match &flow.step {
            Step::Loading if flow.reason == Reason::Read => self.fail(AuthorizationError::StoreUnavailable),
            Step::Loading => self.after_loading(),
            Step::Reloading => self.after_reloading(),
            Step::Saving(_) => self.after_saving(),
            Step::Resource(_) | Step::Server(_) => self.on_metadata_failed(failure),
            Step::Client => {
                let issuer = flow.issuer().into();
                self.fail(AuthorizationError::NoRegistration { issuer });
            }
            Step::Callback(_) => self.fail(AuthorizationError::Cancelled),
            Step::Assertion => self.fail(AuthorizationError::NoAssertion),
            Step::Registration { .. } => self.fail(failure_of(HttpPurpose::Registration, failure)),
            Step::Token(call) if call.is_sent() => {
                let purpose = call.purpose();
                self.fail(failure_of(purpose, failure));
            }
            Step::Token(_) => self.fail(AuthorizationError::SigningFailed),
            Step::Pausing => {}
        }
    }

    /// Which token there is; 0: none.
    pub(super) const fn current_generation(&self) -> u64 {
        if self.record.token.is_some() { self.token.generation } else { 0 }
    }

    /// Whether a request with this token, or with none, would go out with the same now.
    pub(super) fn is_current(&self, generation: u64) -> bool {
        generation == self.current_generation() || (generation == 0 && self.usable_token().is_none())
    }

    /// There is another token, or none any more.
    pub(super) fn replace_token(&mut self, token: Option<Token>, standing: TokenStanding) {
        let generation = self.token.generation + 1;
        self.record.token = token;
        self.token = TokenStanding { generation, ..standing };
    }

    /// The scopes that the token has, or that the last one had.
    pub(super) fn scopes(&self) -> Scopes {
        self.record.token.as_ref().map_or_else(|| self.former_scopes.clone(), Token::scopes)
    }

    /// The token, unless it has expired or cannot be used with this configuration.
    pub(super) fn usable_token(&self) -> Option<&Token> {
        let token = self.record.token.as_ref()?;
        let has_key = !token.is_bound || self.config.dpop.is_some();
        (has_key && !token.is_expired(self.now)).then_some(token)
    }

    /// Whether the token should be renewed before it is used.
    pub(super) fn wants_renewal(&self, now: UnixTime) -> bool {
        let Some(token) = &self.record.token else { return false };
        token.is_expired(now.max(self.now).after(self.margin(token))) && self.renews_alone(token)
    }

    /// Milliseconds before its expiry from which a token is renewed: never more than half of its time, or a token that lives
    /// short would be renewed before each use.
    fn margin(&self, token: &Token) -> u64 {
        let issued = self.token.issued_at.map(UnixTime::as_millis);
        let lifetime = token.expires_at.zip(issued).map(|(expiry, issued)| expiry.saturating_sub(issued));
        lifetime.map_or(self.config.renew_before, |lifetime| self.config.renew_before.min(lifetime / 2))
    }

    /// Whether requests go on with the token that there is: one operation lacks scopes, and a user may have to be asked.
    pub(super) fn goes_on_beside(&self, flow: &Flow, now: UnixTime) -> bool {
        flow.reason == Reason::StepUp && self.usable_token().is_some() && !self.wants_renewal(now)
    }

    /// Whether another token can be had without a user.
    pub(super) fn renews_alone(&self, token: &Token) -> bool {
        token.refresh_token.is_some() || !matches!(self.config.grant, Grant::AuthorizationCode(_))
    }

    pub(super) fn write_credentials(&mut self, method: &str, url: &str) -> Credentials {
        let nothing = Credentials { generation: 0, authorization: None, proof: None };
        let is_ours = Url::parse(url)
            .zip(Url::parse(&self.config.server_url))
            .is_some_and(|(url, server)| url.is_same_origin(server));
        let Some(token) = self.usable_token().filter(|_| is_ours) else { return nothing };
        let (text, is_bound) = (token.access_token.clone(), token.is_bound);
        let scheme = if is_bound { "DPoP " } else { "Bearer " };
        let authorization = Some(Secret::from([scheme, &text].concat()));
        let id = if is_bound { self.generator.token(16) } else { alloc::string::String::new() };
        let proof = self.config.dpop.as_ref().filter(|_| is_bound).map(|key| {
            let (nonce, token) = (self.resource_nonce.as_deref(), Secret::new(text));
            let proof = Proof { method, url, nonce, token: Some(&token) };
            let input = proof.input(key, self.now, &id);
            SigningRequest { key: SigningKey::Dpop, algorithm: key.algorithm.clone(), input }
        });
        Credentials { generation: self.current_generation(), authorization, proof }
    }

    /// A 401 to a request with the current token, or without one.
    pub(super) fn on_unauthorized(&mut self, waiter: u64, challenge: Challenge) {
        if self.is_useless() {
            self.token.refusals += 1;
            if self.token.refusals >= MOST_REFUSALS {
                self.state = State::Failed(AuthorizationError::TokenRefused);
                return self.refuse(waiter, AuthorizationError::TokenRefused);
            }
        }
        self.begin(Reason::Refused, challenge, waiter);
    }

    /// Whether the token, which was refused, never worked and has had no time to become invalid.
    fn is_useless(&self) -> bool {
        let is_young = self.token.issued_at.is_some_and(|issued| self.now < issued.after(YOUNG));
        is_young && !self.token.has_worked && self.usable_token().is_some()
    }

    /// A 403 to a request with the current token, or without one.
    pub(super) fn on_forbidden(&mut self, waiter: u64, challenge: Challenge, operation: &str) {
        if let Some(token) = &self.record.token
            && Scopes::read(&token.requested).contains_all(&challenge.scopes)
        {
            return self.refuse(waiter, AuthorizationError::ScopeDenied);
        }
        if !self.count_step_up(operation) {
            return self.refuse(waiter, AuthorizationError::StepUpExhausted);
        }
        self.begin(Reason::StepUp, challenge, waiter);
    }

    /// False if the operation was tried often enough.
    fn count_step_up(&mut self, operation: &str) -> bool {
        if self.step_ups.len() >= MOST_OPERATIONS && !self.step_ups.contains_key(operation) {
            self.step_ups.pop_first();
        }
        let count = self.step_ups.entry(operation.into()).or_default();
        *count += 1;
        *count <= MOST_STEP_UPS
    }

    /// Tokens of this machine are used up: another is come by anew, or left to the next challenge.
    pub(super) fn renew(&mut self) {
        let State::Working(flow) = &self.state else { return };
        let was_refreshed = flow.reason == Reason::Refused && self.token.is_refreshed && self.is_useless();
        let token = self.record.token.as_ref().filter(|token| token.refresh_token.is_some());
        if let Some(token) = token.filter(|_| flow.reason != Reason::StepUp && !was_refreshed) {
            let token = token.clone();
            return self.refresh(&token);
        }
        self.start_anew();
    }

    /// Goes through the whole flow, if the user may be bothered.
    pub(super) fn start_anew(&mut self) {
        let State::Working(flow) = &self.state else { return };
        let is_asked_for = matches!(flow.reason, Reason::Refused | Reason::StepUp);
        if is_asked_for || !matches!(self.config.grant, Grant::AuthorizationCode(_)) {
            self.look_for_resource();
        } else {
            self.finish();
        }
    }

    /// The configured client for refreshing, or one that is kept, or the one with a metadata document.
    pub(super) fn client_of(&self, token: &Token) -> Option<(ClientRegistration, Origin)> {
        let has_id = |client: &&ClientRegistration| client.client_id == token.client_id;
        if let Some(client) = configured(&self.config, &self.record, &token.issuer).filter(has_id) {
            return Some((client.clone(), Origin::Configured));
        }
        if let Some(client) = self.record.client_of_id(&token.issuer, &token.client_id) {
            return Some((client, Origin::Kept));
        }
        let Grant::AuthorizationCode(grant) = &self.config.grant else { return None };
        grant.metadata_client.as_ref().filter(has_id).map(|client| (client.clone(), Origin::Metadata))
    }
}

/// Why an action that asked something of a peer failed.
pub(super) const fn failure_of(purpose: HttpPurpose, failure: ActionFailure) -> AuthorizationError {
    match failure {
        ActionFailure::Unavailable => AuthorizationError::Unavailable { purpose, status: None },
        ActionFailure::TooLarge => AuthorizationError::ResponseTooLarge { purpose },
        ActionFailure::Forbidden => AuthorizationError::RequestForbidden { purpose },
        ActionFailure::Declined => AuthorizationError::Cancelled,
    }
}

/// A nonce that can stand in a proof.
pub(super) fn plain(nonce: &str) -> Option<Box<str>> {
    let is_plain = !nonce.is_empty()
        && nonce.len() <= MOST_NONCE_BYTES
        && nonce.bytes().all(|byte| byte.is_ascii_graphic());
    is_plain.then(|| nonce.into())
}

/// The member of the configuration that cannot be used.
pub(super) fn unusable_member(config: &AuthorizationConfig, plaintext: Plaintext) -> Option<&'static str> {
    let server_url = config.server_url.split('#').next().unwrap_or_default();
    if usable(server_url, plaintext).is_none() {
        return Some("server_url");
    }
    if let Some(key) = &config.dpop {
        if !is_asymmetric(&key.algorithm) {
            return Some("algorithm");
        }
        if !is_public_key(&key.public_key) {
            return Some("public_key");
        }
    }
    match &config.grant {
        Grant::AuthorizationCode(grant) if !is_redirect_uri(&grant.redirect_uri) => Some("redirect_uri"),
        Grant::AuthorizationCode(grant) => {
            let id = grant.metadata_client.as_ref().map(|client| &client.client_id);
            id.filter(|id| !is_document_url(id)).map(|_| "client_id")
        }
        Grant::Enterprise(grant) if usable(&grant.token_endpoint, plaintext).is_none() => {
            Some("token_endpoint")
        }
        _ => None,
    }
}

/// draft-ietf-oauth-client-id-metadata-document, section 3: https, with a path, without dot segments.
fn is_document_url(text: &str) -> bool {
    let has_path = |url: Url<'_>| url.path().len() > 1 && !crate::uri::climbs(text);
    usable(text, Plaintext::Refused).is_some_and(has_path)
}
