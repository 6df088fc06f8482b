//! A client over HTTP and a host for it, whose server is played by the test.

use barewire::client::{Client, Event};
use barewire::transport::http::client::{
    ExchangeFailure, HttpClient, HttpClientConfig, HttpRequest, HttpTransmit,
};
use barewire::{ClientConfig, ExchangeHandle, Instant, Machine};

/// The media type of a message.
pub const JSON: (&str, &str) = ("content-type", "application/json");

/// The media type of a stream.
pub const EVENT_STREAM: (&str, &str) = ("content-type", "text/event-stream");

/// A client over HTTP, its time, and what it asked for.
pub struct HttpHost {
    /// The client.
    pub http: HttpClient<Client>,
    /// What the client told, in order.
    pub events: Vec<Event>,
    /// Requests that the test has not looked at yet, in order.
    pub requests: Vec<HttpRequest>,
    /// Exchanges that were given up.
    pub aborted: Vec<ExchangeHandle>,
    /// Everything is over.
    pub closed: bool,
    now: Instant,
}

impl HttpHost {
    /// A client that starts to connect.
    pub fn new(mut client: ClientConfig, http: HttpClientConfig) -> HttpHost {
        client.http = true;
        let client = Client::new(client, Instant::ZERO).expect("a client");
        let mut host = HttpHost {
            http: HttpClient::new(client, http).expect("a URL"),
            events: Vec::new(),
            requests: Vec::new(),
            aborted: Vec::new(),
            closed: false,
            now: Instant::ZERO,
        };
        host.drive();
        host
    }

    /// The time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The machine.
    pub fn client(&mut self) -> &mut Client {
        self.http.machine_mut()
    }

    /// Takes everything that the client has to say.
    pub fn drive(&mut self) {
        while let Some(transmit) = self.http.poll_transmit(self.now) {
            match transmit {
                HttpTransmit::Request(request) => self.requests.push(request),
                HttpTransmit::Abort { exchange } => self.aborted.push(exchange),
                HttpTransmit::Close => self.closed = true,
                _ => {}
            }
        }
        self.events.extend(std::iter::from_fn(|| self.http.machine_mut().poll_event()));
    }

    /// The next request; there must be one.
    #[track_caller]
    pub fn request(&mut self) -> HttpRequest {
        self.drive();
        assert!(!self.requests.is_empty(), "nothing is asked for; told so far: {:?}", self.events);
        self.requests.remove(0)
    }

    /// The next request, which posts a message of this method, and its id as JSON.
    #[track_caller]
    pub fn posted(&mut self, method: &str) -> (HttpRequest, String) {
        let request = self.request();
        let message: serde_json::Value = serde_json::from_str(&request.body).expect("a message");
        assert_eq!(message["method"], method, "{}", request.body);
        let id = message["id"].to_string();
        (request, id)
    }

    /// The head of a response.
    pub fn head(&mut self, exchange: ExchangeHandle, status: u16, headers: &[(&str, &str)]) {
        // Fatal ends are told as events as well.
        let _ = self.http.receive_head(self.now, exchange, status, headers);
        self.drive();
    }

    /// A piece of the body.
    pub fn body(&mut self, exchange: ExchangeHandle, data: &[u8]) {
        let _ = self.http.receive_body(self.now, exchange, data);
        self.drive();
    }

    /// The response is complete.
    pub fn end(&mut self, exchange: ExchangeHandle) {
        let _ = self.http.receive_end(self.now, exchange);
        self.drive();
    }

    /// The exchange fails.
    pub fn fail(&mut self, exchange: ExchangeHandle, failure: ExchangeFailure) {
        let _ = self.http.receive_failure(self.now, exchange, failure);
        self.drive();
    }

    /// A whole response.
    pub fn answer(&mut self, exchange: ExchangeHandle, status: u16, headers: &[(&str, &str)], body: &str) {
        self.head(exchange, status, headers);
        self.body(exchange, body.as_bytes());
        self.end(exchange);
    }

    /// A whole response that is a message.
    pub fn reply(&mut self, exchange: ExchangeHandle, message: &str) {
        self.answer(exchange, 200, &[JSON], message);
    }

    /// Lets time pass, stopping at every deadline on the way.
    pub fn advance(&mut self, milliseconds: u64) {
        let end = self.now.after(milliseconds);
        loop {
            let due = self.http.poll_timeout().filter(|&due| due <= end);
            self.now = due.map_or(end, |due| due.max(self.now));
            let _ = self.http.handle_timeout(self.now);
            self.drive();
            if due.is_none() {
                return;
            }
        }
    }

    /// What the client told since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}

/// The value of a header of a request.
pub fn header<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    request.headers.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
}
