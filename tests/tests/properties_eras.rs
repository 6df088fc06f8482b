//! Whatever two sides are willing to speak, they meet on the newest revision that both know or end for want of one;
//! where they meet, everything works the same, however the bytes are cut and whatever the seeds.

use barewire::client::RequestOptions;
use barewire::{ClientConfig, Era, EraVerdict, Revision, Revisions, Seed};
use barewire_tests::{Link, Random, Tour, client_config, server_config};

/// Every set of revisions but the empty one.
fn sets() -> impl Iterator<Item = Revisions> {
    (1_u32..1 << Revision::ALL.len()).map(|bits| {
        let members = Revision::ALL.into_iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
        Revisions::of(&members.map(|(_, revision)| revision).collect::<Vec<_>>())
    })
}

/// Where two sides meet: the newest that both know if the client can probe, else where a handshake leads.
fn meeting(ours: Revisions, theirs: Revisions) -> Option<Revision> {
    match ours.of_era(Era::Modern).next() {
        Some(_) => ours.and(theirs).newest_first().next(),
        None => handshake(ours, theirs),
    }
}

/// The client proposes its newest, the server takes it or offers its own newest (basic/lifecycle, Version
/// Negotiation), so that sides with gaps can miss what both know.
fn handshake(ours: Revisions, theirs: Revisions) -> Option<Revision> {
    let proposed = ours.of_era(Era::Legacy).next()?;
    let offered = theirs.of_era(Era::Legacy).next()?;
    if theirs.contains(proposed) { Some(proposed) } else { Some(offered).filter(|&one| ours.contains(one)) }
}

fn client_of(revisions: Revisions) -> ClientConfig {
    let mut config = client_config();
    config.revisions = revisions;
    config
}

fn tour(client: ClientConfig, revisions: Revisions, link: Link, seed: u64) -> Tour {
    let mut server = server_config();
    server.revisions = revisions;
    let mut tour = Tour::new(client, server, link, Random::new(seed));
    tour.settle();
    tour
}

/// The end of a client that shares no revision with its server; nobody waits for anything.
fn check_no_common(tour: &mut Tour, what: &str) {
    let last = tour.story.lines().last().unwrap_or_default();
    assert!(last.starts_with("client Disconnected") && last.contains("NoCommonRevision"), "{what}: {last}");
    tour.close();
}

// proves: BASE-118 BASE-119 BASE-136 BASE-170
#[test]
fn every_set_meets_every_other_and_a_whole_tour_works_where_they_meet() {
    for ours in sets() {
        for theirs in sets() {
            let mut tour = tour(client_of(ours), theirs, Link::Whole, 1);
            let expected = meeting(ours, theirs);
            assert_eq!(tour.revision(), expected, "{ours:?} with {theirs:?}");
            match expected {
                Some(_) => tour.walk(),
                None => check_no_common(&mut tour, &format!("{ours:?} with {theirs:?}")),
            }
        }
    }
}

#[test]
fn a_stored_verdict_may_be_wrong() {
    for ours in sets() {
        for theirs in sets() {
            for stored in ours.newest_first() {
                let mut client = client_of(ours);
                client.era = Some(EraVerdict { revision: stored });
                let mut tour = tour(client, theirs, Link::Whole, 1);
                let mut what = format!("{ours:?} with {theirs:?}, stored {stored}");
                // Something has to be asked before a wrong verdict can show.
                let now = tour.pair.now();
                let options = RequestOptions::default();
                let asked = tour.pair.client.machine_mut().request(now, "tools/list", None, options);
                tour.settle();
                let serves_legacy = theirs.of_era(Era::Legacy).next().is_some();
                let expected = match stored.era() {
                    Era::Legacy if serves_legacy => handshake(ours, theirs),
                    _ => meeting(ours, theirs),
                };
                what.push_str(&tour.story);
                assert_eq!(tour.revision(), expected, "{what}");
                if expected.is_some() {
                    let request = asked.unwrap_or_else(|error| panic!("{what}: {error:?}"));
                    assert!(
                        tour.story.contains(&format!("ResponseReceived {{ request: {request:?}")),
                        "{what}"
                    );
                    tour.close();
                } else {
                    check_no_common(&mut tour, &what);
                }
            }
        }
    }
}

#[test]
fn cuts_change_nothing() {
    for revision in Revision::ALL {
        let play = |link, seed| {
            let mut tour = tour(client_of(Revisions::of(&[revision])), Revisions::ALL, link, seed);
            tour.walk();
            (tour.story, tour.pair.client_lines, tour.pair.server_lines)
        };
        let whole = play(Link::Whole, 0);
        assert_eq!(play(Link::Bytes, 0), whole);
        for seed in 0..20 {
            assert_eq!(play(Link::Cut, seed), whole);
        }
    }
}

#[test]
fn seeds_change_nothing_but_tokens() {
    let mut differs = false;
    for revision in Revision::ALL {
        let play = |seed| {
            let mut client = client_of(Revisions::of(&[revision]));
            client.seed = Seed::new([seed; 32]);
            let mut server = server_config();
            server.seed = Seed::new([seed + 100; 32]);
            let mut tour = Tour::new(client, server, Link::Whole, Random::new(0));
            tour.settle();
            tour.walk();
            format!("{}{}{}", tour.story, tour.pair.client_lines, tour.pair.server_lines)
        };
        let (first, second) = (play(1), play(2));
        differs |= first != second;
        assert_eq!(without_tokens(&first), without_tokens(&second));
        assert_eq!(first, play(1));
    }
    assert!(differs, "the sealed state hangs on the seed");
}

/// The text with every long word of base64url left out.
fn without_tokens(text: &str) -> String {
    let is_token = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let words = text.split_inclusive(|c| !is_token(c));
    words.map(|word| if word.len() > 40 { "~" } else { word }).collect()
}
