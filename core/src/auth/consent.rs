//! Being a client, and the user's consent.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::transport::http::headers::{ACCEPT, CONTENT_TYPE};

use super::action::{ActionKind, HttpPurpose, OAuthRequest, UserAgentVisit};
use super::callback::{Refusal, judge};
use super::config::{ApplicationType, ClientRegistration, Grant};
use super::error::AuthorizationError;
use super::flow::{Reason, Step};
use super::pkce::{ConsentRequest, PendingConsent, consent_url};
use super::registration::{
    Choice, Origin, application_type, choose, other, read_oauth_error, read_registered, registration_body,
};
use super::scopes::{OFFLINE_ACCESS, Scopes};
use super::secret::Secret;
use super::storing::Then;
use super::token::Means;
use super::{Authorization, State};

impl Authorization {
    pub(super) fn choose_client(&mut self) {
        let State::Working(flow) = &self.state else { return };
        let Some(server) = &flow.server else { return };
        let issuer = server.issuer.clone();
        match choose(&self.config, &self.record, server, self.now) {
            Ok(Choice::Use(client, origin)) => self.go_as(client, origin),
            Ok(Choice::Register) => self.register(None),
            Ok(Choice::Ask) => self.go_on(Step::Client, ActionKind::ProvideClient { issuer }),
            Err(error) => self.fail(error),
        }
    }

    /// Goes on as this client.
    fn go_as(&mut self, client: ClientRegistration, origin: Origin) {
        if let Some(flow) = self.flow() {
            flow.client = Some((client, origin));
            self.after_choosing();
        }
    }

    pub(super) fn after_choosing(&mut self) {
        let (scopes, resource) = (self.wanted_scopes(), self.resource());
        let Some(flow) = self.flow() else { return };
        let issuer = flow.issuer().into();
        flow.requested = scopes;
        match &self.config.grant {
            Grant::AuthorizationCode(_) => self.ask_for_consent(),
            Grant::ClientCredentials => self.ask_for_token(Means::ClientCredentials),
            Grant::Enterprise(_) | Grant::WorkloadIdentity => {
                self.go_on(Step::Assertion, ActionKind::ProvideAssertion { issuer, resource });
            }
        }
    }

    /// The identifier of the MCP server.
    pub(super) fn resource(&self) -> Box<str> {
        match &self.state {
            State::Working(flow) => {
                flow.resource.as_ref().map_or("".into(), |resource| resource.resource.clone())
            }
            _ => Box::default(),
        }
    }

    /// The scopes to ask for (2026-07-28 basic/authorization, Scope Selection Strategy, Step-Up Authorization Flow, Refresh
    /// Tokens): those that the token was meant to have, and what the server wants now.
    pub(super) fn wanted_scopes(&self) -> Scopes {
        let State::Working(flow) = &self.state else { return Scopes::default() };
        let configured = self.config.scopes.as_ref();
        let configured = configured.map(|scopes| Scopes::of(scopes.iter().map(|scope| &**scope)));
        let challenged = &flow.challenge.scopes;
        let supported = flow.resource.as_ref().map(|resource| resource.scopes.clone()).unwrap_or_default();
        let initial = match configured {
            Some(configured) if flow.reason != Reason::StepUp => configured,
            _ if !challenged.is_empty() => challenged.clone(),
            _ if flow.previous.is_empty() => supported,
            _ => Scopes::default(),
        };
        let wanted = flow.previous.clone().and(&initial);
        let is_listed = flow.server.as_ref().is_some_and(|server| server.scopes.contains(OFFLINE_ACCESS));
        let is_code_flow = matches!(self.config.grant, Grant::AuthorizationCode(_));
        if self.config.wants_refresh && is_listed && is_code_flow {
            wanted.and(&Scopes::read(OFFLINE_ACCESS))
        } else {
            wanted
        }
    }

