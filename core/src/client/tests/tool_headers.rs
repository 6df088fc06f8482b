//! Arguments that headers repeat (server/tools, `x-mcp-header`, 2026-07-28).

use super::http::{Out, http, http_config, opened};
use super::*;
use crate::jsonrpc::RpcError;
use crate::machine::Failure;

const MODERN: Revision = Revision::V2026_07_28;
const MISMATCH: &str = r#"{"code":-32020,"message":"Header mismatch"}"#;

/// A tool whose argument `region` goes into the header that ends in `header`.
fn marked(name: &str, header: &str) -> String {
    format!(
        r#"{{"name":"{name}","inputSchema":{{"type":"object","properties":{{"region":{{"type":"string","x-mcp-header":"{header}"}},"n":{{"type":"integer"}}}}}}}}"#
    )
}

const PLAIN: &str = r#"{"name":"plain","inputSchema":{"type":"object"}}"#;

fn page(tools: &[&str], rest: &str) -> String {
    format!(r#"{{"resultType":"complete","tools":[{}]{rest}}}"#, tools.join(","))
}

/// Has the application fetch a list.
fn fetch(peer: &mut Peer, list: &str) -> Vec<Event> {
    peer.request("tools/list", "{}");
    let id = id_of(&peer.sent_one());
    peer.answer(&id, list);
    peer.events()
}

/// Calls a tool: the request, its id, and the arguments in headers.
fn call(peer: &mut Peer, tool: &str) -> (RequestHandle, String, Vec<(String, String)>) {
    let params = format!(r#"{{"name":"{tool}","arguments":{{"region":"eu ä","n":1}}}}"#);
    let request = peer.request("tools/call", &params);
    let (id, headers) = sent_call(peer);
    (request, id, headers)
}

fn sent_call(peer: &mut Peer) -> (String, Vec<(String, String)>) {
    let (text, _, mirrored) = peer.out_one();
    assert_eq!(method_of(&text), "tools/call");
    let params = mirrored.unwrap().params;
    (id_of(&text), params.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
}

fn region(header: &str) -> Vec<(String, String)> {
    alloc::vec![(header.into(), "eu ä".into())]
}

// proves: BASE-292 BASE-311 BASE-433 BASE-434 FEAT-094 FEAT-095
#[test]
fn marked_arguments_are_repeated_by_the_newest_list_known() {
    let mut peer = http(MODERN);
    assert_eq!(call(&mut peer, "t").2, []);
    fetch(&mut peer, &page(&[&marked("t", "Region"), PLAIN], ""));
    assert_eq!(call(&mut peer, "t").2, region("Region"));
    assert_eq!(call(&mut peer, "plain").2, []);
    assert_eq!(call(&mut peer, "other").2, []);
    fetch(&mut peer, &page(&[&marked("t", "Where")], ""));
    assert_eq!(call(&mut peer, "t").2, region("Where"));
    for (arguments, expected) in [(r#"{"region":null}"#, 0), ("{}", 0), (r#"{"region":""}"#, 1)] {
        peer.request("tools/call", &format!(r#"{{"name":"t","arguments":{arguments}}}"#));
        assert_eq!(sent_call(&mut peer).1.len(), expected, "{arguments}");
    }
    fetch(&mut peer, &page(&[r#"{"name":"t","inputSchema":{"type":"object"}}"#], ""));
    assert_eq!(call(&mut peer, "t").2, []);
}

#[test]
fn every_round_repeats_them() {
    let mut peer = http(MODERN);
    fetch(&mut peer, &page(&[&marked("t", "Region")], ""));
    let (_, id, _) = call(&mut peer, "t");
    peer.answer(&id, r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}"#);
    let (input, _) = peer.questions().remove(0);
    peer.provide(input, r#"{"roots":[]}"#);
    let (text, _, mirrored) = peer.out_one();
    assert!(member(&text, &["params", "inputResponses"]).is_some());
    let mirrored = mirrored.unwrap();
    assert_eq!((mirrored.name.as_deref(), mirrored.params.len()), (Some("t"), 1));
}

// proves: BASE-301 BASE-302 FEAT-081 FEAT-082
#[test]
fn tools_that_cannot_be_called_are_left_out_and_told() {
    let bad = [
        marked("space", "a b"),
        marked("empty", ""),
        PLAIN.replace("\"object\"", r#""object","x-mcp-header":"Root""#),
    ];
    let good = [marked("t", "Region"), PLAIN.replace("plain", "p\\u006cain")];
    let list = page(
        &[&bad[0], &good[0], &bad[1], "null", &good[1], &bad[2]],
        r#","nextCursor":"c" , "ttlMs":5,"_meta":{"tools":[]}"#,
    );
    let mut peer = http(MODERN);
    let events = fetch(&mut peer, &list);
    let omitted: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::ToolOmitted { index, name, path, reason, .. } => {
                assert!(!reason.is_empty());
                Some((*index, name.as_deref(), &**path))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        omitted,
        [
            (0, Some("space"), "tools[0].inputSchema"),
            (2, Some("empty"), "tools[2].inputSchema"),
            (5, Some("plain"), "tools[5].inputSchema"),
        ]
    );
    let Some(Event::ResponseReceived { result, .. }) = events.last() else { panic!("{events:?}") };
    let expected =
        page(&[&good[0], "null", &good[1]], r#","nextCursor":"c" , "ttlMs":5,"_meta":{"tools":[]}"#);
    assert_eq!(result.as_str(), expected);
    assert_eq!(call(&mut peer, "t").2, region("Region"));
}

#[test]
fn sound_lists_and_odd_results_are_passed_on_as_they_are() {
    let lists = [
        page(&[&marked("t", "Region"), " 7 "], ""),
        page(&[], ""),
        r#"{"resultType":"complete","tools":{"x-mcp-header":""}}"#.into(),
        r#"{"resultType":"complete"}"#.into(),
    ];
    for list in &lists {
        let events = fetch(&mut http(MODERN), list);
        let [Event::ResponseReceived { result, .. }] = &events[..] else { panic!("{events:?}") };
        assert_eq!(result.as_str(), list);
    }
    // Elsewhere the annotation means nothing.
    let list = page(&[&marked("t", "a b")], "");
    for mut peer in [Peer::ready(MODERN), http(Revision::V2025_11_25)] {
        let events = fetch(&mut peer, &list);
        let [Event::ResponseReceived { result, .. }] = &events[..] else { panic!("{events:?}") };
        assert_eq!(result.as_str(), list);
    }
}

// proves: BASE-312 FEAT-096
#[test]
fn a_mismatch_refreshes_the_list_once_and_sends_the_call_again() {
    let mut peer = http(MODERN);
    fetch(&mut peer, &page(&[&marked("t", "Old")], ""));
    let (first, first_id, headers) = call(&mut peer, "t");
    assert_eq!(headers, region("Old"));
    let (second, second_id, _) = call(&mut peer, "unknown");
    peer.fail(&first_id, MISMATCH);
    let (list, _, mirrored) = peer.out_one();
    assert_eq!(mirrored.unwrap().method.as_deref(), Some("tools/list"));
    assert_eq!(method_of(&list), "tools/list");
    assert_eq!(peer.client.awaited_attempt(first), None);
    // One refresh serves all who need it.
    peer.fail(&second_id, MISMATCH);
    assert_eq!(peer.out(), []);
    peer.answer(&id_of(&list), &page(&[&marked("t", "New")], r#","nextCursor":"a\"b""#));
    let (next, ..) = peer.out_one();
    assert_eq!(member(&next, &["params", "cursor"]), Some(r#""a\"b""#.into()));
    peer.answer(&id_of(&next), &page(&[&marked("unknown", "Other"), &marked("bad", "")], ""));
    let out = peer.out();
    let headers: Vec<_> = out
        .iter()
        .map(|out| match out {
            Out::Message(text, route, Some(mirrored)) => {
                (id_of(text), opened(*route), mirrored.params[0].0.to_string())
            }
            other => panic!("{other:?}"),
        })
        .collect();
    let [(first_again, a, new), (second_again, b, other)] = &headers[..] else { panic!("{headers:?}") };
    assert_eq!((*a, *b, new.as_str(), other.as_str()), (first, second, "New", "Other"));
    assert!(*first_again != first_id && *second_again != second_id);
    assert_eq!(peer.events(), [], "the application sees none of it");
    peer.answer(first_again, r#"{"resultType":"complete","content":[]}"#);
    assert_eq!(peer.event(), answered(first, r#"{"resultType":"complete","content":[]}"#));
    // Once is all.
    peer.fail(second_again, MISMATCH);
    assert_eq!(peer.event(), failed(second, FailureReason::Rpc(RpcError::new(-32020, "Header mismatch"))));
    assert_eq!(peer.out(), []);
}

#[test]
fn a_mismatch_that_no_list_can_mend_is_the_answer() {
    let mismatch = |request| failed(request, FailureReason::Rpc(RpcError::new(-32020, "Header mismatch")));
    let mut peer = http(MODERN);
    fetch(&mut peer, &page(&[PLAIN], ""));
    let (request, id, _) = call(&mut peer, "plain");
    peer.fail(&id, MISMATCH);
    assert_eq!((peer.event(), peer.out()), (mismatch(request), Vec::new()));
    let request = peer.request("resources/read", r#"{"uri":"t"}"#);
    let id = id_of(&peer.sent_one());
    peer.fail(&id, MISMATCH);
    assert_eq!((peer.event(), peer.out()), (mismatch(request), Vec::new()));
    let mut peer = Peer::ready(MODERN);
    let (request, id) = peer.call();
    peer.fail(&id, MISMATCH);
    assert_eq!((peer.event(), peer.out()), (mismatch(request), Vec::new()));
}

#[test]
fn a_refresh_that_fails_leaves_the_mismatch() {
    type End = fn(&mut Peer, RequestHandle, &str);
    let ends: [End; 4] = [
        |peer, _, id| peer.fail(id, r#"{"code":-32603,"message":"m"}"#),
        |peer, request, _| peer.lose(request, Failure::Truncated),
        |peer, _, _| peer.advance(30_000),
        |peer, _, id| peer.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id}}}"#)),
    ];
    for end in ends {
        let mut peer = http(MODERN);
        let (request, id, _) = call(&mut peer, "t");
        peer.fail(&id, MISMATCH);
        let (list, route, _) = peer.out_one();
        end(&mut peer, opened(route), &id_of(&list));
        let reason = FailureReason::Rpc(RpcError::new(-32020, "Header mismatch"));
        assert_eq!(peer.events().pop(), Some(failed(request, reason)));
        // The next call may try again.
        peer.out();
        let (_, id, _) = call(&mut peer, "t");
        peer.fail(&id, MISMATCH);
        assert_eq!(method_of(&peer.out_one().0), "tools/list");
    }
}

#[test]
fn a_refresh_ends_after_so_many_pages() {
    let mut peer = http(MODERN);
    let (request, id, _) = call(&mut peer, "t");
    peer.fail(&id, MISMATCH);
    let mut pages = 0;
    loop {
        let (text, route, _) = peer.out_one();
        if opened(route) == request {
            break;
        }
        pages += 1;
        peer.answer(&id_of(&text), &page(&[PLAIN], r#","nextCursor":"more""#));
    }
    assert_eq!(pages, 64);
}

#[test]
fn a_call_that_waits_for_the_list_can_be_cancelled_and_times_out() {
    let mut peer = http(MODERN);
    let (first, id, _) = call(&mut peer, "t");
    peer.fail(&id, MISMATCH);
    let (list, ..) = peer.out_one();
    peer.client.cancel(first, None).unwrap();
    assert_eq!((peer.event(), peer.out()), (failed(first, FailureReason::Cancelled), Vec::new()));
    peer.answer(&id_of(&list), &page(&[PLAIN], ""));
    assert_eq!((peer.events(), peer.out()), (Vec::new(), Vec::new()));
    let options = RequestOptions { total_timeout: Some(10), ..RequestOptions::default() };
    let second = peer.request_with("tools/call", r#"{"name":"t"}"#, options);
    let id = id_of(&peer.sent_one());
    peer.fail(&id, MISMATCH);
    peer.out();
    peer.advance(10);
    assert_eq!((peer.event(), peer.out()), (failed(second, FailureReason::TimedOut), Vec::new()));
}

#[test]
fn what_is_learnt_is_bounded() {
    let mut peer = Peer::ready_with(http_config(), MODERN, ALL_SERVER_CAPABILITIES);
    fetch(&mut peer, &page(&[&marked("first", "Region")], ""));
    for turn in 0..20 {
        let tools: Vec<_> =
            (0..4_000).map(|number| PLAIN.replace("plain", &format!("{turn}-{number}"))).collect();
        let tools: Vec<_> = tools.iter().map(String::as_str).collect();
        fetch(&mut peer, &page(&tools, ""));
    }
    assert!(peer.client.tools.count() < 70_000);
    // Twice as much as can be kept was learnt since: the oldest is forgotten, the newest is not.
    fetch(&mut peer, &page(&[&marked("last", "Region")], ""));
    assert_eq!(call(&mut peer, "last").2, region("Region"));
}
