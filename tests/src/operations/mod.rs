//! A client and a server, and everything that their applications, their links and their clocks can do to them, in
//! any order. What must hold at any time is checked after each step, what must hold at the end at the end.

mod client_ledger;
mod commands;
mod server_ledger;

pub use client_ledger::ClientLedger;
pub use server_ledger::{Owed, ServerLedger};

use barewire::client::Client;
use barewire::server::Server;
use barewire::transport::Stdio;
use barewire::{
    ClientConfig, EraVerdict, Error, Instant, Limits, Machine, Revision, Revisions, ServerConfig, Timeouts,
};

use crate::mutation::mutate;
use crate::{Choices, client_config, server_config};

/// More deadlines than any run can have one after another.
const MOST_DEADLINES: usize = 10_000;

/// Lines of the story that are printed on failure.
const LINES_TOLD: usize = 40;

/// Lines that can be sent again or mutated.
const LINES_KEPT: usize = 16;

/// Runs the operations that `bytes` stand for; what happened, in order. Panics where a promise is broken.
///
/// `seeds` are the random bytes of client and server.
pub fn run(bytes: &[u8], seeds: [[u8; 32]; 2]) -> String {
    let mut world = World::new(bytes, seeds);
    while !world.choices.is_empty() {
        world.step();
        world.check();
    }
    world.come_to_rest();
    world.end();
    std::mem::take(&mut world.story)
}

/// One direction of the link.
#[derive(Debug, Default)]
struct Pipe {
    /// Bytes that were sent and not yet delivered.
    bytes: Vec<u8>,
    /// Lines that went through.
    lines: Vec<String>,
    /// The end was delivered.
    ended: bool,
}

/// Everything that takes part.
struct World<'a> {
    choices: Choices<'a>,
    client: Stdio<Client>,
    server: Stdio<Server>,
    server_config: ServerConfig,
    to_client: Pipe,
    to_server: Pipe,
    now: Instant,
    told: ClientLedger,
    heard: ServerLedger,
    limits: Limits,
    /// The end of input was told to the server.
    server_reads_no_more: bool,
    story: String,
}

impl Drop for World<'_> {
    #[expect(clippy::disallowed_macros, reason = "the story is for the reader of a failing test")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            let lines: Vec<_> = self.story.lines().collect();
            let last = lines.len().saturating_sub(LINES_TOLD);
            eprintln!("the last of what happened:\n{}", lines[last..].join("\n"));
        }
    }
}

