//! What applications can ask of a client and a server, sense or nonsense.

use barewire::client::RequestOptions;
use barewire::server::Notification;
use barewire::{
    Change, InputHandle, InputKind, InputQuestion, InputResponse, Json, ListKind, LogLevel, RequestHandle,
    RpcError, SubscriptionFilter, SubscriptionHandle,
};

use super::{Owed, World};
use crate::Choices;

/// Requests of a client, the last ones senseless.
const REQUESTS: [(&str, Option<&str>); 16] = [
    ("tools/call", Some(r#"{"name":"a","arguments":{"n":1.0}}"#)),
    ("tools/call", Some(r#"{"name":"b"}"#)),
    ("tools/call", Some(r#"{"name":"unknown"}"#)),
    ("tools/list", None),
    ("resources/read", Some(r#"{"uri":"note:///7"}"#)),
    ("resources/read", Some(r#"{"uri":"file:///nowhere"}"#)),
    ("prompts/get", Some(r#"{"name":"c","arguments":{"x":"y"}}"#)),
    (
        "completion/complete",
        Some(r#"{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"x","value":"y"}}"#),
    ),
    ("resources/templates/list", Some("{}")),
    ("prompts/list", Some(r#"{"cursor":"bogus"}"#)),
    ("ping", None),
    ("x/known", Some(r#"{"_meta":{"traceparent":"00-1-2-3"}}"#)),
    ("x/unknown", None),
    ("initialize", None),
    ("roots/list", None),
    ("tools/call", Some("[1]")),
];

/// Answers of an application, the last ones senseless.
const RESULTS: [&str; 8] = [
    "{}",
    r#"{"content":[{"type":"text","text":"ok"}]}"#,
    r#"{"content":[],"structuredContent":{"n":1},"isError":true}"#,
    r#"{"resultType":"input_required"}"#,
    r#"{"resultType":"complete","ttlMs":5}"#,
    "[]",
    "{",
    "\n{\n}\n",
];

/// Answers to questions, the last ones senseless.
const ANSWERS: [&str; 6] = [
    r#"{"action":"accept","content":{"name":"x"}}"#,
    r#"{"action":"decline"}"#,
    r#"{"role":"assistant","content":{"type":"text","text":"x"},"model":"m"}"#,
    r#"{"roots":[{"uri":"file:///r"}]}"#,
    "{}",
    "[]",
];

const QUESTIONS: [(InputKind, &str); 5] = [
    (
        InputKind::Elicitation,
        r#"{"message":"who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}"#,
    ),
    (InputKind::Elicitation, r#"{"mode":"url","message":"go","url":"https://example.com/"}"#),
    (
        InputKind::Sampling,
        r#"{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":10}"#,
    ),
    (InputKind::Roots, "{}"),
    (InputKind::Elicitation, "{}"),
];

/// Requests of a server, the last ones senseless.
const OWN_REQUESTS: [(&str, Option<&str>); 6] = [
    ("ping", None),
    ("roots/list", None),
    (
        "sampling/createMessage",
        Some(r#"{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":10}"#),
    ),
    ("x/own", Some("{}")),
    ("elicitation/create", Some(r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#)),
    ("tools/call", None),
];

const URIS: [&str; 4] = ["file:///a", "file:///b", "note:///7", "file:///"];

impl World<'_> {
    pub(super) fn client_command(&mut self) {
        let now = self.now;
        match self.choices.below(12) {
            0..=4 => {
                // The first are tool calls, which lead furthest.
                let at = self.choices.below(2 * REQUESTS.len());
                let (method, params) = REQUESTS.get(at).copied().unwrap_or(REQUESTS[at % 2]);
                let options = options(&mut self.choices);
                if let Ok(request) = self.client.machine_mut().request(now, method, params, options) {
                    self.told.requested(request);
                }
            }
            5 => {
                let request = any(&mut self.choices, &self.told.requests, RequestHandle::from_number);
                let _ = self.client.machine_mut().cancel(request, Some("enough"));
            }
            6 => {
                let filter = filter(&mut self.choices);
                if let Ok(subscription) = self.client.machine_mut().subscribe(now, filter) {
                    self.told.subscribed(subscription);
                }
            }
            7 => {
                let subscription =
                    any(&mut self.choices, &self.told.subscriptions, SubscriptionHandle::from_number);
                let _ = self.client.machine_mut().unsubscribe(now, subscription);
            }
            8 | 9 => {
                let standing: Vec<_> = self.told.standing.iter().copied().collect();
                let known = if self.choices.once_in(4) { &self.told.inputs } else { &standing };
                let input = any(&mut self.choices, known, InputHandle::from_number);
                let response = response(&mut self.choices);
                self.provide(input, response);
            }
            10 => {
                let level = *self.choices.pick(&LogLevel::ALL);
                if let Ok(request) = self.client.machine_mut().set_log_level(now, level) {
                    self.told.requested(request);
                }
            }
            _ => {
                let method = *self.choices.pick(&["notifications/roots/list_changed", "x/told", "ping"]);
                let _ = self.client.machine_mut().notify(method, Some("{}"));
            }
        }
    }

    fn provide(&mut self, input: InputHandle, response: InputResponse) -> bool {
        let taken = self.client.machine_mut().provide_input(self.now, input, response).is_ok();
        if taken {
            self.told.provided(input);
        }
        taken
    }

    pub(super) fn server_command(&mut self) {
        match self.choices.below(14) {
            0..=3 => {
                let request = self.any_call();
                let result = *self.choices.pick(&RESULTS);
                if self.server.machine_mut().respond(request, result).is_ok() {
                    self.heard.responded(request);
                }
            }
            4 => {
                let request = self.any_call();
                let error = RpcError::new(-32_002, "not there");
                if self.server.machine_mut().respond_error(request, error).is_ok() {
                    self.heard.responded(request);
                }
            }
            5 => {
                let request = self.any_call();
                if self.server.machine_mut().respond_invalid_arguments(request, "no").is_ok() {
                    self.heard.responded(request);
                }
            }
            6 | 7 => self.question(),
            8 => self.server_notice(),
            9 => {
                let uri = (*self.choices.pick(&URIS)).into();
                let change = match self.choices.below(4) {
                    0 => Change::List(*self.choices.pick(&ListKind::ALL)),
                    _ => Change::Resource(uri),
                };
                self.server.machine_mut().publish(&change);
            }
            10 => {
                let subscription =
                    any(&mut self.choices, &self.heard.subscriptions, SubscriptionHandle::from_number);
                let _ = self.server.machine_mut().end_subscription(subscription);
            }
            11 | 12 => {
                let (method, params) = *self.choices.pick(&OWN_REQUESTS);
                let Some(session) = self.heard.session else { return };
                if let Ok(request) = self.server.machine_mut().request(self.now, session, method, params) {
                    assert!(self.heard.asked.insert(request));
                }
            }
            _ => {
                let server = self.server.machine_mut();
                if self.choices.once_in(2) {
                    let _ = server.remove_tool("b");
                } else {
                    let _ = server.add_tool(r#"{"name":"b","inputSchema":{"type":"object"}}"#);
                }
            }
        }
    }

    /// One that is owed most of the time.
    fn any_call(&mut self) -> RequestHandle {
        let owed: Vec<_> = self.heard.owed.keys().copied().collect();
        let known = if self.choices.once_in(4) { &self.heard.requests } else { &owed };
        any(&mut self.choices, known, RequestHandle::from_number)
    }

    fn question(&mut self) {
        let request = self.any_call();
        let count = self.choices.below(4);
        let questions = (0..count)
            .map(|at| {
                let (kind, params) = *self.choices.pick(&QUESTIONS);
                InputQuestion {
                    key: format!("{kind:?} {at}").into(),
                    kind,
                    params: Json::new(params).unwrap(),
                }
            })
            .collect();
        let state = *self.choices.pick(&[None, Some("[1]"), Some("{\"a\":\n1}")]);
        if self.server.machine_mut().require_input(self.now, request, questions, state).is_ok() {
            self.heard.questioned(request);
        }
    }

    fn server_notice(&mut self) {
        let request = self.any_call();
        let server = self.server.machine_mut();
        let level = *self.choices.pick(&LogLevel::ALL);
        let notification = match self.choices.below(4) {
            0 => {
                let _ = server.log(level, None, r#""alone""#);
                return;
            }
            1 => Notification::Log { level, logger: Some("l"), data: "{}" },
            2 => Notification::Other { method: "x/progressing", params: None },
            _ => Notification::Progress {
                progress: f64::from(self.choices.byte()) / 2.0,
                total: None,
                message: Some("m"),
            },
        };
        let _ = server.notify(request, notification);
    }

    /// Both applications do what they owe; true if that was anything.
    pub(super) fn answer_all(&mut self) -> bool {
        let mut moved = false;
        for input in self.told.standing.clone() {
            // Whichever answer fits the question.
            let fits = ANSWERS.iter().any(|answer| {
                let response = InputResponse::Result(Json::new(answer).unwrap());
                self.provide(input, response)
            });
            let refusal = RpcError::new(-1, "no");
            moved |= fits || self.provide(input, InputResponse::Refused(refusal));
        }
        for (request, (owed, _)) in self.heard.owed.clone() {
            if owed == Owed::Answer && self.server.machine_mut().respond(request, "{}").is_ok() {
                self.heard.responded(request);
                moved = true;
            }
        }
        moved
    }
}

/// Handles that are never given out start here.
const NOWHERE: u64 = 1 << 40;

/// A known handle most of the time, sometimes one from nowhere.
fn any<T: Copy>(choices: &mut Choices<'_>, known: &[T], make: fn(u64) -> T) -> T {
    // The newest are the most interesting.
    let at = choices.below(16);
    let newest = known.len().checked_sub(1 + at % 4).and_then(|at| known.get(at));
    newest.or(known.last()).filter(|_| at > 0).copied().unwrap_or(make(NOWHERE + at as u64))
}

fn options(choices: &mut Choices<'_>) -> RequestOptions {
    let bits = choices.byte();
    let mut options = RequestOptions::default();
    options.progress = bits & 1 > 0;
    options.log_level = (bits & 2 > 0).then_some(LogLevel::Info);
    options.meta = (bits & 4 > 0).then(|| Json::new(r#"{"traceparent":"00-a-b-c"}"#).unwrap());
    if choices.once_in(8) {
        let bits = choices.byte();
        options.timeout = [None, Some(0), Some(10), Some(300)][usize::from(bits & 3)];
        options.total_timeout = [None, Some(0), Some(10), Some(300)][usize::from(bits >> 2 & 3)];
    }
    options
}

fn filter(choices: &mut Choices<'_>) -> SubscriptionFilter {
    let bits = choices.byte();
    let uris = URIS.iter().enumerate().filter(|(at, _)| bits >> (3 + at) & 1 > 0);
    SubscriptionFilter {
        tools: bits & 1 > 0,
        resources: bits & 2 > 0,
        prompts: bits & 4 > 0,
        resource_uris: uris.map(|(_, uri)| (*uri).into()).collect(),
    }
}

fn response(choices: &mut Choices<'_>) -> InputResponse {
    if choices.once_in(8) {
        return InputResponse::Refused(RpcError::new(-1, "the user left"));
    }
    let answer = *choices.pick(&ANSWERS);
    InputResponse::Result(Json::new(answer).unwrap())
}
