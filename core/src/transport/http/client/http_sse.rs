//! HTTP+SSE, the transport of 2024-11-05, where Streamable HTTP is refused: one stream brings all messages, and its
//! first event says where ours go (basic/transports, Backwards Compatibility).

use alloc::boxed::Box;
use alloc::string::String;

use crate::error::Error;
use crate::machine::{ExchangeHandle, Failure, Input, Machine};
use crate::transport::http::status::Asked;
use crate::transport::sse::SseEvent;

use super::exchange::{Exchange, Purpose};
use super::{HttpClient, HttpRequest, HttpTransmit};
use crate::transport::http::url::Url;

/// Milliseconds in which the stream must have named the endpoint.
const PATIENCE: u64 = 10_000;

/// The event that names the endpoint.
const ENDPOINT: &str = "endpoint";

/// The stream of HTTP+SSE.
#[derive(Debug)]
pub(super) enum Channel {
    /// There is none: Streamable HTTP is spoken.
    None,
    /// It was asked for, as `initialize` was refused.
    Asked(Box<Detour>),
    /// It is there.
    Open {
        /// The exchange of the stream.
        stream: ExchangeHandle,
        /// Where our messages go.
        endpoint: Box<str>,
    },
}

/// What to do when the stream is there, and what to say if it is not.
#[derive(Debug)]
pub(super) struct Detour {
    stream: ExchangeHandle,
    /// What carried `initialize`.
    purpose: Purpose,
    message: HttpRequest,
    /// How it was refused: the status, and the body if it is a message.
    status: u16,
    body: Option<String>,
}

impl<M: Machine> HttpClient<M> {
    /// Looks for the older transport, after `initialize` was refused. False if that is out of the question.
    pub(super) fn take_detour(&mut self, refused: ExchangeHandle, status: u16, body: Option<&str>) -> bool {
        if !self.config.falls_back_to_sse || !matches!(self.channel, Channel::None) {
            return false;
        }
        let Some(exchange) = self.table.get_mut(refused) else { return false };
        let purpose = exchange.purpose;
        let Some(message) = exchange.copy.take() else { return false };
        self.retire(refused);
        let asked = Asked::Stream { session: false };
        let stream = self.table.insert(Exchange::new(Purpose::Channel, asked, self.session.number));
        let body = body.map(String::from);
        self.channel = Channel::Asked(Box::new(Detour { stream, purpose, message: *message, status, body }));
        self.get(stream);
        self.table.arm(stream, Some(self.now.after(PATIENCE)));
        true
    }

    /// The endpoint that messages go to.
    pub(super) fn endpoint(&self) -> Option<&str> {
        match &self.channel {
            Channel::Open { endpoint, .. } => Some(endpoint),
            _ => None,
        }
    }

    /// Takes an event of the stream. The first one must name the endpoint.
    pub(super) fn on_channel_event(&mut self, stream: ExchangeHandle, event: &SseEvent) -> Result<(), Error> {
        match core::mem::replace(&mut self.channel, Channel::None) {
            Channel::Asked(detour) if detour.stream == stream => {
                let is_endpoint = event.event.as_deref() == Some(ENDPOINT);
                let url = Url::parse(&self.config.url).filter(|_| is_endpoint);
                let Some(endpoint) = url.and_then(|url| url.resolve(event.data.trim())) else {
                    self.abandon(stream);
                    return self.report_refusal(&detour);
                };
                self.table.arm(stream, None);
                self.channel = Channel::Open { stream, endpoint: endpoint.into() };
                self.post_again(*detour);
                Ok(())
            }
            channel => {
                self.channel = channel;
                if event.is_message() { self.deliver(stream, &event.data) } else { Ok(()) }
            }
        }
    }

    /// The stream is over, or was never there.
    pub(super) fn on_channel_end(&mut self, stream: ExchangeHandle) -> Result<(), Error> {
        match core::mem::replace(&mut self.channel, Channel::None) {
            Channel::Asked(detour) if detour.stream == stream => self.report_refusal(&detour),
            Channel::Open { stream: open, .. } if open == stream => {
                self.machine.handle_input(self.now, Input::Lost)
            }
            channel => {
                self.channel = channel;
                Ok(())
            }
        }
    }

    /// Forgets that the stream was asked for: another handshake begins.
    pub(super) fn give_up_detour(&mut self) {
        if let Channel::Asked(detour) = &self.channel {
            let stream = detour.stream;
            self.channel = Channel::None;
            self.abandon(stream);
        }
    }

    /// The stream was asked for again, in another exchange.
    pub(super) fn rename_channel(&mut self, old: ExchangeHandle, new: ExchangeHandle) {
        if let Channel::Asked(detour) = &mut self.channel
            && detour.stream == old
        {
            detour.stream = new;
            self.table.arm(new, Some(self.now.after(PATIENCE)));
        }
    }

    /// Sends `initialize` to the endpoint.
    fn post_again(&mut self, detour: Detour) {
        let asked = Asked::LegacyRequest { session: false };
        let exchange = self.table.insert(Exchange::new(detour.purpose, asked, self.session.number));
        let url = self.endpoint().unwrap_or(&self.config.url).into();
        let request = HttpRequest { exchange, url, is_stream: false, ..detour.message };
        self.keep_copy(&request);
        self.transmits.push_back(HttpTransmit::Request(request));
    }

    /// Neither transport is there: what the newer one said counts.
    fn report_refusal(&mut self, detour: &Detour) -> Result<(), Error> {
        if let Some(body) = &detour.body {
            self.hand_in(detour.purpose, body)?;
        }
        self.fail_request(detour.purpose, Failure::Refused { status: detour.status })
    }
}
