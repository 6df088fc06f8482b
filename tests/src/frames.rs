//! Bytes of a peer that may be hostile, fed to each role in each state: however they are cut the same comes of them,
//! and the connection goes on.

use std::fmt::Write;

use barewire::client::{Client, RequestOptions};
use barewire::server::{self, Server};
use barewire::transport::Stdio;
use barewire::{Era, Error, Instant, Limits, Machine, Revision, Revisions, SubscriptionFilter};

use crate::operations::{ClientLedger, ServerLedger};
use crate::{Link, Random, client_config, server_config};

/// What a role has been through before the bytes come.
#[derive(Clone, Copy, Debug)]
pub enum Scene {
    /// A server that has heard nothing.
    Server,
    /// A server with a session.
    Session(Revision),
    /// A client that waits for the answer to its opening.
    Client(Revisions),
    /// A client with a connection, requests in flight and a subscription.
    Connected(Revision),
}

impl Scene {
    /// The scene that a byte stands for.
    pub fn from_byte(byte: u8) -> Scene {
        let revision = Revision::ALL[usize::from(byte >> 2) % Revision::ALL.len()];
        match byte % 4 {
            0 if revision.era() == Era::Legacy => Scene::Session(revision),
            0 => Scene::Server,
            1 if revision.era() == Era::Legacy => Scene::Client(Revisions::of(&[revision])),
            1 => Scene::Client(Revisions::ALL),
            _ => Scene::Connected(revision),
        }
    }
}

/// Plays `bytes`, of which the first picks the scene. Panics where a promise is broken.
pub fn check(bytes: &[u8]) {
    let Some((&first, bytes)) = bytes.split_first() else { return };
    let tight = first >= 128;
    check_scene(Scene::from_byte(first & 127), tight, bytes);
}

/// Plays `bytes` whole, cut at random and one by one, and compares what comes of them.
pub fn check_scene(scene: Scene, tight: bool, bytes: &[u8]) {
    let whole = play(scene, tight, bytes, Link::Whole);
    for link in [Link::Cut, Link::Bytes] {
        let cut = play(scene, tight, bytes, link);
        assert_eq!(whole, cut, "{scene:?}, {link:?}");
    }
}

/// Everything that comes of `bytes`.
pub fn play(scene: Scene, tight: bool, bytes: &[u8], link: Link) -> String {
    match scene {
        Scene::Server => play_server(None, tight, bytes, link),
        Scene::Session(revision) => play_server(Some(revision), tight, bytes, link),
        Scene::Client(revisions) => play_client(revisions, false, tight, bytes, link),
        Scene::Connected(revision) => play_client(Revisions::of(&[revision]), true, tight, bytes, link),
    }
}

/// Bounds that small inputs meet.
fn limits(tight: bool) -> Limits {
    let mut limits = Limits::default();
    if tight {
        limits.message_bytes = 400;
        limits.depth = 8;
        limits.requests_in_flight = 4;
        limits.queued_events = 8;
        limits.batch_items = 4;
        limits.subscriptions = 2;
        limits.watched_resources = 3;
        limits.rounds = 2;
        limits.inputs = 2;
    }
    limits
}

fn feed<M: Machine>(stdio: &mut Stdio<M>, bytes: &[u8], link: Link) {
    let mut random = Random::new(bytes.len() as u64);
    let mut rest = bytes;
    while !rest.is_empty() {
        let count = match link {
            Link::Whole => rest.len(),
            Link::Cut => 1 + random.below(rest.len()),
            Link::Bytes => 1,
        };
        let (now, after) = rest.split_at(count);
        let outcome = stdio.receive_data(Instant::ZERO, now);
        assert!(outcome.as_ref().map_or_else(Error::is_fatal, |()| true), "{outcome:?}");
        rest = after;
    }
}

fn line<M: Machine>(stdio: &mut Stdio<M>, text: &str) {
    feed(stdio, text.as_bytes(), Link::Whole);
    feed(stdio, b"\n", Link::Whole);
}

/// What is to be sent.
fn output<M: Machine>(stdio: &mut Stdio<M>) -> String {
    let mut text = String::new();
    loop {
        let data = stdio.data_to_send();
        if data.is_empty() {
            return text;
        }
        text.push_str(std::str::from_utf8(data).expect("only JSON is sent"));
        let count = data.len();
        stdio.consume(count);
    }
}

