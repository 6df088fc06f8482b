//! What is checked of the head of a request before anything else happens: the first check that fails decides
//! (basic/transports). Pure.

use crate::machine::HeaderValue;
use crate::revision::{Era, Revision, Revisions};
use crate::transport::http::OriginPolicy;
use crate::transport::http::headers::{self, Headers};
use crate::transport::http::media::{Acceptable, Media};
use crate::transport::http::origin::is_preflight;
use crate::transport::http::status::Refusal;

use super::values::{Endpoint, RequestHead};

const POST: &str = "POST";
const GET: &str = "GET";
const DELETE: &str = "DELETE";
const OPTIONS: &str = "OPTIONS";

/// What is allowed.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    pub(super) origins: &'a OriginPolicy,
    pub(super) revisions: Revisions,
    pub(super) body_bytes: usize,
}

/// What a request is found to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Checked<'a> {
    /// The origin of the page that it comes from, which is allowed.
    pub(super) origin: Option<&'a str>,
    pub(super) verdict: Result<Wanted, Refusal>,
}

/// What a sound request wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// To know what a page may ask.
    Preflight,
    /// To know which methods there are.
    Methods,
    /// To deliver a message, and the response in one of these forms.
    Message(Acceptable),
    /// The stream of a session that belongs to no request, or the rest of any stream of it.
    Stream,
    /// The end of a session.
    SessionEnd,
    /// A channel of HTTP+SSE.
    Channel,
    /// To deliver a message on such a channel.
    ChannelMessage,
}

/// The methods of an endpoint, as `Allow` lists them.
pub(super) fn methods(endpoint: Endpoint<'_>, revisions: Revisions) -> &'static str {
    match endpoint {
        Endpoint::Streamable if revisions.has_era(Era::Legacy) => "GET, POST, DELETE, OPTIONS",
        Endpoint::Streamable | Endpoint::Messages { .. } => "POST, OPTIONS",
        Endpoint::EventStream { .. } => "GET, OPTIONS",
    }
}

/// Checks a head. `length` is that of the body, where it is at hand as a whole.
pub(super) fn check<'a>(rules: Rules<'_>, head: &RequestHead<'a>, length: Option<usize>) -> Checked<'a> {
    let found = Headers::new(head.headers);
    match rules.origins.admit(found) {
        Err(_) => Checked { origin: None, verdict: Err(Refusal::Forbidden) },
        Ok(origin) => Checked { origin, verdict: check_admitted(rules, head, found, length) },
    }
}

fn check_admitted(
    rules: Rules<'_>,
    head: &RequestHead<'_>,
    found: Headers<'_>,
    length: Option<usize>,
) -> Result<Wanted, Refusal> {
    let accept = || Acceptable::of(found.all(headers::ACCEPT));
    match (head.endpoint, head.method) {
        (_, OPTIONS) if is_preflight(found) => Ok(Wanted::Preflight),
        (_, OPTIONS) => Ok(Wanted::Methods),
        (Endpoint::Streamable, POST) => {
            let accept = accept();
            if !accept.json && !accept.event_stream {
                return Err(Refusal::NotAcceptable);
            }
            check_body(rules, found, length)?;
            Ok(Wanted::Message(accept))
        }
        (Endpoint::Streamable, GET) if rules.revisions.has_era(Era::Legacy) => {
            if !accept().event_stream {
                return Err(Refusal::NotAcceptable);
            }
            check_revision(rules, found)?;
            Ok(Wanted::Stream)
        }
        (Endpoint::Streamable, DELETE) if rules.revisions.has_era(Era::Legacy) => {
            check_revision(rules, found)?;
            Ok(Wanted::SessionEnd)
        }
        (Endpoint::EventStream { .. }, GET) if accept().event_stream => Ok(Wanted::Channel),
        (Endpoint::EventStream { .. }, GET) => Err(Refusal::NotAcceptable),
        (Endpoint::Messages { .. }, POST) => {
            check_body(rules, found, length)?;
            Ok(Wanted::ChannelMessage)
        }
        _ => Err(Refusal::MethodNotAllowed),
    }
}

/// The type and the size of a body.
fn check_body(rules: Rules<'_>, found: Headers<'_>, length: Option<usize>) -> Result<(), Refusal> {
    if Media::of(found.first(headers::CONTENT_TYPE)) != Media::Json {
        return Err(Refusal::UnsupportedMediaType);
    }
    let announced = found.first(headers::CONTENT_LENGTH).and_then(announced_length);
    if length.max(announced).unwrap_or(0) > rules.body_bytes {
        return Err(Refusal::BodyTooLarge);
    }
    Ok(())
}

/// The number in `Content-Length`; one beyond the range counts as the greatest.
fn announced_length(digits: &str) -> Option<usize> {
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(usize::MAX))
}

/// Requests without a body name a revision with sessions, or none at all. The machine judges those with a body.
fn check_revision(rules: Rules<'_>, found: Headers<'_>) -> Result<(), Refusal> {
    let is_served = |name| {
        let revision = Revision::from_name(name);
        revision.is_some_and(|revision| revision.era() == Era::Legacy && rules.revisions.contains(revision))
    };
    match found.single(headers::PROTOCOL_VERSION) {
        HeaderValue::Absent => Ok(()),
        HeaderValue::Once(name) if is_served(name) => Ok(()),
        _ => Err(Refusal::UnservedRevision),
    }
}

/// The value of one parameter of a query string.
pub(super) fn query_value<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}
