//! A host with little memory: it asks for room before each step, and gives way where there is none.

use std::collections::BTreeMap;

use barewire::server::{Event, Notification, Server};
use barewire::transport::Stdio;
use barewire::{
    Error, Implementation, Instant, Limit, Limits, Machine, Measured, RequestHandle, RpcError, ServerConfig,
    Step,
};

use crate::arena::{Arena, look, outside};

pub const TOOLS: [&str; 2] = [
    r#"{"name":"measure","title":"Measure","description":"Reads a sensor several times and gives the mean.","inputSchema":{"type":"object","properties":{"sensor":{"type":"string","enum":["temperature","pressure"]},"count":{"type":"integer","minimum":1,"maximum":100}},"required":["sensor"]}}"#,
    r#"{"name":"switch","description":"Turns a relay on or off.","inputSchema":{"type":"object","properties":{"relay":{"type":"integer"},"on":{"type":"boolean"}},"required":["relay","on"]}}"#,
];
pub const RESOURCE: &str = r#"{"uri":"device://log","name":"log","description":"The last lines of the log.","mimeType":"text/plain"}"#;
const TEMPLATE: &str = r#"{"uriTemplate":"device://{sensor}/{+path}{?from,to}","name":"history"}"#;

const RESULT: &str = r#"{"content":[{"type":"text","text":"21.5 degrees"}]}"#;
const CONTENTS: &str =
    r#"{"contents":[{"uri":"device://log","mimeType":"text/plain","text":"started\nmeasured\n"}]}"#;

/// A server with its application, all of whose memory is the arena of the thread.
pub struct Host {
    pub server: Stdio<Server>,
    /// Requests that have no answer yet, because there was no room for one.
    owed: Vec<RequestHandle>,
    /// What was sent, kept outside the arena.
    pub sent: String,
    /// How many bytes the link takes at once.
    pub link: usize,
    /// Steps are measured, in the worst place of the memory.
    pub is_measured: bool,
    /// The most that steps took, and the room that was asked for, by kind of step.
    pub taken: BTreeMap<&'static str, (isize, usize, usize)>,
}

pub fn room() -> usize {
    look(|arena| arena.available())
}

impl Host {
    /// A server; `None` if there is too little memory for it.
    pub fn start(memory: usize, is_measured: bool) -> Option<Host> {
        let mut config = ServerConfig::new(Implementation::new("device", "1.0.0"), [7; 32]);
        config.limits = Limits::for_memory(memory);
        config.extension_methods = outside(Vec::new);
        let server = Stdio::ungathered(Server::new(config).unwrap());
        let owed = outside(|| Vec::with_capacity(64));
        let mut host =
            Host { server, owed, sent: String::new(), link: usize::MAX, is_measured, taken: BTreeMap::new() };
        for tool in TOOLS {
            host.step("keep", Step::Keep(tool.len()), |server| server.machine_mut().add_tool(tool))?.unwrap();
        }
        host.step("keep", Step::Keep(RESOURCE.len()), |server| server.machine_mut().add_resource(RESOURCE))?
            .unwrap();
        host.step("keep", Step::Keep(TEMPLATE.len()), |server| {
            server.machine_mut().add_resource_template(TEMPLATE)
        })?
        .unwrap();
        Some(host)
    }

    /// Does what there is room for, and holds what it took against the room that was asked for.
    fn step<T>(
        &mut self,
        name: &'static str,
        step: Step<'_>,
        work: impl FnOnce(&mut Stdio<Server>) -> T,
    ) -> Option<T> {
        let needed = self.server.machine().room_for(step);
        if room() < needed {
            return None;
        }
        Some(self.measure(name, needed, work))
    }

