//! Whatever servers, connections, applications and clocks do to a client behind HTTP: what it promises holds.

use barewire::client::{Event, RequestOptions};
use barewire::transport::http::client::{ExchangeFailure, HttpClientConfig, HttpRequest};
use barewire::{Revision, Revisions};
use barewire_tests::http_host::{EVENT_STREAM, HttpHost, JSON, header};
use barewire_tests::{Random, client_config, http_client_walk};

/// The decisions of one run.
fn decisions(random: &mut Random) -> Vec<u8> {
    let count = 60 + random.below(1_000);
    (0..count).map(|_| random.number() as u8).collect()
}

// proves: BASE-203 BASE-206 BASE-207 BASE-208
#[test]
fn promises_hold_whatever_happens() {
    for mut random in Random::seeds(1_500) {
        http_client_walk::run(&decisions(&mut random));
    }
}

#[test]
fn the_same_inputs_lead_to_the_same_outputs() {
    for mut random in Random::seeds(200) {
        let decisions = decisions(&mut random);
        assert_eq!(http_client_walk::run(&decisions), http_client_walk::run(&decisions));
    }
}

/// A client in a legacy session, and the request that carries its call.
fn calling() -> (HttpHost, HttpRequest, String) {
    let mut config = client_config();
    config.revisions = Revisions::LEGACY;
    let mut host = HttpHost::new(config, HttpClientConfig::new("http://127.0.0.1:8000/mcp"));
    let (initialize, id) = host.posted("initialize");
    let result = format!(r#"{{"protocolVersion":"{}","capabilities":{{}}}}"#, Revision::V2025_11_25);
    host.reply(initialize.exchange, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
    let (initialized, _) = host.posted("notifications/initialized");
    host.answer(initialized.exchange, 202, &[], "");
    let stream = host.request();
    host.answer(stream.exchange, 405, &[], "");
    host.take_events();
    let now = host.now();
    host.client().request(now, "x/call", None, RequestOptions::default()).expect("a request");
    let (call, id) = host.posted("x/call");
    (host, call, id)
}

fn log(number: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":{number}}}}}"#
    )
}

fn result(id: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"text\":\"\u{1f600}\"}}}}")
}

#[test]
fn cuts_of_a_body_do_not_matter() {
    let outcome = |is_stream: bool, cut: Option<usize>| {
        let (mut host, call, id) = calling();
        let body = if is_stream {
            format!("\u{feff}id: 1\r\ndata: {}\r\n\r\n:\n\ndata:{}\n\n", log(1), result(&id))
        } else {
            format!("\u{feff}{}", result(&id))
        };
        host.head(call.exchange, 200, &[if is_stream { EVENT_STREAM } else { JSON }]);
        match cut {
            Some(cut) => {
                let (before, after) = body.as_bytes().split_at(cut.min(body.len()));
                host.body(call.exchange, before);
                host.body(call.exchange, after);
            }
            None => body.as_bytes().chunks(1).for_each(|byte| host.body(call.exchange, byte)),
        }
        host.end(call.exchange);
        (host.take_events(), body.len())
    };
    for is_stream in [false, true] {
        let (whole, length) = outcome(is_stream, Some(0));
        assert!(matches!(whole.last(), Some(Event::ResponseReceived { .. })), "{whole:?}");
        for cut in (1..length).map(Some).chain([None]) {
            assert_eq!(outcome(is_stream, cut).0, whole, "{cut:?}");
        }
    }
}

// proves: BASE-226 BASE-247 BASE-250
#[test]
fn a_stream_that_breaks_anywhere_goes_on_where_it_was() {
    for mut random in Random::seeds(300) {
        let (mut host, mut call, id) = calling();
        let count = 1 + random.below(8);
        let messages: Vec<_> = (0..count).map(log).chain([result(&id)]).collect();
        let event = |number: usize| format!("id: {number}\nretry: 20\ndata: {}\n\n", messages[number]);
        let mut told = Vec::new();
        let mut next = 0;
        for attempts in 0.. {
            assert!(attempts < 200, "it does not get on");
            let rest: String = (next..messages.len()).map(event).collect();
            let end = random.below(rest.len() + 1);
            let whole = rest.as_bytes()[..end].windows(2).filter(|pair| pair == b"\n\n").count();
            host.head(call.exchange, 200, &[EVENT_STREAM]);
            host.body(call.exchange, &rest.as_bytes()[..end]);
            host.fail(call.exchange, ExchangeFailure::Broken);
            told.extend(host.take_events());
            next += whole;
            if next == 0
                || matches!(told.last(), Some(Event::ResponseReceived { .. } | Event::RequestFailed { .. }))
            {
                break;
            }
            host.advance(20 << 5);
            call = host.request();
            assert_eq!(header(&call, "last-event-id"), Some(&*(next - 1).to_string()));
        }
        let logged = |event: &Event| match event {
            Event::LogReceived { data, .. } => data.as_str().parse().ok(),
            _ => None,
        };
        let logged: Vec<usize> = told.iter().filter_map(logged).collect();
        assert_eq!(logged, (0..next.min(count)).collect::<Vec<_>>(), "each message once, in order");
        let answered = matches!(told.last(), Some(Event::ResponseReceived { .. }));
        assert!(answered || matches!(told.last(), Some(Event::RequestFailed { .. })), "{told:?}");
    }
}
