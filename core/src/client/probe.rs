//! What an answer to the probe or to the handshake says about the server's era: pure functions
//! (basic/versioning and basic/transports/stdio, 2026-07-28).

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::error::{Error, PeerIncompatible};
use crate::json::Json;
use crate::jsonrpc::RpcError;
use crate::revision::{Era, Revision, Revisions};

use super::event::DisconnectReason;

/// What an answer to `server/discover` means.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    /// The server speaks this modern revision; the answer describes it.
    Modern(Revision),
    /// It is modern but wants this revision: ask again.
    Other(Revision),
    /// It is legacy: shake hands, proposing this revision.
    Legacy(Revision),
    /// There is no common ground.
    Failed(DisconnectReason),
}

/// Judges a result. One that names no revisions comes from something that is no modern server.
pub(super) fn judge_result(ours: Revisions, result: &Json) -> Verdict {
    let Some(theirs) = result.member("supportedVersions").and_then(|list| names(&list)) else {
        return fall_back(ours, &[]);
    };
    let common = Revisions::of(&known(&theirs)).and(ours);
    match newest(common, Era::Modern) {
        Some(revision) => Verdict::Modern(revision),
        None => from_list(ours, &theirs),
    }
}

/// Judges an error. `tried` are the modern revisions that were asked for already.
pub(super) fn judge_error(ours: Revisions, tried: Revisions, error: &RpcError) -> Verdict {
    match error.code {
        RpcError::UNSUPPORTED_PROTOCOL_VERSION => {
            let theirs = supported(error).unwrap_or_default();
            let untried = Revisions::of(&known(&theirs))
                .and(ours)
                .newest_first()
                .find(|&revision| revision.era() == Era::Modern && !tried.contains(revision));
            match untried {
                Some(revision) => Verdict::Other(revision),
                None => from_list(ours, &theirs),
            }
        }
        RpcError::MISSING_CLIENT_CAPABILITY => {
            let required = error.data.as_ref().and_then(|data| data.member("requiredCapabilities"));
            Verdict::Failed(match required {
                Some(required) => DisconnectReason::Failed(Error::PeerIncompatible(
                    PeerIncompatible::MissingCapability(required),
                )),
                None => DisconnectReason::Refused(error.clone()),
            })
        }
        RpcError::HEADER_MISMATCH => Verdict::Failed(DisconnectReason::Refused(error.clone())),
        _ => fall_back(ours, &[]),
    }
}

/// What follows when nothing modern answers: the newest legacy revision, if this side speaks one.
pub(super) fn fall_back(ours: Revisions, theirs: &[Box<str>]) -> Verdict {
    match newest(ours, Era::Legacy) {
        Some(revision) => Verdict::Legacy(revision),
        None => Verdict::Failed(no_common(ours, theirs)),
    }
}

/// A modern server that lists no modern revision of ours may list a legacy one: using it is no fallback.
fn from_list(ours: Revisions, theirs: &[Box<str>]) -> Verdict {
    match newest(Revisions::of(&known(theirs)).and(ours), Era::Legacy) {
        Some(revision) => Verdict::Legacy(revision),
        None => Verdict::Failed(no_common(ours, theirs)),
    }
}

/// What an error to `initialize` means.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Refusal {
    /// The server is modern and speaks this revision: the probe was merely slow.
    Modern(Revision),
    /// It would speak this legacy revision.
    CounterOffer(Revision),
    /// It refuses.
    Final(DisconnectReason),
}

/// Judges an error to `initialize`. `tried` are the revisions asked for already; `correctable` is false once
/// the era was corrected.
pub(super) fn judge_refusal(
    ours: Revisions,
    tried: Revisions,
    correctable: bool,
    error: &RpcError,
) -> Refusal {
    let theirs = supported(error).unwrap_or_default();
    let common = Revisions::of(&known(&theirs)).and(ours);
    if let Some(revision) = newest(common, Era::Modern).filter(|_| correctable) {
        return Refusal::Modern(revision);
    }
    if let Some(revision) = common.of_era(Era::Legacy).find(|&revision| !tried.contains(revision)) {
        return Refusal::CounterOffer(revision);
    }
    if theirs.is_empty() || !common.is_empty() {
        return Refusal::Final(DisconnectReason::Refused(error.clone()));
    }
    Refusal::Final(no_common(ours, &theirs))
}

pub(super) fn no_common(ours: Revisions, theirs: &[Box<str>]) -> DisconnectReason {
    DisconnectReason::Failed(Error::PeerIncompatible(PeerIncompatible::NoCommonRevision {
        ours: ours.to_vec(),
        theirs: theirs.to_vec(),
    }))
}

fn newest(revisions: Revisions, era: Era) -> Option<Revision> {
    revisions.of_era(era).next()
}

