//! A client and a server, each behind HTTP: where they meet, everything works the same, in whatever order exchanges
//! travel; and when connections break, nothing is answered twice and nothing is waited for without end.

use std::collections::BTreeSet;

use barewire::client::{Event, RequestOptions};
use barewire::{Change, Era, ListKind, LogLevel, RequestHandle, Revision, Revisions, SubscriptionFilter};
use barewire_tests::http_pair::{HttpPair, Offer, Weather};
use barewire_tests::{Random, client_config, server_config};

/// Every set of revisions but the empty one.
fn sets() -> impl Iterator<Item = Revisions> {
    (1_u32..1 << Revision::ALL.len()).map(|bits| {
        let members = Revision::ALL.into_iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
        Revisions::of(&members.map(|(_, revision)| revision).collect::<Vec<_>>())
    })
}

/// Where two sides meet: the newest that both know if the client can probe, else where a handshake leads.
fn meeting(ours: Revisions, theirs: Revisions) -> Option<Revision> {
    if ours.of_era(Era::Modern).next().is_some() {
        return ours.and(theirs).newest_first().next();
    }
    let proposed = ours.of_era(Era::Legacy).next()?;
    let offered = theirs.of_era(Era::Legacy).next()?;
    if theirs.contains(proposed) { Some(proposed) } else { Some(offered).filter(|&one| ours.contains(one)) }
}

fn pair(ours: Revisions, theirs: Revisions, offer: Offer, random: Random) -> HttpPair {
    let mut client = client_config();
    client.revisions = ours;
    let mut server = server_config();
    server.revisions = theirs;
    HttpPair::new(client, server, offer, random)
}

