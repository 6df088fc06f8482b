//! Pages of other origins: what they may ask and read.

use super::*;
use crate::transport::http::OriginPolicy;

const PAGE: (&str, &str) = ("Origin", "https://app.example");

fn open_to_page() -> Http {
    let mut config = config();
    config.origins = OriginPolicy::default().with_origin(PAGE.1).expect("an origin");
    http_with(config, Limits::default())
}

#[test]
fn a_preflight_is_answered_for_pages_that_are_allowed() {
    let ask =
        [PAGE, ("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", "mcp-param-x")];
    let mut http = open_to_page();
    let exchange = request(&mut http, "OPTIONS", &ask, "");
    let allowed = response(&mut http, exchange);
    assert_eq!((allowed.status, &*allowed.body, allowed.is_last), (204, "", true));
    assert_eq!(allowed.header("access-control-allow-origin"), Some(PAGE.1));
    assert_eq!(allowed.header("access-control-allow-methods"), Some("GET, POST, DELETE, OPTIONS"));
    assert!(
        allowed.header("access-control-allow-headers").is_some_and(|names| names.contains("mcp-param-x"))
    );
    assert!(allowed.header("vary").is_some_and(|names| names.eq_ignore_ascii_case("origin")));
    let mut http = super::http();
    let exchange = request(&mut http, "OPTIONS", &ask, "");
    let refused = response(&mut http, exchange);
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (403, None));
}

#[test]
fn every_response_says_that_the_page_may_read_it() {
    let mut http = open_to_page();
    let id = open_session(&mut http, 1, Revision::V2025_11_25);
    let streamed = post(&mut http, &[PAGE], "x");
    let answered = post(&mut http, &[PAGE], "x");
    let accepted = post(&mut http, &[PAGE], "x");
    let too_long = post(&mut http, &[PAGE, ("Content-Length", "5000000")], "x");
    let standalone = get(&mut http, &[PAGE, ("Mcp-Session-Id", &id)]);
    let unknown = get(&mut http, &[PAGE, ("Mcp-Session-Id", "x")]);
    let method = request(&mut http, "PUT", &[PAGE], "");
    let end = request(&mut http, "DELETE", &[PAGE, ("Mcp-Session-Id", &id)], "");
    say(&mut http, "one", within(streamed, Disposition::Continues));
    say(&mut http, "one", within(answered, Disposition::Answers));
    http.machine.transmits.push_back(Transmit::Accept { exchange: accepted });
    for (exchange, status) in [
        (streamed, 200),
        (answered, 200),
        (accepted, 202),
        (too_long, 413),
        (standalone, 200),
        (unknown, 404),
        (method, 405),
        (end, 204),
    ] {
        let response = response(&mut http, exchange);
        assert_eq!(response.status, status);
        assert_eq!(response.header("access-control-allow-origin"), Some(PAGE.1), "{status}");
        assert!(
            response
                .header("access-control-expose-headers")
                .is_some_and(|names| names.contains("mcp-session-id"))
        );
        assert!(response.header("vary").is_some_and(|names| names.eq_ignore_ascii_case("origin")));
    }
}
