//! What configurations of both roles are set with.

use barewire::{Limits, Revisions, Timeouts};

use crate::bytes::array_or_empty;
use crate::room;
use crate::status::Failure;
use crate::values;

/// A number of C as one of the machine's own counts.
fn count(value: u64) -> Result<usize, Failure> {
    usize::try_from(value).map_err(|_| Failure::argument("a limit is out of range"))
}

/// Sets the bound that has that number of `bw_limit`.
pub(crate) fn set_limit(limits: &mut Limits, number: i32, value: u64) -> Result<(), Failure> {
    let bound = match number {
        1 => &mut limits.message_bytes,
        2 => &mut limits.depth,
        3 => &mut limits.requests_in_flight,
        4 => &mut limits.queued_requests,
        5 => &mut limits.queued_events,
        6 => &mut limits.batch_items,
        7 => &mut limits.sessions,
        8 => &mut limits.subscriptions,
        9 => &mut limits.watched_resources,
        10 => {
            limits.rounds = u32::try_from(value).map_err(|_| Failure::argument("a limit is out of range"))?;
            return Ok(());
        }
        11 => &mut limits.inputs,
        12 => &mut limits.request_state_bytes,
        13 => &mut limits.queued_bytes,
        14 => &mut limits.page_items,
        15 => &mut limits.page_bytes,
        _ => return Err(Failure::argument("not a number of bw_limit")),
    };
    *bound = count(value)?;
    Ok(())
}

/// Sets the duration that has that number of `bw_timeout`.
pub(crate) fn set_timeout(timeouts: &mut Timeouts, number: i32, milliseconds: u64) -> Result<(), Failure> {
    let duration = match number {
        1 => &mut timeouts.probe,
        2 => &mut timeouts.handshake,
        3 => &mut timeouts.request,
        4 => &mut timeouts.request_total,
        5 => &mut timeouts.acknowledgement,
        6 => &mut timeouts.drain,
        7 => &mut timeouts.request_state,
        8 => &mut timeouts.child_exit,
        9 => &mut timeouts.child_terminate,
        _ => return Err(Failure::argument("not a number of bw_timeout")),
    };
    *duration = milliseconds;
    Ok(())
}

/// The set of the revisions that have those numbers of `bw_revision`.
pub(crate) fn revisions(first: *const i32, length: usize) -> Result<Revisions, Failure> {
    room::check(0)?;
    let numbers = array_or_empty(first, length)?;
    numbers.iter().try_fold(Revisions::NONE, |set, &number| {
        let members: alloc::vec::Vec<_> = set.newest_first().chain([values::revision(number)?]).collect();
        Ok(Revisions::of(&members))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::bw_limit::{self, *};
    use crate::values::bw_timeout::{self, *};

    #[test]
    fn each_number_sets_what_it_names() {
        let set = |number: bw_limit| {
            let mut limits = Limits::default();
            set_limit(&mut limits, number as i32, 7).unwrap();
            limits
        };
        assert_eq!(set(BW_LIMIT_MESSAGE_BYTES).message_bytes, 7);
        assert_eq!(set(BW_LIMIT_DEPTH).depth, 7);
        assert_eq!(set(BW_LIMIT_REQUESTS_IN_FLIGHT).requests_in_flight, 7);
        assert_eq!(set(BW_LIMIT_QUEUED_REQUESTS).queued_requests, 7);
        assert_eq!(set(BW_LIMIT_QUEUED_EVENTS).queued_events, 7);
        assert_eq!(set(BW_LIMIT_BATCH_ITEMS).batch_items, 7);
        assert_eq!(set(BW_LIMIT_SESSIONS).sessions, 7);
        assert_eq!(set(BW_LIMIT_SUBSCRIPTIONS).subscriptions, 7);
        assert_eq!(set(BW_LIMIT_WATCHED_RESOURCES).watched_resources, 7);
        assert_eq!(set(BW_LIMIT_ROUNDS).rounds, 7);
        assert_eq!(set(BW_LIMIT_INPUTS).inputs, 7);
        assert_eq!(set(BW_LIMIT_REQUEST_STATE_BYTES).request_state_bytes, 7);
        assert_eq!(set(BW_LIMIT_QUEUED_BYTES).queued_bytes, 7);
        assert_eq!(set(BW_LIMIT_PAGE_ITEMS).page_items, 7);
        assert_eq!(set(BW_LIMIT_PAGE_BYTES).page_bytes, 7);
        assert!(set_limit(&mut Limits::default(), 16, 7).is_err());
        let set = |number: bw_timeout| {
            let mut timeouts = Timeouts::default();
            set_timeout(&mut timeouts, number as i32, 7).unwrap();
            timeouts
        };
        assert_eq!(set(BW_TIMEOUT_PROBE).probe, 7);
        assert_eq!(set(BW_TIMEOUT_HANDSHAKE).handshake, 7);
        assert_eq!(set(BW_TIMEOUT_REQUEST).request, 7);
        assert_eq!(set(BW_TIMEOUT_REQUEST_TOTAL).request_total, 7);
        assert_eq!(set(BW_TIMEOUT_ACKNOWLEDGEMENT).acknowledgement, 7);
        assert_eq!(set(BW_TIMEOUT_DRAIN).drain, 7);
        assert_eq!(set(BW_TIMEOUT_REQUEST_STATE).request_state, 7);
        assert_eq!(set(BW_TIMEOUT_CHILD_EXIT).child_exit, 7);
        assert_eq!(set(BW_TIMEOUT_CHILD_TERMINATE).child_terminate, 7);
        assert!(set_timeout(&mut Timeouts::default(), 0, 7).is_err());
    }
}