    fn measure<T>(
        &mut self,
        name: &'static str,
        needed: usize,
        work: impl FnOnce(&mut Stdio<Server>) -> T,
    ) -> T {
        let is_alone = self.is_measured;
        if is_alone {
            look(Arena::use_longest_alone);
        }
        let result = work(&mut self.server);
        let grown = if is_alone { look(Arena::use_all) } else { 0 };
        outside(|| {
            let over = grown.cast_signed() - needed.cast_signed();
            let entry = self.taken.entry(name).or_insert((isize::MIN, 0, 0));
            if over > entry.0 {
                *entry = (over, grown, needed);
            }
        });
        result
    }

    /// Gives the server a line and does everything that follows from it. False if there is no room for it even when
    /// nothing is left to do.
    pub fn line(&mut self, line: &[u8]) -> bool {
        let needed = self.server.machine().room_for(Step::Take(line, 0));
        let part_bytes = if self.is_measured { line.len() } else { 64 };
        for part in line.chunks(part_bytes) {
            while !self.part(part, needed) {
                if !self.work() {
                    return false;
                }
            }
        }
        while self.work() {}
        true
    }

    /// Gives the server a piece of many lines as it came. Less and less of it is tried where there is no room; false if
    /// there is none for a byte.
    pub fn piece(&mut self, piece: &[u8]) -> bool {
        let (mut rest, mut length) = (piece, piece.len());
        while !rest.is_empty() {
            length = length.min(rest.len());
            match self.server.receive_data_within(Instant::ZERO, &rest[..length], room) {
                Ok(()) => rest = &rest[length..],
                Err(Error::LimitExceeded(Limit::Memory)) if self.work() => {}
                Err(Error::LimitExceeded(Limit::Memory)) if length > 1 => length /= 2,
                Err(Error::LimitExceeded(Limit::Memory)) => return false,
                Err(error) => panic!("{error}"),
            }
            // What waits is left where it is for a while.
            if rest.len() % 3 == 0 {
                self.work();
            }
        }
        true
    }

    fn part(&mut self, part: &[u8], needed: usize) -> bool {
        let taken =
            self.measure("take", needed, |server| server.receive_data_within(Instant::ZERO, part, room));
        match taken {
            Ok(()) => true,
            Err(Error::LimitExceeded(Limit::Memory)) => false,
            Err(error) => panic!("{error}"),
        }
    }

    /// Sends, takes an event, or answers; false if there was nothing of that kind that could be done.
    fn work(&mut self) -> bool {
        let data = self.server.data_to_send();
        if !data.is_empty() {
            let count = data.len().min(self.link);
            outside(|| self.sent.push_str(&String::from_utf8_lossy(&data[..count])));
            self.server.consume(count);
            return true;
        }
        if let Some(event) = self.server.machine_mut().poll_event() {
            match event {
                Event::ToolCalled { request, .. }
                | Event::ResourceReadRequested { request, .. }
                | Event::CompletionRequested { request, .. } => outside(|| self.owed.push(request)),
                Event::RequestCancelled { request, .. } => self.owed.retain(|owed| *owed != request),
                _ => {}
            }
            return true;
        }
        let Some(&request) = self.owed.first() else { return false };
        let progress = Notification::Progress { progress: 1.0, total: Some(3.0), message: Some("one") };
        self.step("send", Step::Send(8), |server| server.machine_mut().notify(request, progress).unwrap());
        let result = if request.number() % 2 == 0 { RESULT } else { CONTENTS };
        let answered = self
            .step("send", Step::Send(result.len()), |server| server.machine_mut().respond(request, result))
            .or_else(|| {
                let busy = RpcError::INTERNAL_ERROR;
                self.step("send", Step::Send(16), |server| {
                    server.machine_mut().respond_error(request, RpcError::new(busy, "busy"))
                })
            });
        let Some(outcome) = answered else { return false };
        outcome.unwrap();
        self.owed.remove(0);
        true
    }

    /// Ends the input, and with it everything.
    pub fn end(&mut self) -> bool {
        while self.work() {}
        let needed = self.server.machine().room_for(Step::Settle);
        let ended =
            self.measure("settle", needed, |server| server.receive_eof_within(Instant::ZERO, room)).is_ok();
        while self.work() {}
        ended && self.server.is_finished()
    }
}
