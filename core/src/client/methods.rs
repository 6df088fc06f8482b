//! The protocol's own requests by name: each builds the parameters that its method defines and is one
//! [`Client::request`].

use alloc::borrow::Cow;
use alloc::string::String;

use crate::error::{ApiMisuse, Error};
use crate::json::{MAX_DEPTH, scan};
use crate::jsonrpc::write;
use crate::machine::RequestHandle;
use crate::revision::{Method, one_line};
use crate::time::Instant;

use super::params::Params;
use super::{Client, RequestOptions};

/// A list that a server gives page by page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Listing {
    /// Tools (server/tools).
    Tools,
    /// Resources (server/resources).
    Resources,
    /// Resource templates (server/resources).
    ResourceTemplates,
    /// Prompts (server/prompts).
    Prompts,
}

impl Listing {
    /// Every list.
    pub const ALL: [Listing; 4] =
        [Listing::Tools, Listing::Resources, Listing::ResourceTemplates, Listing::Prompts];

    /// The method that asks for a page.
    pub const fn method(self) -> Method {
        match self {
            Listing::Tools => Method::ToolsList,
            Listing::Resources => Method::ResourcesList,
            Listing::ResourceTemplates => Method::ResourceTemplatesList,
            Listing::Prompts => Method::PromptsList,
        }
    }
}

/// What an argument to complete belongs to (server/utilities/completion).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionReference<'a> {
    /// A prompt, by name.
    Prompt(&'a str),
    /// A resource template, or the URI of a resource.
    Resource(&'a str),
}

/// A question for suggestions (server/utilities/completion).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion<'a> {
    /// What the argument belongs to.
    pub reference: CompletionReference<'a>,
    /// The argument's name.
    pub argument: &'a str,
    /// What the user has typed so far.
    pub value: &'a str,
    /// Arguments settled before: the text of an object of strings by name. Servers heed it from 2025-06-18.
    pub arguments: Option<&'a str>,
}

impl Client {
    /// Calls a tool. `arguments` is the text of an object.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn call_tool(
        &mut self,
        now: Instant,
        name: &str,
        arguments: Option<&str>,
        options: RequestOptions,
    ) -> Result<RequestHandle, Error> {
        let arguments = arguments.map(object).transpose()?;
        let params = name_and_arguments(name, arguments.as_deref());
        self.start_request(now, Method::ToolsCall.name(), Params::Written(&params), options)
    }

    /// Asks for a prompt. `arguments` is the text of an object of strings by name.
    ///
    /// # Errors
    /// As [`request`](Self::request); [`ArgumentNotString`](crate::ApiMisuse::ArgumentNotString) if an argument
    /// is no string.
    pub fn get_prompt(
        &mut self,
        now: Instant,
        name: &str,
        arguments: Option<&str>,
        options: RequestOptions,
    ) -> Result<RequestHandle, Error> {
        let arguments = arguments.map(strings).transpose()?;
        let params = name_and_arguments(name, arguments.as_deref());
        self.start_request(now, Method::PromptsGet.name(), Params::Written(&params), options)
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn read_resource(
        &mut self,
        now: Instant,
        uri: &str,
        options: RequestOptions,
    ) -> Result<RequestHandle, Error> {
        let params = one_string("uri", uri);
        self.start_request(now, Method::ResourcesRead.name(), Params::Written(&params), options)
    }

    /// Asks for a page of a list: the first, or the one that `cursor` of the page before leads to.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn list(
        &mut self,
        now: Instant,
        listing: Listing,
        cursor: Option<&str>,
        options: RequestOptions,
    ) -> Result<RequestHandle, Error> {
        let params = cursor.map(|cursor| one_string("cursor", cursor));
        let params = params.as_deref().map_or(Params::Given(None), Params::Written);
        self.start_request(now, listing.method().name(), params, options)
    }

    /// Asks for suggestions.
    ///
    /// # Errors
    /// As [`get_prompt`](Self::get_prompt).
    pub fn complete(
        &mut self,
        now: Instant,
        completion: Completion<'_>,
        options: RequestOptions,
    ) -> Result<RequestHandle, Error> {
        let arguments = completion.arguments.map(strings).transpose()?;
        let params = completion_params(&Completion { arguments: arguments.as_deref(), ..completion });
        self.start_request(now, Method::CompletionComplete.name(), Params::Written(&params), options)
    }

    /// Asks whether the server is there. The legacy era only; since 2026-07-28 any request shows it.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn ping(&mut self, now: Instant, options: RequestOptions) -> Result<RequestHandle, Error> {
        self.request(now, Method::Ping.name(), None, options)
    }

    /// Tells the server that the roots have changed. The legacy era only.
    ///
    /// # Errors
    /// As [`notify`](Self::notify).
    pub fn notify_roots_changed(&mut self) -> Result<(), Error> {
        self.notify(Method::RootsListChanged.name(), None)
    }
}