fn call(pair: &mut HttpPair, tool: &str) -> RequestHandle {
    let mut options = RequestOptions::default();
    options.progress = true;
    let params = format!(r#"{{"name":"{tool}"}}"#);
    let now = pair.now();
    pair.client.machine_mut().request(now, "tools/call", Some(&params), options).expect("a request")
}

fn revision(events: &[Event]) -> Option<Revision> {
    events.iter().find_map(|event| match event {
        Event::Ready { revision, .. } => Some(*revision),
        _ => None,
    })
}

/// Everything that two sides do for each other; what the client was told.
fn tour(pair: &mut HttpPair) -> Vec<Event> {
    pair.drive();
    let now = pair.now();
    if pair.client.machine().revision().is_none() {
        return pair.take_client_events();
    }
    pair.client.machine_mut().set_log_level(now, LogLevel::Debug).expect("a level");
    pair.drive();
    let filter =
        SubscriptionFilter { tools: true, resource_uris: vec!["file:///a".into()], ..Default::default() };
    let subscription = pair.client.machine_mut().subscribe(now, filter).expect("a subscription");
    pair.drive();
    for tool in ["echo", "tell", "ask", "slow", "slow", "unknown"] {
        call(pair, tool);
        pair.drive();
    }
    let cancelled = call(pair, "slow");
    pair.drive();
    pair.client.machine_mut().cancel(cancelled, None).expect("it runs");
    pair.drive();
    while !pair.slow.is_empty() {
        pair.answer_slow(0);
        pair.drive();
    }
    for change in [Change::List(ListKind::Tools), Change::Resource("file:///a".into())] {
        pair.server.machine_mut().publish(&change);
        pair.drive();
    }
    pair.client.machine_mut().unsubscribe(now, subscription).expect("it is open");
    pair.drive();
    pair.client.machine_mut().close();
    pair.drive();
    pair.take_client_events()
}

/// What was told, without what differs by revision alone.
fn outline(events: &[Event]) -> Vec<String> {
    let line = |event: &Event| match event {
        Event::ResponseReceived { request, .. } => format!("response {request:?}"),
        Event::RequestFailed { request, reason } => format!("failed {request:?} {reason:?}"),
        Event::ProgressReceived { request, .. } => format!("progress {request:?}"),
        other => format!("{other:?}").split([' ', '{']).next().unwrap_or_default().to_owned(),
    };
    events.iter().map(line).collect()
}

// proves: BASE-118 BASE-119 BASE-136
#[test]
fn every_set_meets_every_other_and_a_whole_tour_works_where_they_meet() {
    let mut whole = None;
    for ours in sets() {
        for theirs in sets() {
            let mut pair = pair(ours, theirs, Offer::Streamable, Random::new(1));
            let events = tour(&mut pair);
            let expected = meeting(ours, theirs);
            assert_eq!(revision(&events), expected, "{ours:?} with {theirs:?}: {events:?}");
            if let Some(revision) = expected {
                let results = events.iter().filter(|event| matches!(event, Event::ResponseReceived { .. }));
                let count = *whole.get_or_insert(results.clone().count());
                assert_eq!(results.count(), count, "{revision}: {:#?}", outline(&events));
            }
            pair.advance(10_000);
            assert!(pair.client.is_finished() && pair.exchanges() == 0, "{ours:?} with {theirs:?}");
        }
    }
}

// proves: BASE-187 BASE-191 BASE-192 BASE-193
#[test]
fn the_older_transport_carries_every_legacy_revision() {
    for revision in Revisions::LEGACY.to_vec() {
        let revisions = Revisions::of(&[revision]);
        let mut streamable = pair(revisions, Revisions::ALL, Offer::Streamable, Random::new(1));
        let mut older = pair(revisions, Revisions::ALL, Offer::EventStream, Random::new(1));
        assert_eq!(outline(&tour(&mut older)), outline(&tour(&mut streamable)), "{revision}");
        older.advance(10_000);
        assert!(older.client.is_finished() && older.exchanges() == 0);
    }
}

#[test]
fn the_order_of_exchanges_and_cuts_change_no_outcome() {
    for revision in Revision::ALL {
        let revisions = Revisions::of(&[revision]);
        let mut calm = pair(revisions, Revisions::ALL, Offer::Streamable, Random::new(0));
        let expected = outline(&tour(&mut calm));
        for random in Random::seeds(40) {
            let mut windy = pair(revisions, Revisions::ALL, Offer::Streamable, random);
            windy.weather = Weather::Windy;
            assert_eq!(outline(&tour(&mut windy)), expected, "{revision}");
        }
    }
}

/// How each request ended, and that none did twice.
fn settled(events: &[Event]) -> (BTreeSet<RequestHandle>, BTreeSet<RequestHandle>) {
    let (mut answered, mut failed) = (BTreeSet::new(), BTreeSet::new());
    for event in events {
        let is_first = match event {
            Event::ResponseReceived { request, .. } => answered.insert(*request) && !failed.contains(request),
            Event::RequestFailed { request, .. } => failed.insert(*request) && !answered.contains(request),
            _ => true,
        };
        assert!(is_first, "settled twice: {event:?}");
    }
    (answered, failed)
}

/// Calls through a storm that begins once the connection is there; how many were answered and failed.
fn storm(revision: Revision, random: Random) -> (usize, usize) {
    let mut choices = random.clone();
    let mut pair = pair(Revisions::of(&[revision]), Revisions::ALL, Offer::Streamable, random);
    pair.drive();
    pair.take_client_events();
    pair.weather = Weather::Stormy(25);
    let mut calls = BTreeSet::new();
    for _ in 0..6 {
        let tool = *choices.pick(&["echo", "tell", "ask", "slow"]);
        calls.insert(call(&mut pair, tool));
        for _ in 0..choices.below(20) {
            pair.step();
        }
        if !pair.slow.is_empty() && choices.below(2) == 0 {
            pair.answer_slow(0);
        }
        pair.advance([0, 1, 500, 3_000][choices.below(4)]);
    }
    pair.weather = Weather::Windy;
    while !pair.slow.is_empty() {
        pair.answer_slow(0);
    }
    pair.advance(50_000);
    let (answered, failed) = settled(&pair.take_client_events());
    pair.advance(600_000);
    let (late, timed_out) = settled(&pair.take_client_events());
    assert!(late.is_empty(), "answered late: {late:?}");
    let all: BTreeSet<_> = answered.union(&failed).chain(&timed_out).copied().collect();
    assert_eq!(all, calls, "each call ends once");
    pair.client.machine_mut().close();
    pair.advance(10_000);
    assert!(pair.client.is_finished() && pair.exchanges() == 0);
    (answered.len(), failed.len() + timed_out.len())
}

// proves: BASE-226
#[test]
fn in_a_storm_every_call_ends_once() {
    for revision in Revision::ALL {
        let (mut answered, mut failed) = (0, 0);
        for random in Random::seeds(60) {
            let (good, bad) = storm(revision, random);
            answered += good;
            failed += bad;
        }
        assert!(answered > failed, "{revision}: {answered} answered, {failed} failed");
    }
}

// proves: BASE-226 BASE-232 BASE-250
#[test]
fn a_primed_stream_survives_a_broken_connection() {
    for tool in ["slow", "ask"] {
        let revisions = Revisions::of(&[Revision::V2025_11_25]);
        let mut pair = pair(revisions, Revisions::ALL, Offer::Streamable, Random::new(0));
        pair.drive();
        pair.take_client_events();
        let request = call(&mut pair, tool);
        let other = call(&mut pair, "slow");
        pair.drive();
        // A stream that has begun: the server keeps the connection alive with comments.
        pair.advance(16_000);
        pair.break_all();
        pair.drive();
        while !pair.slow.is_empty() {
            pair.answer_slow(0);
        }
        pair.advance(2_000);
        let (answered, failed) = settled(&pair.take_client_events());
        assert_eq!((answered, failed), (BTreeSet::from([request, other]), BTreeSet::new()), "{tool}");
        assert!(pair.asked.iter().any(|(method, _)| *method == "GET"));
    }
}
