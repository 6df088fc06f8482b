//! Streamable HTTP in every era, and HTTP+SSE of the first revision, as plain values: request heads, bodies in chunks, response
//! heads, ends and aborts. Sockets, TLS and connection reuse are the host's.
//!
//! | module | holds |
//! |---|---|
//! | [`server`] | exchanges of clients: sessions, streams and their resumption around a server machine |
//! | [`client`] | exchanges of our own: posting, reading streams, reconnecting around a client machine |

pub mod client;
pub(crate) mod headers;
pub(crate) mod media;
pub(crate) mod origin;
pub mod server;
pub(crate) mod status;
pub(crate) mod url;

pub use origin::{InvalidOrigin, OriginPolicy};
