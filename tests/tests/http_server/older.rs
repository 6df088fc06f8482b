//! HTTP+SSE: the stream and the endpoint of 2024-11-05, beside Streamable HTTP.

use barewire::server::{Event, Notification};
use barewire::transport::http::server::Endpoint;
use barewire::{ExchangeHandle, Revision};
use barewire_tests::site::{COMMON, RESULT, Response, Site, initialize, modern};

use crate::message;

struct Channel {
    exchange: ExchangeHandle,
    query: String,
}

fn open(site: &mut Site) -> Channel {
    let endpoint = Endpoint::EventStream { messages: "/messages" };
    let exchange = site.send_to(endpoint, "GET", &COMMON, "");
    let response = site.take(exchange);
    let data = response.fields("data");
    let query = data[0].strip_prefix("/messages?").expect("the path and a query");
    assert_eq!((response.fields("event"), data.len()), (Vec::from(["endpoint"]), 1));
    Channel { exchange, query: query.to_owned() }
}

fn send(site: &mut Site, channel: &Channel, body: &str) -> Response {
    let exchange = site.send_to(Endpoint::Messages { query: &channel.query }, "POST", &COMMON, body);
    site.take(exchange)
}

// proves: BASE-185 BASE-186 BASE-188 BASE-190
#[test]
fn a_session_on_its_stream() {
    let mut site = Site::new();
    let id = site.open_session(Revision::V2025_06_18);
    let channel = open(&mut site);
    let said = send(&mut site, &channel, &initialize(Revision::V2024_11_05));
    assert_eq!((said.status, said.header("mcp-session-id")), (202, None));
    let mut response = Response {
        status: 200,
        headers: Vec::from([("content-type", "text/event-stream".into())]),
        ..Response::default()
    };
    site.take_more(channel.exchange, &mut response);
    assert_eq!(message(&response)["result"]["protocolVersion"], "2024-11-05");
    send(&mut site, &channel, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert!(matches!(site.events.last(), Some(Event::SessionOpened { revision: Revision::V2024_11_05, .. })));
    send(
        &mut site,
        &channel,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":1}}}"#,
    );
    let call = site.last_call();
    let progress = Notification::Progress { progress: 1.0, total: None, message: None };
    assert_eq!(site.server().notify(call, progress), Ok(true));
    site.server().add_tool(r#"{"name":"new","inputSchema":{"type":"object"}}"#).expect("a tool");
    site.server().respond(call, RESULT).expect("an answer");
    site.take_more(channel.exchange, &mut response);
    let messages = response.messages();
    assert!(messages[1].contains("notifications/progress"), "{messages:?}");
    assert!(messages[2..].iter().any(|text| text.contains("list_changed")), "{messages:?}");
    assert!(messages[2..].iter().any(|text| text.contains("done")), "{messages:?}");
    assert!(response.fields("event").iter().all(|event| *event == "message"));
    for broken in ["{", &modern(1, "tools/list", "")] {
        send(&mut site, &channel, broken);
        let before = response.messages().len();
        site.take_more(channel.exchange, &mut response);
        assert_eq!(response.messages().len(), before + 1, "{broken} is answered");
        assert!(response.messages()[before].contains("\"error\""));
    }
    // The other session is another matter.
    let ping = site.ask(&[("Mcp-Session-Id", &id)], r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert_eq!(ping.status, 200);
}

// proves: BASE-189
#[test]
fn leaving_ends_the_session() {
    let mut site = Site::new();
    let channel = open(&mut site);
    send(&mut site, &channel, &initialize(Revision::V2024_11_05));
    send(&mut site, &channel, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    send(&mut site, &channel, r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}}"#);
    site.http.receive_abort(site.now, channel.exchange);
    site.listen();
    assert!(site.events.iter().any(|event| matches!(event, Event::RequestCancelled { .. })));
    assert!(site.events.iter().any(|event| matches!(event, Event::SessionClosed { .. })));
    assert_eq!(send(&mut site, &channel, "{}").status, 404);
}
