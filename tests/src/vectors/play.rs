//! Playing a script on a machine behind newline framing.

use std::collections::VecDeque;

use barewire::transport::Stdio;
use barewire::{Error, Instant, Machine};
use serde_json::{Map, Value};

use super::pattern::Names;
use super::{Feeding, State, Step};
use crate::Random;

/// Deadlines that may follow each other without time passing before that counts as hanging.
const MOST_DEADLINES: usize = 10_000;

/// A role as scripts see it.
pub(super) trait Played {
    type Machine: Machine;

    fn stdio(&mut self) -> &mut Stdio<Self::Machine>;

    /// Runs a command.
    fn command(&mut self, now: Instant, command: Map<String, Value>) -> Result<Outcome, Failure>;

    /// An event as scripts write it.
    fn describe(&self, event: <Self::Machine as Machine>::Event) -> Value;

    /// What a host would store of the era, once it is known.
    fn era_verdict(&mut self) -> Option<String>;
}

/// What a command gave.
pub(super) enum Outcome {
    Nothing,
    /// A handle of this kind.
    Handle(&'static str, u64),
    Flag(bool),
}

/// Why a command gave nothing.
pub(super) enum Failure {
    /// The machine refused it.
    Refused(Error),
    /// The script is wrong.
    Wrong(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Refused(error)
    }
}

impl From<String> for Failure {
    fn from(error: String) -> Self {
        Failure::Wrong(error)
    }
}

struct Player<R: Played> {
    role: R,
    names: Names,
    now: Instant,
    feeding: Feeding,
    random: Random,
    /// What was fed and has not yet reached the machine.
    fed: Vec<u8>,
    /// What was sent and not yet expected; the last line may be unfinished.
    sent: Vec<u8>,
    events: VecDeque<Value>,
}

/// Plays `steps`; the error says where machine and script disagree.
pub(super) fn play<R: Played>(
    role: R,
    steps: &[Step],
    feeding: Feeding,
    random: Random,
) -> Result<(), String> {
    let mut player = Player {
        role,
        names: Names::default(),
        now: Instant::ZERO,
        feeding,
        random,
        fed: Vec::new(),
        sent: Vec::new(),
        events: VecDeque::new(),
    };
    player.collect();
    for (number, step) in steps.iter().enumerate() {
        player.step(step).map_err(|error| format!("step {}: {error}", number + 1))?;
    }
    player.hand_over()?;
    player.nothing_is_left()
}

impl<R: Played> Player<R> {
    fn step(&mut self, step: &Step) -> Result<(), String> {
        if self.feeding == Feeding::AsWritten || !matches!(step, Step::Feed(_) | Step::FeedHex(_)) {
            self.hand_over()?;
        }
        match step {
            Step::Feed(Value::String(text)) => {
                let text = self.names.fill(text)?;
                self.feed(text.as_bytes())
            }
            Step::Feed(message) => {
                let line = self.names.fill(&message.to_string())? + "\n";
                self.feed(line.as_bytes())
            }
            Step::FeedHex(hex) => self.feed(&bytes_of(hex)?),
            Step::Eof(_) => self.input(|stdio, now| stdio.receive_eof(now)),
            Step::Lost(_) => self.input(|stdio, now| stdio.connection_lost(now)),
            Step::Restart(_) => self.input(|stdio, now| stdio.restart(now)),
            Step::Advance(milliseconds) => self.advance(*milliseconds),
            Step::Do(command) => self.command(command),
            Step::Sent(expected) => self.expect_sent(expected),
            Step::Events(expected) => self.expect_events(expected),
            Step::State(state) => self.expect_state(state),
        }
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.fed.extend_from_slice(bytes);
        Ok(())
    }

    /// Gives the machine what was fed.
    fn hand_over(&mut self) -> Result<(), String> {
        let fed = std::mem::take(&mut self.fed);
        let mut rest = &fed[..];
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(self.piece(rest.len()));
            self.input(|stdio, now| stdio.receive_data(now, piece))?;
            rest = after;
        }
        Ok(())
    }