/// A request that names no revision.
fn request(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

fn play_server(revision: Option<Revision>, tight: bool, bytes: &[u8], link: Link) -> String {
    let mut config = server_config();
    config.limits = limits(tight);
    config.completions = true;
    config.extension_methods.push("x/known".into());
    let mut server = Server::new(config).expect("a server");
    server.add_tool(r#"{"name":"a","inputSchema":{"type":"object"}}"#).unwrap();
    server.add_prompt(r#"{"name":"a"}"#).unwrap();
    server.add_resource(r#"{"uri":"file:///a","name":"a"}"#).unwrap();
    server.add_resource_template(r#"{"uriTemplate":"note:///{id}","name":"notes"}"#).unwrap();
    let mut server = Stdio::new(server);
    if let Some(revision) = revision {
        let params = format!(r#"{{"protocolVersion":"{revision}","capabilities":{{"roots":{{}}}}}}"#);
        line(&mut server, &request("0", "initialize", &params));
        line(&mut server, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }
    output(&mut server);
    let mut ledger = ServerLedger::new(true);
    let mut story = String::new();
    if revision.is_some() {
        tell_server(&mut server, &mut ledger, &mut story);
        ask_client(&mut server, &mut ledger);
    }
    feed(&mut server, bytes, link);
    feed(&mut server, b"\n", link);
    tell_server(&mut server, &mut ledger, &mut story);
    for request in ledger.owed.clone().into_keys() {
        server.machine_mut().respond(request, "{}").expect("it waits for its answer");
        ledger.responded(request);
    }
    story.push_str(&output(&mut server));
    // The next message is answered as ever.
    line(&mut server, &request("\"neighbour\"", "ping", "{}"));
    let answer = output(&mut server);
    tell_server(&mut server, &mut ledger, &mut story);
    if !bytes.windows(5).any(|window| window == b"neigh") {
        assert_eq!(answer, "{\"jsonrpc\":\"2.0\",\"id\":\"neighbour\",\"result\":{}}\n");
    }
    let _ = server.receive_eof(Instant::ZERO);
    story.push_str(&output(&mut server));
    tell_server(&mut server, &mut ledger, &mut story);
    assert!(ledger.over && server.machine().poll_timeout().is_none());
    story
}

/// Requests of the server that the peer can answer, or pretend to.
fn ask_client(server: &mut Stdio<Server>, ledger: &mut ServerLedger) {
    let session = ledger.session.expect("the session is open");
    for method in ["ping", "roots/list", "x/own"] {
        let asked = server.machine_mut().request(Instant::ZERO, session, method, None);
        assert!(ledger.asked.insert(asked.expect("it can be asked")));
    }
    output(server);
}

fn tell_server(server: &mut Stdio<Server>, ledger: &mut ServerLedger, story: &mut String) {
    while let Some(event) = server.machine_mut().poll_event() {
        let _ = writeln!(story, "{event:?}");
        // What it means to the application is the ledger's to judge.
        if !matches!(event, server::Event::MessageDiscarded { .. }) {
            ledger.take(&event);
        }
    }
}

fn play_client(revisions: Revisions, connected: bool, tight: bool, bytes: &[u8], link: Link) -> String {
    let mut config = client_config();
    config.limits = limits(tight);
    config.revisions = revisions;
    let mut client = Stdio::new(Client::new(config, Instant::ZERO).expect("a client"));
    let mut ledger = ClientLedger::default();
    let mut story = String::new();
    let opening = output(&mut client);
    if connected {
        connect(&mut client, &opening);
        occupy(&mut client, &mut ledger);
    }
    feed(&mut client, bytes, link);
    feed(&mut client, b"\n", link);
    tell_client(&mut client, &mut ledger, &mut story);
    story.push_str(&output(&mut client));
    if client.machine().revision().is_some() {
        check_neighbour(&mut client, &mut ledger, &mut story);
    }
    let _ = client.receive_eof(Instant::ZERO);
    client.machine_mut().close();
    tell_client(&mut client, &mut ledger, &mut story);
    story.push_str(&output(&mut client));
    assert!(ledger.over && client.machine().poll_timeout().is_none());
    story
}

/// Answers the opening of a client that speaks one revision.
fn connect(client: &mut Stdio<Client>, opening: &str) {
    let id = id_of(opening);
    let revision = if opening.contains("\"initialize\"") { "protocolVersion" } else { "supportedVersions" };
    let legacy = revision == "protocolVersion";
    let offered =
        Revision::ALL.into_iter().rfind(|one| opening.contains(one.as_str())).expect("it proposes one");
    let value = if legacy { format!("\"{offered}\"") } else { format!("[\"{offered}\"]") };
    let capabilities = r#"{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{}}"#;
    let result = format!(
        r#"{{"{revision}":{value},"capabilities":{capabilities},"serverInfo":{{"name":"s","version":"1"}}}}"#
    );
    line(client, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
    assert_eq!(client.machine().revision(), Some(offered));
}

/// Requests in flight and a subscription.
fn occupy(client: &mut Stdio<Client>, ledger: &mut ClientLedger) {
    let machine = client.machine_mut();
    for (method, params) in [("tools/call", r#"{"name":"a"}"#), ("tools/list", "{}")] {
        let mut options = RequestOptions::default();
        options.progress = true;
        let request = machine.request(Instant::ZERO, method, Some(params), options);
        ledger.requested(request.expect("it can be sent"));
    }
    let resource_uris = vec!["file:///a".into()];
    let filter = SubscriptionFilter { tools: true, resource_uris, ..SubscriptionFilter::default() };
    ledger.subscribed(machine.subscribe(Instant::ZERO, filter).expect("it can be sent"));
    output(client);
}

/// A request made after the bytes is answered as ever.
fn check_neighbour(client: &mut Stdio<Client>, ledger: &mut ClientLedger, story: &mut String) {
    let made = client.machine_mut().request(Instant::ZERO, "x/neighbour", None, RequestOptions::default());
    let Ok(request) = made else { return };
    ledger.requested(request);
    let sent = output(client);
    let id = id_of(sent.lines().last().expect("it is sent"));
    line(client, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    tell_client(client, ledger, story);
    assert!(!ledger.open.contains(&request), "the answer was lost");
}

fn id_of(message: &str) -> String {
    let message: serde_json::Value = serde_json::from_str(message).expect("a message");
    message["id"].to_string()
}

fn tell_client(client: &mut Stdio<Client>, ledger: &mut ClientLedger, story: &mut String) {
    while let Some(event) = client.machine_mut().poll_event() {
        let _ = writeln!(story, "{event:?}");
        ledger.take(&event);
    }
}
