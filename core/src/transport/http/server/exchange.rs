//! One HTTP request with its response: how far it is, and what waits to be taken by the host.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::jsonrpc::write;
use crate::machine::{ExchangeHandle, HeaderValue, Mirror, NamedSession, SessionHandle};
use crate::revision::{Era, Revision};
use crate::time::Instant;
use crate::transport::http::headers::{self, Headers};
use crate::transport::http::media::{self, Acceptable};
use crate::transport::http::origin::{Header, sharing};
use crate::transport::http::status::{self, Refusal};

use super::http_sse::Channel;
use super::streams::Replay;
use super::values::{Denial, ResponseHead, ResponsePart};

/// Headers that a request keeps while its body arrives, beside those for arguments.
const KEPT: [&str; 3] = [headers::PROTOCOL_VERSION, headers::METHOD, headers::NAME];

/// What a message comes with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Envelope<'a> {
    pub(super) headers: Headers<'a>,
    pub(super) principal: Option<&'a str>,
    pub(super) session: NamedSession,
    /// The id of a session that has to be asked for first.
    pub(super) unknown: Option<&'a str>,
    /// The channel of HTTP+SSE that it is for.
    pub(super) channel: Option<ExchangeHandle>,
    pub(super) takes: Acceptable,
}

impl<'a> Envelope<'a> {
    /// The headers that repeat parts of the message; `params` is filled from them first.
    pub(super) fn mirror<'p>(&self, params: &'p mut Vec<(&'a str, &'a str)>) -> Mirror<'p>
    where
        'a: 'p,
    {
        params.extend(self.headers.params());
        Mirror {
            protocol_version: self.headers.single(headers::PROTOCOL_VERSION),
            method: self.headers.single(headers::METHOD),
            name: self.headers.single(headers::NAME),
            params,
        }
    }

    /// The same, for as long as the body arrives.
    pub(super) fn keep(&self) -> Upload {
        let is_kept =
            |name: &str| KEPT.iter().any(|kept| kept.eq_ignore_ascii_case(name)) || headers::is_param(name);
        let kept = self.headers.list().iter().filter(|(name, _)| is_kept(name));
        Upload {
            body: Vec::new(),
            headers: kept.map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            principal: self.principal.map(Box::from),
            session: self.session,
            unknown: self.unknown.map(Box::from),
            channel: self.channel,
            takes: self.takes,
        }
    }
}

/// Whether a request says that it is a modern one: sessions mean nothing to it.
pub(super) fn is_modern(found: Headers<'_>) -> bool {
    let HeaderValue::Once(name) = found.single(headers::PROTOCOL_VERSION) else { return false };
    Revision::from_name(name).is_some_and(|revision| revision.era() == Era::Modern)
}

/// An [`Envelope`] that waits for its body, or with it for its session.
#[derive(Debug)]
pub(super) struct Upload {
    pub(super) body: Vec<u8>,
    headers: Vec<(Box<str>, Box<str>)>,
    pub(super) principal: Option<Box<str>>,
    pub(super) session: NamedSession,
    pub(super) unknown: Option<Box<str>>,
    pub(super) channel: Option<ExchangeHandle>,
    takes: Acceptable,
}

impl Upload {
    pub(super) fn headers(&self) -> Vec<(&str, &str)> {
        self.headers.iter().map(|(name, value)| (&**name, &**value)).collect()
    }

    pub(super) fn envelope<'a>(&'a self, headers: &'a [(&'a str, &'a str)]) -> Envelope<'a> {
        Envelope {
            headers: Headers::new(headers),
            principal: self.principal.as_deref(),
            session: self.session,
            unknown: self.unknown.as_deref(),
            channel: self.channel,
            takes: self.takes,
        }
    }
}

/// How far an exchange is.
#[derive(Debug)]
pub(super) enum Phase {
    /// Its body arrives.
    Receiving(Box<Upload>),
    /// It waits for its session, with its body or, if it is no POST, with what it wants.
    AwaitingSession(Parked),
    /// The machine has its message, and has said nothing of it.
    Running,
    /// It waits for events that the host keeps.
    AwaitingReplay(Box<Replay>),
    /// Its response is a stream that goes on.
    Streaming,
    /// All of its response is there, and waits to be taken.
    Ended,
}

/// What waits for a session.
#[derive(Debug)]
pub(super) enum Parked {
    Message(Box<Upload>),
    Stream { after: Option<Box<str>> },
    SessionEnd,
}

/// Whether the host knows that an exchange has something to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    /// It need not know, or found nothing when it last looked.
    None,
    /// It will be told when it asks.
    Queued,
    /// It was told, and has not found nothing since.
    Given,
}

