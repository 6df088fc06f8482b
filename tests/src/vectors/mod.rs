//! Language-neutral scripts of what goes in and what must come out; the format is in `tests/vectors/README.md`.

mod client;
mod pattern;
mod play;
mod server;
mod settings;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::Random;

/// How what the steps feed reaches the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feeding {
    /// Step by step.
    AsWritten,
    /// What several steps in a row feed, at once.
    Joined,
    /// The same, cut at random places.
    Cut,
    /// One byte at a time.
    Bytes,
}

/// One script.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vector {
    /// Unique over all files.
    pub name: String,
    /// Ids of the requirements that it proves.
    #[serde(default)]
    pub proves: Vec<String>,
    /// Why it is known to fail; then it must fail.
    pub fault: Option<String>,
    role: Role,
    #[serde(default)]
    config: Map<String, Value>,
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Role {
    Client,
    Server,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Step {
    Feed(Value),
    FeedHex(String),
    Eof(True),
    Lost(True),
    Restart(True),
    Advance(u64),
    Do(Map<String, Value>),
    Sent(Vec<Value>),
    Events(Vec<Map<String, Value>>),
    State(State),
}

/// Stands for steps that need no value.
struct True;

impl<'de> Deserialize<'de> for True {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match bool::deserialize(deserializer)? {
            true => Ok(True),
            false => Err(serde::de::Error::custom("only true has a meaning here")),
        }
    }
}

/// What can be asked of a machine; members that are absent are not looked at.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    /// Milliseconds until the next deadline, or null.
    #[serde(default, deserialize_with = "present")]
    timer: Option<Option<u64>>,
    finished: Option<bool>,
    wants_input: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    era_verdict: Option<Option<String>>,
}

/// Tells a null from an absent member.
fn present<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

impl Vector {
    /// Reads a script.
    ///
    /// # Errors
    /// What is wrong with it. A script that expects nothing is wrong.
    pub fn read(line: &str) -> Result<Vector, String> {
        let vector: Vector = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let expects = |step: &Step| match step {
            Step::Sent(messages) => !messages.is_empty(),
            Step::Events(events) => !events.is_empty(),
            _ => false,
        };
        if !vector.steps.iter().any(expects) {
            return Err(format!("{}: it expects nothing", vector.name));
        }
        Ok(vector)
    }

    /// Plays the script.
    ///
    /// # Errors
    /// Where the machine and the script disagree.
    pub fn play(&self, feeding: Feeding, random: Random) -> Result<(), String> {
        match self.role {
            Role::Client => play::play(client::Played::new(&self.config)?, &self.steps, feeding, random),
            Role::Server => play::play(server::Played::new(&self.config)?, &self.steps, feeding, random),
        }
    }
}

/// Every line of `tests/vectors`, with its file and number.
///
/// # Panics
/// If a file cannot be read.
pub fn lines() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let mut lines = Vec::new();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).unwrap();
        let numbered = text.lines().enumerate();
        lines.extend(numbered.map(|(number, line)| (format!("{name}:{}", number + 1), line.to_owned())));
    }
    lines
}

/// Every script of `tests/vectors`, with the place where it stands.
///
/// # Panics
/// If a file cannot be read or a script is wrong.
pub fn all() -> Vec<(String, Vector)> {
    let read = |(place, line): (String, String)| {
        let vector = Vector::read(&line).unwrap_or_else(|error| panic!("{place}: {error}"));
        (place, vector)
    };
    lines().into_iter().map(read).collect()
}