    /// How many of `length` bytes go at once.
    fn piece(&mut self, length: usize) -> usize {
        match self.feeding {
            Feeding::AsWritten | Feeding::Joined => length,
            Feeding::Cut => 1 + self.random.below(length),
            Feeding::Bytes => 1,
        }
    }

    fn input(
        &mut self,
        verb: impl FnOnce(&mut Stdio<R::Machine>, Instant) -> Result<(), Error>,
    ) -> Result<(), String> {
        let outcome = verb(self.role.stdio(), self.now);
        self.collect();
        match outcome {
            // How it ended is told by the last event.
            Err(error) if !error.is_fatal() => Err(format!("input was refused: {error}")),
            _ => Ok(()),
        }
    }

    /// Takes out what is to be sent and told.
    fn collect(&mut self) {
        loop {
            let length = self.role.stdio().data_to_send().len();
            if length == 0 {
                break;
            }
            let count = self.piece(length);
            self.sent.extend_from_slice(&self.role.stdio().data_to_send()[..count]);
            self.role.stdio().consume(count);
        }
        while let Some(event) = self.role.stdio().machine_mut().poll_event() {
            let event = self.role.describe(event);
            self.events.push_back(event);
        }
    }

    fn advance(&mut self, milliseconds: u64) -> Result<(), String> {
        let end = self.now.after(milliseconds);
        for _ in 0..MOST_DEADLINES {
            let due = self.role.stdio().machine().poll_timeout().filter(|&due| due <= end);
            self.now = due.map_or(end, |due| due.max(self.now));
            let now = self.now;
            self.role.stdio().machine_mut().handle_timeout(now);
            self.collect();
            if due.is_none() {
                return Ok(());
            }
        }
        Err("deadlines follow each other without an end".into())
    }

    fn command(&mut self, step: &Map<String, Value>) -> Result<(), String> {
        let mut command = step.clone();
        let name = command.remove("as");
        let fails = command.remove("fails").and_then(|code| code.as_u64());
        let gives = command.remove("gives");
        let command = self.prepared(command)?;
        let outcome = self.role.command(self.now, command);
        self.collect();
        match (outcome, fails) {
            (Err(Failure::Wrong(error)), _) => Err(error),
            (Err(Failure::Refused(error)), Some(code)) if u64::from(error.code()) == code => Ok(()),
            (Err(Failure::Refused(error)), _) => Err(format!("it failed with {}: {error}", error.code())),
            (Ok(_), Some(code)) => Err(format!("it did not fail with {code}")),
            (Ok(Outcome::Handle(kind, handle)), None) => match &name {
                Some(Value::String(name)) => self.names.name_handle(kind, name, handle),
                _ => Err(format!("a {kind} has no name")),
            },
            (Ok(Outcome::Flag(flag)), None) if gives.as_ref().is_some_and(|wanted| *wanted != flag) => {
                Err(format!("it gave {flag}"))
            }
            (Ok(_), None) if name.is_some() => Err("it gives nothing to name".into()),
            (Ok(_), None) => Ok(()),
        }
    }

    /// The command with numbers for the names of handles and values for the other names.
    fn prepared(&self, command: Map<String, Value>) -> Result<Map<String, Value>, String> {
        let text = self.names.fill(&Value::Object(command).to_string())?;
        let mut command: Map<String, Value> =
            serde_json::from_str(&text).map_err(|error| error.to_string())?;
        for (member, value) in &mut command {
            if let (Some(kind), Some(name)) = (super::pattern::handle_kind(member), value.as_str()) {
                *value = self.names.handle(kind, name)?.into();
            }
        }
        Ok(command)
    }

