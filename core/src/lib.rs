//! The Model Context Protocol as bare wire: bytes in, events out.
//!
//! This crate holds every decision of the protocol, for [clients](client::Client) and [servers](server::Server) and for
//! each published [`Revision`], and does nothing else: no I/O, no clock, no randomness, no threads, no
//! allocation beyond `alloc`. The host moves bytes, tells the time and supplies 32 random bytes once.
//!
//! ```text
//!  host I/O          transport::Stdio          client::Client | server::Server          application
//!  bytes ------->    receive_data  ------->    handle_input  ------------------->       poll_event
//!  bytes <-------    data_to_send  <-------    poll_transmit <-------------------       request(), respond(), ...
//!  time  ----------------------------------->  handle_timeout, poll_timeout
//! ```
//!
//! # The contract
//!
//! 1. Read bytes from the peer and give them to [`Stdio::receive_data`](transport::Stdio::receive_data); at the end of
//!    input call [`receive_eof`](transport::Stdio::receive_eof). Stop reading while
//!    [`wants_input`](transport::Stdio::wants_input) is false.
//! 2. Take events from [`poll_event`](Machine::poll_event) until there are none, and act on them with commands.
//!    Commands do no I/O; each returns a handle, and each event names its handle.
//! 3. Write what [`data_to_send`](transport::Stdio::data_to_send) offers and [`consume`](transport::Stdio::consume) what was written.
//! 4. Call [`handle_timeout`](Machine::handle_timeout) when [`poll_timeout`](Machine::poll_timeout) says so.
//! 5. Stop when [`is_finished`](transport::Stdio::is_finished) is true.
//!
//! Any verb may be called at any time and in any order. Faulty input is never an error of these calls: it is
//! answered, or reported as an event. Times are [`Instant`]s in milliseconds from an origin of the host's choice.
//!
//! ```
//! use barewire::{ClientConfig, Implementation, Instant, Machine, ServerConfig};
//! use barewire::client::{self, Client};
//! use barewire::server::{self, Server};
//! use barewire::transport::Stdio;
//!
//! // In a real host the seeds come from the operating system, and each side has a process of its own.
//! let server = Server::new(ServerConfig::new(Implementation::new("clock", "1.0"), [1; 32]))?;
//! let mut server = Stdio::new(server);
//! server.machine_mut().add_tool(r#"{"name": "now", "inputSchema": {"type": "object"}}"#)?;
//! let client = Client::new(ClientConfig::new(Implementation::new("host", "1.0"), [2; 32]), Instant::ZERO)?;
//! let mut client = Stdio::new(client);
//! let call = client.machine_mut().request(Instant::ZERO, "tools/call", Some(r#"{"name": "now"}"#), Default::default())?;
//!
//! let mut answer = None;
//! while answer.is_none() {
//!     let bytes = client.data_to_send().to_vec();
//!     client.consume(bytes.len());
//!     server.receive_data(Instant::ZERO, &bytes)?;
//!     while let Some(event) = server.machine_mut().poll_event() {
//!         if let server::Event::ToolCalled { request, .. } = event {
//!             let result = r#"{"content": [{"type": "text", "text": "noon"}]}"#;
//!             server.machine_mut().respond(request, result)?;
//!         }
//!     }
//!     let bytes = server.data_to_send().to_vec();
//!     server.consume(bytes.len());
//!     client.receive_data(Instant::ZERO, &bytes)?;
//!     while let Some(event) = client.machine_mut().poll_event() {
//!         if let client::Event::ResponseReceived { request, result, .. } = event {
//!             assert_eq!(request, call);
//!             answer = Some(result);
//!         }
//!     }
//! }
//! assert!(answer.is_some_and(|result| result.as_str().contains("noon")));
//! # Ok::<(), barewire::Error>(())
//! ```
//!
//! # Where to find what
//!
//! | module | holds |
//! |---|---|
//! | [`client`], [`server`] | the two roles: commands, events |
//! | [`transport`] | framing on a byte stream, HTTP in every era, event streams, and the steps that end a child process |
//! | [`auth`] | authorization: the OAuth client as a machine, a protected server as functions |
//! | [`model`] | optional typed values for what params and results hold |
//! | [`uri_template`] | RFC 6570: expansion and matching |
//! | the root | values that all share: handles, [`Json`], [`Error`], [`Limits`], [`Timeouts`], [`Revision`] |
//!
//! Payloads are [`Json`]: text that was checked once and is passed on untouched. `model` reads it into types where
//! that is wanted.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

extern crate alloc;

pub mod auth;
mod cache;
pub mod client;
mod config;
mod error;
mod json;
mod jsonrpc;
mod limits;
mod logging;
mod machine;
mod memory;
mod mirror;
pub mod model;
mod pending;
mod queues;
mod request_state;
mod revision;
mod rounds;
mod seed;
pub mod server;
mod session;
mod sorted;
mod subscription;
mod time;
pub mod transport;
mod uri;
pub mod uri_template;

pub use cache::{CacheScope, Freshness};
pub use config::{ClientConfig, Implementation, ServerConfig, Timeouts};
pub use error::{ApiMisuse, CloseReason, Error, Limit, PeerIncompatible, PeerMisbehaved};
pub use json::{Json, JsonItem, JsonKind, JsonText, MAX_DEPTH, PointerError, ScanError, escape, unescape};
pub use jsonrpc::{RequestId, RpcError, Violation};
pub use limits::Limits;
pub use logging::LogLevel;
pub use machine::{
    Disposition, Exchange, ExchangeHandle, Facts, Failure, HeaderValue, Input, InputHandle, Labels, Machine,
    Measured, Mirror, Mirrored, NamedSession, RequestHandle, Route, SessionHandle, Step, SubscriptionHandle,
    Transmit,
};
pub use revision::{
    Capabilities, Capability, Direction, Era, EraVerdict, Kind, Method, MethodRow, Revision, Revisions,
};
pub use rounds::{InputAnswer, InputKind, InputQuestion, InputRequest, InputResponse};
pub use seed::Seed;
pub use subscription::{Change, ListKind, SubscriptionFilter};
pub use time::{Instant, UnixTime};
