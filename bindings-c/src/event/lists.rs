//! Members that are lists.

use core::mem::MaybeUninit;

use barewire::client::Event as ClientEvent;
use barewire::server::Event as ServerEvent;
#[cfg(feature = "http")]
use barewire::transport::http::client::HttpClientEvent;
use barewire::{InputAnswer, InputRequest, RequestHandle, SubscriptionFilter};

use crate::bytes::{bw_bytes, bw_pair};
use crate::values;

use super::{Told, bw_event};

/// A question of the server to the client's user or model. What it points to is good for as long as its event.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bw_input {
    /// Names the question; an answer is given to it.
    pub(crate) input: u64,
    /// What is asked for, a number of `bw_input_kind`.
    pub(crate) kind: i32,
    /// The parameters, a JSON object, if there are any.
    pub(crate) params: bw_bytes,
    /// The server's own key for the question, where the revision has one.
    pub(crate) key: bw_bytes,
}

/// An answer of a client to a question of this server. What it points to is good for as long as its event.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bw_answer {
    /// The key of the question.
    pub(crate) key: bw_bytes,
    /// The result, a JSON object; nothing if the client refused, which only legacy clients do.
    pub(crate) result: bw_bytes,
    /// The code of the client's error; 0 if there is a result.
    pub(crate) error_code: i64,
    /// The message of the client's error.
    pub(crate) error_message: bw_bytes,
    /// What the client gave with its error, as JSON.
    pub(crate) error_data: bw_bytes,
}

impl bw_answer {
    fn of(answer: &InputAnswer) -> bw_answer {
        let error = answer.outcome.as_ref().err();
        bw_answer {
            key: bw_bytes::text_of(&answer.key),
            result: bw_bytes::json_of(answer.outcome.as_ref().ok()),
            error_code: error.map_or(0, |error| error.code),
            error_message: bw_bytes::text_or_none(error.map(|error| &*error.message)),
            error_data: bw_bytes::json_of(error.and_then(|error| error.data.as_ref())),
        }
    }
}

impl bw_event {
    fn filter(&self) -> Option<&SubscriptionFilter> {
        match &self.told {
            Told::Server(ServerEvent::SubscriptionOpened { filter, .. })
            | Told::Client(ClientEvent::SubscriptionAcknowledged { honoured: filter, .. }) => Some(filter),
            _ => None,
        }
    }

    fn variables(&self) -> &[(alloc::boxed::Box<str>, alloc::boxed::Box<str>)] {
        match &self.told {
            Told::Server(ServerEvent::ResourceReadRequested { template: Some(matched), .. }) => {
                &matched.variables
            }
            _ => &[],
        }
    }

    fn inputs(&self) -> &[InputRequest] {
        match &self.told {
            Told::Client(ClientEvent::InputRequired { inputs, .. }) => inputs,
            _ => &[],
        }
    }

    fn answers(&self) -> &[InputAnswer] {
        self.context().map_or(&[], |context| &context.input_answers)
    }

    fn abandoned(&self) -> &[RequestHandle] {
        match &self.told {
            Told::Server(ServerEvent::Drained { abandoned }) => abandoned,
            _ => &[],
        }
    }

    fn challenges(&self) -> &[alloc::boxed::Box<str>] {
        match &self.told {
            #[cfg(feature = "http")]
            Told::HttpClient(HttpClientEvent::AuthorizationRequired { challenges, .. }) => challenges,
            _ => &[],
        }
    }
}

/// Writes the item at `index`, if there is one.
fn give<T, I>(
    items: &[I],
    index: usize,
    out: Option<&mut MaybeUninit<T>>,
    make: impl FnOnce(&I) -> T,
) -> bool {
    match (items.get(index), out) {
        (Some(item), Some(out)) => {
            out.write(make(item));
            true
        }
        _ => false,
    }
}

/// Whether the subscription watches a list, a number of `bw_list_kind`: SUBSCRIPTION_OPENED, SUBSCRIPTION_ACKNOWLEDGED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_watches(event: Option<&bw_event>, list: i32) -> bool {
    match (event.and_then(bw_event::filter), values::list_kind(list)) {
        (Some(filter), Ok(list)) => filter.list(list),
        _ => false,
    }
}

