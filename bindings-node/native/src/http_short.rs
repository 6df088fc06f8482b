//! What requests over HTTP mostly come to, a call of a tool and the whole of its response: told in numbers beside a text,
//! so that JavaScript reads no rows. What many of them have in common is told once.

use barewire::server::{Event, RequestContext};
use barewire::transport::http::server::{ResponseHead, ResponsePart};
use barewire::{ExchangeHandle, Json, LogLevel, Revision, SessionHandle};

use crate::batch::{Batch, MOST_REMEMBERED, Row, utf16_length};
use crate::byte_stream::tell_numbers;
use crate::events;
use crate::names;

/// Contexts that are remembered at a time. Those of different clients mostly have different places.
const CONTEXTS: usize = 64;

/// The header whose value is told by the length of the body.
const CONTENT_LENGTH: &str = "content-length";

/// The longest body that comes as text: up to here copying it costs less than another array.
const TEXT: usize = 16 << 10;

/// The kinds of the rows that a text goes on with.
const CONTEXT: u8 = 0;
const HEAD: u8 = 1;

/// How many numbers there are.
const PLACES: usize = 6;

/// Stands in the place of a number for what is not there.
const NONE: f64 = -1.0;

/// What JavaScript remembers.
#[derive(Default)]
pub(crate) struct Shared {
    contexts: Vec<Option<Context>>,
    head: Option<Head>,
    /// How often something was told that is to be remembered.
    told: f64,
}

/// What requests of one client have in common.
struct Context {
    revision: Revision,
    session: Option<SessionHandle>,
    log_level: Option<LogLevel>,
    declared: u64,
    client: Option<Box<str>>,
    capabilities: Option<Box<str>>,
    meta: Option<Box<str>>,
    principal: Option<Box<str>>,
}

/// What responses have in common.
struct Head {
    status: u16,
    headers: Vec<(&'static str, Box<str>)>,
}

/// Whether a body comes as text: if it is short, and ASCII alone.
pub(crate) fn is_text(body: &[u8]) -> bool {
    body.len() <= TEXT && body.is_ascii()
}

/// Whether a part is a whole response that can be told as text.
pub(crate) fn is_short(part: &ResponsePart) -> bool {
    part.is_last && !part.is_aborted && part.head.is_some() && is_text(&part.data)
}

/// Numbers beside a text: JavaScript looks at the bytes as doubles.
pub(crate) struct Numbers<'a> {
    places: &'a mut [u8],
    remembered: f64,
}

impl<'a> Numbers<'a> {
    /// None so far. The first of those that come tells how often JavaScript has remembered something.
    pub(crate) fn new(places: &'a mut [u8]) -> Numbers<'a> {
        let remembered = places.first_chunk().map_or(NONE, |first| f64::from_ne_bytes(*first));
        let mut numbers = Numbers { places, remembered };
        numbers.tell(0, [NONE; PLACES]);
        numbers
    }

    /// Writes some, from a place on.
    pub(crate) fn tell<const N: usize>(&mut self, place: usize, numbers: [f64; N]) {
        tell_numbers(self.places.get_mut(place * size_of::<f64>()..).unwrap_or_default(), numbers);
    }
}

/// A handle or a length, all of which JavaScript can count.
#[allow(clippy::cast_precision_loss, reason = "nobody counts that far")]
pub(crate) fn count(number: u64) -> f64 {
    number as f64
}

/// How many UTF-16 code units a text has, if there is one.
fn length(text: Option<&str>) -> f64 {
    text.map_or(NONE, |text| count(utf16_length(text) as u64))
}

impl Shared {
    /// Forgets everything if JavaScript has not remembered what it was told, because it failed in between: what it has in
    /// that place may be of somebody else.
    pub(crate) fn agree(&mut self, numbers: &Numbers<'_>) {
        let Numbers { remembered, .. } = *numbers;
        if remembered.to_bits() != self.told.to_bits() {
            *self = Shared { told: remembered, ..Shared::default() };
        }
    }

