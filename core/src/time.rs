//! Time as a value: the host measures it, the core only compares it.

use core::fmt;

/// A point in time in milliseconds from an origin of the host's choice.
///
/// The origin must not move while a machine lives; a monotonic clock is the right source. Time that goes
/// backwards is clamped by the machines, never an error.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

impl Instant {
    /// The origin itself.
    pub const ZERO: Instant = Instant(0);

    /// The instant `milliseconds` after the origin.
    pub const fn from_millis(milliseconds: u64) -> Self {
        Instant(milliseconds)
    }

    /// Milliseconds since the origin.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// This instant moved later by `milliseconds`; it stays at the end of the range instead of wrapping.
    #[must_use]
    pub const fn after(self, milliseconds: u64) -> Self {
        Instant(self.0.saturating_add(milliseconds))
    }

    /// Milliseconds from `earlier` to this instant, 0 if `earlier` is not earlier.
    pub const fn since(self, earlier: Instant) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.0)
    }
}

/// Wall-clock time in milliseconds since 1970-01-01T00:00:00Z.
///
/// Used only where data outlives the process, such as the expiry inside a sealed `requestState`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct UnixTime(u64);

impl UnixTime {
    /// The wall-clock time `milliseconds` after the Unix epoch.
    pub const fn from_millis(milliseconds: u64) -> Self {
        UnixTime(milliseconds)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The wall-clock time `milliseconds` later; it stays at the end of the range instead of wrapping.
    #[must_use]
    pub const fn after(self, milliseconds: u64) -> Self {
        UnixTime(self.0.saturating_add(milliseconds))
    }
}
