//! The outcome of era detection, as a value that outlives the connection.

use alloc::format;
use alloc::string::String;

use super::{Era, Revision};

/// What a probe found out about a server: the revision that was settled.
///
/// Store [`to_text`](Self::to_text) with the command line or URL of the server and give it to the next
/// [`ClientConfig`](crate::ClientConfig): the probe is then skipped. A server that has changed since is
/// noticed and probed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EraVerdict {
    /// The revision that was settled.
    pub revision: Revision,
}

impl EraVerdict {
    /// The era of the revision.
    pub const fn era(self) -> Era {
        self.revision.era()
    }

    /// A text for storage.
    pub fn to_text(self) -> String {
        format!("{}", self.revision)
    }

    /// Reads [`to_text`](Self::to_text); `None` if the text is of another version of this library. Without a verdict
    /// the server is probed.
    pub fn from_text(text: &str) -> Option<EraVerdict> {
        Revision::from_name(text).map(|revision| EraVerdict { revision })
    }
}
