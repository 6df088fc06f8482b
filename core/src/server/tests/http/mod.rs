//! What a server does with messages of HTTP exchanges.

mod eras;
mod exchanges;
mod headers;
mod sessions;

use super::*;
use crate::machine::{
    Disposition, Exchange, ExchangeHandle, HeaderValue, Labels, Mirror, NamedSession, Route, SessionHandle,
};
use crate::revision::Revisions;

pub(super) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// How an exchange ended, or that it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    Open,
    Accepted,
    Ended(Disposition),
}

/// One thing that goes out.
#[derive(Debug)]
pub(super) struct Out {
    pub(super) text: String,
    pub(super) route: Route,
    pub(super) labels: Labels,
}

/// An HTTP request that brings a message.
#[derive(Clone, Copy)]
pub(super) struct Post<'a> {
    pub(super) number: u64,
    pub(super) session: NamedSession,
    pub(super) takes_stream: bool,
    pub(super) mirror: Option<Mirror<'a>>,
}

impl<'a> Post<'a> {
    /// A request without headers of the protocol.
    pub(super) fn bare(number: u64) -> Post<'a> {
        Post { number, session: NamedSession::None, takes_stream: true, mirror: Some(Mirror::default()) }
    }

    /// A request of a session.
    pub(super) fn of(number: u64, session: SessionHandle) -> Post<'a> {
        Post { session: NamedSession::Known(session), ..Post::bare(number) }
    }

    /// A modern request with all headers that it needs.
    pub(super) fn modern(number: u64, method: &'a str, name: Option<&'a str>) -> Post<'a> {
        let mirror = Mirror {
            protocol_version: HeaderValue::Once(Revision::V2026_07_28.as_str()),
            method: HeaderValue::Once(method),
            name: name.map_or(HeaderValue::Absent, HeaderValue::Once),
            params: &[],
        };
        Post { mirror: Some(mirror), ..Post::bare(number) }
    }

    /// A message of a channel of HTTP+SSE.
    pub(super) fn events(number: u64, session: NamedSession) -> Post<'a> {
        Post { session, mirror: None, ..Post::bare(number) }
    }

    pub(super) fn version(mut self, version: HeaderValue<'a>) -> Post<'a> {
        if let Some(mirror) = &mut self.mirror {
            mirror.protocol_version = version;
        }
        self
    }
}

pub(super) fn exchange(number: u64) -> ExchangeHandle {
    ExchangeHandle::from_number(number)
}

impl Bench {
    pub(super) fn post(&mut self, post: Post<'_>, text: &str) {
        let exchange = Exchange {
            handle: exchange(post.number),
            session: post.session,
            takes_stream: post.takes_stream,
            mirror: post.mirror,
        };
        let facts = Facts { exchange: Some(exchange), ..Facts::default() };
        self.input(Input::Message { text, facts });
    }

    /// Everything that goes out, messages with their envelopes, and the exchanges that were accepted.
    pub(super) fn outs(&mut self) -> (Vec<Out>, Vec<u64>) {
        let (mut outs, mut accepted) = (Vec::new(), Vec::new());
        while let Some(transmit) = self.server.poll_transmit() {
            match transmit {
                Transmit::Message { text, route, labels } => {
                    assert!(!text.contains('\n') && Json::new(&text).is_ok(), "{text}");
                    outs.push(Out { text, route, labels });
                }
                Transmit::Accept { exchange } => accepted.push(exchange.number()),
                other => panic!("{other:?}"),
            }
        }
        (outs, accepted)
    }

    /// The one message that goes out.
    pub(super) fn out(&mut self) -> Out {
        let (mut outs, accepted) = self.outs();
        assert!(outs.len() == 1 && accepted.is_empty(), "{outs:?} {accepted:?}");
        outs.remove(0)
    }

    /// How an exchange stands after a message, with what was sent in it.
    pub(super) fn end_of(&mut self, number: u64) -> (End, Vec<String>) {
        let (outs, accepted) = self.outs();
        let mut end = End::Open;
        for accepted in accepted {
            assert_eq!((accepted, &end), (number, &End::Open));
            end = End::Accepted;
        }
        let mut texts = Vec::new();
        for out in outs {
            assert_eq!(out.labels.exchange, Some(exchange(number)), "{out:?}");
            texts.push(out.text);
            if !matches!(out.labels.disposition, Disposition::Continues | Disposition::Droppable) {
                assert_eq!(end, End::Open, "two ends");
                end = End::Ended(out.labels.disposition);
            }
        }
        (end, texts)
    }

    /// Opens a session by HTTP.
    pub(super) fn http_session(
        &mut self,
        number: u64,
        revision: Revision,
        capabilities: &str,
    ) -> SessionHandle {
        self.post(Post::bare(number), &initialize("0", revision.as_str(), capabilities));
        let out = self.out();
        assert_eq!(out.labels.exchange, Some(exchange(number)));
        assert_eq!((out.labels.disposition, out.labels.revision), (Disposition::Answers, Some(revision)));
        let session = out.labels.session.unwrap_or_else(|| panic!("{out:?}"));
        self.post(Post::of(number, session), INITIALIZED);
        assert_eq!(self.end_of(number), (End::Accepted, Vec::new()));
        match self.event() {
            Event::SessionOpened { session: opened, .. } => assert_eq!(opened, session),
            other => panic!("{other:?}"),
        }
        session
    }
}
