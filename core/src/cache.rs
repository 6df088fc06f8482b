//! How long a result may be reused: `ttlMs` and `cacheScope` (server/utilities/caching, 2026-07-28).

use crate::json::Json;

/// Who may share a cached result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum CacheScope {
    /// Anyone: it does not depend on who asked.
    Public,
    /// The asking user only. Also what a missing scope means: a wrong `private` costs a fetch, a wrong
    /// `public` leaks.
    #[default]
    Private,
}

impl CacheScope {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            CacheScope::Public => "public",
            CacheScope::Private => "private",
        }
    }
}

/// The caching members of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Freshness {
    /// Milliseconds for which the result may be reused; 0 means ask again.
    pub ttl_ms: u64,
    /// Who may share it.
    pub scope: CacheScope,
}

impl Freshness {
    /// Reads the caching members of a result; `None` if it has no usable `ttlMs`.
    pub fn read(result: &Json) -> Option<Freshness> {
        let ttl_ms = result.member("ttlMs")?.parse().ok()?;
        let public = result.member("cacheScope").is_some_and(|scope| scope.as_str() == "\"public\"");
        Some(Freshness { ttl_ms, scope: if public { CacheScope::Public } else { CacheScope::Private } })
    }
}