#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) phase: Phase,
    pub(super) takes: Acceptable,
    /// The origin of the page that it comes from.
    origin: Option<Box<str>>,
    /// Who sent it, if a session may begin with it.
    pub(super) principal: Option<Box<str>>,
    /// The legacy session that it belongs to.
    pub(super) session: Option<SessionHandle>,
    /// The stream that it carries.
    pub(super) stream: Option<u64>,
    /// It is a channel of HTTP+SSE.
    pub(super) channel: Option<Box<Channel>>,
    /// Something of it was given to the machine, which may speak of it.
    pub(super) is_told: bool,
    head: Option<ResponseHead>,
    data: Vec<u8>,
    is_aborted: bool,
    pub(super) notice: Notice,
    /// When something was last said.
    pub(super) spoke_at: Instant,
    /// When to look whether it was silent for too long.
    pub(super) look_at: Option<Instant>,
}

impl Exchange {
    pub(super) fn new(now: Instant, origin: Option<&str>) -> Exchange {
        Exchange {
            phase: Phase::Running,
            takes: Acceptable { json: true, event_stream: true },
            origin: origin.map(Box::from),
            principal: None,
            session: None,
            stream: None,
            channel: None,
            is_told: false,
            head: None,
            data: Vec::new(),
            is_aborted: false,
            notice: Notice::None,
            spoke_at: now,
            look_at: None,
        }
    }

    /// Whether there is something for the host to take.
    pub(super) fn has_part(&self) -> bool {
        self.head.is_some() || !self.data.is_empty() || matches!(self.phase, Phase::Ended)
    }

    /// Whether the response has begun as a stream, and goes on.
    pub(super) fn is_streaming(&self) -> bool {
        matches!(self.phase, Phase::Streaming)
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended)
    }

    /// Bytes that wait to be taken.
    pub(super) fn backlog(&self) -> usize {
        self.data.len()
    }

    /// Takes what there is; the caller has seen that there is something.
    pub(super) fn take_part(&mut self) -> ResponsePart {
        ResponsePart {
            head: self.head.take(),
            data: core::mem::take(&mut self.data),
            is_last: self.has_ended(),
            is_aborted: self.is_aborted,
        }
    }

    /// The whole of a response that is JSON.
    pub(super) fn respond_json(&mut self, status: u16, text: String) {
        let mut head = self.new_head(status);
        head.headers.push((headers::CONTENT_TYPE, Cow::Borrowed(media::JSON)));
        head.headers.push((headers::CONTENT_LENGTH, Cow::Owned(format!("{}", text.len()))));
        self.head = Some(head);
        self.data = text.into_bytes();
        self.phase = Phase::Ended;
    }

    /// The whole of a response without a body.
    pub(super) fn respond_empty(&mut self, status: u16) {
        let mut head = self.new_head(status);
        if status != status::NO_CONTENT {
            head.headers.push((headers::CONTENT_LENGTH, Cow::Borrowed("0")));
        }
        self.head = Some(head);
        self.phase = Phase::Ended;
    }

    /// The whole of the answer to the question of a browser what a page may ask.
    pub(super) fn respond_preflight(&mut self, headers: impl IntoIterator<Item = Header>) {
        let headers = headers.into_iter().collect();
        self.head = Some(ResponseHead { status: status::NO_CONTENT, headers });
        self.phase = Phase::Ended;
    }

    /// The whole of a response that refuses.
    pub(super) fn refuse(&mut self, refusal: Refusal) {
        self.respond_json(refusal.status(), write::error(None, &refusal.error()));
    }

    /// The whole of a response to a request that the host does not let through.
    pub(super) fn deny(&mut self, denial: Denial<'_>) {
        let (status, error) = status::of_denial(denial.status);
        self.respond_json(status, write::error(None, &error));
        let is_plain = |value: &&str| value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if let Some(challenge) = denial.challenge.filter(is_plain) {
            self.add_header(headers::WWW_AUTHENTICATE, String::from(challenge));
        }
    }

    /// The head of a response that is a stream.
    pub(super) fn begin_stream(&mut self) {
        let mut head = self.new_head(status::OK);
        head.headers.extend([
            (headers::CONTENT_TYPE, Cow::Borrowed(media::EVENT_STREAM)),
            (headers::CACHE_CONTROL, Cow::Borrowed("no-cache")),
            (headers::X_ACCEL_BUFFERING, Cow::Borrowed("no")),
        ]);
        self.head = Some(head);
        self.phase = Phase::Streaming;
    }

    /// Adds a header to a head that was not taken yet.
    pub(super) fn add_header(&mut self, name: &'static str, value: impl Into<Cow<'static, str>>) {
        if let Some(head) = &mut self.head {
            head.headers.push((name, value.into()));
        }
    }

    /// What is to be sent next on a stream.
    pub(super) fn data_mut(&mut self) -> &mut Vec<u8> {
        &mut self.data
    }

    /// Nothing follows what there is.
    pub(super) fn end(&mut self) {
        self.phase = Phase::Ended;
    }

    /// What there is goes no more, and the connection is to be broken.
    pub(super) fn abort(&mut self) {
        self.data = Vec::new();
        self.is_aborted = true;
        self.phase = Phase::Ended;
    }

    /// A head with what every response to this client has.
    fn new_head(&self, status: u16) -> ResponseHead {
        let mut headers = Vec::with_capacity(4);
        if let Some(origin) = &self.origin {
            headers.extend(sharing(origin));
        }
        ResponseHead { status, headers }
    }
}
