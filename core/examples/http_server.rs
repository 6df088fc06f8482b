//! A server over HTTP, on hyper: one thread, an exchange a request.
//!
//! `cargo run --release --example http_server 8000`, then connect a client to `http://127.0.0.1:8000/mcp`.

mod tools;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::error::Error;
use std::io::Read;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant as Clock};

use barewire::server::{Event, Notification, Server};
use barewire::transport::http::server::{
    Endpoint, HttpServer, HttpServerConfig, RequestHead, ResponseHead, ResponsePart,
};
use barewire::{ExchangeHandle, Implementation, Instant, Machine as _, Seed, ServerConfig};
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::{LocalSet, spawn_local};

use tools::Outcome;

/// Milliseconds between two looks at the time, which is as exact as keep-alive and idle sessions need it.
const TICK: u64 = 250;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let port = std::env::args().nth(1).map_or(Ok(8000), |port| port.parse())?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let host = Rc::new(Host::new()?);
    LocalSet::new().run_until(serve(listener, host)).await
}

async fn serve(listener: TcpListener, host: Rc<Host>) -> Result<(), Box<dyn Error>> {
    spawn_local(keep_time(Rc::clone(&host)));
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let host = Rc::clone(&host);
        spawn_local(async move {
            let service = service_fn(|request| answer(Rc::clone(&host), request));
            let connection = hyper::server::conn::http1::Builder::new();
            // A connection that breaks is its client's loss; its exchanges notice when they are dropped.
            let _ = connection.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn keep_time(host: Rc<Host>) {
    loop {
        tokio::time::sleep(Duration::from_millis(TICK)).await;
        host.turn(HttpServer::handle_timeout);
    }
}

/// Carries one request to the machine, and its response back.
async fn answer(host: Rc<Host>, request: Request<Incoming>) -> Result<Response<Exchange>, hyper::Error> {
    let (head, body) = request.into_parts();
    if head.uri.path() != "/mcp" {
        let mut response = Response::new(Exchange::empty(host));
        *response.status_mut() = StatusCode::NOT_FOUND;
        return Ok(response);
    }
    let headers: Vec<(&str, &str)> =
        head.headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect();
    let head = RequestHead {
        method: head.method.as_str(),
        endpoint: Endpoint::Streamable,
        headers: &headers,
        principal: None,
    };
    let handle = host.turn(|http, now| http.receive_request(now, head));
    // From here on the exchange is given up with this value, should the client go away.
    let mut exchange = Exchange { host, handle: Some(handle), next: None };
    let mut body = body;
    while let Some(frame) = body.frame().await {
        if let Some(data) = frame?.data_ref() {
            exchange.host.turn(|http, now| http.receive_body(now, handle, data));
        }
    }
    exchange.host.turn(|http, now| http.receive_end(now, handle));
    let part = std::future::poll_fn(|context| exchange.poll_part(context)).await;
    let mut response = Response::new(exchange);
    if let Some(ResponsePart { head: Some(ResponseHead { status, headers }), .. }) = &part {
        *response.status_mut() = StatusCode::from_u16(*status).unwrap_or_default();
        for (name, value) in headers {
            if let Ok(value) = value.parse() {
                response.headers_mut().append(*name, value);
            }
        }
    }
    response.body_mut().next = part;
    Ok(response)
}

/// The machine, and who waits for what it has to send.
struct Host {
    http: RefCell<HttpServer<Server>>,
    waiting: RefCell<BTreeMap<ExchangeHandle, Waker>>,
    started: Clock,
}

impl Host {
    fn new() -> Result<Host, Box<dyn Error>> {
        let mut seeds = [[0; 32]; 2];
        let mut random = std::fs::File::open("/dev/urandom")?;
        for seed in &mut seeds {
            random.read_exact(seed)?;
        }
        let mut server = Server::new(ServerConfig::new(Implementation::new("example", "1.0.0"), seeds[0]))?;
        for tool in tools::TOOLS {
            server.add_tool(tool)?;
        }
        let http = HttpServer::new(server, HttpServerConfig::new(Seed::new(seeds[1])));
        Ok(Host { http: RefCell::new(http), waiting: RefCell::default(), started: clock() })
    }

    /// Tells the machine something, runs the tools that are called, and wakes the exchanges that have news.
    fn turn<R>(&self, step: impl FnOnce(&mut HttpServer<Server>, Instant) -> R) -> R {
        let now = Instant::from_millis(self.started.elapsed().as_millis().try_into().unwrap_or(u64::MAX));
        let http = &mut *self.http.borrow_mut();
        let outcome = step(http, now);
        while let Some(event) = http.machine_mut().poll_event() {
            if let Event::ToolCalled { request, name, arguments, .. } = event {
                let server = http.machine_mut();
                let result = tools::call(&name, arguments.as_ref(), |progress, total| {
                    let notification = Notification::Progress { progress, total: Some(total), message: None };
                    server.notify(request, notification)?;
                    Ok(())
                });
                // What is refused here was answered already: the client has gone.
                let _ = match result {
                    Ok(Outcome::Text(text)) => server.respond_text(request, &text),
                    Ok(Outcome::Result(result)) => server.respond(request, result),
                    Ok(Outcome::InvalidArguments(reason)) => {
                        server.respond_invalid_arguments(request, &reason)
                    }
                    Err(error) => server.respond_invalid_arguments(request, &error.to_string()),
                };
            }
        }
        while let Some(exchange) = http.poll_ready() {
            if let Some(waker) = self.waiting.borrow_mut().remove(&exchange) {
                waker.wake();
            }
        }
        outcome
    }
}

/// One exchange, as the body of its response.
struct Exchange {
    host: Rc<Host>,
    /// None once it is over.
    handle: Option<ExchangeHandle>,
    /// The first part, which was taken for its head.
    next: Option<ResponsePart>,
}

impl Exchange {
    const fn empty(host: Rc<Host>) -> Exchange {
        Exchange { host, handle: None, next: None }
    }

    /// The next part; `None` if the exchange is over.
    fn poll_part(&mut self, context: &mut Context<'_>) -> Poll<Option<ResponsePart>> {
        if let Some(part) = self.next.take() {
            return Poll::Ready(Some(part));
        }
        let Some(handle) = self.handle else { return Poll::Ready(None) };
        let Some(part) = self.host.http.borrow_mut().poll_response(handle) else {
            self.host.waiting.borrow_mut().insert(handle, context.waker().clone());
            return Poll::Pending;
        };
        if part.is_last {
            self.handle = None;
        }
        Poll::Ready(Some(part))
    }
}

impl Body for Exchange {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match self.poll_part(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(part)) if part.is_aborted => {
                Poll::Ready(Some(Err("the stream was cut off".into())))
            }
            Poll::Ready(Some(part)) if !part.data.is_empty() => {
                Poll::Ready(Some(Ok(Frame::data(Bytes::from(part.data)))))
            }
            Poll::Ready(Some(_)) if self.handle.is_some() => self.poll_frame(context),
            Poll::Ready(_) => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.handle.is_none() && self.next.as_ref().is_none_or(|part| part.data.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.next {
            Some(part) if part.is_last => SizeHint::with_exact(part.data.len() as u64),
            _ => SizeHint::default(),
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if let Some(handle) = self.handle {
            self.host.waiting.borrow_mut().remove(&handle);
            self.host.turn(|http, now| http.receive_abort(now, handle));
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "the host measures time")]
fn clock() -> Clock {
    Clock::now()
}
