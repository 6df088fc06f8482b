//! server/prompts and server/utilities/completion

use barewire::client::{Completion, CompletionReference};

use super::*;

// proves: FEAT-153
#[test]
fn arguments_are_strings() {
    for revision in Revision::ALL {
        let mut client = Opposite::client(revision);
        for arguments in [r#"{"a":1}"#, r#"{"a":"x","b":null}"#, r#"{"a":{"b":"c"}}"#, r#"{"a":["b"]}"#] {
            let machine = client.stdio.machine_mut();
            let got = machine.get_prompt(Instant::ZERO, "p", Some(arguments), Default::default());
            assert_eq!(got, Err(invalid("arguments")), "{arguments}");
            let completion = Completion {
                reference: CompletionReference::Prompt("p"),
                argument: "z",
                value: "",
                arguments: Some(arguments),
            };
            let got = machine.complete(Instant::ZERO, completion, Default::default());
            assert_eq!(got, Err(invalid("arguments")), "{arguments}");
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

// proves: FEAT-160 FEAT-185
#[test]
fn an_unknown_prompt_is_an_error() {
    let mut server = Opposite::server(server_config());
    server.stdio.machine_mut().add_prompt(r#"{"name":"p"}"#).unwrap();
    server.hear_modern(1, "prompts/get", r#""name":"P""#);
    assert_eq!(server.line()["error"]["code"], -32602);
    assert_eq!(server.events(), []);
}
