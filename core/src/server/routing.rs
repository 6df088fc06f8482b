//! Which part of the server a message is for: decided by what the message and its envelope say, never by what came
//! before on the same connection (pure).

use crate::jsonrpc::RpcError;
use crate::machine::{Disposition, Exchange, HeaderValue, Mirror, NamedSession, SessionHandle};
use crate::revision::{Era, Revision, Revisions};

use super::headers::{SESSION, VERSION};
use super::ladder::missing_keys;
use super::refusal;
use super::source::{Channel, Source};
use super::text::Meta;

/// What came along with a message.
#[derive(Clone, Copy)]
pub(super) struct Envelope<'a> {
    pub(super) channel: Channel,
    /// The session that it names; on the byte stream the one that there is.
    pub(super) session: NamedSession,
    /// The client takes a stream of events as response.
    pub(super) takes_stream: bool,
    /// The headers that repeat parts of the message, where there are any.
    pub(super) mirror: Option<&'a Mirror<'a>>,
}

/// What kind of thing came, as far as its way depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A request to open a session.
    Handshake,
    /// Any other request.
    Request,
    Notification,
    Response,
    Batch,
}

/// Where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// It stands for itself (from 2026-07-28).
    Modern,
    /// It opens a session.
    Handshake,
    /// It belongs to a session.
    Session(SessionHandle),
    /// It belongs to nothing that is known.
    Nowhere,
}

/// Why it goes nowhere, and what that means for its exchange.
#[derive(Debug, PartialEq)]
pub(super) struct Refusal {
    pub(super) error: RpcError,
    pub(super) disposition: Disposition,
}

impl Lane {
    pub(super) const fn session(self) -> Option<SessionHandle> {
        match self {
            Lane::Session(session) => Some(session),
            Lane::Modern | Lane::Handshake | Lane::Nowhere => None,
        }
    }
}

impl From<RpcError> for Refusal {
    fn from(error: RpcError) -> Self {
        let disposition = Disposition::Refuses(error.code);
        Refusal { error, disposition }
    }
}

impl<'a> Envelope<'a> {
    pub(super) fn new(exchange: Option<&'a Exchange<'a>>, session_of_stream: Option<SessionHandle>) -> Self {
        let channel = Channel::of(exchange);
        match exchange {
            None => Envelope {
                channel,
                session: session_of_stream.map_or(NamedSession::None, NamedSession::Known),
                takes_stream: true,
                mirror: None,
            },
            Some(exchange) => Envelope {
                channel,
                session: exchange.session,
                takes_stream: exchange.takes_stream,
                mirror: exchange.mirror.as_ref(),
            },
        }
    }

    /// Where a message comes from that is not looked into.
    pub(super) const fn source(&self) -> Source {
        let session = match self.session {
            NamedSession::Known(session) => Some(session),
            NamedSession::None | NamedSession::Unknown => None,
        };
        Source { channel: self.channel, session }
    }

    /// Finds the way of a message whose `_meta` is `meta`.
    pub(super) fn lane(&self, part: Part, meta: &Meta<'_>, served: Revisions) -> Result<Lane, Refusal> {
        let claims = meta.protocol_version.is_some();
        if let Some(mirror) = self.mirror {
            return if claims {
                Ok(Lane::Modern)
            } else {
                self.lane_of_post(part, meta, mirror.protocol_version, served)
            };
        }
        // Only of requests it is known that they belong to no session.
        if claims && matches!(part, Part::Handshake | Part::Request) {
            return match self.channel {
                Channel::Stream => Ok(Lane::Modern),
                _ => Err(refusal::invalid_request("this revision is not served on HTTP+SSE").into()),
            };
        }
        Ok(match self.session {
            NamedSession::Known(session) => Lane::Session(session),
            _ if part == Part::Handshake => Lane::Handshake,
            _ => Lane::Nowhere,
        })
    }

    /// Finds the way of what an HTTP request brought and what does not name its revision itself.
    fn lane_of_post(
        &self,
        part: Part,
        meta: &Meta<'_>,
        version: HeaderValue<'_>,
        served: Revisions,
    ) -> Result<Lane, Refusal> {
        let has_legacy = served.has_era(Era::Legacy);
        let named = match version {
            HeaderValue::Repeated => {
                return Err(refusal::header_mismatch(VERSION, "stands more than once").into());
            }
            HeaderValue::Absent => None,
            HeaderValue::Once(name) => Some((name, Revision::from_name(name))),
        };
        match (named, part) {
            (Some((_, Some(revision))), _) if revision.era() == Era::Modern => {
                lane_under_modern_header(part, revision, meta, served)
            }
            // A handshake names its revision itself; what the header says of it does not matter.
            (_, Part::Handshake) if has_legacy => match self.session {
                NamedSession::Known(_) => {
                    Err(refusal::invalid_request("the handshake was made before").into())
                }
                NamedSession::None | NamedSession::Unknown => Ok(Lane::Handshake),
            },
            (Some((name, None)), _) => Err(refusal::unsupported_version(name, served).into()),
            (Some((name, Some(_))), _) if !has_legacy => {
                Err(refusal::unsupported_version(name, served).into())
            }
            (None, Part::Handshake | Part::Request) if !has_legacy => {
                Err(refusal::version_header_missing(VERSION, served).into())
            }
            (None, Part::Notification | Part::Response) if !has_legacy => Ok(Lane::Nowhere),
            _ => {
                let session = self.named_session(served)?;
                match named {
                    Some((name, Some(revision))) if !served.contains(revision) => {
                        Err(refusal::unsupported_version(name, served).into())
                    }
                    // Of another revision than the session's it may be: the session's counts.
                    _ => Ok(Lane::Session(session)),
                }
            }
        }
    }

    fn named_session(&self, served: Revisions) -> Result<SessionHandle, Refusal> {
        match self.session {
            NamedSession::Known(session) => Ok(session),
            NamedSession::None => Err(refusal::session_missing(SESSION, VERSION, served).into()),
            NamedSession::Unknown => Err(Refusal {
                error: refusal::invalid_request("there is no such session any more; initialize anew"),
                disposition: Disposition::SessionUnknown,
            }),
        }
    }
}

/// The way of what says in the header alone that it is of a revision without sessions.
fn lane_under_modern_header(
    part: Part,
    revision: Revision,
    meta: &Meta<'_>,
    served: Revisions,
) -> Result<Lane, Refusal> {
    match part {
        Part::Handshake => {
            Err(refusal::header_mismatch(VERSION, "names a revision that has no handshake").into())
        }
        Part::Request if served.contains(revision) => {
            Err(refusal::missing_meta(&missing_keys(meta), served).into())
        }
        Part::Request => Err(refusal::unsupported_version(revision.as_str(), served).into()),
        Part::Batch => Err(refusal::invalid_request("this revision has no batches").into()),
        Part::Notification | Part::Response => Ok(Lane::Nowhere),
    }
}
