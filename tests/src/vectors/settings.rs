//! Values that scripts of both roles are made of.

use barewire::{
    InputKind, Json, Limits, ListKind, LogLevel, Revision, Revisions, RpcError, SubscriptionFilter, Timeouts,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::pattern::TEXT;

const LIST_KINDS: [(ListKind, &str); 3] =
    [(ListKind::Tools, "tools"), (ListKind::Resources, "resources"), (ListKind::Prompts, "prompts")];
const INPUT_KINDS: [(InputKind, &str); 3] =
    [(InputKind::Elicitation, "elicitation"), (InputKind::Sampling, "sampling"), (InputKind::Roots, "roots")];

/// The version that a client or server has in scripts that name none.
pub(super) fn version() -> String {
    "1".into()
}

/// Reads what the script says as `T`.
pub(super) fn read<T: DeserializeOwned>(object: &Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(object.clone())).map_err(|error| error.to_string())
}

/// JSON text of a value; `{"$text": "…"}` gives the text as it stands there.
pub(super) fn json_text(value: &Value) -> String {
    match value.get(TEXT).and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => value.to_string(),
    }
}

pub(super) fn json(value: &Value) -> Result<Json, String> {
    Json::new(&json_text(value)).map_err(|error| format!("{value} is no JSON: {error:?}"))
}

/// A member of an event that holds JSON.
pub(super) fn text(json: Option<&Json>) -> Value {
    json.map_or(Value::Null, |json| json!({TEXT: json.as_str()}))
}

/// Bytes as text, or in hexadecimal if they are not UTF-8.
pub(super) fn bytes(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => json!({"hex": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()}),
    }
}

pub(super) fn rpc_error(error: &RpcError) -> Value {
    json!({"code": error.code, "message": error.message, "data": text(error.data.as_ref())})
}

pub(super) fn revisions(names: &[String]) -> Result<Revisions, String> {
    let known: Option<Vec<_>> = names.iter().map(|name| Revision::from_name(name)).collect();
    known.map(|known| Revisions::of(&known)).ok_or_else(|| format!("unknown revision among {names:?}"))
}

pub(super) fn log_level(name: &str) -> Result<LogLevel, String> {
    LogLevel::from_name(name).ok_or_else(|| format!("{name} is no log level"))
}

pub(super) fn list_kind(kind: ListKind) -> &'static str {
    named(&LIST_KINDS, kind)
}

pub(super) fn list_kind_of(name: &str) -> Result<ListKind, String> {
    of_name(&LIST_KINDS, name)
}

pub(super) fn input_kind(kind: InputKind) -> &'static str {
    named(&INPUT_KINDS, kind)
}

pub(super) fn input_kind_of(name: &str) -> Result<InputKind, String> {
    of_name(&INPUT_KINDS, name)
}

fn named<K: PartialEq>(names: &[(K, &'static str)], kind: K) -> &'static str {
    names.iter().find(|(known, _)| *known == kind).map_or("?", |(_, name)| name)
}

fn of_name<K: Copy>(names: &[(K, &'static str)], name: &str) -> Result<K, String> {
    let known = names.iter().find(|(_, known)| *known == name);
    known.map(|(kind, _)| *kind).ok_or_else(|| format!("unknown kind {name}"))
}

/// What a subscription is about.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
pub(super) struct Filter {
    tools: bool,
    resources: bool,
    prompts: bool,
    resource_uris: Vec<Box<str>>,
}

impl From<Filter> for SubscriptionFilter {
    fn from(filter: Filter) -> Self {
        let Filter { tools, resources, prompts, resource_uris } = filter;
        SubscriptionFilter { tools, resources, prompts, resource_uris }
    }
}

pub(super) fn filter(filter: &SubscriptionFilter) -> Value {
    json!({
        "tools": filter.tools, "resources": filter.resources, "prompts": filter.prompts,
        "resource_uris": filter.resource_uris,
    })
}

/// Sets the members that the script names, by their names in the core.
macro_rules! setter {
    ($function:ident, $settings:ty, $($field:ident),*) => {
        pub(super) fn $function(settings: &mut $settings, named: Map<String, Value>) -> Result<(), String> {
            for (name, value) in named {
                match name.as_str() {
                    $(stringify!($field) => {
                        settings.$field = serde_json::from_value(value).map_err(|error| error.to_string())?;
                    })*
                    _ => return Err(format!("there is no {name}")),
                }
            }
            Ok(())
        }
    };
}

setter!(
    set_limits,
    Limits,
    message_bytes,
    depth,
    requests_in_flight,
    queued_requests,
    queued_events,
    queued_bytes,
    batch_items,
    sessions,
    subscriptions,
    watched_resources,
    rounds,
    inputs,
    request_state_bytes,
    page_items,
    page_bytes
);
setter!(
    set_timeouts,
    Timeouts,
    probe,
    handshake,
    request,
    request_total,
    progress_extends,
    acknowledgement,
    drain,
    request_state,
    child_exit,
    child_terminate
);
