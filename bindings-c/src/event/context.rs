//! Who sent a request, and what came with it. Part of what they give, READY and SESSION_OPENED have too.

use barewire::client::Event as ClientEvent;
use barewire::server::{Event as ServerEvent, RequestContext};
use barewire::{Capabilities, Json, Revision};

use crate::bytes::bw_bytes;
use crate::values;

use super::{Told, bw_event};

impl bw_event {
    /// The context, if the event is a request to a server.
    pub(super) fn context(&self) -> Option<&RequestContext> {
        match &self.told {
            Told::Server(
                ServerEvent::ToolCalled { context, .. }
                | ServerEvent::ResourceReadRequested { context, .. }
                | ServerEvent::PromptRequested { context, .. }
                | ServerEvent::CompletionRequested { context, .. }
                | ServerEvent::RequestReceived { context, .. },
            ) => Some(context),
            _ => None,
        }
    }

    /// Revision, implementation and capabilities of the peer, if the event tells them.
    fn peer(&self) -> Option<(Revision, Option<&Json>, &Capabilities)> {
        match &self.told {
            Told::Server(ServerEvent::SessionOpened { revision, client: peer, capabilities, .. })
            | Told::Client(
                ClientEvent::Ready { revision, server: peer, capabilities, .. }
                | ClientEvent::SessionReplaced { revision, server: peer, capabilities, .. },
            ) => Some((*revision, peer.as_ref(), capabilities)),
            _ => {
                let context = self.context()?;
                Some((context.revision, context.client.as_ref(), &context.capabilities))
            }
        }
    }
}

/// The revision in use, as a number of `bw_revision`: requests to a server, SESSION_OPENED, READY, SESSION_REPLACED. 0
/// otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_revision(event: Option<&bw_event>) -> i32 {
    values::revision_number(event.and_then(bw_event::peer).map(|(revision, ..)| revision))
}

/// The peer's name and version object (`Implementation` in the schema), if it gave one: as for `bw_event_revision`. It
/// identifies nobody.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_peer(event: Option<&bw_event>) -> bw_bytes {
    bw_bytes::json_of(event.and_then(bw_event::peer).and_then(|(_, peer, _)| peer))
}

/// The capabilities object as the peer wrote it, if it is known: as for `bw_event_revision`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_capabilities(event: Option<&bw_event>) -> bw_bytes {
    bw_bytes::json_of(event.and_then(bw_event::peer).and_then(|(_, _, capabilities)| capabilities.raw()))
}

/// Whether the peer declared a capability, a number of `bw_capability`: as for `bw_event_revision`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_has_capability(event: Option<&bw_event>, capability: i32) -> bool {
    match (event.and_then(bw_event::peer), values::capability(capability)) {
        (Some((.., capabilities)), Ok(capability)) => capabilities.has(capability),
        _ => false,
    }
}

/// The token to report progress under, as JSON; nothing if no progress is wanted: requests to a server. Reports need not
/// name it.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_progress_token(event: Option<&bw_event>) -> bw_bytes {
    bw_bytes::json_of(event.and_then(bw_event::context).and_then(|context| context.progress_token.as_ref()))
}

/// The `_meta` object of a request to a server, if it has one: trace context, extensions.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_meta(event: Option<&bw_event>) -> bw_bytes {
    bw_bytes::json_of(event.and_then(bw_event::context).and_then(|context| context.meta.as_ref()))
}

/// Who the host said the client is (`principal` of the request's head), if it did: requests to a server over HTTP.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_principal(event: Option<&bw_event>) -> bw_bytes {
    bw_bytes::text_or_none(event.and_then(bw_event::context).and_then(|context| context.principal.as_deref()))
}

/// What the application kept with its last question, a JSON value: requests to a server.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_state(event: Option<&bw_event>) -> bw_bytes {
    bw_bytes::json_of(event.and_then(bw_event::context).and_then(|context| context.state.as_ref()))
}
