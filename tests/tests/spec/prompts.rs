//! server/prompts and server/utilities/completion

use barewire::client::{Completion, CompletionReference};
use barewire::model::{ContentBlock, GetPromptResult, Value as _};

use super::*;

// proves: FEAT-153
#[test]
fn arguments_are_strings() {
    for revision in Revision::ALL {
        let mut client = Opposite::client(revision);
        let cases = [
            (r#"{"a":1}"#, "a"),
            (r#"{"a":"x","b":null}"#, "b"),
            (r#"{"a":{"b":"c"}}"#, "a"),
            (r#"{"a":["b"]}"#, "a"),
        ];
        for (arguments, name) in cases {
            let refused = Error::from(ApiMisuse::ArgumentNotString(name.into()));
            let machine = client.stdio.machine_mut();
            let got = machine.get_prompt(Instant::ZERO, "p", Some(arguments), Default::default());
            assert_eq!(got, Err(refused.clone()), "{arguments}");
            let completion = Completion {
                reference: CompletionReference::Prompt("p"),
                argument: "z",
                value: "",
                arguments: Some(arguments),
            };
            let got = machine.complete(Instant::ZERO, completion, Default::default());
            assert_eq!(got, Err(refused), "{arguments}");
            assert_eq!(client.lines(), [""; 0]);
        }
        let machine = client.stdio.machine_mut();
        machine.get_prompt(Instant::ZERO, "p", Some(r#"{"a":"1"}"#), Default::default()).unwrap();
        assert_eq!(client.line()["params"]["arguments"]["a"], "1");
    }
}

// proves: FEAT-180 FEAT-185
#[test]
fn a_completion_that_makes_no_sense_reaches_no_handler() {
    let mut config = server_config();
    config.completions = true;
    let mut server = Opposite::server(config);
    server.stdio.machine_mut().add_prompt(r#"{"name":"p","arguments":[{"name":"a"}]}"#).unwrap();
    let argument = r#""argument":{"name":"a","value":""}"#;
    let prompt = r#""ref":{"type":"ref/prompt","name":"p"}"#;
    let unsound = [
        argument.to_owned(),
        prompt.to_owned(),
        format!(r#""ref":{{"type":"ref/prompt","name":"q"}},{argument}"#),
        format!(r#""ref":{{"type":"ref/prompt"}},{argument}"#),
        format!(r#""ref":{{"type":"ref/resource","uri":"file:///none"}},{argument}"#),
        format!(r#""ref":{{"type":"ref/tool","name":"t"}},{argument}"#),
        format!(r#""ref":"p",{argument}"#),
        format!(r#"{prompt},"argument":{{"name":"a"}}"#),
        format!(r#"{prompt},"argument":{{"name":1,"value":""}}"#),
        format!(r#"{prompt},"argument":{{"name":"a","value":7}}"#),
        format!(r#"{prompt},{argument},"context":{{"arguments":[]}}"#),
    ];
    for (id, params) in (1..).zip(&unsound) {
        server.hear_modern(id, "completion/complete", params);
        assert_eq!(server.line()["error"]["code"], -32602, "{params}");
        assert_eq!(server.events(), [], "{params}");
    }
    server.hear_modern(99, "completion/complete", &format!("{prompt},{argument}"));
    let events = server.events();
    let [server::Event::CompletionRequested { .. }] = &events[..] else { panic!("{events:?}") };
}

// proves: FEAT-184
#[test]
fn completion_that_is_not_offered_is_an_unknown_method() {
    let mut server = Opposite::server(server_config());
    server.stdio.machine_mut().add_prompt(r#"{"name":"p"}"#).unwrap();
    let params = r#""ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}"#;
    server.hear_modern(1, "completion/complete", params);
    assert_eq!(server.line()["error"]["code"], -32601);
    assert_eq!(server.events(), []);
}

// proves: FEAT-172 FEAT-173
#[test]
fn arguments_settled_before_reach_the_handler() {
    for revision in since(Revision::V2025_06_18) {
        let mut config = client_config();
        config.revisions = Revisions::of(&[revision]);
        let mut server = server_config();
        server.completions = true;
        let mut pair = Pair::new(config, server, Link::Whole, Random::new(1));
        pair.server.machine_mut().add_prompt(r#"{"name":"p"}"#).unwrap();
        pair.drive().unwrap();
        pair.take_server_events();
        let completion = Completion {
            reference: CompletionReference::Prompt("p"),
            argument: "b",
            value: "x",
            arguments: Some(r#"{"a":"1"}"#),
        };
        let now = pair.now();
        pair.client.machine_mut().complete(now, completion, Default::default()).unwrap();
        pair.drive().unwrap();
        let events = pair.take_server_events();
        let [server::Event::CompletionRequested { arguments: Some(arguments), .. }] = &events[..] else {
            panic!("{events:?}")
        };
        assert_eq!(arguments.as_str(), r#"{"a":"1"}"#);
    }
}

// proves: FEAT-158 FEAT-159
#[test]
fn messages_of_a_prompt_may_hold_links_and_hints() {
    let messages = r#"[{"role":"user","content":{"type":"resource_link","uri":"a:b","name":"n","annotations":{"priority":0.5}}}]"#;
    for revision in since(Revision::V2025_06_18) {
        let mut config = client_config();
        config.revisions = Revisions::of(&[revision]);
        let mut pair = Pair::new(config, server_config(), Link::Whole, Random::new(1));
        pair.server.machine_mut().add_prompt(r#"{"name":"p"}"#).unwrap();
        pair.drive().unwrap();
        pair.take_server_events();
        let now = pair.now();
        pair.client.machine_mut().get_prompt(now, "p", None, Default::default()).unwrap();
        pair.drive().unwrap();
        let events = pair.take_server_events();
        let [server::Event::PromptRequested { request, .. }] = &events[..] else { panic!("{events:?}") };
        let result = format!(r#"{{"messages":{messages}}}"#);
        pair.server.machine_mut().respond(*request, &result).unwrap();
        pair.drive().unwrap();
        let events = pair.take_client_events();
        let Some(client::Event::ResponseReceived { result, .. }) = events.last() else {
            panic!("{events:?}")
        };
        assert_eq!(result.member("messages").unwrap().as_str(), messages, "{revision}");
        let prompt = GetPromptResult::read(result).unwrap();
        let ContentBlock::ResourceLink(link) = &prompt.messages[0].content else { panic!("{prompt:?}") };
        assert_eq!(link.annotations.as_ref().and_then(|hints| hints.priority), Some(0.5));
    }
}

// proves: FEAT-160 FEAT-185
#[test]
fn an_unknown_prompt_is_an_error() {
    let mut server = Opposite::server(server_config());
    server.stdio.machine_mut().add_prompt(r#"{"name":"p"}"#).unwrap();
    server.hear_modern(1, "prompts/get", r#""name":"P""#);
    assert_eq!(server.line()["error"]["code"], -32602);
    assert_eq!(server.events(), []);
}
