//! A walk through everything that a client can ask of a server, the same in every revision.

use std::collections::BTreeMap;
use std::fmt::Write;

use barewire::client::{self, FailureReason, RequestOptions};
use barewire::server::{self, Notification};
use barewire::{
    Change, ClientConfig, Era, InputKind, InputQuestion, InputResponse, Json, LogLevel, Machine,
    RequestHandle, Revision, RpcError, ServerConfig, SessionHandle, SubscriptionFilter,
};

use crate::{Link, Pair, Random};

/// Tools that the server of the tour offers.
const TOOLS: [&str; 5] = ["ask", "fail", "plain", "refuse", "slow"];

/// Both sides at work, and what came of each request.
pub struct Tour {
    /// The two sides.
    pub pair: Pair,
    /// Everything that was told, in order.
    pub story: String,
    outcomes: BTreeMap<RequestHandle, Result<String, FailureReason>>,
    progress: usize,
    logs: usize,
    changes: usize,
    acknowledged: usize,
    ended: usize,
    cancelled: usize,
    /// The server's call that stays without an answer.
    slow: Option<RequestHandle>,
    session: Option<SessionHandle>,
}

impl Tour {
    /// Joins the two; nothing has been sent yet. Pages of lists are short.
    pub fn new(client: ClientConfig, mut server: ServerConfig, link: Link, random: Random) -> Tour {
        server.limits.page_items = 2;
        server.completions = true;
        server.extension_methods.push("x/known".into());
        let mut pair = Pair::new(client, server, link, random);
        let catalog = pair.server.machine_mut();
        for name in TOOLS {
            catalog.add_tool(&format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#)).unwrap();
        }
        catalog.add_prompt(r#"{"name":"greet","arguments":[{"name":"who"}]}"#).unwrap();
        catalog.add_resource(r#"{"uri":"file:///a","name":"a"}"#).unwrap();
        catalog.add_resource_template(r#"{"uriTemplate":"note:///{id}","name":"notes"}"#).unwrap();
        Tour {
            pair,
            story: String::new(),
            outcomes: BTreeMap::new(),
            progress: 0,
            logs: 0,
            changes: 0,
            acknowledged: 0,
            ended: 0,
            cancelled: 0,
            slow: None,
            session: None,
        }
    }

    /// Lets both sides work until nothing moves.
    pub fn settle(&mut self) {
        loop {
            // A fatal end is told by an event, which waits while the driving has stopped.
            let _ = self.pair.drive();
            let _ = self.pair.drive();
            let (ours, theirs) = (self.pair.take_client_events(), self.pair.take_server_events());
            if ours.is_empty() && theirs.is_empty() {
                return;
            }
            ours.into_iter().for_each(|event| self.client_hears(event));
            theirs.into_iter().for_each(|event| self.server_hears(event));
        }
    }

    /// The settled revision.
    pub fn revision(&self) -> Option<Revision> {
        self.pair.client.machine().revision()
    }

    /// Walks from the first list to the close. The two must be ready.
    pub fn walk(&mut self) {
        let revision = self.revision().expect("ready");
        self.lists();
        self.calls(revision);
        self.questions(revision);
        self.errors();
        self.cancel_and_time_out();
        self.watch();
        if revision.era() == Era::Legacy {
            self.server_asks();
        }
        self.close();
    }

    fn request(&mut self, method: &str, params: &str, options: RequestOptions) -> RequestHandle {
        let now = self.pair.now();
        let request = self.pair.client.machine_mut().request(now, method, Some(params), options);
        let request = request.unwrap_or_else(|error| panic!("{method}: {error:?}"));
        self.settle();
        request
    }

    fn result(&mut self, method: &str, params: &str) -> String {
        let request = self.request(method, params, RequestOptions::default());
        self.outcomes
            .remove(&request)
            .expect("it ended")
            .unwrap_or_else(|reason| panic!("{method}: {reason:?}"))
    }

    fn failure(&mut self, method: &str, params: &str) -> FailureReason {
        let request = self.request(method, params, RequestOptions::default());
        self.outcomes.remove(&request).expect("it ended").expect_err(method)
    }

    fn lists(&mut self) {
        let (mut params, mut names, mut pages) = ("{}".to_owned(), Vec::new(), 0);
        loop {
            let page: serde_json::Value = serde_json::from_str(&self.result("tools/list", &params)).unwrap();
            let tools = page["tools"].as_array().expect("tools");
            names.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
            pages += 1;
            let Some(cursor) = page["nextCursor"].as_str() else { break };
            params = format!(r#"{{"cursor":"{cursor}"}}"#);
        }
        assert_eq!((names, pages), (TOOLS.map(str::to_owned).to_vec(), 3));
        assert!(self.result("resources/list", "{}").contains("file:///a"));
        assert!(self.result("resources/templates/list", "{}").contains("note:///{id}"));
        assert!(self.result("prompts/list", "{}").contains("greet"));
    }

    fn calls(&mut self, revision: Revision) {
        let mut options = RequestOptions::default();
        options.progress = true;
        options.log_level = Some(LogLevel::Info);
        let call = self.request("tools/call", r#"{"name":"plain","arguments":{"n":1.0}}"#, options);
        let result = self.outcomes.remove(&call).expect("it ended").expect("a result");
        assert!(result.contains(r#"{\"n\":1.0}"#), "{result}");
        assert_eq!((self.progress, self.logs), (2, 1));
        assert!(self.result("resources/read", r#"{"uri":"file:///a"}"#).contains("file:///a"));
        assert!(self.result("resources/read", r#"{"uri":"note:///7"}"#).contains("note:///7"));
        assert!(
            self.result("prompts/get", r#"{"name":"greet","arguments":{"who":"x"}}"#).contains("messages")
        );
        let completion =
            r#"{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"x"}}"#;
        assert!(self.result("completion/complete", completion).contains("values"));
        self.result("x/known", "{}");
        if revision.era() == Era::Legacy {
            self.result("ping", "{}");
        }
    }

    fn questions(&mut self, revision: Revision) {
        // What the revision does not know cannot be asked, and the tool says so.
        let asks = revision >= Revision::V2025_06_18;
        let result = self.result("tools/call", r#"{"name":"ask"}"#);
        assert!(result.contains(if asks { "accept" } else { "unasked" }), "{result}");
    }

    fn errors(&mut self) {
        let FailureReason::Rpc(error) = self.failure("tools/call", r#"{"name":"fail"}"#) else { panic!() };
        assert_eq!((error.code, &*error.message), (7, "as told"));
        for (method, params) in [
            ("tools/call", r#"{"name":"unknown"}"#),
            ("resources/read", r#"{"uri":"x:/unknown"}"#),
            ("prompts/get", r#"{"name":"unknown"}"#),
            ("tools/list", r#"{"cursor":"unknown"}"#),
            ("x/unknown", "{}"),
        ] {
            let reason = self.failure(method, params);
            assert!(matches!(reason, FailureReason::Rpc(_)), "{method}: {reason:?}");
        }
        // Arguments that do not fit are an error or a result, as the revision wants it.
        let request = self.request("tools/call", r#"{"name":"refuse"}"#, RequestOptions::default());
        let told = match self.outcomes.remove(&request).expect("it ended") {
            Ok(result) => result.contains("isError"),
            Err(reason) => matches!(reason, FailureReason::Rpc(_)),
        };
        assert!(told);
    }

    fn cancel_and_time_out(&mut self) {
        let request = self.request("tools/call", r#"{"name":"slow"}"#, RequestOptions::default());
        self.pair.client.machine_mut().cancel(request, Some("enough")).unwrap();
        self.settle();
        assert_eq!(self.outcomes.remove(&request), Some(Err(FailureReason::Cancelled)));
        let slow = self.slow.take().expect("it was called");
        self.pair.server.machine_mut().respond(slow, "{}").expect("a late answer is taken");
        let mut options = RequestOptions::default();
        options.timeout = Some(10);
        let request = self.request("tools/call", r#"{"name":"slow"}"#, options);
        self.pair.advance(10).unwrap();
        self.settle();
        assert_eq!(self.outcomes.remove(&request), Some(Err(FailureReason::TimedOut)));
        assert_eq!(self.cancelled, 2);
    }

    fn watch(&mut self) {
        let now = self.pair.now();
        let resource_uris = vec!["file:///a".into()];
        let filter = SubscriptionFilter { tools: true, resource_uris, ..SubscriptionFilter::default() };
        let subscription = self.pair.client.machine_mut().subscribe(now, filter).unwrap();
        self.settle();
        assert_eq!(self.acknowledged, 1);
        self.pair.server.machine_mut().publish(&Change::Resource("file:///a".into()));
        self.pair.server.machine_mut().publish(&Change::Resource("file:///b".into()));
        self.pair.server.machine_mut().remove_tool("slow").unwrap();
        self.settle();
        assert_eq!(self.changes, 2);
        self.pair.client.machine_mut().unsubscribe(now, subscription).unwrap();
        self.settle();
        assert_eq!(self.ended, 1);
    }

    /// Requests of the server's own, which the legacy era has.
    fn server_asks(&mut self) {
        let session = self.session.expect("the session is open");
        for method in ["ping", "roots/list"] {
            let now = self.pair.now();
            self.pair.server.machine_mut().request(now, session, method, None).unwrap();
            let before = self.story.len();
            self.settle();
            let told = &self.story[before..];
            assert!(told.contains("server ResponseReceived") && told.contains("outcome: Ok"), "{told}");
        }
    }

    /// The client closes, the server reads the end, and nothing is left.
    pub fn close(&mut self) {
        let _ = self.pair.close_client();
        self.settle();
        let last: Vec<_> = self.story.lines().filter(|line| line.contains("Disconnected")).collect();
        assert_eq!(last.len(), 2, "{last:?}");
        let timeouts = [self.pair.client.machine().poll_timeout(), self.pair.server.machine().poll_timeout()];
        assert_eq!(timeouts, [None; 2]);
        assert!(self.pair.client.is_finished() && self.pair.server.is_finished());
    }

    fn client_hears(&mut self, event: client::Event) {
        let _ = writeln!(self.story, "client {event:?}");
        match event {
            client::Event::ResponseReceived { request, result, .. } => {
                assert_eq!(self.outcomes.insert(request, Ok(result.as_str().to_owned())), None);
            }
            client::Event::RequestFailed { request, reason } => {
                assert_eq!(self.outcomes.insert(request, Err(reason)), None);
            }
            client::Event::ProgressReceived { increasing: true, .. } => self.progress += 1,
            client::Event::LogReceived { .. } => self.logs += 1,
            client::Event::SubscriptionAcknowledged { .. } => self.acknowledged += 1,
            client::Event::SubscriptionEnded { .. } => self.ended += 1,
            client::Event::ResourceUpdated { subscription: Some(_), .. }
            | client::Event::ListChanged { subscription: Some(_), .. } => self.changes += 1,
            client::Event::InputRequired { inputs, .. } => {
                for question in inputs {
                    let answer = match question.kind {
                        InputKind::Roots => r#"{"roots":[{"uri":"file:///r"}]}"#,
                        _ => r#"{"action":"accept","content":{}}"#,
                    };
                    let response = InputResponse::Result(Json::new(answer).unwrap());
                    let now = self.pair.now();
                    self.pair.client.machine_mut().provide_input(now, question.input, response).unwrap();
                }
            }
            _ => {}
        }
    }

    fn server_hears(&mut self, event: server::Event) {
        let _ = writeln!(self.story, "server {event:?}");
        let server = self.pair.server.machine_mut();
        match event {
            server::Event::ToolCalled { request, name, arguments, context } => {
                self.called(request, &name, arguments.as_ref(), &context);
            }
            server::Event::ResourceReadRequested { request, uri, .. } => {
                let result = format!(r#"{{"contents":[{{"uri":"{uri}","text":"x"}}]}}"#);
                server.respond(request, &result).unwrap();
            }
            server::Event::PromptRequested { request, .. } => {
                server.respond(request, r#"{"messages":[]}"#).unwrap();
            }
            server::Event::CompletionRequested { request, .. } => {
                server.respond(request, r#"{"completion":{"values":["x"]}}"#).unwrap();
            }
            server::Event::RequestReceived { request, .. } => server.respond(request, "{}").unwrap(),
            server::Event::RequestCancelled { .. } => self.cancelled += 1,
            server::Event::SessionOpened { session, .. } => self.session = Some(session),
            _ => {}
        }
    }

    fn called(
        &mut self,
        request: RequestHandle,
        name: &str,
        arguments: Option<&Json>,
        context: &server::RequestContext,
    ) {
        let now = self.pair.now();
        let server = self.pair.server.machine_mut();
        match name {
            "plain" => {
                for progress in [0.5, 1.0] {
                    let report =
                        Notification::Progress { progress, total: Some(1.0), message: Some("on it") };
                    server.notify(request, report).unwrap();
                }
                let log = Notification::Log { level: LogLevel::Error, logger: Some("l"), data: "[1]" };
                server.notify(request, log).unwrap();
                server.respond(request, text_result(arguments.map_or("", Json::as_str))).unwrap();
            }
            "fail" => server.respond_error(request, RpcError::new(7, "as told")).unwrap(),
            "refuse" => server.respond_invalid_arguments(request, "n is missing").unwrap(),
            "ask" if context.input_answers.is_empty() => {
                let form = r#"{"message":"who?","requestedSchema":{"type":"object","properties":{}}}"#;
                let question = InputQuestion {
                    key: "who".into(),
                    kind: InputKind::Elicitation,
                    params: Json::new(form).unwrap(),
                };
                if server.require_input(now, request, vec![question], Some("[1]")).is_err() {
                    server.respond(request, text_result("unasked")).unwrap();
                }
            }
            "ask" => {
                assert_eq!(context.state.as_ref().map(Json::as_str), Some("[1]"));
                let answer = context.input_answers[0].outcome.as_ref().expect("an answer");
                server.respond(request, text_result(answer.as_str())).unwrap();
            }
            _ => self.slow = Some(request),
        }
    }
}

fn text_result(text: &str) -> String {
    let text = serde_json::to_string(text).expect("a string");
    format!(r#"{{"content":[{{"type":"text","text":{text}}}]}}"#)
}
