//! What connections and requests cost in bytes, and that nothing grows with use. `cargo test --test memory --
//! --nocapture` prints the numbers.
#![expect(unsafe_code, reason = "an allocator is unsafe by nature; this one counts and hands on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use barewire::client::{Client, RequestOptions};
use barewire::server::{self, Server};
use barewire::transport::Stdio;
use barewire::{
    Exchange, ExchangeHandle, Facts, Input, Instant, Machine, Mirror, NamedSession, RequestHandle, Revision,
    Revisions, SessionHandle, SubscriptionFilter, Transmit,
};
use barewire_tests::site::{COMMON, Site};
use barewire_tests::{client_config, server_config};

thread_local! {
    /// Bytes that this thread has allocated and not freed.
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(bytes: isize) {
    // At the very end of a thread there is nothing to count any more.
    let _ = LIVE.try_with(|live| live.set(live.get() + bytes));
}

// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.cast_signed() - layout.size().cast_signed());
        unsafe { System.realloc(place, layout, size) }
    }
}

fn live() -> isize {
    LIVE.with(Cell::get)
}

#[expect(clippy::disallowed_macros, reason = "the numbers are for the reader of the test's output")]
fn report(what: &str, revision: Revision, bytes: isize, most: isize) {
    println!("{what:<34} {revision}: {bytes:>6} bytes");
    assert!(
        bytes > 0 && bytes <= most,
        "{what} with {revision}: {bytes} bytes, at most {most} were expected"
    );
}

const REVISIONS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

/// The arguments of a call as small programs write them.
const CALL: &str = r#"{"name":"echo","arguments":{"text":"hello, world","count":3}}"#;
const RESULT: &str = r#"{"content":[{"type":"text","text":"hello, world"}]}"#;

fn client(revision: Revision) -> Stdio<Client> {
    let mut config = client_config();
    config.revisions = Revisions::of(&[revision]);
    Stdio::new(Client::new(config, Instant::ZERO).expect("a client"))
}