/// How many resources the subscription watches: SUBSCRIPTION_OPENED, SUBSCRIPTION_ACKNOWLEDGED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_watched_uri_count(event: Option<&bw_event>) -> usize {
    event.and_then(bw_event::filter).map_or(0, |filter| filter.resource_uris.len())
}

/// The URI of a resource that the subscription watches; nothing beyond the last.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_watched_uri(event: Option<&bw_event>, index: usize) -> bw_bytes {
    let uris = event.and_then(bw_event::filter).map(|filter| &filter.resource_uris);
    bw_bytes::text_or_none(uris.and_then(|uris| uris.get(index)).map(|uri| &**uri))
}

/// How many variables of the template the URI gave values: RESOURCE_READ_REQUESTED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_variable_count(event: Option<&bw_event>) -> usize {
    event.map_or(0, |event| event.variables().len())
}

/// A variable of the template and its value, percent-decoded, in the order of the template. False, and nothing written,
/// beyond the last.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_variable_at(
    event: Option<&bw_event>,
    index: usize,
    variable: Option<&mut MaybeUninit<bw_pair>>,
) -> bool {
    give(event.map_or(&[], bw_event::variables), index, variable, |(name, value)| bw_pair {
        name: bw_bytes::text_of(name),
        value: bw_bytes::text_of(value),
    })
}

/// The value of a variable of the template by its name, percent-decoded: RESOURCE_READ_REQUESTED. Nothing if the URI gave
/// it none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_variable(event: Option<&bw_event>, name: bw_bytes) -> bw_bytes {
    let (Some(event), Ok(wanted)) = (event, name.text()) else { return bw_bytes::NONE };
    let found = event.variables().iter().find(|(name, _)| &**name == wanted);
    bw_bytes::text_or_none(found.map(|(_, value)| &**value))
}

/// How many questions the server asks: INPUT_REQUIRED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_input_count(event: Option<&bw_event>) -> usize {
    event.map_or(0, |event| event.inputs().len())
}

/// A question of the server: INPUT_REQUIRED. False, and nothing written, beyond the last.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_input_at(
    event: Option<&bw_event>,
    index: usize,
    input: Option<&mut MaybeUninit<bw_input>>,
) -> bool {
    give(event.map_or(&[], bw_event::inputs), index, input, |asked| bw_input {
        input: asked.input.number(),
        kind: values::input_kind_number(asked.kind),
        params: bw_bytes::json_of(asked.params.as_ref()),
        key: bw_bytes::text_or_none(asked.key.as_deref()),
    })
}

/// How many answers came with a request to a server, from all its rounds.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_answer_count(event: Option<&bw_event>) -> usize {
    event.map_or(0, |event| event.answers().len())
}

/// An answer that came with a request to a server. False, and nothing written, beyond the last.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_answer_at(
    event: Option<&bw_event>,
    index: usize,
    answer: Option<&mut MaybeUninit<bw_answer>>,
) -> bool {
    give(event.map_or(&[], bw_event::answers), index, answer, bw_answer::of)
}

/// The answer to the question of that key that came with a request to a server. False, and nothing written, if there is
/// none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_answer(
    event: Option<&bw_event>,
    key: bw_bytes,
    answer: Option<&mut MaybeUninit<bw_answer>>,
) -> bool {
    let (Some(event), Ok(key)) = (event, key.text()) else { return false };
    let place = event.answers().iter().position(|answer| &*answer.key == key);
    place.is_some_and(|place| give(event.answers(), place, answer, bw_answer::of))
}

/// How many requests were never answered: DRAINED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_abandoned_count(event: Option<&bw_event>) -> usize {
    event.map_or(0, |event| event.abandoned().len())
}

/// A request that was never answered: DRAINED. 0 beyond the last.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_abandoned(event: Option<&bw_event>, index: usize) -> u64 {
    event.and_then(|event| event.abandoned().get(index)).map_or(0, |request| request.number())
}

/// How many values of `WWW-Authenticate` came: AUTHORIZATION_REQUIRED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_challenge_count(event: Option<&bw_event>) -> usize {
    event.map_or(0, |event| event.challenges().len())
}

/// A value of `WWW-Authenticate`, in order: AUTHORIZATION_REQUIRED. Nothing beyond the last.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_challenge(event: Option<&bw_event>, index: usize) -> bw_bytes {
    bw_bytes::text_or_none(event.and_then(|event| event.challenges().get(index)).map(|value| &**value))
}
