//! Protocol revisions: the only place that knows their names and what differs between them.

mod capability;
mod conversation;
mod declarations;
mod definitions;
mod era;
mod errors;
mod form;
mod inputs;
pub(crate) mod meta;
mod methods;
mod results;
mod shape;
mod text;

pub use capability::{Capabilities, Capability};
pub(crate) use conversation::{has_tool_use, is_balanced, uses_tools};
pub(crate) use declarations::{write_client_capabilities, write_server_capabilities};
pub(crate) use definitions::Definition;
pub use era::EraVerdict;
pub(crate) use errors::{names_elicitations, project_error, resource_not_found};
pub(crate) use inputs::{
    InputMismatch, has_url, missing_capabilities, project_input_answer, project_input_params,
};
pub use methods::{Direction, Kind, Method, MethodRow};
pub(crate) use results::{
    ResultMembers, Written, write_front, write_list_result, write_result, write_written,
};
pub(crate) use text::one_line;

use alloc::vec::Vec;
use core::fmt;

/// A published revision of the Model Context Protocol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Revision {
    /// 2024-11-05
    V2024_11_05,
    /// 2025-03-26
    V2025_03_26,
    /// 2025-06-18
    V2025_06_18,
    /// 2025-11-25
    V2025_11_25,
    /// 2026-07-28
    V2026_07_28,
}

/// The two ways the protocol has worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Era {
    /// Handshake and session: up to 2025-11-25.
    Legacy,
    /// Stateless, metadata on every request: from 2026-07-28.
    Modern,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Revision; 5] = [
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ];

    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Revision::V2024_11_05 => "2024-11-05",
            Revision::V2025_03_26 => "2025-03-26",
            Revision::V2025_06_18 => "2025-06-18",
            Revision::V2025_11_25 => "2025-11-25",
            Revision::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision of that name, exactly as on the wire.
    pub fn from_name(name: &str) -> Option<Revision> {
        Revision::ALL.into_iter().find(|revision| revision.as_str() == name)
    }

    /// How this revision works.
    pub const fn era(self) -> Era {
        match self {
            Revision::V2026_07_28 => Era::Modern,
            _ => Era::Legacy,
        }
    }

    /// Whether HTTP requests repeat the revision in a header (basic/transports, Protocol Version Header).
    pub(crate) const fn has_version_header(self) -> bool {
        !matches!(self, Revision::V2024_11_05 | Revision::V2025_03_26)
    }

    /// Whether HTTP requests repeat method, target and marked arguments in headers
    /// (basic/transports/streamable-http, Standard Request Headers).
    pub(crate) const fn has_routing_headers(self) -> bool {
        matches!(self.era(), Era::Modern)
    }

    /// JSON-RPC batches exist in this revision only (basic/transports, 2025-03-26).
    pub const fn has_batches(self) -> bool {
        matches!(self, Revision::V2025_03_26)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of revisions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Revisions(u8);

impl Revisions {
    /// Every revision.
    pub const ALL: Revisions = Revisions(0b1_1111);
    /// The revisions with a handshake.
    pub const LEGACY: Revisions = Revisions(0b0_1111);
    /// The stateless revisions.
    pub const MODERN: Revisions = Revisions(0b1_0000);
    /// No revision.
    pub const NONE: Revisions = Revisions(0);

    /// Exactly these.
    pub const fn of(revisions: &[Revision]) -> Revisions {
        let (mut bits, mut at) = (0, 0);
        while at < revisions.len() {
            bits |= 1 << revisions[at] as u8;
            at += 1;
        }
        Revisions(bits)
    }

    /// `first` and everything newer.
    pub const fn since(first: Revision) -> Revisions {
        Revisions(Revisions::ALL.0 & !((1 << first as u8) - 1))
    }

    /// Those that are in both sets.
    #[must_use]
    pub const fn and(self, other: Revisions) -> Revisions {
        Revisions(self.0 & other.0)
    }

    /// The set with `revision` added.
    #[must_use]
    pub(crate) const fn with(self, revision: Revision) -> Revisions {
        Revisions(self.0 | 1 << revision as u8)
    }

    /// Whether `revision` is in the set.
    pub const fn contains(self, revision: Revision) -> bool {
        self.0 & (1 << revision as u8) != 0
    }

    /// Whether the set has no member.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members, newest first.
    pub fn newest_first(self) -> impl Iterator<Item = Revision> {
        Revision::ALL.into_iter().rev().filter(move |&revision| self.contains(revision))
    }

    /// Whether any member is of this era.
    pub(crate) fn has_era(self, era: Era) -> bool {
        self.of_era(era).next().is_some()
    }

    /// The members of one era, newest first.
    pub fn of_era(self, era: Era) -> impl Iterator<Item = Revision> {
        self.newest_first().filter(move |revision| revision.era() == era)
    }

    /// The members as a list, newest first.
    pub fn to_vec(self) -> Vec<Revision> {
        self.newest_first().collect()
    }
}

impl fmt::Debug for Revisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.newest_first()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_they_say() {
        assert_eq!(Revisions::ALL.to_vec().len(), 5);
        assert_eq!(Revisions::ALL.newest_first().next(), Some(Revision::V2026_07_28));
        assert_eq!(Revisions::LEGACY.newest_first().next(), Some(Revision::V2025_11_25));
        assert_eq!(Revisions::since(Revision::V2025_06_18).to_vec().len(), 3);
        assert!(!Revisions::since(Revision::V2025_06_18).contains(Revision::V2025_03_26));
        assert_eq!(Revisions::of(&[Revision::V2026_07_28]), Revisions::MODERN);
        for revision in Revision::ALL {
            assert_eq!(Revision::from_name(revision.as_str()), Some(revision));
        }
        assert_eq!(Revision::from_name("2024-10-07"), None);
    }
}