fn machine() -> Server {
    let mut server = Server::new(server_config()).expect("a server");
    server.add_tool(r#"{"name":"echo","inputSchema":{"type":"object"}}"#).unwrap();
    server.add_resource(r#"{"uri":"file:///a","name":"a"}"#).unwrap();
    server
}

fn server() -> Stdio<Server> {
    Stdio::new(machine())
}

/// Delivers what `from` has to send; true if there was anything.
fn carry<From: Machine, To: Machine>(from: &mut Stdio<From>, to: &mut Stdio<To>) -> bool {
    let data = from.data_to_send();
    let count = data.len();
    to.receive_data(Instant::ZERO, data).unwrap();
    from.consume(count);
    count > 0
}

/// A client and a server that share a connection.
struct Ends {
    client: Stdio<Client>,
    server: Stdio<Server>,
}

impl Ends {
    /// Both, ready and idle, with the bytes that each of them holds.
    fn new(revision: Revision) -> (Ends, [isize; 2]) {
        let start = live();
        let client = client(revision);
        let client_alone = live() - start;
        let mut ends = Ends { client, server: server() };
        let mut held = [client_alone, live() - start - client_alone];
        loop {
            let before = live();
            let data = ends.client.data_to_send().to_vec();
            ends.client.consume(data.len());
            held[0] += live() - before - data.capacity().cast_signed();
            held[1] += ends.server_takes(&data);
            let before = live();
            let answer = ends.server.data_to_send().to_vec();
            ends.server.consume(answer.len());
            held[1] += live() - before - answer.capacity().cast_signed();
            held[0] += ends.client_takes(&answer);
            if data.is_empty() && answer.is_empty() {
                assert_eq!(ends.client.machine().revision(), Some(revision));
                return (ends, held);
            }
        }
    }

    /// Hands bytes to the server and drops its events; by how much it has grown.
    fn server_takes(&mut self, data: &[u8]) -> isize {
        let before = live();
        self.server.receive_data(Instant::ZERO, data).unwrap();
        while self.server.machine_mut().poll_event().is_some() {}
        live() - before
    }

    /// Hands bytes to the client and drops its events; by how much it has grown.
    fn client_takes(&mut self, data: &[u8]) -> isize {
        let before = live();
        self.client.receive_data(Instant::ZERO, data).unwrap();
        while self.client.machine_mut().poll_event().is_some() {}
        live() - before
    }

    /// Carries everything and drops the events; the calls that the server was told of.
    fn drive(&mut self) -> Vec<RequestHandle> {
        let mut calls = Vec::new();
        while carry(&mut self.client, &mut self.server) | carry(&mut self.server, &mut self.client) {
            while let Some(event) = self.server.machine_mut().poll_event() {
                if let server::Event::ToolCalled { request, .. } = event {
                    calls.push(request);
                }
            }
            while self.client.machine_mut().poll_event().is_some() {}
        }
        calls
    }

    fn call(&mut self) -> RequestHandle {
        let mut options = RequestOptions::default();
        options.progress = true;
        self.client.machine_mut().request(Instant::ZERO, "tools/call", Some(CALL), options).unwrap()
    }

    /// A call that is answered and one that is cancelled.
    fn call_twice(&mut self) {
        self.call();
        let unwanted = self.call();
        let calls = self.drive();
        self.server.machine_mut().respond(calls[0], RESULT).unwrap();
        self.client.machine_mut().cancel(unwanted, None).unwrap();
        self.drive();
    }

    /// A subscription that comes and goes, and lines of no use.
    fn watch_and_stumble(&mut self) {
        let resource_uris = vec!["file:///a".into()];
        let filter = SubscriptionFilter { tools: true, resource_uris, ..SubscriptionFilter::default() };
        let subscription = self.client.machine_mut().subscribe(Instant::ZERO, filter).unwrap();
        self.client_takes(b"noise\n{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n");
        self.server_takes(b"noise\n{\"jsonrpc\":\"2.0\",\"id\":\"z\"\n");
        self.drive();
        self.client.machine_mut().unsubscribe(Instant::ZERO, subscription).unwrap();
        self.drive();
    }
}

#[test]
fn idle_connections_and_waiting_requests_are_small() {
    const REQUESTS: isize = 1_000;
    let sizes = [size_of::<Stdio<Client>>(), size_of::<Stdio<Server>>()].map(usize::cast_signed);
    for revision in REVISIONS {
        let (mut ends, [client, server]) = Ends::new(revision);
        report("idle client", revision, client + sizes[0], 3_000);
        report("idle server", revision, server + sizes[1], 5_000);

        let before = live();
        for _ in 0..REQUESTS {
            ends.call();
        }
        let mut sent = Vec::new();
        while let data @ [_, ..] = ends.client.data_to_send() {
            sent.extend_from_slice(data);
            let count = data.len();
            ends.client.consume(count);
        }
        let grown = live() - before - sent.capacity().cast_signed();
        report("request in flight of a client", revision, grown / REQUESTS, 1_000);
        let grown = ends.server_takes(&sent);
        report("request in flight of a server", revision, grown / REQUESTS, 1_000);
    }
}

/// What an HTTP exchange brings to a server machine.
fn posted<'a>(number: usize, session: NamedSession) -> Facts<'a> {
    let handle = ExchangeHandle::from_number(number as u64);
    let exchange = Exchange { handle, session, takes_stream: true, mirror: Some(Mirror::default()) };
    Facts { exchange: Some(exchange), ..Facts::default() }
}

#[test]
fn sessions_of_a_server_on_http_are_small_and_leave_nothing() {
    const SESSIONS: usize = 1_000;
    let revision = Revision::V2025_11_25;
    let mut server = machine();
    let say = |server: &mut Server, number, session, text: &str| {
        let facts = posted(number, session);
        server.handle_input(Instant::ZERO, Input::Message { text, facts }).unwrap();
        while server.poll_event().is_some() {}
        let mut opened = None;
        while let Some(transmit) = server.poll_transmit() {
            if let Transmit::Message { labels, .. } = transmit {
                opened = opened.or(labels.session);
            }
        }
        opened
    };
    let open = |server: &mut Server, number: usize| {
        let hello = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{"sampling":{{}},"elicitation":{{}}}},"clientInfo":{{"name":"client {number}","version":"1.0.0"}}}}}}"#
        );
        let session = say(server, number, NamedSession::None, &hello).expect("a session");
        let known = NamedSession::Known(session);
        say(server, number, known, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        say(
            server,
            number,
            known,
            r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"file:///a"}}"#,
        );
        session
    };
    let first = open(&mut server, 0);
    let before = live();
    let sessions: Vec<_> = (1..=SESSIONS).map(|number| open(&mut server, number)).collect();
    let grown = live() - before - (size_of::<SessionHandle>() * sessions.capacity()).cast_signed();
    report("session of a server on HTTP", revision, grown / SESSIONS.cast_signed(), 1_024);
    for session in sessions {
        server.handle_input(Instant::ZERO, Input::SessionEnded { session }).unwrap();
        while server.poll_event().is_some() {}
    }
    let left = live() - before;
    assert!(left <= 1_024, "{left} bytes more after all sessions but {first:?} ended");
}

// 100 000 requests in all, half of them cancelled.
#[test]
fn nothing_grows_with_use() {
    for revision in REVISIONS {
        let (mut ends, _) = Ends::new(revision);
        let mut settled = 0;
        for round in 0..25_000 {
            ends.call_twice();
            if round % 10 == 0 {
                ends.watch_and_stumble();
            }
            // By then what is remembered of late answers has reached its bound.
            if round == 5_000 {
                settled = live();
            }
        }
        let grown = live() - settled;
        assert!(grown <= 1_024, "{grown} bytes more after 20 000 rounds of {revision}");
    }
}

