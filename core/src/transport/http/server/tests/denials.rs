//! What the host does not let through, because it is a resource server.

use super::*;
use crate::transport::http::server::Denial;

const CHALLENGE: &str = r#"Bearer resource_metadata="https://mcp.example/metadata", scope="a b""#;

fn unauthorized() -> Denial<'static> {
    Denial { status: 401, challenge: Some(CHALLENGE) }
}

fn denied(http: &mut Http, method: &str, more: &[(&str, &str)], denial: Denial<'_>) -> Response {
    let exchange = http.receive_denied(START, head(method, &with(more)), denial);
    assert_eq!(http.poll_ready(), Some(exchange));
    let response = response(http, exchange);
    assert!(response.is_last, "{response:?}");
    assert_eq!(taken(http), [], "the machine was not asked");
    response
}

#[test]
fn a_denial_has_status_and_challenge() {
    for method in ["POST", "GET", "DELETE"] {
        let response = denied(&mut http(), method, &[], unauthorized());
        assert_eq!((response.status, response.header("www-authenticate")), (401, Some(CHALLENGE)));
        assert!(response.body.contains(r#""error""#) && !response.body.contains(r#""id""#), "{response:?}");
    }
    for (status, expected) in [(400, 400), (403, 403), (503, 503), (200, 503), (0, 503)] {
        let response = denied(&mut http(), "POST", &[], Denial { status, challenge: None });
        assert_eq!((response.status, response.header("www-authenticate")), (expected, None));
    }
}

#[test]
fn a_challenge_cannot_add_headers() {
    let denial = Denial { status: 401, challenge: Some("Bearer\r\nset-cookie: a=b") };
    let response = denied(&mut http(), "POST", &[], denial);
    assert_eq!((response.status, response.header("www-authenticate")), (401, None));
}

#[test]
fn what_the_transport_refuses_it_refuses_first() {
    let rows: [(&str, More, u16); 4] = [
        ("POST", &[("Host", "evil.example")], 403),
        ("POST", &[("Origin", "http://evil.example")], 403),
        ("PUT", &[], 405),
        ("POST", &[("Content-Type", "a/b")], 415),
    ];
    for (method, more, status) in rows {
        let response = denied(&mut http(), method, more, unauthorized());
        assert_eq!((response.status, response.header("www-authenticate")), (status, None), "{more:?}");
    }
}

#[test]
fn browsers_may_ask_without_credentials_and_read_the_challenge() {
    let origin = ("Origin", "http://localhost:5173");
    let preflight = [origin, ("Access-Control-Request-Method", "POST")];
    assert_eq!(denied(&mut http(), "OPTIONS", &preflight, unauthorized()).status, 204);
    assert_eq!(denied(&mut http(), "OPTIONS", &[], unauthorized()).status, 204);
    let response = denied(&mut http(), "POST", &[origin], unauthorized());
    assert_eq!(response.header("access-control-allow-origin"), Some(origin.1));
    assert!(response.header("access-control-expose-headers").unwrap_or("").contains("www-authenticate"));
}

#[test]
fn a_call_is_denied_until_its_response_has_begun() {
    let mut http = http();
    let forbidden = Denial { status: 403, challenge: Some(CHALLENGE) };
    let exchange = post(&mut http, &[], "call");
    assert!(http.deny(START, exchange, forbidden));
    // What the machine says of it afterwards goes nowhere.
    say(&mut http, "answer", within(exchange, Disposition::Answers));
    let said = response(&mut http, exchange);
    assert_eq!((said.status, said.header("www-authenticate")), (403, Some(CHALLENGE)));
    assert!(said.is_last && !said.body.contains("answer"), "{said:?}");
    assert!(!http.deny(START, exchange, forbidden));

    let exchange = post(&mut http, &[], "call");
    say(&mut http, "progress", within(exchange, Disposition::Continues));
    assert_eq!(response(&mut http, exchange).status, 200);
    assert!(!http.deny(START, exchange, forbidden));
    say(&mut http, "answer", within(exchange, Disposition::Answers));
    assert_eq!(response(&mut http, exchange).messages(), ["answer"]);
}
