//! What a call costs does not depend on how many others are there. `cargo test --test http_scale -- --nocapture` prints
//! the numbers.

use std::time::{Duration, Instant};

use barewire::Revision;
use barewire_tests::Random;
use barewire_tests::site::{RESULT, Site};

const SESSIONS: usize = 10_000;

/// A call may cost this many times what it costs alone: trees are deeper and caches colder, and the machine may be busy.
/// A look at every session makes it more than twenty times as much.
const MOST: f64 = 8.0;

/// One call of a tool in a session and one without, and what a host asks for beside them.
fn call(site: &mut Site, id: &str) {
    let text = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}}"#;
    for is_modern in [false, true] {
        let exchange = if is_modern {
            site.post_modern("tools/call", Some("echo"), r#""name":"echo""#)
        } else {
            site.post(&[("Mcp-Session-Id", id)], text)
        };
        let request = site.last_call();
        site.events.clear();
        site.server().respond(request, RESULT).expect("an answer");
        assert_eq!(site.take(exchange).status, 200);
        while site.http.poll_ready().is_some() {}
        site.http.poll_timeout();
        site.wait(1);
    }
}

/// What a call costs at each site. The rounds alternate, and the least of many counts, for whatever else the machine does
/// only adds.
#[expect(clippy::disallowed_methods, reason = "it is time that is measured")]
fn costs<const SITES: usize>(sites: &mut [(Site, Vec<String>); SITES]) -> [Duration; SITES] {
    const CALLS: u32 = 100;
    let mut random = Random::new(1);
    let mut least = [Duration::MAX; SITES];
    for _ in 0..20 {
        for ((site, ids), least) in sites.iter_mut().zip(&mut least) {
            let start = Instant::now();
            for _ in 0..CALLS {
                call(site, &ids[random.below(ids.len())]);
            }
            *least = (*least).min(start.elapsed() / CALLS);
        }
    }
    least
}

fn crowd(sessions: usize, with_streams: bool) -> (Site, Vec<String>) {
    let mut site = Site::new();
    let mut ids = Vec::new();
    for _ in 0..sessions {
        let id = site.open_session(Revision::V2025_11_25);
        site.events.clear();
        if with_streams {
            let stream = site.get(&[("Mcp-Session-Id", &id)]);
            let opened = site.take(stream);
            assert!(opened.is_stream() && !opened.is_last);
        }
        ids.push(id);
    }
    (site, ids)
}

#[test]
#[expect(clippy::disallowed_macros, reason = "the numbers are for the reader of the test's output")]
fn a_call_costs_the_same_however_many_sessions_and_streams_are_open() {
    let [alone, sessions, streams] =
        costs(&mut [crowd(1, true), crowd(SESSIONS, false), crowd(SESSIONS, true)]);
    for (what, cost) in [("sessions", sessions), ("sessions with their streams", streams)] {
        let times = cost.as_secs_f64() / alone.as_secs_f64();
        println!("two calls: {alone:?} alone, {cost:?} among {SESSIONS} {what}, {times:.2} times");
        assert!(times <= MOST, "{times:.1} times as much among {SESSIONS} {what}");
    }
}
