//! What the specification demands, one file for each of its pages, through the public interface.

mod basic;
mod elicitation;
mod lifecycle;
mod notices;
mod prompts;
mod resources;
mod roots;
mod sampling;
mod tools;

use barewire::client::Client;
use barewire::server::Server;
use barewire::transport::Stdio;
use barewire::{
    ApiMisuse, ClientConfig, Era, Error, InputHandle, InputKind, InputQuestion, InputResponse, Instant, Json,
    Machine, RequestHandle, Revision, Revisions, ServerConfig, client, server,
};
use barewire_tests::{Link, Pair, Random, client_config, server_config};
use serde_json::Value;

/// The revisions from `first` on.
fn since(first: Revision) -> impl Iterator<Item = Revision> {
    Revision::ALL.into_iter().filter(move |revision| *revision >= first)
}

/// A client and a server that speak one revision, ready, with nothing left to tell.
fn pair(revision: Revision) -> Pair {
    pair_of(revision, client_config(), server_config())
}

fn pair_of(revision: Revision, mut client: ClientConfig, server: ServerConfig) -> Pair {
    client.revisions = Revisions::of(&[revision]);
    let mut pair = Pair::new(client, server, Link::Whole, Random::new(1));
    pair.server.machine_mut().add_tool(r#"{"name":"t","inputSchema":{"type":"object"}}"#).unwrap();
    pair.drive().unwrap();
    assert_eq!(pair.client.machine().revision(), Some(revision));
    pair.take_client_events();
    pair.take_server_events();
    pair
}

/// Calls the tool of the pair: the client's request and the server's.
fn call(pair: &mut Pair) -> (RequestHandle, RequestHandle) {
    let now = pair.now();
    let ours = pair.client.machine_mut().call_tool(now, "t", None, Default::default()).unwrap();
    pair.drive().unwrap();
    let events = pair.take_server_events();
    let Some(server::Event::ToolCalled { request, .. }) = events.last() else { panic!("{events:?}") };
    (ours, *request)
}

/// What comes of one question asked within the request `running`.
fn ask(pair: &mut Pair, running: RequestHandle, kind: InputKind, params: &str) -> Result<(), Error> {
    let question = InputQuestion { key: "q".into(), kind, params: Json::new(params).unwrap() };
    let now = pair.now();
    pair.server.machine_mut().require_input(now, running, vec![question], None)
}

/// Asks within a call, and gives the handle of the question on the client.
fn asked(pair: &mut Pair, kind: InputKind, params: &str) -> InputHandle {
    let (_, running) = call(pair);
    ask(pair, running, kind, params).unwrap();
    pair.drive().unwrap();
    let events = pair.take_client_events();
    let [client::Event::InputRequired { inputs, .. }] = &events[..] else { panic!("{events:?}") };
    inputs[0].input
}

fn answer(pair: &mut Pair, input: InputHandle, result: &str) -> Result<(), Error> {
    let now = pair.now();
    let response = InputResponse::Result(Json::new(result).unwrap());
    pair.client.machine_mut().provide_input(now, input, response)
}

fn invalid(member: &'static str) -> Error {
    ApiMisuse::InvalidDefinition(member).into()
}

/// One of ours behind its framing, opposite a peer of which the test writes every line.
struct Opposite<M: Machine> {
    stdio: Stdio<M>,
}

impl<M: Machine> Opposite<M> {
    /// Feeds a line.
    fn hear(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.stdio.receive_data(Instant::ZERO, line.as_bytes()).unwrap();
    }

    /// Takes the lines that wait to be sent.
    fn lines(&mut self) -> Vec<String> {
        let data = String::from_utf8(self.stdio.data_to_send().to_vec()).unwrap();
        self.stdio.consume(data.len());
        data.lines().map(str::to_owned).collect()
    }

    /// Takes the only line that waits to be sent.
    fn line(&mut self) -> Value {
        let lines = self.lines();
        let [line] = &lines[..] else { panic!("{lines:?}") };
        serde_json::from_str(line).unwrap()
    }

    fn events(&mut self) -> Vec<M::Event> {
        std::iter::from_fn(|| self.stdio.machine_mut().poll_event()).collect()
    }
}

impl Opposite<Client> {
    /// A client that is ready, opposite a server that offers everything.
    fn client(revision: Revision) -> Self {
        let all = r#"{"tools":{},"resources":{"subscribe":true},"prompts":{},"completions":{}}"#;
        Opposite::client_of(revision, all)
    }

    fn client_of(revision: Revision, capabilities: &str) -> Self {
        let mut config = client_config();
        config.revisions = Revisions::of(&[revision]);
        let mut client = Opposite { stdio: Stdio::new(Client::new(config, Instant::ZERO).unwrap()) };
        let opening = client.line();
        let rest = match revision.era() {
            Era::Legacy => {
                format!(r#""protocolVersion":"{revision}","serverInfo":{{"name":"s","version":"1"}}"#)
            }
            Era::Modern => format!(r#""resultType":"complete","supportedVersions":["{revision}"]"#),
        };
        client.hear(&format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{{"capabilities":{capabilities},{rest}}}}}"#,
            opening["id"]
        ));
        client.lines();
        let events = client.events();
        let [client::Event::Ready { .. }] = &events[..] else { panic!("{events:?}") };
        client
    }

    /// Sends a request, and gives its handle and its line.
    fn request(&mut self, method: &str, params: &str) -> (RequestHandle, Value) {
        let machine = self.stdio.machine_mut();
        let request = machine.request(Instant::ZERO, method, Some(params), Default::default()).unwrap();
        (request, self.line())
    }

    /// The line that asks the client something: a request, or the round of a call that is made for it.
    fn put_question(&mut self, revision: Revision, method: &str, params: &str) {
        match revision.era() {
            Era::Legacy => {
                self.hear(&format!(r#"{{"jsonrpc":"2.0","id":77,"method":"{method}","params":{params}}}"#))
            }
            Era::Modern => {
                let (_, line) = self.request("tools/call", r#"{"name":"t"}"#);
                self.hear(&format!(
                    r#"{{"jsonrpc":"2.0","id":{},"result":{{"resultType":"input_required","inputRequests":{{"q":{{"method":"{method}","params":{params}}}}}}}}}"#,
                    line["id"]
                ));
            }
        }
    }

    /// Asserts that a question is refused: by an error in the legacy era, by the end of its call in the modern one.
    fn assert_refused(&mut self, revision: Revision, method: &str, params: &str) {
        self.put_question(revision, method, params);
        let events = self.events();
        if revision.era() == Era::Legacy {
            assert_eq!(self.line()["error"]["code"], -32602, "{params}");
            assert!(events.is_empty(), "{events:?}");
        } else {
            assert!(
                events.iter().any(|event| matches!(
                    event,
                    client::Event::RequestFailed { reason: client::FailureReason::InvalidResult(_), .. }
                )),
                "{params}: {events:?}"
            );
            assert_eq!(self.lines(), [""; 0], "{params}");
        }
    }

    /// Asserts that the application is asked a question.
    fn assert_put(&mut self, revision: Revision, method: &str, params: &str) -> InputHandle {
        self.put_question(revision, method, params);
        let events = self.events();
        let [client::Event::InputRequired { inputs, .. }] = &events[..] else {
            panic!("{revision} {params}: {events:?}")
        };
        inputs[0].input
    }
}

impl Opposite<Server> {
    /// A server with a tool, opposite a client that has said nothing yet.
    fn server(config: ServerConfig) -> Self {
        let mut server = Server::new(config).unwrap();
        server.add_tool(r#"{"name":"t","inputSchema":{"type":"object"}}"#).unwrap();
        Opposite { stdio: Stdio::new(server) }
    }

    /// A line with a modern request.
    fn hear_modern(&mut self, id: u32, method: &str, params: &str) {
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}"#;
        let comma = if params.is_empty() { "" } else { "," };
        self.hear(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}{comma}{meta}}}}}"#
        ));
    }
}
