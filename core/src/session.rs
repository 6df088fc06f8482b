//! A legacy session as data, so that another process can go on with it.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::Json;
use crate::jsonrpc::write;
use crate::logging::LogLevel;
use crate::revision::{Capabilities, Capability, Era, Revision};

/// The form of the text; another number is another form.
const FORMAT: &str = "1";

/// Everything a session is made of but the requests in flight, which belong to the process that runs them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SessionState {
    pub(crate) revision: Revision,
    /// The client's name and version object.
    pub(crate) client: Option<Json>,
    /// What the client declared.
    pub(crate) capabilities: Option<Json>,
    /// What was declared to the client.
    pub(crate) declared: Capabilities,
    /// The client has said `initialized`.
    pub(crate) is_open: bool,
    pub(crate) log_level: LogLevel,
    /// The resources that the client watches, by URI.
    pub(crate) watched: Vec<Box<str>>,
}

impl SessionState {
    /// The JSON text that [`from_text`](Self::from_text) reads.
    pub(crate) fn to_text(&self) -> String {
        let mut out = String::from("{\"format\":");
        out.push_str(FORMAT);
        write::string_member(&mut out, "revision", self.revision.as_str());
        write::string_member(&mut out, "logLevel", self.log_level.as_str());
        out.push_str(if self.is_open { ",\"open\":true" } else { ",\"open\":false" });
        for (name, value) in [("client", &self.client), ("capabilities", &self.capabilities)] {
            if let Some(value) = value {
                out.push_str(",\"");
                out.push_str(name);
                out.push_str("\":");
                out.push_str(value.as_str());
            }
        }
        let declared = Capability::ALL.into_iter().filter(|&capability| self.declared.has(capability));
        write_list(&mut out, "declared", declared.map(Capability::path));
        write_list(&mut out, "watched", self.watched.iter().map(AsRef::as_ref));
        out.push('}');
        out
    }

    /// Reads what [`to_text`](Self::to_text) wrote; `None` for anything else.
    pub(crate) fn from_text(text: &str) -> Option<SessionState> {
        let state = Json::new(text).ok()?;
        if state.member("format")?.as_str() != FORMAT {
            return None;
        }
        let string = |name| state.member(name)?.parse::<String>().ok();
        let strings = |name| state.member(name)?.parse::<Vec<String>>().ok();
        let mut declared = Capabilities::default();
        for path in strings("declared")? {
            declared.insert(Capability::ALL.into_iter().find(|capability| capability.path() == path)?);
        }
        Some(SessionState {
            revision: Revision::from_name(&string("revision")?)
                .filter(|revision| revision.era() == Era::Legacy)?,
            client: state.member("client"),
            capabilities: state.member("capabilities"),
            declared,
            is_open: state.member("open")?.parse().ok()?,
            log_level: LogLevel::from_name(&string("logLevel")?)?,
            watched: strings("watched")?.into_iter().map(String::into_boxed_str).collect(),
        })
    }
}

fn write_list<'a>(out: &mut String, name: &str, items: impl Iterator<Item = &'a str>) {
    out.push_str(",\"");
    out.push_str(name);
    out.push_str("\":[");
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(',');
        }
        write::string(out, item);
    }
    out.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let mut declared = Capabilities::default();
        declared.insert(Capability::ToolsListChanged);
        declared.insert(Capability::Logging);
        let state = SessionState {
            revision: Revision::V2025_06_18,
            client: Some(Json::trusted(r#"{"name":"c","version":"1"}"#)),
            capabilities: Some(Json::trusted(r#"{"roots":{}}"#)),
            declared,
            is_open: true,
            log_level: LogLevel::Warning,
            watched: Vec::from(["a:\"b\"".into(), "c:d".into()]),
        };
        let text = state.to_text();
        assert_eq!(SessionState::from_text(&text), Some(state));
        for cut in 0..text.len() {
            assert_eq!(SessionState::from_text(&text[..cut]), None);
        }
        assert_eq!(SessionState::from_text(&text.replace("\"format\":1", "\"format\":2")), None);
        assert_eq!(SessionState::from_text(&text.replace("2025-06-18", "2026-07-28")), None);
        assert_eq!(SessionState::from_text(&text.replace("logging", "flying")), None);
    }
}
