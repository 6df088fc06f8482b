//! client/sampling

use barewire::RpcError;

use super::*;

const METHOD: &str = "sampling/createMessage";
const TEXT: &str = r#"{"type":"text","text":"x"}"#;

fn used(id: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"t","input":{{}}}}"#)
}

fn result(id: &str) -> String {
    format!(r#"{{"type":"tool_result","toolUseId":"{id}","content":[]}}"#)
}

fn message(role: &str, blocks: &[String]) -> String {
    format!(r#"{{"role":"{role}","content":[{}]}}"#, blocks.join(","))
}

fn request(messages: &[String]) -> String {
    format!(r#"{{"messages":[{}],"maxTokens":9}}"#, messages.join(","))
}

/// Conversations in which tool uses and results do not balance.
fn unbalanced() -> Vec<String> {
    let two = message("assistant", &[used("1"), used("2")]);
    let text = TEXT.to_owned();
    vec![
        // A result beside something else.
        request(&[two.clone(), message("user", &[result("1"), result("2"), text.clone()])]),
        // A use without a result.
        request(&[two.clone(), message("user", &[result("1")])]),
        request(&[two.clone(), message("user", std::slice::from_ref(&text))]),
        request(std::slice::from_ref(&two)),
        // The results come too late.
        request(&[
            two.clone(),
            message("user", std::slice::from_ref(&text)),
            message("user", &[result("1"), result("2")]),
        ]),
        // A result of the model.
        request(&[two.clone(), message("assistant", &[result("1"), result("2")])]),
        // Results that belong to nothing.
        request(&[message("user", &[result("1")])]),
        request(&[two.clone(), message("user", &[result("1"), result("2"), result("3")])]),
        request(&[two, message("user", &[result("1"), result("1")])]),
    ]
}

fn balanced() -> Vec<String> {
    let first = [
        message("user", &[TEXT.to_owned()]),
        message("assistant", &[TEXT.to_owned(), used("1"), used("\\u0032")]),
        message("user", &[result("2"), result("1")]),
    ];
    let mut second = first.to_vec();
    second.extend([message("assistant", &[used("1")]), message("user", &[result("1")])]);
    vec![request(&first), request(&second), request(&[message("user", &[TEXT.to_owned()])])]
}

// proves: FEAT-258 FEAT-259 FEAT-260 FEAT-261
#[test]
fn a_server_cannot_send_a_conversation_that_does_not_balance() {
    for revision in since(Revision::V2025_11_25) {
        let mut pair = pair(revision);
        let (_, running) = call(&mut pair);
        pair.server_lines.clear();
        for params in unbalanced() {
            let asked = ask(&mut pair, running, InputKind::Sampling, &params);
            assert_eq!(asked, Err(invalid("messages")), "{revision} {params}");
            pair.drive().unwrap();
            assert_eq!(pair.server_lines, "", "{revision} {params}");
        }
        for params in balanced() {
            asked(&mut pair, InputKind::Sampling, &params);
        }
    }
}

// proves: FEAT-268 FEAT-271
#[test]
fn a_client_refuses_a_conversation_that_does_not_balance() {
    for revision in since(Revision::V2025_11_25) {
        let mut client = Opposite::client(revision);
        for params in unbalanced() {
            client.assert_refused(revision, METHOD, &params);
        }
        for params in balanced() {
            Opposite::client(revision).assert_put(revision, METHOD, &params);
        }
    }
}

// proves: FEAT-273
#[test]
fn each_message_has_a_role_and_content() {
    for revision in Revision::ALL {
        let mut pair = pair(revision);
        let (_, running) = call(&mut pair);
        for message in [
            r#"{"content":{"type":"text","text":"x"}}"#,
            r#"{"role":"system","content":{"type":"text","text":"x"}}"#,
            r#"{"role":"user"}"#,
            r#"{"role":"user","content":"x"}"#,
            "1",
        ] {
            let params = request(&[message.to_owned()]);
            let asked = ask(&mut pair, running, InputKind::Sampling, &params);
            assert_eq!(asked, Err(invalid("messages")), "{revision} {message}");
        }
    }
}

// proves: FEAT-262
#[test]
fn an_answer_keeps_to_the_choice_of_tools() {
    let text = r#"{"role":"assistant","model":"m","content":{"type":"text","text":"x"}}"#;
    let calls = r#"{"role":"assistant","model":"m","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"1","name":"t","input":{}}]}"#;
    let asking = |rest: &str, messages: &[String]| {
        let params = request(messages);
        format!(
            r#"{},"tools":[{{"name":"t","inputSchema":{{"type":"object"}}}}]{rest}}}"#,
            &params[..params.len() - 1]
        )
    };
    let plain = [message("user", &[TEXT.to_owned()])];
    let after_a_call = [message("assistant", &[used("1")]), message("user", &[result("1")])];
    let both = [true, true];
    let cases = [
        ("", &plain[..], both),
        (r#","toolChoice":{"mode":"auto"}"#, &plain[..], both),
        (r#","toolChoice":{"mode":"none"}"#, &plain[..], [true, false]),
        (r#","toolChoice":{"mode":"required"}"#, &plain[..], [false, true]),
        // It asks for one call before the model is done, and one was made.
        (r#","toolChoice":{"mode":"required"}"#, &after_a_call[..], both),
    ];
    for revision in since(Revision::V2025_11_25) {
        for (rest, messages, fits) in cases {
            for (result, fits) in [text, calls].into_iter().zip(fits) {
                let mut client = Opposite::client(revision);
                let params = asking(rest, messages);
                let input = client.assert_put(revision, METHOD, &params);
                let response = InputResponse::Result(Json::new(result).unwrap());
                let given = client.stdio.machine_mut().provide_input(Instant::ZERO, input, response);
                let expected = if fits { Ok(()) } else { Err(invalid("content")) };
                assert_eq!(given, expected, "{revision} {params} {result}");
                assert_eq!(client.lines().len(), usize::from(fits));
            }
        }
    }
}

// proves: FEAT-265
#[test]
fn tools_of_a_conversation_need_not_be_registered() {
    let tool = r#"{"name":"elsewhere","inputSchema":{"type":"object"}}"#;
    for revision in since(Revision::V2025_11_25) {
        let params = request(&[message("user", &[TEXT.to_owned()])]);
        let params = format!(r#"{},"tools":[{tool}]}}"#, &params[..params.len() - 1]);
        let mut pair = pair(revision);
        pair.server_lines.clear();
        asked(&mut pair, InputKind::Sampling, &params);
        assert!(pair.server_lines.contains(tool));
    }
}

// proves: FEAT-266 FEAT-267
#[test]
fn a_refusal_is_an_error_of_its_own() {
    for revision in Revision::ALL.into_iter().filter(|revision| revision.era() == Era::Legacy) {
        let mut pair = pair(revision);
        let input = asked(
            &mut pair,
            InputKind::Sampling,
            &request(&[format!(r#"{{"role":"user","content":{TEXT}}}"#)]),
        );
        let refusal = RpcError::new(RpcError::USER_REFUSED, "the user said no");
        let now = pair.now();
        let refused = InputResponse::Refused(refusal.clone());
        pair.client.machine_mut().provide_input(now, input, refused).unwrap();
        pair.drive().unwrap();
        let events = pair.take_server_events();
        let [server::Event::ToolCalled { context, .. }] = &events[..] else { panic!("{events:?}") };
        assert_eq!(context.input_answers[0].outcome, Err(refusal));
        assert!(pair.client_lines.contains(r#""code":-1"#));
    }
}

// proves: FEAT-277
#[test]
fn any_stop_reason_is_taken() {
    for revision in Revision::ALL {
        let mut pair = pair(revision);
        let params = request(&[format!(r#"{{"role":"user","content":{TEXT}}}"#)]);
        let input = asked(&mut pair, InputKind::Sampling, &params);
        let result = format!(
            r#"{{"role":"assistant","model":"m","content":{TEXT},"stopReason":"example.com/bored"}}"#
        );
        answer(&mut pair, input, &result).unwrap();
        pair.drive().unwrap();
        let events = pair.take_server_events();
        let [server::Event::ToolCalled { context, .. }] = &events[..] else { panic!("{events:?}") };
        let outcome = context.input_answers[0].outcome.as_ref().unwrap();
        assert_eq!(outcome.member("stopReason").unwrap().as_str(), r#""example.com/bored""#);
    }
}
