//! How a connection begins and ends: the probe, the handshake, a fresh start, the last event
//! (basic/versioning and basic/transports/stdio, 2026-07-28; basic/lifecycle, earlier).

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::config::ClientConfig;
use crate::error::{CloseReason, Error, PeerIncompatible, PeerMisbehaved};
use crate::json::Json;
use crate::jsonrpc::{Outcome, RequestId, RpcError, write};
use crate::machine::{RequestHandle, Route, Transmit};
use crate::memory::LastLong;
use crate::pending::Pending;
use crate::queues::Queues;
use crate::revision::meta::{self, RequestMeta, SERVER_INFO};
use crate::revision::{Capabilities, Era, Method, Revision, Revisions, one_line, write_client_capabilities};
use crate::time::Instant;

use super::calls::wire_id;
use super::labels::About;
use super::probe::{self, Refusal, Verdict};
use super::questions::Questions;
use super::recovery::Session;
use super::state::{Action, Occurrence, State, transition};
use super::subscriptions::Subscriptions;
use super::tool_headers::ToolHeaders;
use super::{Client, DisconnectReason, Event};

/// What the opening of a connection keeps.
#[derive(Debug, Default)]
pub(super) struct Opening {
    /// The id of the probe or handshake that waits for its answer.
    expected: Option<RequestId>,
    /// The request that has it.
    request: Option<RequestHandle>,
    deadline: Option<Instant>,
    /// Its exchange waits for authorization: milliseconds that are left then.
    held: Option<u64>,
    /// Ids of probes before that; their answers are dropped.
    past: Vec<RequestId>,
    /// Revisions that were proposed.
    tried: Vec<Revision>,
    /// The host was asked for a fresh start.
    restarted: bool,
    /// An answer to `initialize` led back to the probe.
    corrected: bool,
    /// The era is taken from a stored verdict, and nothing has confirmed it yet.
    unconfirmed: bool,
}

impl Opening {
    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Whether this is the answer that the opening waits for.
    pub(super) fn expects(&self, id: &RequestId) -> bool {
        self.expected.as_ref() == Some(id)
    }

    /// Whether the answer to this request is what the opening waits for.
    pub(super) fn awaits(&self, request: RequestHandle) -> bool {
        self.request == Some(request)
    }

    /// Whether this is the late answer to an earlier probe.
    pub(super) fn was_past(&self, id: &RequestId) -> bool {
        self.past.contains(id)
    }

    pub(super) const fn is_unconfirmed(&self) -> bool {
        self.unconfirmed
    }

    pub(super) const fn confirm(&mut self) {
        self.unconfirmed = false;
    }

    fn wait(&mut self, request: RequestHandle, id: RequestId, proposed: Revision, deadline: Instant) {
        self.stop_waiting();
        self.expected = Some(id);
        self.request = Some(request);
        self.deadline = Some(deadline);
        self.tried.push(proposed);
    }

    /// Another handshake may propose what was tried before.
    pub(super) fn begin_again(&mut self) {
        self.tried.clear();
        self.past.clear();
        self.corrected = false;
    }

    /// What was asked for often enough not to be asked for again.
    fn exhausted(&self, http: bool) -> Revisions {
        // Over HTTP the same address may be many processes, of which one is behind the others: once more then.
        let enough = if http { 2 } else { 1 };
        let count = |wanted| self.tried.iter().filter(|&&tried| tried == wanted).count();
        let exhausted: Vec<_> = self.tried.iter().copied().filter(|&tried| count(tried) >= enough).collect();
        Revisions::of(&exhausted)
    }

    fn stop_waiting(&mut self) {
        self.past.extend(self.expected.take());
        self.request = None;
        self.deadline = None;
        self.held = None;
    }

    fn hold(&mut self, now: Instant) {
        if let Some(deadline) = self.deadline.take() {
            self.held = Some(deadline.since(now));
        }
    }

    fn release(&mut self, now: Instant) {
        if let Some(left) = self.held.take() {
            self.deadline = Some(now.after(left));
        }
    }
}

