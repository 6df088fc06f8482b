//! What events and commands are made of.

use barewire::server::RequestContext as CoreContext;
use barewire::{Capability, Json};

use crate::errors::{Failure, McpError, Outcome};

pub use barewire::client::Listing;
pub use barewire::transport::ChildAction;
pub use barewire::{CacheScope, Era, InputKind, ListKind, LogLevel};

/// One of the two ways in which revisions work.
#[uniffi::remote(Enum)]
pub enum Era {
    /// Revisions with a handshake.
    Legacy,
    /// The stateless way, where each request carries its own metadata.
    Modern,
}

/// Severity of a log message (RFC 5424, section 6.2.1), from least to most severe.
#[uniffi::remote(Enum)]
pub enum LogLevel {
    /// Detail for developers.
    Debug,
    /// Ordinary events.
    Info,
    /// Ordinary but significant events.
    Notice,
    /// Warnings.
    Warning,
    /// Errors.
    Error,
    /// Critical conditions.
    Critical,
    /// Action must be taken at once.
    Alert,
    /// The system is unusable.
    Emergency,
}

/// What a server can ask for.
#[uniffi::remote(Enum)]
pub enum InputKind {
    /// The user fills a form or visits a URL (client/elicitation).
    Elicitation,
    /// The client's model completes a conversation (client/sampling).
    Sampling,
    /// The client's roots (client/roots).
    Roots,
}

/// A list of the server that can change.
#[uniffi::remote(Enum)]
pub enum ListKind {
    /// Tools.
    Tools,
    /// Resources and resource templates.
    Resources,
    /// Prompts.
    Prompts,
}

/// A list that a server gives page by page.
#[uniffi::remote(Enum)]
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

/// Who may share a cached result.
#[uniffi::remote(Enum)]
pub enum CacheScope {
    /// Anyone: it does not depend on who asked.
    Public,
    /// The asking user only.
    Private,
}

/// What to do to a child process next.
#[uniffi::remote(Enum)]
pub enum ChildAction {
    /// Close the child's standard input.
    CloseInput,
    /// Ask the child and its process group to end (SIGTERM where there are signals).
    Terminate,
    /// End the child and its process group by force (SIGKILL where there are signals).
    Kill,
}

/// What a peer declares that it can do.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct Capabilities {
    /// The declared capabilities that the core knows, each by its path, such as `sampling.tools`.
    pub declared: Vec<String>,
    /// The text of the capabilities object, if there was one.
    pub raw: Option<String>,
}

impl From<&barewire::Capabilities> for Capabilities {
    fn from(capabilities: &barewire::Capabilities) -> Capabilities {
        let declared = Capability::ALL.into_iter().filter(|capability| capabilities.has(*capability));
        Capabilities {
            declared: declared.map(|capability| capability.path().to_owned()).collect(),
            raw: capabilities.raw().map(text),
        }
    }
}

/// Who sent a request, and what came with it.
#[derive(Clone, Debug, PartialEq, uniffi::Record)]
pub struct RequestContext {
    /// The revision that governs this request.
    pub revision: String,
    /// The era of the revision.
    pub era: Era,
    /// The text of the client's name and version object, if it gave one. It identifies nobody.
    pub client: Option<String>,
    /// What the client declared: for its session, or with this very request.
    pub capabilities: Capabilities,
    /// The least severity of log messages the client wants; without one it wants none.
    pub log_level: Option<LogLevel>,
    /// The token to report progress under, as JSON; without one no progress is wanted.
    pub progress_token: Option<String>,
    /// The text of the `_meta` object of the request: trace context, extensions.
    pub meta: Option<String>,
    /// The session, in the legacy era.
    pub session: Option<u64>,
    /// The HTTP exchange that carries the request.
    pub exchange: Option<u64>,
    /// Who the host says the client is.
    pub principal: Option<String>,
    /// Answers to questions of this request, from all rounds. Before the first round, those that the client gave ahead,
    /// under whatever keys it chose (basic/patterns/mrtr).
    pub input_answers: Vec<InputAnswer>,
    /// What the application kept with its last question, as JSON.
    pub state: Option<String>,
    /// How many times this request has asked before.
    pub round: u32,
}

impl From<CoreContext> for RequestContext {
    fn from(context: CoreContext) -> RequestContext {
        RequestContext {
            revision: context.revision.as_str().into(),
            era: context.era(),
            client: context.client.as_ref().map(text),
            capabilities: (&*context.capabilities).into(),
            log_level: context.log_level,
            progress_token: context.progress_token.as_ref().map(text),
            meta: context.meta.as_ref().map(text),
            session: context.session.map(barewire::SessionHandle::number),
            exchange: context.exchange.map(barewire::ExchangeHandle::number),
            principal: context.principal.as_deref().map(String::from),
            input_answers: context.input_answers.into_iter().map(InputAnswer::from).collect(),
            state: context.state.as_ref().map(text),
            round: context.round,
        }
    }
}

