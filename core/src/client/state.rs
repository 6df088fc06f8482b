//! The states of a connection and the table of transitions, and nothing else.

/// Where a connection stands, named for what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The answer to `server/discover`.
    Probing,
    /// The host starts the server afresh.
    Restarting,
    /// The answer to `initialize`.
    Handshaking,
    /// Anything of a session.
    Legacy,
    /// Anything of stateless exchanges.
    Modern,
    /// Nothing any more.
    Over,
}

/// What can happen to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occurrence {
    /// The probe found a modern server.
    FoundModern,
    /// The probe found a modern server that wants another revision.
    FoundOther,
    /// The probe found a legacy server, or nothing answered in time.
    FoundLegacy,
    /// The handshake was answered with a revision of ours.
    Accepted,
    /// The handshake was refused naming another legacy revision of ours.
    CounterOffered,
    /// The handshake was refused naming a modern revision of ours: the probe was merely slow.
    Corrected,
    /// A stored verdict said modern and the first answer looks otherwise.
    Contradicted,
    /// The opening failed for good.
    Failed,
    /// The server pings.
    Pinged,
    /// The server sends any other request.
    Asked,
    /// The server sends a log message.
    Logged,
    /// The server sends any other notification.
    Notified,
    /// The server sends a batch, and the revision has batches.
    Batched,
    /// The server does not know the session any more.
    SessionLost,
    /// The input ended before anything was heard, and a fresh start may help.
    DiedOnProbe,
    /// The host started the server afresh.
    Restarted,
    /// The connection ended, whoever ended it.
    Ended,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Nothing.
    Ignore,
    /// Send `server/discover`.
    Probe,
    /// Send `initialize`.
    Initialize,
    /// Tell that everything is settled and send what was held back.
    Settle,
    /// Ask the host for a fresh start.
    AskRestart,
    /// Answer a ping.
    Pong,
    /// Answer a request with an error, as it is too early for it.
    RefuseEarly,
    /// Handle it.
    Deliver,
    /// Report it as unusable.
    Discard,
    /// Settle everything that waits and say goodbye.
    End,
}

/// The table: what to do and where to go when `occurrence` happens in `state`.
#[allow(clippy::match_same_arms, reason = "one row a transition reads best")]
pub(super) const fn transition(state: State, occurrence: Occurrence) -> (Action, State) {
    use Occurrence as O;
    use State::{Handshaking, Legacy, Modern, Over, Probing, Restarting};
    match (state, occurrence) {
        (Over, _) => (Action::Ignore, Over),
        (_, O::Ended | O::Failed) => (Action::End, Over),

        (Probing, O::FoundModern) => (Action::Settle, Modern),
        (Probing, O::FoundOther) => (Action::Probe, Probing),
        (Probing, O::FoundLegacy) => (Action::Initialize, Handshaking),
        (Probing, O::DiedOnProbe) => (Action::AskRestart, Restarting),
        (Restarting, O::Restarted) => (Action::Initialize, Handshaking),
        (Handshaking, O::Accepted) => (Action::Settle, Legacy),
        (Handshaking, O::CounterOffered) => (Action::Initialize, Handshaking),
        (Handshaking, O::Corrected) => (Action::Probe, Probing),
        (Modern, O::Contradicted) => (Action::Probe, Probing),
        (Legacy, O::SessionLost) => (Action::Initialize, Handshaking),

        (Probing | Handshaking | Legacy, O::Pinged) => (Action::Pong, state),
        (Probing | Handshaking, O::Asked) => (Action::RefuseEarly, state),
        (Legacy, O::Asked) => (Action::Deliver, state),
        // A modern server never sends requests, and this side never answers any.
        (Modern, O::Pinged | O::Asked) => (Action::Discard, state),

        (Handshaking | Legacy | Modern, O::Logged) => (Action::Deliver, state),
        (Legacy | Modern, O::Notified) => (Action::Deliver, state),
        (Legacy, O::Batched) => (Action::Deliver, state),

        _ => (Action::Ignore, state),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATES: [State; 6] =
        [State::Probing, State::Restarting, State::Handshaking, State::Legacy, State::Modern, State::Over];

    #[rustfmt::skip]
    const TABLE: [(Occurrence, [&str; 6]); 17] = {
        use Occurrence as O;
        [
            // what happens       Probing         Restarting      Handshaking     Legacy       Modern       Over
            (O::FoundModern,    ["Settle:M",     "Ignore",       "Ignore",       "Ignore",    "Ignore",    "Ignore"]),
            (O::FoundOther,     ["Probe",        "Ignore",       "Ignore",       "Ignore",    "Ignore",    "Ignore"]),
            (O::FoundLegacy,    ["Initialize:H", "Ignore",       "Ignore",       "Ignore",    "Ignore",    "Ignore"]),
            (O::Accepted,       ["Ignore",       "Ignore",       "Settle:L",     "Ignore",    "Ignore",    "Ignore"]),
            (O::CounterOffered, ["Ignore",       "Ignore",       "Initialize",   "Ignore",    "Ignore",    "Ignore"]),
            (O::Corrected,      ["Ignore",       "Ignore",       "Probe:P",      "Ignore",    "Ignore",    "Ignore"]),
            (O::Contradicted,   ["Ignore",       "Ignore",       "Ignore",       "Ignore",    "Probe:P",   "Ignore"]),
            (O::Failed,         ["End:O",        "End:O",        "End:O",        "End:O",     "End:O",     "Ignore"]),
            (O::Pinged,         ["Pong",         "Ignore",       "Pong",         "Pong",      "Discard",   "Ignore"]),
            (O::Asked,          ["RefuseEarly",  "Ignore",       "RefuseEarly",  "Deliver",   "Discard",   "Ignore"]),
            (O::Logged,         ["Ignore",       "Ignore",       "Deliver",      "Deliver",   "Deliver",   "Ignore"]),
            (O::Notified,       ["Ignore",       "Ignore",       "Ignore",       "Deliver",   "Deliver",   "Ignore"]),
            (O::Batched,        ["Ignore",       "Ignore",       "Ignore",       "Deliver",   "Ignore",    "Ignore"]),
            (O::SessionLost,    ["Ignore",       "Ignore",       "Ignore",       "Initialize:H", "Ignore", "Ignore"]),
            (O::DiedOnProbe,    ["AskRestart:R", "Ignore",       "Ignore",       "Ignore",    "Ignore",    "Ignore"]),
            (O::Restarted,      ["Ignore",       "Initialize:H", "Ignore",       "Ignore",    "Ignore",    "Ignore"]),
            (O::Ended,          ["End:O",        "End:O",        "End:O",        "End:O",     "End:O",     "Ignore"]),
        ]
    };

    // proves: BASE-415
    #[test]
    fn every_state_has_a_defined_outcome_for_every_occurrence() {
        for (occurrence, row) in TABLE {
            for (state, expected) in STATES.into_iter().zip(row) {
                let (action, next) = transition(state, occurrence);
                let mut text = alloc::format!("{action:?}");
                if next != state {
                    text.push(':');
                    text.extend(alloc::format!("{next:?}").chars().take(1));
                }
                assert_eq!(text, expected, "{occurrence:?} in {state:?}");
            }
        }
    }
}