impl Client {
    pub(super) fn open(config: ClientConfig, now: Instant) -> Result<Client, Error> {
        let revisions = config.revisions;
        if revisions.is_empty() {
            return Err(PeerIncompatible::NoCommonRevision { ours: Vec::new(), theirs: Vec::new() }.into());
        }
        let stored = config.era.map(|verdict| verdict.revision).filter(|&known| revisions.contains(known));
        let pending = Pending::new(config.limits.requests_in_flight);
        let mut client = Client {
            queues: Queues::new(&config.limits),
            last_long: LastLong::default(),
            now,
            state: State::Probing,
            opening: Opening::default(),
            revision: None,
            server: None,
            pending,
            held: alloc::collections::VecDeque::new(),
            questions: Questions::default(),
            subscriptions: Subscriptions::default(),
            session: Session::default(),
            tools: ToolHeaders::default(),
            log_level: None,
            stamp: String::new(),
            overflowing: false,
            end: None,
            config,
        };
        match (stored.map(Revision::era), revisions.of_era(Era::Modern).next()) {
            (Some(Era::Modern), _) => client.trust(stored),
            (None, Some(newest)) => client.send_probe(newest),
            (Some(Era::Legacy), _) | (None, None) => client.judge(probe::fall_back(revisions, &[]), None),
        }
        Ok(client)
    }

    /// Goes ahead by a stored verdict; the first answer confirms or contradicts it.
    fn trust(&mut self, stored: Option<Revision>) {
        let Some(revision) = stored else { return };
        self.opening.unconfirmed = true;
        if self.step(Occurrence::FoundModern) == Action::Settle {
            self.settle(revision, None, None, None);
        }
    }

    /// Moves through the table of transitions.
    pub(super) fn step(&mut self, occurrence: Occurrence) -> Action {
        let (action, next) = transition(self.state, occurrence);
        self.state = next;
        action
    }

