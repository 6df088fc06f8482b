//! Every set of revisions of a client meets every set of a server: they settle on the newest they share, and the
//! same calls lead to the same events on both sides.

use barewire::client::RequestOptions;
use barewire::server::Notification;
use barewire::{
    CacheScope, Change, Era, Freshness, InputKind, InputQuestion, InputResponse, Json, LogLevel,
    RequestHandle, Revision, Revisions, SubscriptionFilter, client, server,
};
use barewire_tests::{Link, Pair, Random, client_config, server_config};

/// A pair whose server offers something of each kind.
fn pair(client: Revisions, server: Revisions, link: Link, random: Random) -> Pair {
    let mut ours = client_config();
    ours.revisions = client;
    let mut theirs = server_config();
    theirs.revisions = server;
    theirs.freshness = Freshness { ttl_ms: 1_000, scope: CacheScope::Public };
    let mut pair = Pair::new(ours, theirs, link, random);
    let catalog = pair.server.machine_mut();
    catalog.add_tool(r#"{"name":"greet","inputSchema":{"type":"object"}}"#).unwrap();
    catalog.add_resource(r#"{"uri":"file:///a","name":"a"}"#).unwrap();
    pair
}

/// Sets of revisions: each alone, each era, all.
fn sets() -> Vec<Revisions> {
    let alone = Revision::ALL.iter().map(|&revision| Revisions::of(&[revision]));
    alone.chain([Revisions::LEGACY, Revisions::MODERN, Revisions::ALL]).collect()
}

fn request(pair: &mut Pair, method: &str, params: &str, options: RequestOptions) -> RequestHandle {
    let now = pair.now();
    let request = pair.client.machine_mut().request(now, method, Some(params), options).unwrap();
    pair.drive().unwrap();
    request
}

/// The request of the tool call that the server was told of last.
fn called(pair: &mut Pair) -> (RequestHandle, server::RequestContext) {
    let events = pair.take_server_events();
    let call = events.into_iter().rev().find_map(|event| match event {
        server::Event::ToolCalled { request, context, .. } => Some((request, context)),
        _ => None,
    });
    call.expect("the tool is called")
}

fn result(pair: &mut Pair, request: RequestHandle) -> (String, Option<Freshness>) {
    match &pair.take_client_events()[..] {
        [client::Event::ResponseReceived { request: settled, result, freshness }] if *settled == request => {
            (result.as_str().to_owned(), *freshness)
        }
        other => panic!("{other:?}"),
    }
}

// proves: BASE-118 BASE-119 BASE-136 BASE-170
#[test]
fn the_newest_common_revision_is_settled_and_all_else_is_refused() {
    for ours in sets() {
        for theirs in sets() {
            let mut pair = pair(ours, theirs, Link::Whole, Random::new(1));
            let driven = pair.drive();
            let settled = pair.client.machine().revision();
            assert_eq!(settled, ours.and(theirs).newest_first().next(), "{ours:?} with {theirs:?}");
            if settled.is_none() {
                assert!(driven.is_err(), "{ours:?} with {theirs:?}");
                // A fatal end stops the driving before the last events are collected.
                let _ = pair.drive();
                let last = pair.take_client_events().pop();
                let Some(client::Event::Disconnected { reason }) = last else { panic!("{last:?}") };
                assert_eq!(reason.code(), 301, "{reason:?}");
            }
        }
    }
}

// proves: BASE-042 BASE-043
#[test]
fn the_same_calls_lead_to_the_same_events_in_every_revision() {
    for revision in Revision::ALL {
        for link in [Link::Whole, Link::Bytes] {
            let only = Revisions::of(&[revision]);
            let mut pair = pair(only, Revisions::ALL, link, Random::new(2));
            pair.drive().unwrap();
            pair.take_client_events();
            list(&mut pair, revision);
            call(&mut pair, revision);
            cancel(&mut pair);
            watch(&mut pair);
            pair.close_client().unwrap();
            let [client::Event::Disconnected { .. }] = pair.take_client_events()[..] else { panic!() };
        }
    }
}

fn list(pair: &mut Pair, revision: Revision) {
    let listing = request(pair, "tools/list", "{}", RequestOptions::default());
    let (tools, freshness) = result(pair, listing);
    assert!(tools.contains("greet"), "{tools}");
    let expected = Freshness { ttl_ms: 1_000, scope: CacheScope::Public };
    assert_eq!(freshness, (revision.era() == Era::Modern).then_some(expected));
}

/// A call that reports progress, logs, and asks back where it can.
fn call(pair: &mut Pair, revision: Revision) {
    let mut options = RequestOptions::default();
    options.progress = true;
    options.log_level = Some(LogLevel::Info);
    let greeting = request(pair, "tools/call", r#"{"name":"greet","arguments":{"n":1.0}}"#, options);
    let (mut running, _) = called(pair);
    let progress = Notification::Progress { progress: 0.5, total: Some(1.0), message: Some("half") };
    assert!(pair.server.machine_mut().notify(running, progress).unwrap());
    let log = Notification::Log { level: LogLevel::Error, logger: Some("l"), data: "[1]" };
    assert!(pair.server.machine_mut().notify(running, log).unwrap());
    pair.drive().unwrap();
    let events = pair.take_client_events();
    let [
        client::Event::ProgressReceived { request, total: Some(1.0), increasing: true, .. },
        client::Event::LogReceived { level: Some(LogLevel::Error), .. },
    ] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(*request, greeting);
    if revision >= Revision::V2025_06_18 {
        running = ask_back(pair, running);
    }
    pair.server.machine_mut().respond(running, r#"{"content":[]}"#).unwrap();
    pair.drive().unwrap();
    assert!(result(pair, greeting).0.contains(r#""content":[]"#));
}

/// A question within a call, its answer, and the call's event again.
fn ask_back(pair: &mut Pair, running: RequestHandle) -> RequestHandle {
    let form = r#"{"message":"who?","requestedSchema":{"type":"object","properties":{}}}"#;
    let params = Json::new(form).unwrap();
    let question = InputQuestion { key: "who".into(), kind: InputKind::Elicitation, params };
    let now = pair.now();
    pair.server.machine_mut().require_input(now, running, vec![question], Some(r#"{"step":1}"#)).unwrap();
    pair.drive().unwrap();
    let events = pair.take_client_events();
    let [client::Event::InputRequired { inputs, round: 1, .. }] = &events[..] else { panic!("{events:?}") };
    let answer = Json::new(r#"{"action":"accept","content":{}}"#).unwrap();
    let input = inputs[0].input;
    pair.client.machine_mut().provide_input(now, input, InputResponse::Result(answer)).unwrap();
    pair.drive().unwrap();
    let (again, context) = called(pair);
    let [answer] = &context.input_answers[..] else { panic!("{context:?}") };
    assert_eq!(&*answer.key, "who");
    assert!(answer.outcome.as_ref().is_ok_and(|result| result.as_str().contains("accept")));
    assert_eq!(context.state.as_ref().map(Json::as_str), Some(r#"{"step":1}"#));
    again
}

fn cancel(pair: &mut Pair) {
    let unwanted = request(pair, "tools/call", r#"{"name":"greet"}"#, RequestOptions::default());
    let (running, _) = called(pair);
    pair.client.machine_mut().cancel(unwanted, Some("enough")).unwrap();
    pair.drive().unwrap();
    let events = pair.take_server_events();
    let [server::Event::RequestCancelled { request, reason: Some(reason) }] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((*request, &**reason), (running, "enough"));
    pair.server.machine_mut().respond(running, r#"{"content":[]}"#).unwrap();
    pair.drive().unwrap();
    let events = pair.take_client_events();
    let [client::Event::RequestFailed { reason: client::FailureReason::Cancelled, .. }] = events[..] else {
        panic!("{events:?}")
    };
}

fn watch(pair: &mut Pair) {
    let filter = SubscriptionFilter {
        tools: true,
        resource_uris: vec!["file:///a".into()],
        ..SubscriptionFilter::default()
    };
    let now = pair.now();
    let subscription = pair.client.machine_mut().subscribe(now, filter.clone()).unwrap();
    pair.drive().unwrap();
    let acknowledged = client::Event::SubscriptionAcknowledged { subscription, honoured: filter };
    assert_eq!(pair.take_client_events(), [acknowledged]);
    pair.server.machine_mut().publish(&Change::Resource("file:///a".into()));
    pair.server.machine_mut().remove_tool("greet").unwrap();
    pair.drive().unwrap();
    let events = pair.take_client_events();
    let [
        client::Event::ResourceUpdated { subscription: Some(first), .. },
        client::Event::ListChanged { subscription: Some(second), .. },
    ] = events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!([first, second], [subscription; 2]);
    pair.client.machine_mut().unsubscribe(now, subscription).unwrap();
    pair.drive().unwrap();
    assert_eq!(
        pair.take_client_events(),
        [client::Event::SubscriptionEnded { subscription, graceful: true }]
    );
    pair.server.machine_mut().publish(&Change::Resource("file:///a".into()));
    pair.drive().unwrap();
    assert_eq!(pair.take_client_events(), []);
}
