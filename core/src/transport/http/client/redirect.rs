//! Redirects that keep the method and lead within the origin, such as those to a path with a slash at its end
//! (RFC 9110, sections 15.4.8 and 15.4.9). They are followed until the endpoint is found; from then on everything
//! goes there at once.

use alloc::boxed::Box;

use crate::machine::{ExchangeHandle, Machine};
use crate::transport::http::headers::{Headers, LOCATION};

use super::exchange::Stage;
use super::{End, HttpClient};
use crate::transport::http::url::Url;

/// How often the endpoint may be said to be elsewhere.
const MOST_MOVES: u8 = 5;

/// The search for the endpoint.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// How often it was said to be elsewhere.
    moves: u8,
    /// A response has come that is no redirect: what is sent from now on need not be sent again elsewhere.
    pub(super) is_over: bool,
}

impl<M: Machine> HttpClient<M> {
    /// Follows a redirect. False if the response is none that may be followed.
    pub(super) fn redirect(&mut self, handle: ExchangeHandle, status: u16, headers: Headers<'_>) -> bool {
        if !matches!(status, 307 | 308) {
            self.search.is_over = true;
            return false;
        }
        if self.end != End::Open {
            return false;
        }
        let Some(target) = self.target(handle, headers) else { return false };
        let Some(exchange) = self.table.get_mut(handle) else { return false };
        if let Some(copy) = &mut exchange.copy {
            copy.url.clone_from(&target);
        }
        exchange.stage = Stage::Challenged { status, is_over: false };
        self.config.url = target;
        self.send_again(handle);
        true
    }

    /// Where a redirect leads, if it may be followed.
    fn target(&mut self, handle: ExchangeHandle, headers: Headers<'_>) -> Option<Box<str>> {
        let from = &self.table.get(handle)?.copy.as_ref()?.url;
        let target: Box<str> = Url::parse(from)?.resolve(headers.first(LOCATION)?)?.into();
        if target == *from {
            return None;
        }
        // Several messages may be told of one move.
        if target != self.config.url {
            if self.search.moves >= MOST_MOVES {
                return None;
            }
            self.search.moves += 1;
        }
        Some(target)
    }
}
