//! Redirects, followed within the origin until the endpoint is found.

use super::*;

fn redirect(wire: &mut Wire, exchange: ExchangeHandle, status: u16, location: &str) {
    wire.answer(exchange, status, &[("Location", location), ("content-type", "text/html")], "moved");
}

#[test]
fn the_endpoint_is_found_and_kept() {
    for status in [307, 308] {
        let mut wire = Wire::new();
        let first = wire.call(1, MODERN);
        let second = wire.call(2, MODERN);
        for request in [first, second] {
            redirect(&mut wire, request.exchange, status, "/mcp/?a=1");
            let again = wire.request();
            assert_eq!(*again.url, *"http://h.example/mcp/?a=1");
            assert_ne!(again.exchange, request.exchange);
            assert_eq!((again.method, again.body, again.headers), ("POST", request.body, request.headers));
            wire.answer(again.exchange, 200, JSON, "{}");
        }
        assert_eq!(wire.call(3, MODERN).url, "http://h.example/mcp/?a=1".into());
    }
}

#[test]
fn a_session_is_opened_and_ended_where_the_redirect_leads() {
    let mut wire = Wire::new();
    let probe = wire.call(1, MODERN);
    redirect(&mut wire, probe.exchange, 307, "http://H.example:80/new");
    let again = wire.request().exchange;
    wire.answer(again, 400, &[], "");
    wire.seen();
    wire.open_session(LEGACY);
    let stream = wire.request();
    assert_eq!((stream.method, &*stream.url), ("GET", "http://H.example:80/new"));
}

#[test]
fn other_redirects_are_refusals() {
    let elsewhere =
        ["https://h.example/mcp", "http://other.example/mcp", "//other.example/", "http://h.example:81/", ""];
    for (status, location) in elsewhere.map(|location| (307, location)).into_iter().chain([
        (301, "/new"),
        (302, "/new"),
        (303, "/new"),
        (300, "/new"),
        (308, "/mcp"),
    ]) {
        let mut wire = Wire::new();
        let exchange = wire.call(1, MODERN).exchange;
        redirect(&mut wire, exchange, status, location);
        assert_eq!(wire.seen(), [alloc::format!("1 Refused({status})")], "{status} {location}");
        wire.assert_quiet();
    }
}

#[test]
fn redirects_are_followed_neither_for_ever_nor_later() {
    let mut wire = Wire::new();
    let mut exchange = wire.call(1, MODERN).exchange;
    for turn in 0..5 {
        redirect(&mut wire, exchange, 307, ["/a", "/b"][turn % 2]);
        exchange = wire.request().exchange;
    }
    redirect(&mut wire, exchange, 307, "/b");
    assert_eq!(wire.seen(), ["1 Refused(307)"]);

    let mut wire = Wire::new();
    let exchange = wire.call(1, MODERN).exchange;
    wire.answer(exchange, 200, JSON, "{}");
    let exchange = wire.call(2, MODERN).exchange;
    wire.seen();
    redirect(&mut wire, exchange, 307, "/new");
    assert_eq!(wire.seen(), ["2 Refused(307)"]);
}
