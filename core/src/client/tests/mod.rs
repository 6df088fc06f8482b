//! Tests of the client machine on whole messages and a virtual clock.

mod cases;
mod exhaustive;
mod http;
mod legacy;
mod modern;
mod opening;
mod sessions;
mod subscriptions;
mod tool_headers;
mod visits;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::config::{ClientConfig, Implementation};
use crate::json::Json;
use crate::jsonrpc::Violation;
use crate::machine::{Facts, Input, InputHandle, Machine, RequestHandle, Transmit};
use crate::revision::{Era, Revision, Revisions};
use crate::rounds::InputResponse;
use crate::time::Instant;

use super::{Client, Event, FailureReason, RequestOptions};

/// A client with a clock, and what it has sent.
struct Peer {
    client: Client,
    now: u64,
}

const ALL_SERVER_CAPABILITIES: &str = r#"{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"logging":{},"completions":{}}"#;
const ALL_CLIENT_CAPABILITIES: &str =
    r#"{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}"#;

fn config() -> ClientConfig {
    let mut config = ClientConfig::new(Implementation::new("test", "1"), [7; 32]);
    config.set_capabilities(ALL_CLIENT_CAPABILITIES).unwrap();
    config
}

impl Peer {
    fn new(config: ClientConfig) -> Peer {
        Peer { client: Client::new(config, Instant::ZERO).unwrap(), now: 0 }
    }

    /// A client that is ready at `revision`, its queues drained.
    fn ready(revision: Revision) -> Peer {
        Peer::ready_with(config(), revision, ALL_SERVER_CAPABILITIES)
    }

    fn ready_with(mut config: ClientConfig, revision: Revision, capabilities: &str) -> Peer {
        config.revisions = Revisions::of(&[revision]);
        let mut peer = Peer::new(config);
        let opening = peer.sent_one();
        let id = id_of(&opening);
        match revision.era() {
            Era::Legacy => peer.receive(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"{revision}","capabilities":{capabilities},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
            )),
            Era::Modern => peer.receive(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","supportedVersions":["{revision}"],"capabilities":{capabilities}}}}}"#
            )),
        }
        peer.sent();
        assert!(
            matches!(peer.events().as_slice(), [Event::Ready { revision: settled, .. }] if *settled == revision)
        );
        peer
    }

    fn receive(&mut self, text: &str) {
        let _ = self.input(Input::Message { text, facts: Facts::default() });
    }

    fn input(&mut self, input: Input<'_>) -> Result<(), crate::error::Error> {
        self.client.handle_input(Instant::from_millis(self.now), input)
    }

    /// Lets time pass, waking the client as it asks to be.
    fn advance(&mut self, milliseconds: u64) {
        let end = self.now + milliseconds;
        while let Some(next) = self.client.poll_timeout().filter(|next| next.as_millis() <= end) {
            self.now = self.now.max(next.as_millis());
            self.client.handle_timeout(Instant::from_millis(self.now));
        }
        self.now = end;
        self.client.handle_timeout(Instant::from_millis(end));
    }

    fn request(&mut self, method: &str, params: &str) -> RequestHandle {
        self.request_with(method, params, RequestOptions::default())
    }

    fn request_with(&mut self, method: &str, params: &str, options: RequestOptions) -> RequestHandle {
        let now = Instant::from_millis(self.now);
        self.client.request(now, method, Some(params), options).unwrap()
    }

    /// Sends a tool call and gives back its handle and wire id.
    fn call(&mut self) -> (RequestHandle, String) {
        let request = self.request("tools/call", r#"{"name":"t","arguments":{}}"#);
        (request, id_of(&self.sent_one()))
    }

    fn answer(&mut self, id: &str, result: &str) {
        self.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
    }

    fn fail(&mut self, id: &str, error: &str) {
        self.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#));
    }

    fn provide(&mut self, input: InputHandle, result: &str) {
        let response = InputResponse::Result(Json::new(result).unwrap());
        self.client.provide_input(Instant::from_millis(self.now), input, response).unwrap();
    }

    /// The messages that wait to be sent.
    fn sent(&mut self) -> Vec<String> {
        let mut sent = Vec::new();
        while let Some(transmit) = self.client.poll_transmit() {
            if let Transmit::Message { text, .. } = transmit {
                assert!(Json::new(&text).is_ok() && !text.contains(['\n', '\r']), "{text}");
                sent.push(text);
            }
        }
        sent
    }

    fn sent_one(&mut self) -> String {
        let mut sent = self.sent();
        assert_eq!(sent.len(), 1, "{sent:?}");
        sent.remove(0)
    }

    fn events(&mut self) -> Vec<Event> {
        core::iter::from_fn(|| self.client.poll_event()).collect()
    }

    fn event(&mut self) -> Event {
        let mut events = self.events();
        assert_eq!(events.len(), 1, "{events:?}");
        events.remove(0)
    }

    /// The questions of the only event that waits.
    fn questions(&mut self) -> Vec<(InputHandle, Option<String>)> {
        match self.event() {
            Event::InputRequired { inputs, .. } => inputs
                .into_iter()
                .map(|request| (request.input, request.key.map(|key| key.to_string())))
                .collect(),
            other => panic!("{other:?}"),
        }
    }
}

fn member(text: &str, path: &[&str]) -> Option<String> {
    let mut value = Json::new(text).unwrap();
    for name in path {
        value = value.member(name)?;
    }
    Some(value.as_str().into())
}

fn id_of(message: &str) -> String {
    member(message, &["id"]).unwrap()
}

fn method_of(message: &str) -> String {
    member(message, &["method"]).unwrap().trim_matches('"').into()
}

fn methods(messages: &[String]) -> Vec<String> {
    messages.iter().map(|message| method_of(message)).collect()
}

fn failed(request: RequestHandle, reason: FailureReason) -> Event {
    Event::RequestFailed { request, reason }
}

fn answered(request: RequestHandle, result: &str) -> Event {
    Event::ResponseReceived { request, result: Json::new(result).unwrap(), freshness: None }
}

/// The violations that events report as discarded or tolerated.
fn violations(events: &[Event]) -> Vec<Violation> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::MessageDiscarded { violation, .. } | Event::ViolationTolerated { violation, .. } => {
                Some(*violation)
            }
            _ => None,
        })
        .collect()
}
