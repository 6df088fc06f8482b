//! A client and a server, each behind HTTP, the exchanges between them, and time that moves only when told.

use std::collections::VecDeque;

use barewire::client::Client;
use barewire::server::{Notification, Server};
use barewire::transport::http::client::{
    ExchangeFailure, HttpClient, HttpClientConfig, HttpRequest, HttpTransmit,
};
use barewire::transport::http::server::{Endpoint, HttpServer, HttpServerConfig, RequestHead};
use barewire::{
    ClientConfig, ExchangeHandle, InputKind, InputQuestion, InputResponse, Instant, Json, LogLevel, Machine,
    RequestHandle, Seed, ServerConfig, client, server,
};

use crate::Random;

const ORIGIN: &str = "http://localhost";

/// What a user answers.
const ANSWER: &str = r#"{"action":"accept","content":{"name":"x"}}"#;

/// How exchanges travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weather {
    /// In order, whole.
    Calm,
    /// In any order, cut anywhere.
    Windy,
    /// As windy, and one in so many steps breaks a connection.
    Stormy(usize),
}

/// Which endpoints a server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// The one of Streamable HTTP.
    Streamable,
    /// Those of HTTP+SSE.
    EventStream,
}

/// One exchange on its way.
struct Lane {
    request: HttpRequest,
    /// The server's handle, once the request has arrived there.
    arrived: Option<ExchangeHandle>,
    /// The head of the response, and its body, as far as they have left the server and not arrived.
    head: Option<(u16, Vec<(&'static str, String)>)>,
    body: VecDeque<u8>,
    /// How the response ends, once it does.
    end: Option<Result<(), ExchangeFailure>>,
}

/// A client and a server that talk to each other. The server has the tools `echo`, which answers at once, `tell`, which
/// tells of progress and logs before, `ask`, which asks the user first, and `slow`, which answers when told.
pub struct HttpPair {
    /// The client, behind its transport.
    pub client: HttpClient<Client>,
    /// The server, behind its transport.
    pub server: HttpServer<Server>,
    /// What the client told, in order.
    pub client_events: Vec<client::Event>,
    /// What the server told, in order.
    pub server_events: Vec<server::Event>,
    /// Calls of `slow` that were not answered.
    pub slow: Vec<RequestHandle>,
    /// Methods of requests, in order, with what they posted.
    pub asked: Vec<(&'static str, String)>,
    /// How exchanges travel from now on.
    pub weather: Weather,
    lanes: Vec<Lane>,
    offer: Offer,
    random: Random,
    now: Instant,
}

impl HttpPair {
    /// Joins a client and a server; nothing has been sent yet.
    pub fn new(mut client: ClientConfig, server: ServerConfig, offer: Offer, random: Random) -> HttpPair {
        client.http = true;
        let mut http = HttpServerConfig::new(Seed::new([3; 32]));
        http.revisions = server.revisions;
        let mut server = Server::new(server).expect("a server");
        for tool in ["echo", "tell", "ask", "slow"] {
            let definition = format!(r#"{{"name":"{tool}","inputSchema":{{"type":"object"}}}}"#);
            server.add_tool(&definition).expect("a tool");
        }
        server.add_resource(r#"{"uri":"file:///a","name":"a"}"#).expect("a resource");
        let client = Client::new(client, Instant::ZERO).expect("a client");
        HttpPair {
            client: HttpClient::new(client, HttpClientConfig::new(&format!("{ORIGIN}/mcp"))).expect("a URL"),
            server: HttpServer::new(server, http),
            client_events: Vec::new(),
            server_events: Vec::new(),
            slow: Vec::new(),
            asked: Vec::new(),
            weather: Weather::Calm,
            lanes: Vec::new(),
            offer,
            random,
            now: Instant::ZERO,
        }
    }

    /// The time of this pair.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// How many exchanges are on their way.
    pub fn exchanges(&self) -> usize {
        self.lanes.len()
    }

    /// Carries everything in both directions until nothing moves.
    pub fn drive(&mut self) {
        while self.step() {}
    }

    /// Carries something; false if there is nothing to carry.
    pub fn step(&mut self) -> bool {
        self.collect();
        self.listen();
        if self.lanes.is_empty() {
            return false;
        }
        let first = match self.weather {
            Weather::Calm => 0,
            _ => self.random.below(self.lanes.len()),
        };
        if let Weather::Stormy(chance) = self.weather
            && self.random.below(chance) == 0
        {
            self.break_lane(first);
            return true;
        }
        // The first lane from there on which anything moves.
        let count = self.lanes.len();
        (0..count).any(|step| self.carry((first + step) % count))
    }

    /// Lets time pass, stopping at every deadline on the way.
    pub fn advance(&mut self, milliseconds: u64) {
        let end = self.now.after(milliseconds);
        loop {
            self.drive();
            let deadlines = [self.client.poll_timeout(), self.server.poll_timeout()];
            let due = deadlines.into_iter().flatten().filter(|&due| due <= end).min();
            self.now = due.map_or(end, |due| due.max(self.now));
            let _ = self.client.handle_timeout(self.now);
            self.server.handle_timeout(self.now);
            if due.is_none() {
                return self.drive();
            }
        }
    }

    /// Breaks every connection.
    pub fn break_all(&mut self) {
        while !self.lanes.is_empty() {
            self.break_lane(0);
        }
    }

    /// Answers a call of `slow`.
    pub fn answer_slow(&mut self, at: usize) {
        let request = self.slow.remove(at);
        let _ = self.server.machine_mut().respond(request, r#"{"content":[],"slow":true}"#);
    }

    /// The client's events since the last call.
    pub fn take_client_events(&mut self) -> Vec<client::Event> {
        std::mem::take(&mut self.client_events)
    }

    /// Takes what the client wants to be done.
    fn collect(&mut self) {
        while let Some(transmit) = self.client.poll_transmit(self.now) {
            match transmit {
                HttpTransmit::Request(request) => {
                    self.asked.push((request.method, request.body.clone()));
                    let (head, end) = (None, None);
                    self.lanes.push(Lane { request, arrived: None, head, body: VecDeque::new(), end });
                }
                HttpTransmit::Abort { exchange } => {
                    let at = self.lanes.iter().position(|lane| lane.request.exchange == exchange);
                    let lane = self.lanes.remove(at.expect("it is under way"));
                    self.leave(&lane);
                }
                _ => {}
            }
        }
    }

    /// The server sees that its peer has gone, unless its response was complete.
    fn leave(&mut self, lane: &Lane) {
        if let (Some(arrived), None) = (lane.arrived, &lane.end) {
            self.server.receive_abort(self.now, arrived);
        }
    }

    fn break_lane(&mut self, at: usize) {
        let lane = self.lanes.remove(at);
        self.leave(&lane);
        let failure = match lane.arrived {
            Some(_) => ExchangeFailure::Broken,
            None => ExchangeFailure::NotSent,
        };
        let _ = self.client.receive_failure(self.now, lane.request.exchange, failure);
    }

    /// Carries something in one exchange.
    fn carry(&mut self, at: usize) -> bool {
        if self.lanes[at].arrived.is_none() {
            self.arrive(at);
            return true;
        }
        self.fetch(at);
        let lane = &mut self.lanes[at];
        let exchange = lane.request.exchange;
        if let Some((status, headers)) = lane.head.take() {
            let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, &**value)).collect();
            let _ = self.client.receive_head(self.now, exchange, status, &headers);
        } else if !lane.body.is_empty() {
            let whole = self.weather == Weather::Calm;
            let count = if whole { lane.body.len() } else { 1 + self.random.below(lane.body.len()) };
            let data: Vec<u8> = lane.body.drain(..count).collect();
            let _ = self.client.receive_body(self.now, exchange, &data);
        } else if let Some(end) = lane.end.take() {
            self.lanes.remove(at);
            let _ = match end {
                Ok(()) => self.client.receive_end(self.now, exchange),
                Err(failure) => self.client.receive_failure(self.now, exchange, failure),
            };
        } else {
            return false;
        }
        true
    }

    /// The request reaches the server.
    fn arrive(&mut self, at: usize) {
        let request = &self.lanes[at].request;
        let headers = request.headers.iter().map(|(name, value)| (&**name, &**value));
        let headers: Vec<_> = [("host", "localhost")].into_iter().chain(headers).collect();
        let target = request.url.strip_prefix(ORIGIN).expect("the origin");
        let endpoint = match (self.offer, target.split_once('?')) {
            (Offer::Streamable, _) => Endpoint::Streamable,
            (Offer::EventStream, Some((_, query))) => Endpoint::Messages { query },
            (Offer::EventStream, None) => Endpoint::EventStream { messages: "/messages" },
        };
        let head = RequestHead { method: request.method, endpoint, headers: &headers, principal: None };
        let arrived = if self.weather == Weather::Calm {
            self.server.receive_whole(self.now, head, request.body.as_bytes())
        } else {
            let arrived = self.server.receive_request(self.now, head);
            let body = request.body.as_bytes();
            let (before, after) = body.split_at(self.random.below(body.len() + 1));
            self.server.receive_body(self.now, arrived, before);
            self.server.receive_body(self.now, arrived, after);
            self.server.receive_end(self.now, arrived);
            arrived
        };
        self.lanes[at].arrived = Some(arrived);
    }

    /// Takes what the server has to send in one exchange.
    fn fetch(&mut self, at: usize) {
        let lane = &mut self.lanes[at];
        let Some(arrived) = lane.arrived.filter(|_| lane.end.is_none()) else { return };
        while let Some(part) = self.server.poll_response(arrived) {
            if let Some(head) = part.head {
                let headers = head.headers.into_iter().map(|(name, value)| (name, value.into_owned()));
                lane.head = Some((head.status, headers.collect()));
            }
            lane.body.extend(part.data);
            if part.is_last {
                lane.end = Some(if part.is_aborted { Err(ExchangeFailure::Broken) } else { Ok(()) });
                return;
            }
        }
    }

    /// Lets both applications act on what they are told.
    fn listen(&mut self) {
        while let Some(event) = self.server.machine_mut().poll_event() {
            if let server::Event::ToolCalled { request, name, context, .. } = &event {
                self.serve(*request, name, !context.input_answers.is_empty());
            }
            self.server_events.push(event);
        }
        while let Some(event) = self.client.machine_mut().poll_event() {
            if let client::Event::InputRequired { inputs, .. } = &event {
                let answer = Json::new(ANSWER).expect("JSON");
                for question in inputs {
                    let answer = InputResponse::Result(answer.clone());
                    let _ = self.client.machine_mut().provide_input(self.now, question.input, answer);
                }
            }
            self.client_events.push(event);
        }
    }

    fn serve(&mut self, request: RequestHandle, tool: &str, is_answered: bool) {
        let server = self.server.machine_mut();
        let result = format!(r#"{{"content":[],"by":"{tool}"}}"#);
        match tool {
            "slow" => self.slow.push(request),
            "ask" if !is_answered => {
                let form = r#"{"message":"?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}"#;
                let params = Json::new(form).expect("JSON");
                let question = InputQuestion { key: "who".into(), kind: InputKind::Elicitation, params };
                if server.require_input(self.now, request, vec![question], None).is_err() {
                    server.respond(request, &*result).expect("an answer");
                }
            }
            _ => {
                if tool == "tell" {
                    let progress = Notification::Progress { progress: 1.0, total: None, message: None };
                    server.notify(request, progress).expect("progress");
                    let log = Notification::Log { level: LogLevel::Info, logger: None, data: "1" };
                    server.notify(request, log).expect("a log message");
                }
                server.respond(request, &*result).expect("an answer");
            }
        }
    }
}