    /// The text of a call of a tool, and the numbers: its request, the lengths of the name and of the arguments that the
    /// text begins with, the place of the context that is remembered, and whether the text goes on with it.
    ///
    /// `None` where it has to be told as other events are.
    pub(crate) fn tell_call(
        &mut self,
        event: &Event,
        exchange: ExchangeHandle,
    ) -> Option<(String, [f64; 5])> {
        let Event::ToolCalled { request, name, arguments, context } = event else { return None };
        let is_plain = context.round == 0
            && context.exchange == Some(exchange)
            && context.progress_token.is_none()
            && context.state.is_none()
            && context.input_answers.is_empty();
        if !is_plain {
            return None;
        }
        let arguments = arguments.as_ref().map(Json::as_str);
        let length_of_all = name.len() + arguments.map_or(0, str::len);
        let place = place_of(context);
        self.contexts.resize_with(CONTEXTS, Option::default);
        let remembered = self.contexts.get_mut(place)?;
        let is_known = remembered.as_ref().is_some_and(|known| known.is_of(context));
        let mut batch = Batch::of([name, arguments.unwrap_or_default()]);
        if !is_known {
            let known = Context::of(context);
            // JavaScript keeps the text that it cuts the context from.
            if length_of_all + known.length() > MOST_REMEMBERED {
                return None;
            }
            batch.row(CONTEXT, |row| events::context(row, context));
            *remembered = Some(known);
            self.told += 1.0;
        }
        let numbers = [
            count(request.number()),
            length(Some(name)),
            length(arguments),
            count(place as u64),
            f64::from(u8::from(!is_known)),
        ];
        Some((batch.into_text(), numbers))
    }

    /// The text of a part that is a whole response, and the length of the body where the text goes on with the head, which
    /// is remembered.
    ///
    /// `None` where it has to be told as other parts are. The data is taken only if it is told.
    pub(crate) fn tell_response(&mut self, part: &mut ResponsePart) -> Option<(String, f64)> {
        let head = part.head.as_ref().filter(|_| is_short(part))?;
        let is_known = self.head.as_ref().is_some_and(|known| known.is_of(head, part.data.len()));
        if !is_known {
            self.head = Some(Head::of(head, part.data.len())?);
            self.told += 1.0;
        }
        // What is ASCII is UTF-8.
        let body = String::from_utf8(std::mem::take(&mut part.data)).unwrap_or_default();
        if is_known {
            return Some((body, NONE));
        }
        let mut batch = Batch::of([&body]);
        batch.row(HEAD, |row| tell_head(row, head));
        Some((batch.into_text(), count(body.len() as u64)))
    }
}

/// Tells the status and the headers of a response.
pub(crate) fn tell_head(row: &mut Row<'_>, head: &ResponseHead) {
    row.number(u64::from(head.status));
    row.array(|row| {
        for (name, value) in &head.headers {
            row.string(name);
            row.string(value);
        }
    });
}

/// Where a context is remembered.
fn place_of(context: &RequestContext) -> usize {
    let length = |json: &Option<Json>| json.as_ref().map_or(0, |json| json.as_str().len());
    match context.session {
        Some(session) => usize::try_from(session.number() % CONTEXTS as u64).unwrap_or(0),
        None => (7 * length(&context.client) + length(&context.meta)) % CONTEXTS,
    }
}

fn boxed(json: Option<&Json>) -> Option<Box<str>> {
    json.map(|json| json.as_str().into())
}

fn is_same(known: Option<&str>, json: Option<&Json>) -> bool {
    known == json.map(Json::as_str)
}

impl Context {
    fn of(context: &RequestContext) -> Context {
        Context {
            revision: context.revision,
            session: context.session,
            log_level: context.log_level,
            declared: names::declared(&context.capabilities),
            client: boxed(context.client.as_ref()),
            capabilities: boxed(context.capabilities.raw()),
            meta: boxed(context.meta.as_ref()),
            principal: context.principal.as_deref().map(Box::from),
        }
    }

    fn is_of(&self, context: &RequestContext) -> bool {
        self.session == context.session
            && self.revision == context.revision
            && self.log_level == context.log_level
            && is_same(self.meta.as_deref(), context.meta.as_ref())
            && is_same(self.client.as_deref(), context.client.as_ref())
            && is_same(self.capabilities.as_deref(), context.capabilities.raw())
            && self.declared == names::declared(&context.capabilities)
            && self.principal.as_deref() == context.principal.as_deref()
    }

    fn length(&self) -> usize {
        let texts = [&self.client, &self.capabilities, &self.meta, &self.principal];
        texts.into_iter().flatten().map(|text| text.len()).sum()
    }
}

impl Head {
    /// The head of a response whose body has this length; none where JavaScript cannot make it from one with another.
    fn of(head: &ResponseHead, length: usize) -> Option<Head> {
        let known = Head {
            status: head.status,
            headers: head.headers.iter().map(|(name, value)| (*name, value.as_ref().into())).collect(),
        };
        known.is_of(head, length).then_some(known)
    }

    fn is_of(&self, head: &ResponseHead, length: usize) -> bool {
        let is_same = |name: &str, known: &str, value: &str| {
            if name == CONTENT_LENGTH { value.parse() == Ok(length) } else { known == value }
        };
        let mut pairs = self.headers.iter().zip(&head.headers);
        self.status == head.status
            && self.headers.len() == head.headers.len()
            && pairs.all(|(known, (name, value))| known.0 == *name && is_same(name, &known.1, value))
    }
}