/// `data.supported` of a version error.
fn supported(error: &RpcError) -> Option<Vec<Box<str>>> {
    names(&error.data.as_ref()?.member("supported")?)
}

/// The strings of a list; other items are passed over. `None` if it is no list.
fn names(list: &Json) -> Option<Vec<Box<str>>> {
    let items = list.parse::<Vec<&serde_json::value::RawValue>>().ok()?;
    let names = items.iter().filter_map(|item| serde_json::from_str::<Cow<'_, str>>(item.get()).ok());
    Some(names.map(Into::into).collect())
}

fn known(names: &[Box<str>]) -> Vec<Revision> {
    names.iter().filter_map(|name| Revision::from_name(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODERN: Revision = Revision::V2026_07_28;
    const LEGACY: Revision = Revision::V2025_11_25;

    fn result(text: &str) -> Verdict {
        judge_result(Revisions::ALL, &Json::new(text).unwrap())
    }

    fn error(code: i64, data: &str) -> RpcError {
        RpcError::new(code, "no").with_data(Json::new(data).unwrap())
    }

    fn fails(verdict: &Verdict) -> bool {
        matches!(verdict, Verdict::Failed(_))
    }

    // proves: BASE-170
    #[test]
    fn a_discover_result_names_the_revision_to_use() {
        assert_eq!(
            result(r#"{"supportedVersions":["2027-01-01","2026-07-28","2025-11-25"]}"#),
            Verdict::Modern(MODERN)
        );
        let legacy = r#"{"supportedVersions":["2025-03-26",7,"2025-06-18"]}"#;
        assert_eq!(result(legacy), Verdict::Legacy(Revision::V2025_06_18));
        assert!(fails(&result(r#"{"supportedVersions":["2027-01-01"]}"#)));
        assert_eq!(result("{}"), Verdict::Legacy(LEGACY));
        let modern_only = judge_result(Revisions::MODERN, &Json::new(legacy).unwrap());
        assert!(fails(&modern_only));
    }

    // proves: BASE-034 BASE-126 BASE-171 BASE-172 BASE-173
    #[test]
    fn errors_of_the_probe_by_code() {
        let judge = |error: &RpcError| judge_error(Revisions::ALL, Revisions::of(&[MODERN]), error);
        for code in (-32019..=-32000).chain([-32601, -32602, -32600, -32700, 0, -1]) {
            assert_eq!(judge(&RpcError::new(code, "no")), Verdict::Legacy(LEGACY), "{code}");
        }
        let listed = |list: &str| judge(&error(-32022, list));
        assert_eq!(listed(r#"{"supported":["2025-03-26"]}"#), Verdict::Legacy(Revision::V2025_03_26));
        assert!(fails(&listed(r#"{"supported":["2027-01-01"],"requested":"2026-07-28"}"#)));
        assert!(fails(&listed("{}")));
        assert!(fails(&listed(r#"{"supported":["2026-07-28"]}"#)), "it was tried");
        let untried =
            judge_error(Revisions::ALL, Revisions::NONE, &error(-32022, r#"{"supported":["2026-07-28"]}"#));
        assert_eq!(untried, Verdict::Other(MODERN));
        assert!(fails(&judge(&RpcError::new(-32020, "no"))));
        assert_eq!(
            judge(&error(-32021, r#"{"requiredCapabilities":{"roots":{}}}"#)),
            Verdict::Failed(DisconnectReason::Failed(Error::PeerIncompatible(
                PeerIncompatible::MissingCapability(Json::new(r#"{"roots":{}}"#).unwrap())
            )))
        );
        let alone = judge_error(Revisions::MODERN, Revisions::MODERN, &RpcError::new(-32601, "no"));
        assert!(fails(&alone), "a modern-only client has nothing to fall back to");
    }

    #[test]
    fn refusals_of_the_handshake() {
        let tried = Revisions::of(&[LEGACY]);
        let judge = |error: &RpcError, correctable| judge_refusal(Revisions::ALL, tried, correctable, error);
        for code in [-32022, -32020, -32602] {
            let slow = error(code, r#"{"supported":["2026-07-28"],"requested":"2025-11-25"}"#);
            assert_eq!(judge(&slow, true), Refusal::Modern(MODERN));
            assert!(matches!(judge(&slow, false), Refusal::Final(DisconnectReason::Refused(_))));
        }
        let old = error(-32602, r#"{"supported":["2024-11-05"],"requested":"2025-11-25"}"#);
        assert_eq!(judge(&old, true), Refusal::CounterOffer(Revision::V2024_11_05));
        let unknown = error(-32602, r#"{"supported":["2023-01-01"]}"#);
        assert!(matches!(judge(&unknown, true), Refusal::Final(DisconnectReason::Failed(_))));
        let plain = RpcError::new(-32603, "no");
        assert_eq!(judge(&plain, true), Refusal::Final(DisconnectReason::Refused(plain.clone())));
    }
}