    pub(super) fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }

    /// What [`handle_input`](crate::Machine::handle_input) answers.
    pub(super) fn fault(&self) -> Result<(), Error> {
        match self.end {
            Some(reason @ (CloseReason::HandshakeFailed | CloseReason::Poisoned)) => {
                Err(Error::Closed(reason))
            }
            _ => Ok(()),
        }
    }

    /// Refuses commands once it is over.
    pub(super) fn check_open(&self) -> Result<(), Error> {
        self.end.map_or(Ok(()), |reason| Err(Error::Closed(reason)))
    }

    fn send_probe(&mut self, revision: Revision) {
        self.use_stamp(revision);
        let request = self.pending.draw();
        // A string can be none of the ids of requests, which are integers.
        let id = RequestId::from_token(&format!("\"probe-{}\"", request.number()));
        let Some(id) = id else { return };
        let meta = RequestMeta { standing: &self.stamp, ..RequestMeta::default() };
        let text = write::request_with(&id, Method::Discover.name(), self.stamp.len(), |out| {
            meta::write_request_params(out, None, &meta).unwrap_or(false)
        });
        let timeouts = &self.config.timeouts;
        let patience = if self.silence_is_legacy() { timeouts.probe } else { timeouts.handshake };
        self.opening.wait(request, id, revision, self.now.after(patience));
        self.send(text, Route::Opens(request), About::Probe(revision));
    }

    pub(super) fn send_initialize(&mut self, revision: Revision) {
        let request = self.pending.draw();
        let id = wire_id(request);
        let params = format!(
            "{{\"protocolVersion\":\"{revision}\",\"capabilities\":{},\"clientInfo\":{}}}",
            write_client_capabilities(revision, &self.config.capabilities),
            one_line(&self.config.implementation.to_json(revision))
        );
        let text = write::request(&id, Method::Initialize.name(), Some(&params));
        self.opening.wait(request, id, revision, self.now.after(self.config.timeouts.handshake));
        self.send(text, Route::Opens(request), About::Handshake);
    }

    /// The answer to the probe or handshake.
    pub(super) fn on_opening_answer(&mut self, outcome: Outcome<'_>) {
        let ours = self.config.revisions;
        match (self.state, outcome) {
            (State::Probing, Outcome::Result(result)) => {
                let result = Json::trusted(result);
                self.judge(probe::judge_result(ours, &result), Some(&result));
            }
            (State::Probing, Outcome::Error(error)) => self.on_probe_error(&error),
            (_, Outcome::Result(result)) => self.on_initialize_result(&Json::trusted(result)),
            (_, Outcome::Error(error)) => self.on_initialize_error(&error),
        }
    }

    /// The opening's answer came and cannot be read.
    pub(super) fn on_opening_garbled(&mut self) {
        if self.state == State::Probing {
            self.judge(probe::fall_back(self.config.revisions, &[]), None);
        } else {
            self.fail(DisconnectReason::Failed(PeerMisbehaved::InvalidHandshake.into()));
        }
    }

    pub(super) fn on_probe_error(&mut self, error: &RpcError) {
        let tried = self.opening.exhausted(self.config.http);
        self.judge(probe::judge_error(self.config.revisions, tried, error), None);
    }

    pub(super) fn judge(&mut self, verdict: Verdict, discovered: Option<&Json>) {
        self.opening.stop_waiting();
        match verdict {
            Verdict::Modern(revision) => {
                if self.step(Occurrence::FoundModern) == Action::Settle {
                    self.settle_modern(revision, discovered);
                }
            }
            Verdict::Other(revision) => {
                if self.step(Occurrence::FoundOther) == Action::Probe {
                    self.send_probe(revision);
                }
            }
            Verdict::Legacy(revision) => {
                if self.step(Occurrence::FoundLegacy) == Action::Initialize {
                    self.send_initialize(revision);
                }
            }
            Verdict::Failed(reason) => self.fail(reason),
        }
    }

    fn on_initialize_result(&mut self, result: &Json) {
        let named = result.member("protocolVersion");
        let Some(name) = named.as_ref().and_then(|name| name.parse::<Cow<'_, str>>().ok()) else {
            return self.fail(DisconnectReason::Failed(PeerMisbehaved::InvalidHandshake.into()));
        };
        let ours = self.config.revisions.and(Revisions::LEGACY);
        let Some(revision) = Revision::from_name(&name).filter(|&named| ours.contains(named)) else {
            return self.fail(probe::no_common(ours, &[Box::from(&*name)]));
        };
        self.opening.stop_waiting();
        if self.step(Occurrence::Accepted) == Action::Settle {
            self.revision = Some(revision);
            let method = Method::Initialized.name();
            self.send(write::notification(method, None), Route::Alone, About::Call { method, params: None });
            let capabilities = result.member("capabilities").map(|object| Capabilities::read(&object));
            let instructions = text_member(result, "instructions");
            let capabilities = capabilities.unwrap_or_default();
            self.settle(revision, result.member("serverInfo"), Some(capabilities), instructions);
        }
    }

    fn on_initialize_error(&mut self, error: &RpcError) {
        let tried = Revisions::of(&self.opening.tried);
        let correctable = !self.opening.corrected;
        match probe::judge_refusal(self.config.revisions, tried, correctable, error) {
            Refusal::Modern(revision) => {
                self.opening.corrected = true;
                if self.step(Occurrence::Corrected) == Action::Probe {
                    self.send_probe(revision);
                }
            }
            Refusal::CounterOffer(revision) => {
                if self.step(Occurrence::CounterOffered) == Action::Initialize {
                    self.send_initialize(revision);
                }
            }
            Refusal::Final(reason) => self.fail(reason),
        }
    }

    fn settle_modern(&mut self, revision: Revision, discovered: Option<&Json>) {
        let member = |name| discovered.and_then(|result| result.member(name));
        let capabilities =
            member("capabilities").map(|object| Capabilities::read(&object)).unwrap_or_default();
        let identity = member("_meta").and_then(|meta| meta.member(SERVER_INFO));
        let instructions = discovered.and_then(|result| text_member(result, "instructions"));
        self.settle(revision, identity, Some(capabilities), instructions);
    }

    fn settle(
        &mut self,
        revision: Revision,
        server: Option<Json>,
        capabilities: Option<Capabilities>,
        instructions: Option<Box<str>>,
    ) {
        self.revision = Some(revision);
        self.server.clone_from(&capabilities);
        self.use_stamp(revision);
        let capabilities = capabilities.unwrap_or_default();
        let replaces = self.end_replacement();
        self.queues.tell(if replaces && revision.era() == Era::Legacy {
            Event::SessionReplaced { revision, server, capabilities, instructions }
        } else {
            Event::Ready { revision, server, capabilities, instructions }
        });
        if replaces {
            self.restore_session();
        }
        self.release_held();
    }

    fn use_stamp(&mut self, revision: Revision) {
        let client = self.config.implementation.to_json(revision);
        let capabilities = write_client_capabilities(revision, &self.config.capabilities);
        self.stamp = meta::standing_members(revision, Some(&one_line(&client)), &capabilities);
    }

    /// A request went wrong that a modern server would have taken: probe after all.
    pub(super) fn contradict(&mut self) {
        self.opening.unconfirmed = false;
        if self.step(Occurrence::Contradicted) != Action::Probe {
            return;
        }
        if let Some(revision) = self.revision.take() {
            self.send_probe(revision);
        }
    }

    /// An exchange waits for authorization, for which a user may have to log in: no time passes for what it carries, nor for
    /// what waits until the connection is open.
    pub(super) fn on_held(&mut self, request: RequestHandle) {
        if self.opening.awaits(request) {
            self.opening.hold(self.now);
            self.pending.hold_all(self.now);
        } else {
            self.pending.hold(self.now, request);
        }
    }

    /// It goes on.
    pub(super) fn on_released(&mut self, request: RequestHandle) {
        if self.opening.awaits(request) {
            self.opening.release(self.now);
            self.pending.release_all(self.now);
        } else {
            self.pending.release(self.now, request);
        }
    }

    pub(super) fn expire_opening(&mut self) {
        if self.opening.deadline.is_none_or(|deadline| deadline > self.now) {
            return;
        }
        if self.state == State::Probing && self.silence_is_legacy() {
            return self.judge(probe::fall_back(self.config.revisions, &[]), None);
        }
        if let Some(request) = self.opening.request.filter(|_| self.config.http) {
            self.queues.transmit(Transmit::Abort { request });
        }
        self.fail(DisconnectReason::HandshakeTimedOut);
    }

    /// Whether silence on the probe, or an end, says that the server is legacy. Over HTTP it says that the server or
    /// the way to it is out of order; and without a legacy revision of ours nothing follows from it.
    fn silence_is_legacy(&self) -> bool {
        !self.config.http && self.config.revisions.has_era(Era::Legacy)
    }

    pub(super) fn on_restarted(&mut self) {
        let Some(revision) = self.config.revisions.of_era(Era::Legacy).next() else { return };
        if self.step(Occurrence::Restarted) == Action::Initialize {
            self.send_initialize(revision);
        }
    }

    /// The peer or the transport ended.
    pub(super) fn on_end(&mut self, reason: CloseReason) {
        if self.state == State::Restarting {
            // The end of the old process can be told more than once.
            return;
        }
        let occurrence = if self.silence_is_legacy() && !self.opening.restarted {
            Occurrence::DiedOnProbe
        } else {
            Occurrence::Ended
        };
        let occurrence = if self.state == State::Probing { occurrence } else { Occurrence::Ended };
        match self.step(occurrence) {
            Action::AskRestart => {
                self.opening.restarted = true;
                self.opening.stop_waiting();
                self.queues.discard_transmits();
                self.queues.tell(Event::RestartRequired);
            }
            Action::End => {
                self.queues.discard_transmits();
                self.finish(reason, DisconnectReason::Closed(reason));
            }
            _ => {}
        }
    }

    pub(super) fn close_by_us(&mut self) {
        if self.step(Occurrence::Ended) == Action::End {
            self.finish(CloseReason::ByUs, DisconnectReason::Closed(CloseReason::ByUs));
        }
    }

    pub(super) fn fail(&mut self, reason: DisconnectReason) {
        if self.step(Occurrence::Failed) == Action::End {
            self.finish(CloseReason::HandshakeFailed, reason);
        }
    }

    /// Settles everything that waits. Nothing is armed and nothing can be asked afterwards.
    fn finish(&mut self, close: CloseReason, reason: DisconnectReason) {
        self.opening.stop_waiting();
        self.held.clear();
        self.withdraw_all_questions();
        self.fail_all_calls();
        self.end_all_subscriptions(close == CloseReason::ByUs);
        self.end = Some(close);
        self.queues.transmit(Transmit::Close);
        self.queues.tell(Event::Disconnected { reason });
    }
}

fn text_member(object: &Json, name: &str) -> Option<Box<str>> {
    object.member(name)?.parse::<String>().ok().map(Into::into)
}