    fn expect_sent(&mut self, expected: &[Value]) -> Result<(), String> {
        let sent = std::mem::take(&mut self.sent);
        let lines = lines_of(&sent)?;
        for (number, expected) in expected.iter().enumerate() {
            let at = format!("message {}", number + 1);
            let line = lines.get(number).ok_or_else(|| format!("{at} was not sent: {expected}"))?;
            if let Value::String(text) = expected {
                let text = self.names.fill(text)?;
                if text != *line {
                    return Err(format!("{at}: expected {text}, got {line}"));
                }
                continue;
            }
            let value: Value =
                serde_json::from_str(line).map_err(|error| format!("{at} is no JSON: {error}: {line}"))?;
            self.names.compare(expected, &value, &at)?;
        }
        match lines.get(expected.len()) {
            Some(line) => Err(format!("unexpectedly sent: {line}")),
            None => Ok(()),
        }
    }

    fn expect_events(&mut self, expected: &[Map<String, Value>]) -> Result<(), String> {
        for (number, expected) in expected.iter().enumerate() {
            let at = format!("event {}", number + 1);
            let Some(Value::Object(event)) = self.events.pop_front() else {
                return Err(format!("{at} did not come: {}", Value::Object(expected.clone())));
            };
            let named = expected.get("event").ok_or_else(|| format!("{at} has no name"))?;
            if Some(named) != event.get("event") {
                return Err(format!("{at}: expected {named}, got {}", Value::Object(event)));
            }
            let compared = self.names.compare_record(expected, &event, &at);
            compared.map_err(|error| format!("{error}\n  in {}", Value::Object(event)))?;
        }
        match self.events.front() {
            Some(event) => Err(format!("unexpected event: {event}")),
            None => Ok(()),
        }
    }

    fn expect_state(&mut self, expected: &State) -> Result<(), String> {
        let now = self.now;
        let stdio = self.role.stdio();
        let timer = stdio.machine().poll_timeout().map(|due| due.since(now));
        let finished = stdio.data_to_send().is_empty() && stdio.is_finished();
        let wants_input = stdio.wants_input();
        let verdict = self.role.era_verdict();
        let mut faults = Vec::new();
        let mut check = |what: &str, as_expected: bool, actual: String| {
            if !as_expected {
                faults.push(format!("{what} is {actual}"));
            }
        };
        check("timer", expected.timer.is_none_or(|expected| expected == timer), format!("{timer:?}"));
        check(
            "finished",
            expected.finished.is_none_or(|expected| expected == finished),
            finished.to_string(),
        );
        let wanted = expected.wants_input.is_none_or(|expected| expected == wants_input);
        check("wants_input", wanted, wants_input.to_string());
        let known = expected.era_verdict.as_ref().is_none_or(|expected| *expected == verdict);
        check("era_verdict", known, format!("{verdict:?}"));
        if faults.is_empty() { Ok(()) } else { Err(faults.join(", ")) }
    }

    fn nothing_is_left(&mut self) -> Result<(), String> {
        self.expect_sent(&[]).map_err(|error| format!("at the end: {error}"))?;
        self.expect_events(&[]).map_err(|error| format!("at the end: {error}"))
    }
}

/// The lines of a stream: each ends with exactly one LF and holds no other line end and no byte-order mark.
fn lines_of(sent: &[u8]) -> Result<Vec<&str>, String> {
    let text = std::str::from_utf8(sent).map_err(|error| format!("sent no UTF-8: {error}"))?;
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let lines = text.strip_suffix('\n').ok_or_else(|| format!("sent without a line end: {text}"))?;
    let lines: Vec<_> = lines.split('\n').collect();
    match lines.iter().find(|line| line.is_empty() || line.contains('\r') || line.starts_with('\u{feff}')) {
        Some(line) => Err(format!("sent a line that is no message: {line:?}")),
        None => Ok(lines),
    }
}

fn bytes_of(hex: &str) -> Result<Vec<u8>, String> {
    let digit = |byte: u8| (byte as char).to_digit(16).ok_or_else(|| format!("{hex} is not hexadecimal"));
    hex.as_bytes()
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Ok((digit(*high)? * 16 + digit(*low)?) as u8),
            _ => Err(format!("{hex} has half a byte")),
        })
        .collect()
}
