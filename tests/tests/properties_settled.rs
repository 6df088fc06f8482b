//! Every readable id is settled: whatever is wrong with the rest of a message, the request that it names ends once,
//! and its neighbours are answered as ever.

use std::collections::BTreeMap;

use barewire::client::{Client, Event, FailureReason, RequestOptions};
use barewire::server::{self, Server};
use barewire::transport::Stdio;
use barewire::{Instant, Limits, Machine, RequestHandle, Revision, Revisions};
use barewire_tests::{Random, client_config, server_config};

const DEPTH: usize = 20;
const LONGEST: usize = 2_000;

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.depth = DEPTH;
    limits.message_bytes = LONGEST;
    limits
}

/// The line with something wrong behind its first `head` bytes, which stay as they are.
fn damaged(random: &mut Random, line: &str, head: usize) -> Vec<u8> {
    let mut bytes = line.as_bytes().to_vec();
    // Never at the very end, where only white space would be added.
    let at = head + random.below(bytes.len() - head);
    match random.below(6) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, 0xff),
        2 => bytes.insert(at, 0),
        3 => {
            bytes.truncate(head);
            bytes.extend_from_slice(b"\"x\":");
            bytes.extend(std::iter::repeat_n(b'[', DEPTH + 1));
            bytes.extend(std::iter::repeat_n(b']', DEPTH + 1));
            bytes.push(b'}');
        }
        4 => {
            let long = format!("\"x\":\"{}\",", "y".repeat(LONGEST));
            bytes.splice(head..head, long.bytes());
        }
        _ => bytes.extend_from_slice(b"}"),
    }
    bytes
}

fn feed<M: Machine>(stdio: &mut Stdio<M>, random: &mut Random, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let (now, rest) = bytes.split_at(1 + random.below(bytes.len()));
        stdio.receive_data(Instant::ZERO, now).unwrap();
        bytes = rest;
    }
}

fn output<M: Machine>(stdio: &mut Stdio<M>) -> Vec<serde_json::Value> {
    let mut lines = Vec::new();
    while let data @ [_, ..] = stdio.data_to_send() {
        let text = std::str::from_utf8(data).expect("JSON");
        lines.extend(text.lines().map(|line| serde_json::from_str(line).expect("JSON")));
        let count = data.len();
        stdio.consume(count);
    }
    lines
}

/// A server, with a session if a revision is named.
fn server(revision: Option<Revision>) -> Stdio<Server> {
    let mut config = server_config();
    config.limits = limits();
    let mut server = Server::new(config).expect("a server");
    server.add_tool(r#"{"name":"a","inputSchema":{"type":"object"}}"#).unwrap();
    let mut server = Stdio::new(server);
    if let Some(revision) = revision {
        let hello = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}}}}}}"#
        );
        server.receive_data(Instant::ZERO, format!("{hello}\n").as_bytes()).unwrap();
        output(&mut server);
    }
    server
}

// proves: BASE-152
#[test]
fn a_server_answers_every_id_once() {
    for mut random in Random::seeds(1_500) {
        let revision = *random.pick(&[None, Some(Revision::V2025_03_26), Some(Revision::V2025_11_25)]);
        let mut server = server(revision);
        let mut answers: BTreeMap<u64, usize> = BTreeMap::new();
        for id in 1..=8_u64 {
            let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
            let line = format!(
                r#"{head}"method":"tools/call","params":{{"name":"a","arguments":{{"n":[1,"é"]}}}}}}"#
            );
            let line = match random.below(2) {
                0 => damaged(&mut random, &line, head.len()),
                _ => format!(r#"{head}"method":"ping"}}"#).into_bytes(),
            };
            feed(&mut server, &mut random, &line);
            feed(&mut server, &mut random, b"\n");
            answers.insert(id, 0);
        }
        while let Some(event) = server.machine_mut().poll_event() {
            // A change behind the end of the text can leave it sound.
            if let server::Event::ToolCalled { request, .. } = event {
                server.machine_mut().respond(request, "{}").unwrap();
            }
        }
        for answer in output(&mut server) {
            if let Some(id) = answer["id"].as_u64() {
                *answers.get_mut(&id).expect("an id of ours") += 1;
            }
        }
        assert!(answers.values().all(|&count| count == 1), "{answers:?}");
    }
}

/// A client of one revision that is ready.
fn client(revision: Revision) -> Stdio<Client> {
    let mut config = client_config();
    config.limits = limits();
    config.revisions = Revisions::of(&[revision]);
    let mut client = Stdio::new(Client::new(config, Instant::ZERO).expect("a client"));
    let id = &output(&mut client)[0]["id"];
    let answer = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"{revision}","supportedVersions":["{revision}"],"capabilities":{{"tools":{{}}}}}}}}"#
    );
    client.receive_data(Instant::ZERO, format!("{answer}\n").as_bytes()).unwrap();
    output(&mut client);
    while client.machine_mut().poll_event().is_some() {}
    client
}

#[test]
fn a_client_ends_every_request_once() {
    for mut random in Random::seeds(1_500) {
        let revision = *random.pick(&Revision::ALL);
        let mut client = client(revision);
        let mut sound: BTreeMap<RequestHandle, bool> = BTreeMap::new();
        for _ in 0..8 {
            let options = RequestOptions::default();
            let request = client.machine_mut().request(Instant::ZERO, "tools/list", None, options).unwrap();
            let id = output(&mut client)[0]["id"].clone();
            let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
            let line = format!(r#"{head}"result":{{"tools":[{{"name":"é","n":1.0}}]}}}}"#);
            let is_sound = random.below(2) > 0;
            let line = if is_sound { line.into_bytes() } else { damaged(&mut random, &line, head.len()) };
            sound.insert(request, is_sound);
            feed(&mut client, &mut random, &line);
            feed(&mut client, &mut random, b"\n");
        }
        while let Some(event) = client.machine_mut().poll_event() {
            match event {
                Event::ResponseReceived { request, .. } => {
                    sound.remove(&request).expect("it ends once");
                }
                Event::RequestFailed { request, reason } => {
                    assert_eq!(sound.remove(&request), Some(false), "{reason:?}");
                    assert!(matches!(reason, FailureReason::InvalidResult(_)), "{reason:?}");
                }
                Event::MessageDiscarded { .. } => {}
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(sound, BTreeMap::new(), "never ended");
        assert_eq!(client.machine().poll_timeout(), None);
    }
}