impl<'a> World<'a> {
    fn new(bytes: &'a [u8], seeds: [[u8; 32]; 2]) -> World<'a> {
        let mut choices = Choices::new(bytes);
        let (client, server) = configs(&mut choices, seeds);
        let limits = client.limits.clone();
        let heard = ServerLedger::new(choices.once_in(2));
        let mut world = World {
            client: Stdio::new(Client::new(client, Instant::ZERO).expect("a client")),
            server: new_server(&server),
            server_config: server,
            to_client: Pipe::default(),
            to_server: Pipe::default(),
            now: Instant::ZERO,
            told: ClientLedger::default(),
            heard,
            limits,
            server_reads_no_more: false,
            story: String::new(),
            choices,
        };
        if world.choices.once_in(2) {
            // Most runs should see a connection at work.
            world.carry_all();
        }
        world
    }

    fn step(&mut self) {
        match self.choices.below(16) {
            0..=4 => self.client_command(),
            5..=8 => self.server_command(),
            9 => self.deliver_some(),
            10 | 11 => self.carry_all(),
            12 => {
                let step = *self.choices.pick(&[0, 1, 1, 10, 10, 100, 300, 3_000, 3_000, 20_000, 700_000]);
                self.pass(self.now.after(step));
            }
            13 => {
                if let Some(due) = self.next_deadline().filter(|_| self.choices.once_in(4)) {
                    self.pass(due);
                }
            }
            14 => self.interfere(),
            _ => self.happen(),
        }
        if self.heard.prompt {
            self.poll_events();
        }
    }

    /// What must hold after each step.
    fn check(&self) {
        assert!(self.heard.owed.len() <= self.limits.requests_in_flight, "too many requests of the client");
        assert!(self.heard.watching.len() <= self.limits.subscriptions, "too many subscriptions");
        if self.heard.prompt {
            assert!(
                self.heard.asked.len() <= self.limits.requests_in_flight,
                "too many requests of the server"
            );
            assert!(self.told.open.len() <= self.limits.requests_in_flight, "too many requests");
            assert!(self.told.watching.len() <= self.limits.subscriptions, "too many subscriptions");
        }
    }

    fn next_deadline(&self) -> Option<Instant> {
        let client = self.client.machine().poll_timeout();
        client.into_iter().chain(self.server.machine().poll_timeout()).min()
    }

    /// Moves the clock; afterwards no deadline is in the past.
    fn pass(&mut self, now: Instant) {
        self.now = self.now.max(now);
        self.client.machine_mut().handle_timeout(self.now);
        self.server.machine_mut().handle_timeout(self.now);
        let next = self.next_deadline();
        assert!(next.is_none_or(|next| next > self.now), "still due at {:?}: {next:?}", self.now);
    }

    fn poll_events(&mut self) {
        use std::fmt::Write;
        while let Some(event) = self.client.machine_mut().poll_event() {
            let _ = writeln!(self.story, "client {event:?}");
            self.told.take(&event);
        }
        while let Some(event) = self.server.machine_mut().poll_event() {
            let _ = writeln!(self.story, "server {event:?}");
            self.heard.take(&event);
        }
    }

    /// Takes from both what they have to send.
    fn collect(&mut self) {
        collect(&mut self.client, &mut self.to_server, "client", &mut self.story);
        collect(&mut self.server, &mut self.to_client, "server", &mut self.story);
    }

    fn deliver_some(&mut self) {
        self.collect();
        let count = match self.choices.byte() {
            255 => usize::MAX,
            count => usize::from(count) * 2,
        };
        if self.choices.once_in(2) {
            deliver(&mut self.to_server, &mut self.server, count, self.now);
        } else {
            deliver(&mut self.to_client, &mut self.client, count, self.now);
        }
    }

    /// Delivers everything, back and forth, until nothing moves.
    fn carry_all(&mut self) {
        loop {
            self.collect();
            let moved = deliver(&mut self.to_server, &mut self.server, usize::MAX, self.now)
                | deliver(&mut self.to_client, &mut self.client, usize::MAX, self.now);
            self.poll_events();
            if !moved {
                return;
            }
        }
    }

    /// Something comes in between on the link.
    fn interfere(&mut self) {
        self.collect();
        let pipe = if self.choices.once_in(2) { &mut self.to_server } else { &mut self.to_client };
        match self.choices.below(5) {
            0 => {
                // A line is lost.
                let end = pipe.bytes.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
                pipe.bytes.drain(..end);
            }
            1 => {
                // A line comes again.
                let line = self.choices.below(LINES_KEPT);
                if let Some(line) = pipe.lines.get(line) {
                    pipe.bytes.extend_from_slice(line.as_bytes());
                    pipe.bytes.push(b'\n');
                }
            }
            2 => {
                let first = self.choices.below(LINES_KEPT);
                let lines = pipe.lines.iter().skip(first).take(3).map(String::as_str).collect::<Vec<_>>();
                pipe.bytes.extend_from_slice(format!("[{}]\n", lines.join(",")).as_bytes());
            }
            _ => {
                let line = self.choices.below(LINES_KEPT);
                if let Some(line) = pipe.lines.get(line).cloned() {
                    let mutated = mutate(&mut self.choices, line.as_bytes());
                    pipe.bytes.extend_from_slice(&mutated);
                    pipe.bytes.push(b'\n');
                }
            }
        }
    }

    /// An end, a loss, a fresh start.
    fn happen(&mut self) {
        match self.choices.below(96) {
            0 => self.client.machine_mut().close(),
            1 => self.server.machine_mut().close(),
            2 => self.end_of_input(),
            3 => fatal(self.client.connection_lost(self.now)),
            4 => fatal(self.server.connection_lost(self.now)),
            5..=16 => {
                if self.told.restart {
                    self.restart();
                }
            }
            17 => fatal(self.client.receive_eof(self.now)),
            18 => self.end_input_of_server(),
            _ => self.poll_events(),
        }
    }

    fn end_input_of_server(&mut self) {
        self.to_server.ended = true;
        self.server_reads_no_more = true;
        fatal(self.server.receive_eof(self.now));
    }

    /// Each side sees the end of the other's output if it has ended.
    fn end_of_input(&mut self) {
        self.collect();
        if self.client.is_finished() && self.to_server.bytes.is_empty() && !self.to_server.ended {
            self.end_input_of_server();
        }
        if self.server.is_finished() && self.to_client.bytes.is_empty() && !self.to_client.ended {
            self.to_client.ended = true;
            fatal(self.client.receive_eof(self.now));
        }
    }

    /// The host starts a new server in place of the old one.
    fn restart(&mut self) {
        self.poll_events();
        fatal(self.server.connection_lost(self.now));
        self.poll_events();
        assert!(self.heard.over);
        self.heard = ServerLedger::new(self.heard.prompt);
        self.server = new_server(&self.server_config);
        self.server_reads_no_more = false;
        self.server.machine_mut().handle_timeout(self.now);
        self.to_client = Pipe::default();
        self.to_server = Pipe::default();
        self.told.restart = false;
        fatal(self.client.restart(self.now));
    }

    /// Both applications do their part and time passes until nothing is left to wait for.
    fn come_to_rest(&mut self) {
        for _ in 0..MOST_DEADLINES {
            self.carry_all();
            self.end_of_input();
            self.poll_events();
            if self.told.restart {
                self.restart();
                continue;
            }
            if self.answer_all() {
                continue;
            }
            self.check_appetite();
            let Some(due) = self.next_deadline() else {
                assert!(self.told.open.is_empty(), "waits without a deadline: {:?}", self.told.open);
                assert!(self.heard.asked.is_empty(), "waits without a deadline: {:?}", self.heard.asked);
                assert!(self.heard.owed.is_empty(), "owed for ever: {:?}", self.heard.owed);
                return;
            };
            self.pass(due);
        }
        panic!("there is always a next deadline: {:?} at {:?}", self.next_deadline(), self.now);
    }

    /// Who owes nothing and has nothing to tell or to send reads on.
    fn check_appetite(&self) {
        let idle = self.heard.owed.is_empty() && !self.heard.over && !self.server_reads_no_more;
        assert!(!idle || self.server.wants_input(), "an idle server has stopped reading");
        assert!(self.told.over || self.client.wants_input(), "an idle client has stopped reading");
    }

    /// Everything is closed; then nothing is left.
    fn end(&mut self) {
        match self.choices.below(4) {
            0 => {
                self.client.machine_mut().close();
                self.carry_all();
            }
            1 => {
                self.server.machine_mut().close();
                self.carry_all();
            }
            2 => {
                fatal(self.client.connection_lost(self.now));
                fatal(self.server.connection_lost(self.now));
            }
            _ => {}
        }
        fatal(self.server.receive_eof(self.now));
        fatal(self.client.receive_eof(self.now));
        // A client that waits for a fresh start, which nobody gives, is closed.
        self.client.machine_mut().close();
        self.carry_all();
        while let Some(due) = self.next_deadline() {
            self.pass(due);
        }
        self.carry_all();
        assert!(self.told.over && self.heard.over, "no last event");
        self.told.check_settled();
        self.heard.check_settled();
        assert_eq!(self.next_deadline(), None);
        assert!(self.client.is_finished() && self.server.is_finished());
    }
}

/// What a call on a machine or transport may answer to something that happened.
fn fatal(outcome: Result<(), Error>) {
    assert!(outcome.as_ref().map_or_else(Error::is_fatal, |()| true), "{outcome:?}");
}

fn collect<M: Machine>(from: &mut Stdio<M>, pipe: &mut Pipe, name: &str, story: &mut String) {
    use std::fmt::Write;
    loop {
        let data = from.data_to_send();
        if data.is_empty() {
            return;
        }
        let text = std::str::from_utf8(data).expect("only JSON is sent");
        for line in text.lines() {
            let _ = writeln!(story, "{name} sends {line}");
            if pipe.lines.len() == LINES_KEPT {
                pipe.lines.remove(0);
            }
            pipe.lines.push(line.to_owned());
        }
        assert!(text.ends_with('\n'), "a line has its end");
        let count = data.len();
        if !pipe.ended {
            pipe.bytes.extend_from_slice(data);
        }
        from.consume(count);
    }
}

/// Delivers at most `count` bytes while they are wanted; true if any were taken.
fn deliver<M: Machine>(pipe: &mut Pipe, to: &mut Stdio<M>, count: usize, now: Instant) -> bool {
    let count = count.min(pipe.bytes.len());
    if count == 0 || !to.wants_input() {
        return false;
    }
    let bytes: Vec<u8> = pipe.bytes.drain(..count).collect();
    fatal(to.receive_data(now, &bytes));
    true
}

fn new_server(config: &ServerConfig) -> Stdio<Server> {
    let mut server = Server::new(config.clone()).expect("a server");
    for name in ["a", "b", "c"] {
        server.add_tool(&format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#)).unwrap();
        server.add_prompt(&format!(r#"{{"name":"{name}"}}"#)).unwrap();
        server.add_resource(&format!(r#"{{"uri":"file:///{name}","name":"{name}"}}"#)).unwrap();
    }
    server.add_resource_template(r#"{"uriTemplate":"note:///{id}","name":"notes"}"#).unwrap();
    Stdio::new(server)
}

/// Both configurations. Some have tight bounds, so that they are met.
fn configs(choices: &mut Choices<'_>, seeds: [[u8; 32]; 2]) -> (ClientConfig, ServerConfig) {
    let (mut client, mut server) = (client_config(), server_config());
    client.seed = barewire::Seed::new(seeds[0]);
    server.seed = barewire::Seed::new(seeds[1]);
    client.revisions = revisions(choices);
    server.revisions = revisions(choices);
    if choices.once_in(4) {
        client.era = Some(EraVerdict { revision: *choices.pick(&Revision::ALL) });
    }
    if choices.once_in(4) {
        client.set_capabilities("{}").unwrap();
    }
    server.completions = true;
    server.extension_methods.push("x/known".into());
    server.limits.page_items = 2;
    if choices.once_in(2) {
        let mut limits = Limits::default();
        limits.requests_in_flight = 4;
        limits.queued_requests = 3;
        limits.queued_events = 8;
        limits.queued_bytes = 2_000;
        limits.subscriptions = 2;
        limits.watched_resources = 3;
        limits.rounds = 2;
        limits.inputs = 2;
        limits.message_bytes = 2_000;
        limits.depth = 16;
        limits.batch_items = 4;
        limits.page_items = 2;
        client.limits = limits.clone();
        server.limits = limits;
    }
    if choices.once_in(2) {
        let mut timeouts = Timeouts::default();
        timeouts.probe = 50;
        timeouts.handshake = 100;
        timeouts.request = 200;
        timeouts.request_total = 1_000;
        timeouts.acknowledgement = 100;
        timeouts.drain = 100;
        client.timeouts = timeouts.clone();
        server.timeouts = timeouts;
    }
    (client, server)
}

/// All revisions most of the time, or any set but the empty one.
fn revisions(choices: &mut Choices<'_>) -> Revisions {
    let bits = choices.below(64);
    let picked: Vec<_> = Revision::ALL
        .into_iter()
        .enumerate()
        .filter(|(at, _)| bits >> at & 1 == 1)
        .map(|(_, one)| one)
        .collect();
    if bits >= 32 || picked.is_empty() { Revisions::ALL } else { Revisions::of(&picked) }
}
