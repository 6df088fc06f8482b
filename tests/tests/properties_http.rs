//! Whatever clients, connections and applications do to a server behind HTTP: every exchange comes to its end once, what
//! waits is bounded, events keep their ids and their sessions, and bodies may be cut anywhere.

use barewire::transport::http::server::{Endpoint, RequestHead};
use barewire_tests::site::{COMMON, Response, Site, initialize, modern};
use barewire_tests::{Choices, Random, http_walk, mutate};

/// The decisions of one run.
fn decisions(random: &mut Random) -> Vec<u8> {
    let count = 40 + random.below(600);
    (0..count).map(|_| random.number() as u8).collect()
}

#[test]
fn promises_hold_whatever_happens() {
    for mut random in Random::seeds(1_200) {
        http_walk::run(&decisions(&mut random));
    }
}

#[test]
fn the_same_inputs_and_seeds_lead_to_the_same_outputs() {
    for mut random in Random::seeds(100) {
        let decisions = decisions(&mut random);
        assert_eq!(http_walk::run(&decisions), http_walk::run(&decisions));
    }
}

/// What comes of a body whose pieces are these.
fn posted(headers: &[(&str, &str)], pieces: &[&[u8]]) -> (Response, String) {
    let mut site = Site::new();
    let head = RequestHead { method: "POST", endpoint: Endpoint::Streamable, headers, principal: None };
    let exchange = match pieces {
        [whole] => site.http.receive_whole(site.now, head, whole),
        pieces => {
            let exchange = site.http.receive_request(site.now, head);
            for piece in pieces {
                site.http.receive_body(site.now, exchange, piece);
            }
            site.http.receive_end(site.now, exchange);
            exchange
        }
    };
    site.listen();
    (site.take(exchange), format!("{:?}", site.events))
}

#[test]
fn bodies_may_be_cut_anywhere() {
    let version =
        [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", "echo")];
    let bodies = [
        (&[][..], initialize(barewire::Revision::V2025_11_25)),
        (&version[..], modern(1, "tools/call", r#""name":"echo","arguments":{"text":"häß😀"}"#)),
    ];
    for (more, body) in bodies {
        let headers: Vec<_> = COMMON.iter().chain(more).copied().collect();
        let body = body.as_bytes();
        let whole = posted(&headers, &[body]);
        for cut in 0..=body.len() {
            assert_eq!(posted(&headers, &[&body[..cut], &body[cut..]]), whole);
        }
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        assert_eq!(posted(&headers, &bytes), whole);
    }
}

#[test]
fn broken_bodies_come_to_the_same_end_however_they_are_cut() {
    for mut random in Random::seeds(500) {
        let text = modern(1, "tools/call", r#""name":"echo""#);
        let decisions: Vec<_> = (0..24).map(|_| random.number() as u8).collect();
        let body = mutate(&mut Choices::new(&decisions), text.as_bytes());
        let cut = random.below(body.len() + 1);
        let whole = posted(&COMMON, &[&body]);
        assert_eq!(posted(&COMMON, &[&body[..cut], &body[cut..]]), whole);
        let (response, events) = whole;
        // Without the headers that repeat it, nothing of it may be carried out.
        assert!(response.is_last && response.status >= 202, "{response:?}");
        assert!(!events.contains("ToolCalled"), "{events}");
    }
}
