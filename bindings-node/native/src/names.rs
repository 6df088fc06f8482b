//! Values of the core that have names or numbers in JavaScript.

use barewire::client::Listing;
use barewire::transport::http::client::ExchangeFailure;
use barewire::{
    CacheScope, Capabilities, Capability, ExchangeHandle, InputKind, Instant, ListKind, LogLevel, Revision,
    Revisions,
};

use crate::errors::Failure;

pub(crate) const INPUT_KINDS: [(InputKind, &str); 3] =
    [(InputKind::Elicitation, "elicitation"), (InputKind::Sampling, "sampling"), (InputKind::Roots, "roots")];
pub(crate) const LIST_KINDS: [(ListKind, &str); 3] =
    [(ListKind::Tools, "tools"), (ListKind::Resources, "resources"), (ListKind::Prompts, "prompts")];
pub(crate) const LISTINGS: [(Listing, &str); 4] = [
    (Listing::Tools, "tools"),
    (Listing::Resources, "resources"),
    (Listing::ResourceTemplates, "resourceTemplates"),
    (Listing::Prompts, "prompts"),
];
pub(crate) const CACHE_SCOPES: [(CacheScope, &str); 2] =
    [(CacheScope::Public, CacheScope::Public.as_str()), (CacheScope::Private, CacheScope::Private.as_str())];
pub(crate) const EXCHANGE_FAILURES: [(ExchangeFailure, &str); 2] =
    [(ExchangeFailure::NotSent, "notSent"), (ExchangeFailure::Broken, "broken")];

/// The name of a kind.
pub(crate) fn name_of<K: Copy + PartialEq>(names: &[(K, &'static str)], kind: K) -> &'static str {
    names.iter().find(|(known, _)| *known == kind).map_or("", |(_, name)| name)
}

/// The kind of that name.
pub(crate) fn kind_named<K: Copy>(names: &[(K, &'static str)], name: &str) -> Result<K, Failure> {
    let known = names.iter().find(|(_, known)| *known == name);
    known.map(|(kind, _)| *kind).ok_or_else(|| unknown(name, names.iter().map(|(_, name)| *name)))
}

pub(crate) fn log_level(name: &str) -> Result<LogLevel, Failure> {
    LogLevel::from_name(name).ok_or_else(|| unknown(name, LogLevel::ALL.into_iter().map(LogLevel::as_str)))
}

pub(crate) fn revision(name: &str) -> Result<Revision, Failure> {
    Revision::from_name(name).ok_or_else(|| unknown(name, Revision::ALL.into_iter().map(Revision::as_str)))
}

fn unknown(name: &str, known: impl Iterator<Item = &'static str>) -> Failure {
    let known: Vec<_> = known.collect();
    Failure::Argument(format!("{name:?} is none of {}", known.join(", ")))
}

/// The place of a revision in the list that JavaScript has, newest first.
pub(crate) fn place_of(revision: Revision) -> Option<u64> {
    let place = Revisions::ALL.newest_first().position(|known| known == revision);
    place.and_then(|place| u64::try_from(place).ok())
}

/// The declared capabilities as bits, by their places in [`Capability::ALL`].
pub(crate) fn declared(capabilities: &Capabilities) -> u64 {
    let places = Capability::ALL.into_iter().enumerate();
    places.filter(|(_, capability)| capabilities.has(*capability)).map(|(place, _)| 1 << place).sum()
}

/// A number of JavaScript that counts something, such as a handle; what is below zero names nothing.
pub(crate) fn number(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

pub(crate) fn instant(milliseconds: i64) -> Instant {
    Instant::from_millis(u64::try_from(milliseconds).unwrap_or(0))
}

/// A point in time for JavaScript, which has -1 for never.
pub(crate) fn milliseconds(instant: Option<Instant>) -> i64 {
    instant.map_or(-1, |instant| to_js(instant.as_millis()))
}

/// A count for JavaScript.
pub(crate) fn to_js(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn exchange(number_of_it: i64) -> ExchangeHandle {
    ExchangeHandle::from_number(number(number_of_it))
}
