//! Finding the authorization server: metadata of the MCP server, then that of the authorization server (2026-07-28
//! basic/authorization/authorization-server-discovery; 2025-03-26 basic/authorization for servers without).
//!
//! What is not there, or is something else, leads to the next place. A server that is out of order ends the search for now: it
//! must not push a client onto another path.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::revision::Revision;
use crate::transport::http::headers::{ACCEPT, Headers, LOCATION, PROTOCOL_VERSION};
use crate::transport::http::url::Url;

use super::action::{ActionFailure, ActionKind, HttpPurpose, OAuthRequest};
use super::config::Grant;
use super::error::AuthorizationError;
use super::flow::{Step, failure_of};
use super::metadata::{
    Expected, Issuer, ResourceMetadata, ServerMetadata, Verdict, clip, judge_resource, judge_server,
    legacy_server,
};
use super::registration::preferred;
use super::scopes::Scopes;
use super::secret::Secret;
use super::urls::{canonical, legacy_server_metadata, resource_metadata, server_metadata, usable};
use super::{Authorization, State};

/// Redirects of one document that are followed, within its origin.
const MOST_MOVES: u32 = 3;

/// A search for a document in several places.
#[derive(Debug)]
pub(super) struct Search {
    purpose: HttpPurpose,
    /// Where it is looked for now.
    place: Box<str>,
    /// Where after that.
    others: VecDeque<Box<str>>,
    /// The MCP server named the first place, which need not be in order.
    is_announced: bool,
    /// How often it was said to be elsewhere.
    moves: u32,
    /// What speaks most clearly of what was found so far.
    why: Option<AuthorizationError>,
    /// There was nothing in all places so far.
    is_missing: bool,
    /// Who must have written it: the issuer, or none for a server of 2025-03-26.
    issuer: Option<Box<str>>,
}

impl Search {
    fn new(purpose: HttpPurpose, places: Vec<Box<str>>, issuer: Option<Box<str>>) -> Search {
        let mut others = VecDeque::from(places);
        let place = others.pop_front().unwrap_or_default();
        Search { purpose, place, others, is_announced: false, moves: 0, why: None, is_missing: true, issuer }
    }
}

impl Authorization {
    /// Looks for the metadata of the MCP server.
    pub(super) fn look_for_resource(&mut self) {
        let State::Working(flow) = &self.state else { return };
        let announced = flow.challenge.resource_metadata.as_deref();
        let usable_one = announced.filter(|url| usable(url, self.plaintext).is_some());
        let places = resource_metadata(&self.config.server_url, usable_one);
        let mut search = Search::new(HttpPurpose::ResourceMetadata, places, None);
        search.is_announced = usable_one.is_some();
        if announced.is_some() && usable_one.is_none() {
            search.why = Some(AuthorizationError::UnusableUrl { member: "resource_metadata" });
        }
        self.fetch(search);
    }

    /// Looks for the metadata of an authorization server that the MCP server names.
    fn look_for_server(&mut self) {
        let State::Working(flow) = &self.state else { return };
        let issuers =
            flow.resource.as_ref().map(|resource| &*resource.authorization_servers).unwrap_or_default();
        let chosen = preferred(issuers, &self.config, &self.record, self.plaintext);
        let Some((issuer, url)) = chosen.and_then(|issuer| Some((issuer, Url::parse(issuer)?))) else {
            return self.fail(AuthorizationError::UnusableUrl { member: "authorization_servers" });
        };
        let search = Search::new(HttpPurpose::ServerMetadata, server_metadata(url), Some(issuer.into()));
        self.fetch(search);
    }

    /// Looks for the metadata of an authorization server of 2025-03-26, which is the MCP server itself.
    fn look_for_legacy_server(&mut self) {
        let places = legacy_server_metadata(&self.config.server_url).into_iter().collect();
        let resource = ResourceMetadata {
            resource: canonical(&self.config.server_url).into(),
            authorization_servers: Vec::new(),
            scopes: Scopes::default(),
        };
        if let Some(flow) = self.flow() {
            flow.resource = Some(resource);
        }
        self.fetch(Search::new(HttpPurpose::ServerMetadata, places, None));
    }

    fn fetch(&mut self, search: Search) {
        let is_legacy = search.purpose == HttpPurpose::ServerMetadata && search.issuer.is_none();
        let mut headers = Vec::from([(ACCEPT, Secret::from("application/json"))]);
        if is_legacy {
            headers.push((PROTOCOL_VERSION, Secret::from(Revision::V2025_03_26.as_str())));
        }
        let request = OAuthRequest {
            purpose: search.purpose,
            method: "GET",
            url: search.place.clone(),
            headers,
            body: Secret::from(""),
            response_bytes: self.config.response_bytes,
        };
        let step = match search.purpose {
            HttpPurpose::ResourceMetadata => Step::Resource(search),
            _ => Step::Server(search),
        };
        self.go_on(step, ActionKind::Send(request));
    }

    /// Takes the search out of the flow; something else takes its place at once.
    fn take_search(&mut self) -> Option<Search> {
        let flow = self.flow()?;
        match core::mem::replace(&mut flow.step, Step::Loading) {
            Step::Resource(search) | Step::Server(search) => Some(search),
            other => {
                flow.step = other;
                None
            }
        }
    }