    /// Registers a client; as which kind of application, if not as the first time.
    fn register(&mut self, again_as: Option<ApplicationType>) {
        let (Grant::AuthorizationCode(grant), State::Working(flow)) = (&self.config.grant, &self.state)
        else {
            return;
        };
        let (Some(wanted), Some(server)) = (&grant.dynamic_registration, &flow.server) else { return };
        let Some(url) = server.registration_endpoint.clone() else { return };
        let application_type = again_as.unwrap_or_else(|| application_type(grant, wanted));
        let body = registration_body(grant, wanted, application_type, self.config.wants_refresh, server);
        let json = || Secret::from("application/json");
        let request = OAuthRequest {
            purpose: HttpPurpose::Registration,
            method: "POST",
            url,
            headers: Vec::from([(ACCEPT, json()), (CONTENT_TYPE, json())]),
            body: body.into(),
            response_bytes: self.config.response_bytes,
        };
        let step = Step::Registration { application_type, is_second: again_as.is_some() };
        self.go_on(step, ActionKind::Send(request));
    }

    /// The answer to a registration.
    pub(super) fn on_registration(&mut self, status: u16, body: &[u8]) {
        let State::Working(flow) = &self.state else { return };
        let Step::Registration { application_type, is_second } = flow.step else { return };
        if (200..=299).contains(&status) {
            return match read_registered(body, flow.issuer()) {
                Ok((client, expires_at)) => self.keep_client(client, expires_at),
                Err(error) => self.fail(error),
            };
        }
        let error = read_oauth_error(body);
        // OpenID Connect ties redirect URIs to the kind of application.
        let is_about_kind = matches!(&*error.code, "invalid_redirect_uri" | "invalid_client_metadata");
        if is_about_kind && !is_second {
            return self.register(Some(other(application_type)));
        }
        self.fail(AuthorizationError::RegistrationRejected(error));
    }

    /// A client from the user.
    pub(super) fn on_client_provided(&mut self, client: ClientRegistration) {
        if matches!(&self.state, State::Working(flow) if matches!(flow.step, Step::Client)) {
            self.keep_client(client, None);
        }
    }

    /// Keeps a client for the next time, and goes on as it.
    fn keep_client(&mut self, client: ClientRegistration, expires_at: Option<u64>) {
        let (Grant::AuthorizationCode(grant), State::Working(flow)) = (&self.config.grant, &mut self.state)
        else {
            return;
        };
        let issuer: Box<str> = flow.issuer().into();
        self.record.keep_client(&issuer, &client, &grant.redirect_uri, expires_at);
        flow.client = Some((client, Origin::Kept));
        self.save(Then::GoOn);
    }

    /// Sends the user to the authorization server.
    pub(super) fn ask_for_consent(&mut self) {
        let resource = self.resource();
        let (Grant::AuthorizationCode(grant), State::Working(flow)) = (&self.config.grant, &self.state)
        else {
            return;
        };
        let (Some(server), Some((client, _))) = (&flow.server, &flow.client) else { return };
        let Some(endpoint) = server.authorization_endpoint.as_deref() else { return };
        let scope = flow.requested.text();
        let pending = PendingConsent::new(&mut self.generator, &server.issuer, server.sends_issuer);
        let request = ConsentRequest {
            endpoint,
            client_id: &client.client_id,
            redirect_uri: &grant.redirect_uri,
            resource: &resource,
            scope: &scope,
        };
        let url = consent_url(request, &pending);
        let visit = UserAgentVisit { url, redirect_uri: grant.redirect_uri.clone() };
        let deadline = self.now.after(self.config.callback_timeout);
        self.go_on(Step::Callback(pending), ActionKind::OpenUserAgent(visit));
        if let Some(flow) = self.flow() {
            flow.deadline = Some(deadline);
        }
    }

    /// The user is back, or somebody else is there.
    pub(super) fn on_callback(&mut self, query: &str) -> Result<(), AuthorizationError> {
        let (Grant::AuthorizationCode(grant), State::Working(flow)) = (&self.config.grant, &self.state)
        else {
            return Err(AuthorizationError::UnexpectedCallback);
        };
        let Step::Callback(consent) = &flow.step else { return Err(AuthorizationError::UnexpectedCallback) };
        match judge(query, consent) {
            Ok(code) => {
                let verifier = consent.verifier.clone();
                let means = Means::Code { code, verifier, redirect_uri: grant.redirect_uri.clone() };
                // The user agent may have been opened by other means than the action.
                self.actions.clear();
                self.ask_for_token(means);
                Ok(())
            }
            Err(Refusal::Stray(error)) => Err(error),
            Err(Refusal::Final(error)) => {
                self.fail(error.clone());
                Err(error)
            }
        }
    }
}