/// A question of the server, as the client sees it.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct InputRequest {
    /// Names the question; an answer is given to it.
    pub input: u64,
    /// What is asked for.
    pub kind: InputKind,
    /// The text of the parameters: what to show, or what to complete.
    pub params: Option<String>,
    /// The server's own key for the question, where the revision has one.
    pub key: Option<String>,
}

impl From<barewire::InputRequest> for InputRequest {
    fn from(question: barewire::InputRequest) -> InputRequest {
        InputRequest {
            input: question.input.number(),
            kind: question.kind,
            params: question.params.as_ref().map(text),
            key: question.key.map(String::from),
        }
    }
}

/// A question as the server's application asks it.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct InputQuestion {
    /// A key of the application's choice, unique within the request over all rounds; the answer comes back under it.
    pub key: String,
    /// What is asked for.
    pub kind: InputKind,
    /// The text of the parameters object.
    pub params: String,
}

impl InputQuestion {
    pub(crate) fn to_core(&self) -> Outcome<barewire::InputQuestion> {
        Ok(barewire::InputQuestion {
            key: self.key.as_str().into(),
            kind: self.kind,
            params: json(&self.params)?,
        })
    }
}

/// An answer of the client, as the server sees it: either `result` or `error`.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct InputAnswer {
    /// The key of the question.
    pub key: String,
    /// The text of the result object.
    pub result: Option<String>,
    /// The error of a legacy client that refused.
    pub error: Option<Failure>,
}

impl From<barewire::InputAnswer> for InputAnswer {
    fn from(answer: barewire::InputAnswer) -> InputAnswer {
        let (result, error) = crate::errors::apart(answer.outcome);
        InputAnswer { key: answer.key.into(), result, error }
    }
}

/// What a subscription is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, uniffi::Record)]
pub struct SubscriptionFilter {
    /// Changes of the tool list.
    #[uniffi(default = false)]
    pub tools: bool,
    /// Changes of the resource and template lists.
    #[uniffi(default = false)]
    pub resources: bool,
    /// Changes of the prompt list.
    #[uniffi(default = false)]
    pub prompts: bool,
    /// Changes of these resources and those below them.
    #[uniffi(default = [])]
    pub resource_uris: Vec<String>,
}

impl From<SubscriptionFilter> for barewire::SubscriptionFilter {
    fn from(filter: SubscriptionFilter) -> barewire::SubscriptionFilter {
        barewire::SubscriptionFilter {
            tools: filter.tools,
            resources: filter.resources,
            prompts: filter.prompts,
            resource_uris: filter.resource_uris.into_iter().map(String::into_boxed_str).collect(),
        }
    }
}

impl From<barewire::SubscriptionFilter> for SubscriptionFilter {
    fn from(filter: barewire::SubscriptionFilter) -> SubscriptionFilter {
        SubscriptionFilter {
            tools: filter.tools,
            resources: filter.resources,
            prompts: filter.prompts,
            resource_uris: filter.resource_uris.into_iter().map(String::from).collect(),
        }
    }
}

/// What an argument to complete belongs to (server/utilities/completion).
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum CompletionReference {
    /// A prompt.
    Prompt {
        /// Its name.
        name: String,
    },
    /// A resource template or resource.
    Resource {
        /// The template, or the URI.
        uri: String,
    },
}

/// A question for suggestions (server/utilities/completion).
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct Completion {
    /// What the argument belongs to.
    pub reference: CompletionReference,
    /// The argument's name.
    pub argument: String,
    /// What the user has typed so far.
    pub value: String,
    /// Arguments settled before: the text of an object of strings by name.
    #[uniffi(default = None)]
    pub arguments: Option<String>,
}

/// A variable of a URI template, and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value, percent-decoded.
    pub value: String,
}

/// A header of HTTP.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct Header {
    /// Its name.
    pub name: String,
    /// Its value. One that is not UTF-8 has its bytes above 127 as they are in Latin-1.
    pub value: String,
}

impl Header {
    pub(crate) fn new(name: &str, value: &str) -> Header {
        Header { name: name.into(), value: value.into() }
    }
}

/// Headers as the core takes them.
pub(crate) fn pairs(headers: &[Header]) -> Vec<(&str, &str)> {
    headers.iter().map(|header| (&*header.name, &*header.value)).collect()
}

/// A piece of JSON on its way out.
pub(crate) fn text(json: &Json) -> String {
    json.as_str().to_owned()
}

/// A piece of JSON on its way in.
pub(crate) fn json(text: &str) -> Outcome<Json> {
    Json::new(text).map_err(|_| McpError::from(barewire::Error::from(barewire::ApiMisuse::InvalidJson)))
}