    /// A document, or something else.
    pub(super) fn on_metadata(&mut self, status: u16, headers: Headers<'_>, body: &[u8]) {
        let Some(mut search) = self.take_search() else { return };
        let purpose = search.purpose;
        match status {
            200..=299 if body.len() > self.config.response_bytes => {
                search.is_missing = false;
                self.look_further(search, Some(AuthorizationError::ResponseTooLarge { purpose }));
            }
            200..=299 => self.on_document(search, body),
            300..=399 => self.on_moved(search, headers),
            429 | 500..=599 => {
                self.on_outage(search, AuthorizationError::Unavailable { purpose, status: Some(status) });
            }
            _ => {
                search.is_missing &= matches!(status, 404 | 405 | 410);
                self.look_further(search, None);
            }
        }
    }

    /// No document came.
    pub(super) fn on_metadata_failed(&mut self, failure: ActionFailure) {
        let Some(mut search) = self.take_search() else { return };
        let error = failure_of(search.purpose, failure);
        match failure {
            ActionFailure::Unavailable => self.on_outage(search, error),
            ActionFailure::Declined => self.fail(error),
            ActionFailure::TooLarge | ActionFailure::Forbidden => {
                search.is_missing = false;
                self.look_further(search, Some(error));
            }
        }
    }

    fn on_document(&mut self, search: Search, body: &[u8]) {
        if search.purpose == HttpPurpose::ResourceMetadata {
            return match judge_resource(body, &self.config.server_url, self.plaintext) {
                Verdict::Good(resource) => self.on_resource(resource),
                verdict => self.on_bad_document(search, verdict),
            };
        }
        let expected = Expected {
            issuer: match &search.issuer {
                Some(issuer) => Issuer::Exactly(issuer),
                None => Issuer::AtOriginOf(&self.config.server_url),
            },
            is_code_flow: matches!(self.config.grant, Grant::AuthorizationCode(_)),
            plaintext: self.plaintext,
        };
        match judge_server(body, expected) {
            Verdict::Good(server) => self.on_server(server),
            verdict => self.on_bad_document(search, verdict),
        }
    }

    fn on_bad_document<T>(&mut self, mut search: Search, verdict: Verdict<T>) {
        match verdict {
            Verdict::Refuse(error) => self.fail(error),
            Verdict::Next(why) => {
                search.is_missing = false;
                self.look_further(search, why);
            }
            Verdict::Good(_) => {}
        }
    }

    /// Follows a redirect within the origin; one that leads elsewhere is as good as nothing.
    fn on_moved(&mut self, mut search: Search, headers: Headers<'_>) {
        let place = Url::parse(&search.place);
        let target =
            place.zip(headers.first(LOCATION)).and_then(|(place, reference)| place.resolve(reference));
        search.is_missing = false;
        match target.filter(|target| usable(target, self.plaintext).is_some()) {
            Some(target) if search.moves < MOST_MOVES => {
                search.moves += 1;
                search.place = target.into();
                self.fetch(search);
            }
            _ => {
                let purpose = search.purpose;
                self.look_further(search, Some(AuthorizationError::Redirected { purpose }));
            }
        }
    }

    fn on_outage(&mut self, mut search: Search, error: AuthorizationError) {
        if search.is_announced {
            search.is_missing = false;
            self.look_further(search, Some(error));
        } else {
            self.fail(error);
        }
    }

    /// There was nothing of use here.
    fn look_further(&mut self, mut search: Search, why: Option<AuthorizationError>) {
        search.why = search.why.or(why);
        search.is_announced = false;
        search.moves = 0;
        if let Some(place) = search.others.pop_front() {
            search.place = place;
            return self.fetch(search);
        }
        match (search.purpose, search.issuer) {
            (HttpPurpose::ResourceMetadata, _) if self.config.legacy_endpoints && search.is_missing => {
                self.look_for_legacy_server();
            }
            (HttpPurpose::ResourceMetadata, _) => {
                self.fail(search.why.unwrap_or(AuthorizationError::NoResourceMetadata));
            }
            (_, Some(issuer)) => {
                let issuer = clip(&issuer);
                self.fail(search.why.unwrap_or(AuthorizationError::NoServerMetadata { issuer }));
            }
            (_, None) if search.is_missing => {
                let url = &self.config.server_url;
                let origin = Url::parse(url).map(Url::origin);
                if let Some(server) = origin.and_then(|origin| legacy_server(url, origin)) {
                    self.on_server(server);
                }
            }
            (_, None) => {
                let issuer = clip(&self.config.server_url);
                self.fail(search.why.unwrap_or(AuthorizationError::NoServerMetadata { issuer }));
            }
        }
    }

    fn on_resource(&mut self, resource: ResourceMetadata) {
        if let Some(flow) = self.flow() {
            flow.resource = Some(resource);
        }
        self.look_for_server();
    }

    fn on_server(&mut self, server: ServerMetadata) {
        if let Some(flow) = self.flow() {
            flow.server = Some(server);
        }
        self.choose_client();
    }
}
