//! How much room a server needs for what comes next. `tests/tests/small_memory` holds the numbers against what is
//! allocated.

use alloc::boxed::Box;

use memchr::memmem;

use crate::machine::{Measured, RequestHandle, SessionHandle, Step};

use super::Server;

/// What a message costs, however short: the request, its event, a session, an answer.
const MESSAGE: usize = 1_024;

/// What each byte of a message costs: it is kept once, and its parts are decoded, copied and answered with.
const EACH_BYTE: usize = 4;

/// What each byte of a URI costs where it is held against templates.
const EACH_BYTE_MATCHED: usize = 12;

/// What each byte of a session costs that is written down: it is copied, and the text that it ends in grows by doubling.
const EACH_BYTE_EXPORTED: usize = 5;

/// What a question costs beside its texts.
const QUESTION: usize = 768;

/// What each byte of a question costs, and of what travels with it: it is written for the client and sealed, and texts grow
/// by doubling.
const EACH_BYTE_ASKED: usize = 20;

/// A character that has to be escaped takes up to so many.
const MOST_ESCAPED: usize = 6;

/// What a refusal costs. It repeats no long id.
const REFUSAL: usize = 640;

/// What a command costs beside its texts.
const COMMAND: usize = 512;

/// The text of an error with which an application can always answer, in bytes.
const SHORT_ERROR: usize = 32;

/// What a definition costs beside its text and its place.
const KEEPING: usize = 1_536;

/// What is told of the end of each request, session and subscription.
const ENDING: usize = 384;

/// What is told when all is over, beside those.
const LAST_EVENTS: usize = 2;

/// Lists of which one command can tell that they have changed.
const KINDS_OF_CHANGE: usize = 2;

/// Events and messages that one message gives rise to; a batch has as many for each of its elements.
const EVENTS: usize = 3;

impl Measured for Server {
    fn room_for(&self, step: Step<'_>) -> usize {
        let bytes = match step {
            Step::Take(message, followers) => {
                self.taking(message, followers) + self.reserve(message.len(), 0)
            }
            Step::Refuse(messages) => self.refusing(messages),
            Step::Keep(bytes) => {
                KEEPING + 3 * bytes + self.catalog.growth() + self.reserve(0, KINDS_OF_CHANGE)
            }
            Step::Send(bytes) => self.sending(bytes) + self.telling(0),
            Step::Ask(request, questions, bytes) => {
                self.sending(0)
                    + self.outbound.growth(questions)
                    + questions * QUESTION
                    + EACH_BYTE_ASKED * (bytes + self.answered(request))
                    + self.telling(0)
            }
            Step::Publish(bytes) => {
                COMMAND
                    + self.to_all(3 * bytes)
                    + self.queues.growth(1, 2 + self.watching())
                    + self.telling(0)
            }
            Step::Export(session) => self.exporting(session),
            Step::Settle => self.settling(),
        };
        // What allocators round up.
        bytes + bytes / 16
    }
}

impl Server {
    fn taking(&self, message: &[u8], followers: usize) -> usize {
        let is_batch = message.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
        // An element has a bracket at least, and a comma.
        let elements = if is_batch { self.config.limits.batch_items.min(message.len() / 2 + 1) } else { 1 };
        let own = self.identity.len()
            + self.config.instructions.as_ref().map_or(0, |text| text.len())
            + self.config.extensions.as_ref().map_or(0, |text| text.as_str().len());
        let page = self.catalog.longest_page(self.config.limits.page_bytes);
        let told = EVENTS * elements + followers;
        elements * (MESSAGE + 2 * (own + page))
            + followers * REFUSAL
            + EACH_BYTE * message.len()
            + if self.catalog.has_templates() { EACH_BYTE_MATCHED * longest_uri(message) } else { 0 }
            + self.in_flight.growth(elements, elements)
            + self.subscriptions.growth()
            + self.queues.growth(told, told)
    }

    fn refusing(&self, messages: usize) -> usize {
        messages * REFUSAL + self.queues.growth(messages, messages)
    }

    fn sending(&self, bytes: usize) -> usize {
        COMMAND + 3 * bytes + 2 * self.in_flight.longest_names() + self.queues.growth(1, 2)
    }

    /// What has to be left: to refuse a message, or to answer one that has such names with a short error; and to tell
    /// of changes.
    fn reserve(&self, names: usize, more_changes: usize) -> usize {
        self.refusing(1).max(self.sending(SHORT_ERROR) + 2 * names) + self.telling(more_changes)
    }

    /// What it takes to tell watchers which lists have changed, which is done when messages are polled.
    fn telling(&self, more_changes: usize) -> usize {
        let changes = self.subscriptions.changes() + more_changes;
        if changes == 0 {
            0
        } else {
            changes * self.to_all(0) + self.queues.growth(0, changes * self.watching())
        }
    }

    /// Whoever may be told of something that belongs to no request.
    fn watching(&self) -> usize {
        self.sessions.len() + self.subscriptions.len()
    }

    /// A message of so many bytes to each of them. Messages to subscriptions repeat the id of their request.
    fn to_all(&self, bytes: usize) -> usize {
        self.watching() * (ENDING + bytes) + 3 * self.in_flight.id_bytes()
    }

    /// The bytes of the answers that a request has had so far: they travel with its next questions.
    fn answered(&self, request: RequestHandle) -> usize {
        let answers = self.in_flight.get(request).map(|entry| &entry.context.input_answers);
        let bytes = answers.into_iter().flatten().map(|answer| {
            let result = answer.outcome.as_ref().map_or(0, |result| result.as_str().len());
            answer.key.len() + result
        });
        bytes.sum()
    }

    fn exporting(&self, session: SessionHandle) -> usize {
        let texts = self.sessions.get(session).map_or(0, |session| {
            let watched = session.watched.keys().map(|uri| MOST_ESCAPED * uri.len() + size_of::<Box<str>>());
            let told = [session.client.as_ref(), session.capabilities.raw()].into_iter().flatten();
            told.map(|json| json.as_str().len()).chain(watched).sum()
        });
        COMMAND + EACH_BYTE_EXPORTED * texts
    }

    fn settling(&self) -> usize {
        let asked = self.outbound.len();
        let told = self.in_flight.len() + asked + self.watching() + LAST_EVENTS;
        let sent = self.subscriptions.len() + asked + 1;
        ENDING * told
            + 3 * self.in_flight.id_bytes()
            + self.in_flight.growth(0, self.in_flight.len())
            + self.queues.growth(told, sent)
    }
}

/// The length of the longest text that may be the value of a member `uri`, as it is written.
fn longest_uri(message: &[u8]) -> usize {
    const MEMBER: &[u8] = b"\"uri\"";
    let behind = memmem::find_iter(message, MEMBER).map(|at| &message[at + MEMBER.len()..]);
    let lengths = behind.map(|rest| {
        let Some(start) = rest.iter().position(|byte| *byte == b'"') else { return 0 };
        let text = &rest[start + 1..];
        let mut is_escaped = false;
        let end = text.iter().position(|&byte| {
            let is_end = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            is_end
        });
        end.unwrap_or(text.len())
    });
    lengths.max().unwrap_or(0)
}