#[test]
fn a_flood_that_nobody_reads_is_bounded() {
    for revision in REVISIONS {
        let (mut ends, _) = Ends::new(revision);
        let before = live();
        let notice = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"x/y\",\"params\":{{\"a\":\"{}\"}}}}\n",
            "x".repeat(100)
        );
        for _ in 0..20_000 {
            ends.client.receive_data(Instant::ZERO, notice.as_bytes()).unwrap();
            ends.server.receive_data(Instant::ZERO, notice.as_bytes()).unwrap();
        }
        assert!(!ends.client.wants_input() && !ends.server.wants_input());
        let told = std::iter::from_fn(|| ends.client.machine_mut().poll_event()).count();
        let heard = std::iter::from_fn(|| ends.server.machine_mut().poll_event()).count();
        let most = 2 * barewire::Limits::default().queued_events + 1;
        assert_eq!((told, heard), (most, most));
        let held = live() - before;
        assert!(held < 2 << 20, "{held} bytes after the flood with {revision}");
    }
}

#[test]
fn a_peer_that_asks_and_never_reads_is_no_longer_read() {
    const MOST: usize = 100_000;
    let mut config = server_config();
    config.limits.queued_bytes = MOST;
    let mut server = Stdio::new(Server::new(config).expect("a server"));
    let before = live();
    let mut asked = 0;
    while server.wants_input() {
        let ping = format!("{{\"jsonrpc\":\"2.0\",\"id\":{asked},\"method\":\"ping\"}}\n");
        server.receive_data(Instant::ZERO, ping.as_bytes()).unwrap();
        asked += 1;
        assert!(asked < MOST, "it is read for ever");
    }
    let held = live() - before;
    assert!(held < 7 * MOST.cast_signed(), "{held} bytes wait");
    // Whoever reads again is heard again.
    while let data @ [_, ..] = server.data_to_send() {
        let count = data.len();
        server.consume(count);
    }
    assert!(server.wants_input());
}

fn open_session(site: &mut Site, revision: Revision) -> String {
    let id = site.open_session(revision);
    site.events.clear();
    id
}

/// Takes what an exchange sends and forgets it.
fn drain(site: &mut Site, exchange: ExchangeHandle) {
    while site.http.poll_response(exchange).is_some() {}
}

// What one of many sessions costs behind HTTP, in transport and machine together, idle and with its stream open.
#[test]
fn sessions_over_http_are_small() {
    const SESSIONS: usize = 1_000;
    let each = |bytes: isize| bytes / SESSIONS.cast_signed();
    for revision in [Revision::V2025_03_26, Revision::V2025_11_25] {
        let mut site = Site::new();
        let before = live();
        let mut ids = Vec::with_capacity(SESSIONS);
        let mut streams = Vec::with_capacity(SESSIONS);
        ids.extend((0..SESSIONS).map(|_| open_session(&mut site, revision)));
        let of_test = ids.iter().map(String::capacity).sum::<usize>()
            + SESSIONS * (size_of::<String>() + size_of::<ExchangeHandle>());
        let held = || live() - before - of_test.cast_signed();
        report("session over HTTP", revision, each(held()), 4_096);
        streams.extend(ids.iter().map(|id| site.get(&[("Mcp-Session-Id", id)])));
        for stream in &streams {
            drain(&mut site, *stream);
        }
        report("session over HTTP with a stream", revision, each(held()), 4_096);
        // All of it is given back.
        for id in &ids {
            let end = site.send("DELETE", &[COMMON[0], ("Mcp-Session-Id", id)], "");
            drain(&mut site, end);
        }
        for stream in &streams {
            drain(&mut site, *stream);
        }
        site.events = Vec::new();
        assert!(site.http.is_idle());
        let left = held();
        assert!(left < 100_000, "{left} bytes of {SESSIONS} sessions are left");
    }
}

// Exchanges of both eras: answered, streamed, left, resumed.
#[test]
fn nothing_grows_with_use_of_http() {
    const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":1}}}"#;
    let mut site = Site::new();
    let id = site.open_session(Revision::V2025_11_25);
    let mut settled = 0;
    for round in 0..6_000 {
        let legacy = site.post(&[("Mcp-Session-Id", &id)], CALL);
        let first = site.last_call();
        let modern = site.post_modern("tools/call", Some("echo"), r#""name":"echo""#);
        let second = site.last_call();
        for call in [first, second] {
            let progress = server::Notification::Progress { progress: 1.0, total: None, message: None };
            assert_eq!(site.server().notify(call, progress), Ok(true));
        }
        if round % 2 == 0 {
            drain(&mut site, legacy);
            site.http.receive_abort(site.now, legacy);
        }
        for call in [first, second] {
            site.server().respond(call, RESULT).unwrap();
        }
        drain(&mut site, legacy);
        drain(&mut site, modern);
        site.events.clear();
        site.wait(1_000);
        // By then what is kept for clients that reconnect is as old as it may become.
        if round == 1_000 {
            settled = live();
        }
    }
    let grown = live() - settled;
    assert!(grown <= 4_096, "{grown} bytes more after 5 000 rounds");
}
