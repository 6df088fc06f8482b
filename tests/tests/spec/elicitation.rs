//! client/elicitation

use barewire::RpcError;

use super::*;

const METHOD: &str = "elicitation/create";

fn form(property: &str) -> String {
    format!(r#"{{"message":"m","requestedSchema":{{"type":"object","properties":{{"p":{property}}}}}}}"#)
}

fn visit(url: &str) -> String {
    format!(r#"{{"mode":"url","message":"m","elicitationId":"e","url":"{url}"}}"#)
}

// proves: FEAT-313
#[test]
fn a_default_fits_its_field() {
    let enumerated = r#""type":"string","enum":["a","b"]"#;
    let titled = r#""type":"string","oneOf":[{"const":"a","title":"A"}]"#;
    let many = r#""type":"array","items":{"type":"string","enum":["a","b"]}"#;
    let many_titled = r#""type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}"#;
    let wrong = [
        (r#""type":"string""#, "1"),
        (r#""type":"number""#, r#""1""#),
        (r#""type":"integer""#, "1.5"),
        (r#""type":"boolean""#, r#""true""#),
        (enumerated, r#""c""#),
        (enumerated, "0"),
        (titled, r#""A""#),
        (many, r#""a""#),
        (many, r#"["a","c"]"#),
        (many_titled, r#"["A"]"#),
    ];
    let right = [
        (r#""type":"string""#, r#""x""#),
        (r#""type":"number""#, "1.5e3"),
        (r#""type":"integer""#, "-1"),
        (r#""type":"boolean""#, "false"),
        (enumerated, r#""\u0062""#),
        (titled, r#""a""#),
        (many, r#"["b","a"]"#),
        (many, "[]"),
        (many_titled, r#"["a"]"#),
    ];
    for revision in since(Revision::V2025_11_25) {
        let mut pair = pair(revision);
        let (_, running) = call(&mut pair);
        for (field, default) in wrong {
            let params = form(&format!(r#"{{{field},"default":{default}}}"#));
            let outcome = ask(&mut pair, running, InputKind::Elicitation, &params);
            let at_fault = Error::ApiMisuse(ApiMisuse::InvalidFormProperty("p".into()));
            assert_eq!(outcome, Err(at_fault), "{revision} {params}");
        }
        for (field, default) in right {
            asked(&mut pair, InputKind::Elicitation, &form(&format!(r#"{{{field},"default":{default}}}"#)));
        }
    }
}

// proves: FEAT-321
#[test]
fn a_url_is_one() {
    for revision in since(Revision::V2025_11_25) {
        let mut pair = pair(revision);
        let mut client = Opposite::client(revision);
        let (_, running) = call(&mut pair);
        for url in ["", "example.com", "/here", "https://a b", "https://a/<b>", "https://a/%zz", "://a"] {
            let asked = ask(&mut pair, running, InputKind::Elicitation, &visit(url));
            assert_eq!(asked, Err(invalid("url")), "{revision} {url}");
            client.assert_refused(revision, METHOD, &visit(url));
        }
        let url = "https://example.com/a?b=%20c#d";
        asked(&mut pair, InputKind::Elicitation, &visit(url));
        client.assert_put(revision, METHOD, &visit(url));
    }
}

// proves: BASE-078 FEAT-065
#[test]
fn a_form_in_an_unknown_dialect_is_refused() {
    let in_dialect = |dialect: &str| {
        format!(
            r#"{{"message":"m","requestedSchema":{{"$schema":"{dialect}","type":"object","properties":{{}}}}}}"#
        )
    };
    for revision in since(Revision::V2025_11_25) {
        let mut pair = pair(revision);
        let mut client = Opposite::client(revision);
        let (_, running) = call(&mut pair);
        let unknown = in_dialect("https://example.com/own");
        let outcome = ask(&mut pair, running, InputKind::Elicitation, &unknown);
        assert_eq!(outcome, Err(invalid("requestedSchema")));
        client.assert_refused(revision, METHOD, &unknown);
        let known = in_dialect("https://json-schema.org/draft/2020-12/schema");
        asked(&mut pair, InputKind::Elicitation, &known);
        client.assert_put(revision, METHOD, &known);
    }
}

// proves: FEAT-322
#[test]
fn an_elicitation_id_is_opaque() {
    let revision = Revision::V2025_11_25;
    for other in ["id A", " id a", "id a ", "id%20a", "ID A", "id"] {
        let mut client = Opposite::client(revision);
        let (_, line) = client.request("tools/call", r#"{"name":"t"}"#);
        let elicitation = r#"{"mode":"url","message":"m","url":"https://a/","elicitationId":"id a"}"#;
        client.hear(&format!(
            r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":-32042,"message":"m","data":{{"elicitations":[{elicitation}]}}}}}}"#,
            line["id"]
        ));
        let events = client.events();
        let [client::Event::InputRequired { inputs, .. }] = &events[..] else { panic!("{events:?}") };
        let response = InputResponse::Result(Json::new(r#"{"action":"accept"}"#).unwrap());
        client.stdio.machine_mut().provide_input(Instant::ZERO, inputs[0].input, response).unwrap();
        let complete = |id: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{{"elicitationId":"{id}"}}}}"#
            )
        };
        client.hear(&complete(other));
        assert_eq!(client.lines(), [""; 0], "{other}");
        client.hear(&complete("id\\u0020a"));
        assert_eq!(client.line()["method"], "tools/call");
    }
}

// proves: FEAT-328 FEAT-329 FEAT-330
#[test]
fn the_code_of_required_visits_comes_with_visits_alone() {
    let mut pair = pair(Revision::V2025_11_25);
    let (ours, running) = call(&mut pair);
    let form = form(r#"{"type":"string"}"#);
    let without_id = r#"{"mode":"url","message":"m","url":"https://a/"}"#;
    let unsound = [
        None,
        Some("{}".to_owned()),
        Some(r#"{"elicitations":[]}"#.to_owned()),
        Some(r#"{"elicitations":{}}"#.to_owned()),
        Some(format!(r#"{{"elicitations":[{form}]}}"#)),
        Some(format!(r#"{{"elicitations":[{without_id}]}}"#)),
        Some(format!(r#"{{"elicitations":[{},{without_id}]}}"#, visit("https://a/"))),
        Some(format!(r#"{{"elicitations":[{}]}}"#, visit("a"))),
    ];
    pair.server_lines.clear();
    let error = |data: &Option<String>| {
        let error = RpcError::new(RpcError::URL_ELICITATION_REQUIRED, "m");
        match data {
            Some(data) => error.with_data(Json::new(data).unwrap()),
            None => error,
        }
    };
    for data in unsound {
        let outcome = pair.server.machine_mut().respond_error(running, error(&data));
        assert_eq!(outcome, Err(invalid("elicitations")), "{data:?}");
        pair.drive().unwrap();
        assert_eq!(pair.server_lines, "", "{data:?}");
    }
    let sound = Some(format!(r#"{{"elicitations":[{}]}}"#, visit("https://a/")));
    pair.server.machine_mut().respond_error(running, error(&sound)).unwrap();
    pair.drive().unwrap();
    let events = pair.take_client_events();
    let [client::Event::InputRequired { request: Some(request), .. }] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(*request, ours);
}

// proves: FEAT-323 FEAT-324
#[test]
fn the_end_of_a_visit_is_told_to_the_client_that_was_sent_there() {
    let revision = Revision::V2025_11_25;
    let mut asked_pair = pair(revision);
    let mut other = pair(revision);
    let (_, running) = call(&mut asked_pair);
    call(&mut other);
    ask(&mut asked_pair, running, InputKind::Elicitation, &visit("https://a/")).unwrap();
    asked_pair.drive().unwrap();
    asked_pair.take_client_events();
    let method = "notifications/elicitation/complete";
    for (params, outcome) in [
        (None, Err(invalid("elicitationId"))),
        (Some(r#"{"elicitationId":7}"#), Err(invalid("elicitationId"))),
        (Some(r#"{"elicitationId":"e"}"#), Ok(true)),
    ] {
        let notification = server::Notification::Other { method, params };
        let notified = asked_pair.server.machine_mut().notify(running, notification);
        assert_eq!(notified, outcome, "{params:?}");
    }
    asked_pair.drive().unwrap();
    other.drive().unwrap();
    let events = asked_pair.take_client_events();
    let [client::Event::NotificationReceived { params: Some(params), .. }] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(params.as_str(), r#"{"elicitationId":"e"}"#);
    assert_eq!(other.take_client_events(), []);
}

// proves: FEAT-312
#[test]
fn older_titles_of_choices_are_still_taken() {
    let params = form(r#"{"type":"string","enum":["a"],"enumNames":["A"],"default":"a"}"#);
    for revision in since(Revision::V2025_11_25) {
        Opposite::client(revision).assert_put(revision, METHOD, &params);
        asked(&mut pair(revision), InputKind::Elicitation, &params);
    }
}
