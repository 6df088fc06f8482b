use super::*;
use crate::error::ApiMisuse;
use crate::machine::SubscriptionHandle;
use crate::subscription::{Change, ListKind, SubscriptionFilter};

fn listen(bench: &mut Bench, id: &str, filter: &str) -> (SubscriptionHandle, SubscriptionFilter, String) {
    bench.recv(&modern(id, "subscriptions/listen", &format!(r#""notifications":{filter}"#)));
    let Event::SubscriptionOpened { subscription, filter } = bench.event() else { panic!() };
    (subscription, filter, bench.sent_one())
}

// proves: BASE-366 BASE-367 BASE-369 BASE-371
#[test]
fn the_acknowledgement_comes_first_and_says_what_is_honoured() {
    let mut bench = Bench::new();
    let (_, filter, sent) = listen(
        &mut bench,
        "\"s\\u0031\"",
        r#"{"toolsListChanged":true,"promptsListChanged":false,"resourcesListChanged":null,"resourceSubscriptions":["b","a","b"],"taskIds":["x"]}"#,
    );
    assert!(filter.tools && !filter.prompts && !filter.resources);
    assert_eq!(filter.resource_uris, ["a".into(), "b".into()]);
    assert_eq!(
        sent,
        r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s\u0031"},"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a","b"]}}}"#
    );
}

#[test]
fn what_is_not_offered_is_not_honoured() {
    let mut bench = Bench { server: Server::new(config()).unwrap(), now: Instant::ZERO };
    let (_, filter, sent) =
        listen(&mut bench, "1", r#"{"toolsListChanged":true,"resourceSubscriptions":["a"]}"#);
    assert!(filter.is_empty());
    assert!(sent.ends_with(r#""notifications":{}}}"#), "{sent}");
    // It stays open.
    bench.recv(&modern("1", "tools/list", ""));
    assert_eq!(bench.violations(), [Violation::DuplicateId]);
}

#[test]
fn malformed_filters_are_refused() {
    let mut bench = Bench::new();
    for params in [
        "",
        r#""notifications":[]"#,
        r#""notifications":{"toolsListChanged":1}"#,
        r#""notifications":{"resourceSubscriptions":"a"}"#,
        r#""notifications":{"resourceSubscriptions":[1]}"#,
    ] {
        assert_eq!(
            error_of(&bench.reply(&modern("1", "subscriptions/listen", params))).0,
            -32602,
            "{params}"
        );
    }
}

#[test]
fn subscriptions_and_what_they_watch_are_bounded() {
    let mut config = config();
    config.limits.subscriptions = 2;
    config.limits.watched_resources = 2;
    let mut bench = Bench::with(config);
    let refused = bench.reply(&modern(
        "1",
        "subscriptions/listen",
        r#""notifications":{"resourceSubscriptions":["a","b","c"]}"#,
    ));
    assert_eq!(error_of(&refused).0, -32603);
    let (first, ..) = listen(&mut bench, "1", r#"{"resourceSubscriptions":["a","b"]}"#);
    listen(&mut bench, "2", "{}");
    assert_eq!(
        error_of(&bench.reply(&modern("3", "subscriptions/listen", r#""notifications":{}"#))).0,
        -32603
    );
    bench.server.end_subscription(first).unwrap();
    bench.events();
    bench.sent();
    listen(&mut bench, "3", r#"{"resourceSubscriptions":["a"]}"#);
}

// proves: BASE-065 BASE-365 FEAT-008 FEAT-116
#[test]
fn changes_reach_those_who_watch_and_nobody_else() {
    let mut bench = Bench::new();
    listen(&mut bench, "1", r#"{"toolsListChanged":true}"#);
    listen(
        &mut bench,
        "\"2\"",
        r#"{"promptsListChanged":true,"resourceSubscriptions":["file:///a","file:///dir/"]}"#,
    );
    listen(&mut bench, "3", r#"{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}"#);
    let tagged = |id| format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
    bench.server.add_tool(r#"{"name":"new","inputSchema":{"type":"object"}}"#).unwrap();
    bench.server.remove_tool("new").unwrap();
    bench.server.publish(&Change::List(ListKind::Tools));
    let sent = bench.sent();
    assert_eq!(sent.len(), 2, "many changes are one notice: {sent:?}");
    for (text, id) in sent.iter().zip(["1", "3"]) {
        assert_eq!(
            *text,
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{{}}}}}"#,
                tagged(id)
            )
        );
    }
    bench.server.publish(&Change::List(ListKind::Resources));
    assert_eq!(bench.sent(), Vec::<String>::new());
    bench.server.publish(&Change::List(ListKind::Prompts));
    assert!(bench.sent_one().contains(&tagged("\"2\"")));
    for (uri, told) in
        [("file:///a", 2), ("file:///a/b", 2), ("file:///ab", 0), ("file:///dir/x", 1), ("file:///dir", 0)]
    {
        bench.server.publish(&Change::Resource(uri.into()));
        let sent = bench.sent();
        assert_eq!(sent.len(), told, "{uri}: {sent:?}");
        assert!(sent.iter().all(|text| text.contains(&format!(r#""uri":"{uri}""#))));
    }
}

#[test]
fn a_change_before_a_subscription_is_not_told_to_it() {
    let mut bench = Bench::new();
    bench.server.publish(&Change::List(ListKind::Tools));
    let (_, _, sent) = listen(&mut bench, "1", r#"{"toolsListChanged":true}"#);
    assert!(sent.contains("acknowledged"));
}

// proves: BASE-374
#[test]
fn a_subscription_ends_in_order_with_a_result() {
    let mut bench = Bench::new();
    let (subscription, ..) = listen(&mut bench, "9", r#"{"toolsListChanged":true}"#);
    bench.server.publish(&Change::List(ListKind::Tools));
    bench.server.end_subscription(subscription).unwrap();
    let sent = bench.sent();
    assert!(sent[0].contains("list_changed"), "{sent:?}");
    assert_eq!(
        sent[1],
        r#"{"jsonrpc":"2.0","id":9,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":9}}}"#
    );
    assert_eq!(bench.event(), Event::SubscriptionClosed { subscription });
    assert_eq!(bench.server.end_subscription(subscription), Err(ApiMisuse::UnknownSubscription.into()));
    bench.server.publish(&Change::List(ListKind::Tools));
    assert_eq!(bench.sent(), Vec::<String>::new());
}

// proves: BASE-378
#[test]
fn a_client_gives_a_subscription_up_in_silence() {
    let mut bench = Bench::new();
    let (subscription, ..) = listen(&mut bench, "9", r#"{"toolsListChanged":true}"#);
    let as_request = RequestHandle::from_number(subscription.number());
    assert!(bench.server.respond(as_request, "{}").is_err(), "it is not the application's to answer");
    bench.recv(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#);
    assert_eq!(bench.event(), Event::SubscriptionClosed { subscription });
    bench.server.publish(&Change::List(ListKind::Tools));
    assert_eq!(bench.sent(), Vec::<String>::new());
    listen(&mut bench, "9", "{}");
}

#[test]
fn legacy_subscriptions_have_the_same_events() {
    let mut bench = Bench::session(Revision::V2025_11_25, "{}");
    bench.recv(&legacy("1", "resources/subscribe", r#""uri":"file:///a""#));
    let Event::SubscriptionOpened { subscription, filter } = bench.event() else { panic!() };
    assert_eq!(filter.resource_uris, ["file:///a".into()]);
    assert!(bench.sent_one().ends_with(r#""result":{}}"#));
    // Twice is once.
    bench.reply(&legacy("2", "resources/subscribe", r#""uri":"file:///a""#));
    bench.server.publish(&Change::Resource("file:///a".into()));
    assert_eq!(
        bench.sent_one(),
        r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}}"#
    );
    bench.recv(&legacy("3", "resources/unsubscribe", r#""uri":"file:///a""#));
    assert_eq!(bench.event(), Event::SubscriptionClosed { subscription });
    bench.sent_one();
    bench.reply(&legacy("4", "resources/unsubscribe", r#""uri":"file:///never""#));
    assert_eq!(error_of(&bench.reply(&legacy("5", "resources/subscribe", r#""uri":1"#))).0, -32602);
    bench.server.publish(&Change::Resource("file:///a".into()));
    assert_eq!(bench.sent(), Vec::<String>::new());
}

#[test]
fn legacy_sessions_are_told_of_lists_that_were_declared_to_them() {
    let mut bench = Bench { server: Server::new(config()).unwrap(), now: Instant::ZERO };
    bench.server.add_prompt(r#"{"name":"p"}"#).unwrap();
    bench.reply(&initialize("0", "2024-11-05", "{}"));
    bench.server.remove_prompt("p").unwrap();
    assert_eq!(bench.sent(), Vec::<String>::new(), "not before the session is open");
    bench.recv(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    bench.event();
    bench.server.add_prompt(r#"{"name":"q"}"#).unwrap();
    assert_eq!(bench.sent_one(), r#"{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}"#);
    bench.server.add_tool(r#"{"name":"t","inputSchema":{"type":"object"}}"#).unwrap();
    assert_eq!(bench.sent(), Vec::<String>::new());
    // An emptied catalog still has its lists.
    bench.server.remove_prompt("q").unwrap();
    bench.sent();
    assert!(bench.reply(&legacy("1", "prompts/list", "")).contains(r#""prompts":[]"#));
}

#[test]
fn subscriptions_do_not_stop_the_intake_that_could_end_them() {
    let mut config = config();
    config.limits.requests_in_flight = 6;
    let mut bench = Bench::with(config);
    for id in ["1", "2", "3"] {
        listen(&mut bench, id, "{}");
        assert!(bench.server.wants_input());
    }
    for id in ["4", "5", "6"] {
        assert!(bench.server.wants_input());
        bench.call(&modern(id, "tools/call", r#""name":"nap""#));
    }
    assert!(!bench.server.wants_input());
}
