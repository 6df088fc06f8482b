//! The Model Context Protocol as bare wire: bytes in, events out.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod cache;
pub mod client;
mod config;
mod error;
mod json;
mod jsonrpc;
mod limits;
mod logging;
mod machine;
pub mod model;
mod pending;
mod queues;
mod request_state;
mod revision;
mod rounds;
mod seed;
pub mod server;
mod session;
mod subscription;
mod time;
pub mod transport;
pub mod uri_template;

pub use cache::{CacheScope, Freshness};
pub use config::{ClientConfig, Implementation, ServerConfig, Timeouts};
pub use error::{ApiMisuse, CloseReason, Error, Limit, PeerIncompatible, PeerMisbehaved};
pub use json::{Json, MAX_DEPTH, ScanError};
pub use jsonrpc::{RequestId, RpcError, Violation};
pub use limits::Limits;
pub use logging::LogLevel;
pub use machine::{
    ExchangeId, Facts, Input, InputHandle, Machine, RequestHandle, Route, SessionHandle, SubscriptionHandle,
    Transmit,
};
pub use revision::{
    Capabilities, Capability, Direction, Era, EraVerdict, Kind, Method, MethodRow, Revision, Revisions,
};
pub use rounds::{InputAnswer, InputKind, InputQuestion, InputRequest, InputResponse};
pub use seed::Seed;
pub use subscription::{Change, ListKind, SubscriptionFilter};
pub use time::{Instant, UnixTime};
