//! HTTP+SSE (2024-11-05): a stream that carries all that the server says, and an endpoint that takes messages for it.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;

use crate::machine::{ExchangeHandle, NamedSession};
use crate::seed::{Generator, Seed};
use crate::transport::http::status::Refusal;
use crate::transport::sse::{write_event, write_named_event};

use super::checks::query_value;
use super::exchange::Exchange;
use super::state::State;
use super::values::Endpoint;

/// Random bytes in the name of a channel: 24 make 32 characters.
const NAME_BYTES: usize = 24;

/// The parameter of the query that names the channel.
const PARAMETER: &str = "sessionId";

/// The event that says where messages go.
const ENDPOINT: &str = "endpoint";

/// A stream with the name that messages for it carry.
#[derive(Debug)]
pub(super) struct Channel {
    name: Box<str>,
    principal: Option<Box<str>>,
}

#[derive(Debug)]
pub(super) struct Channels {
    by_name: BTreeMap<Box<str>, ExchangeHandle>,
    generator: Generator,
}

impl Channels {
    pub(super) fn new(seed: &Seed) -> Channels {
        Channels { by_name: BTreeMap::new(), generator: Generator::new(seed, "channel name") }
    }

    pub(super) fn remove(&mut self, channel: &Channel) {
        self.by_name.remove(&channel.name);
    }
}

impl State {
    /// Begins a channel; `exchange` is not among the exchanges yet.
    pub(super) fn open_channel(
        &mut self,
        handle: ExchangeHandle,
        mut exchange: Exchange,
        endpoint: Endpoint<'_>,
        principal: Option<&str>,
    ) {
        let Endpoint::EventStream { messages } = endpoint else { return };
        if self.channels.by_name.len() >= self.session_limit {
            self.exchanges.insert(handle, exchange);
            return self.refuse(handle, Refusal::Overloaded);
        }
        let name: Box<str> = self.channels.generator.token(NAME_BYTES).into();
        exchange.begin_stream();
        write_named_event(exchange.data_mut(), ENDPOINT, None, &format!("{messages}?{PARAMETER}={name}"));
        self.channels.by_name.insert(name.clone(), handle);
        exchange.channel = Some(Box::new(Channel { name, principal: principal.map(Box::from) }));
        exchange.is_told = true;
        self.exchanges.insert(handle, exchange);
        self.watch(handle);
        self.announce(handle);
    }

    /// The channel that a query names, if it belongs to `principal`, with its session.
    pub(super) fn find_channel(
        &self,
        endpoint: Endpoint<'_>,
        principal: Option<&str>,
    ) -> Result<(ExchangeHandle, NamedSession), Refusal> {
        let Endpoint::Messages { query } = endpoint else { return Err(Refusal::UnknownSession) };
        let handle = query_value(query, PARAMETER).and_then(|name| self.channels.by_name.get(name));
        let found = handle.and_then(|handle| Some((*handle, self.exchanges.get(handle)?)));
        let (handle, exchange) = found.ok_or(Refusal::UnknownSession)?;
        let owner = exchange.channel.as_ref().map(|channel| channel.principal.as_deref());
        if owner != Some(principal) || !exchange.is_streaming() {
            return Err(Refusal::UnknownSession);
        }
        Ok((handle, exchange.session.map_or(NamedSession::None, NamedSession::Known)))
    }

    /// Sends a message on a channel.
    pub(super) fn tell_channel(&mut self, handle: ExchangeHandle, text: &str, is_droppable: bool) {
        if self.make_room(handle, text.len(), is_droppable)
            && let Some(exchange) = self.exchanges.get_mut(&handle)
        {
            write_event(exchange.data_mut(), None, text);
            self.announce(handle);
        }
    }
}