fn one_string(member: &str, value: &str) -> String {
    let mut params = String::with_capacity(member.len() + value.len() + 8);
    params.push_str("{\"");
    params.push_str(member);
    params.push_str("\":");
    write::string(&mut params, value);
    params.push('}');
    params
}

/// The parameters of a call. `arguments` come from [`object`] or [`strings`].
fn name_and_arguments(name: &str, arguments: Option<&str>) -> String {
    let mut params = String::with_capacity(name.len() + arguments.map_or(0, str::len) + 32);
    params.push_str("{\"name\":");
    write::string(&mut params, name);
    if let Some(arguments) = arguments {
        params.push_str(",\"arguments\":");
        params.push_str(arguments);
    }
    params.push('}');
    params
}

/// The parameters of a question for suggestions, whose arguments come from [`strings`].
fn completion_params(completion: &Completion<'_>) -> String {
    let (kind, member, target) = match completion.reference {
        CompletionReference::Prompt(name) => ("ref/prompt", "name", name),
        CompletionReference::Resource(uri) => ("ref/resource", "uri", uri),
    };
    let mut params = String::from("{\"ref\":{\"type\":");
    write::string(&mut params, kind);
    write::string_member(&mut params, member, target);
    params.push_str("},\"argument\":{\"name\":");
    write::string(&mut params, completion.argument);
    write::string_member(&mut params, "value", completion.value);
    params.push('}');
    if let Some(arguments) = completion.arguments {
        params.push_str(",\"context\":{\"arguments\":");
        params.push_str(arguments);
        params.push('}');
    }
    params.push('}');
    params
}

/// Levels of nesting around the arguments of a completion, which lie deepest.
const AROUND: usize = 2;

/// The text of an object, on one line. It goes inside other text, and must be one value by itself, or it could close what
/// is around it.
fn object(text: &str) -> Result<Cow<'_, str>, ApiMisuse> {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    if text.starts_with('{') && scan::check(text, MAX_DEPTH - AROUND).is_ok() {
        Ok(one_line(text))
    } else {
        Err(ApiMisuse::InvalidJson)
    }
}

/// As [`object`], of strings by name, as arguments of prompts are (server/prompts).
fn strings(text: &str) -> Result<Cow<'_, str>, ApiMisuse> {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    let mut odd = None;
    let read = scan::object_members(text, MAX_DEPTH, |name, value| {
        if odd.is_none() && !text[value].starts_with('"') {
            odd = Some(name);
        }
    });
    read.map_err(|_| ApiMisuse::InvalidJson)?;
    match odd {
        None => Ok(one_line(text)),
        Some(name) => Err(ApiMisuse::ArgumentNotString(text[name].into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn parameters_hold_what_the_method_defines() {
        assert_eq!(name_and_arguments("a\"b", None), r#"{"name":"a\"b"}"#);
        assert_eq!(
            name_and_arguments("add", Some(r#"{"a":1e400}"#)),
            r#"{"name":"add","arguments":{"a":1e400}}"#
        );
        assert_eq!(one_string("uri", "file:///ä"), r#"{"uri":"file:///ä"}"#);
        let prompt = Completion {
            reference: CompletionReference::Prompt("greet"),
            argument: "name",
            value: "A",
            arguments: Some(r#"{"tone":"warm"}"#),
        };
        assert_eq!(
            completion_params(&prompt),
            r#"{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"name","value":"A"},"context":{"arguments":{"tone":"warm"}}}"#
        );
        let resource = Completion {
            reference: CompletionReference::Resource("file:///{path}"),
            argument: "path",
            value: "",
            arguments: None,
        };
        assert_eq!(
            completion_params(&resource),
            r#"{"ref":{"type":"ref/resource","uri":"file:///{path}"},"argument":{"name":"path","value":""}}"#
        );
    }

    #[test]
    fn arguments_cannot_leave_their_place() {
        for text in ["", "[1]", "1", "{", r#"{},"name":"other""#, r#"{}}{"x":{}"#] {
            assert_eq!(object(text), Err(ApiMisuse::InvalidJson), "{text}");
            assert_eq!(strings(text), Err(ApiMisuse::InvalidJson), "{text}");
        }
        let lines = "\n{\r\n  \"a\": \"\\n\",\n  \"b\": \"\"\n} ";
        for read in [object, strings] {
            assert_eq!(read(lines).as_deref(), Ok(r#"{"a": "\n","b": ""}"#));
        }
        assert_eq!(object(r#"{"a":1e400}"#).as_deref(), Ok(r#"{"a":1e400}"#));
        assert_eq!(strings(r#"{"a":"","b":1e400,"c":null}"#), Err(ApiMisuse::ArgumentNotString("b".into())));
        let deep = |levels: usize| format!(r#"{{"a":{}{}}}"#, "[".repeat(levels), "]".repeat(levels));
        assert!(object(&deep(MAX_DEPTH - AROUND - 1)).is_ok());
        assert!(object(&deep(MAX_DEPTH - AROUND)).is_err());
    }
}
