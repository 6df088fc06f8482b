//! What can be watched: one vocabulary for `subscriptions/listen` and the legacy ways.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::revision::{Capability, Method};

/// A list of the server that can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListKind {
    /// Tools.
    Tools,
    /// Resources and resource templates.
    Resources,
    /// Prompts.
    Prompts,
}

impl ListKind {
    /// Every list.
    pub const ALL: [ListKind; 3] = [ListKind::Tools, ListKind::Resources, ListKind::Prompts];

    /// The notification that says it changed.
    pub const fn method(self) -> Method {
        match self {
            ListKind::Tools => Method::ToolsListChanged,
            ListKind::Resources => Method::ResourcesListChanged,
            ListKind::Prompts => Method::PromptsListChanged,
        }
    }

    /// The capability that promises such notifications.
    pub const fn capability(self) -> Capability {
        match self {
            ListKind::Tools => Capability::ToolsListChanged,
            ListKind::Resources => Capability::ResourcesListChanged,
            ListKind::Prompts => Capability::PromptsListChanged,
        }
    }

    /// The member of a `subscriptions/listen` filter (basic/patterns/subscriptions).
    pub const fn filter_member(self) -> &'static str {
        match self {
            ListKind::Tools => "toolsListChanged",
            ListKind::Resources => "resourcesListChanged",
            ListKind::Prompts => "promptsListChanged",
        }
    }
}

/// The member of a `subscriptions/listen` filter that lists resource URIs.
pub(crate) const RESOURCE_SUBSCRIPTIONS: &str = "resourceSubscriptions";

/// What a subscription is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscriptionFilter {
    /// Changes of the tool list.
    pub tools: bool,
    /// Changes of the resource and template lists.
    pub resources: bool,
    /// Changes of the prompt list.
    pub prompts: bool,
    /// Changes of these resources, by URI.
    pub resource_uris: Vec<Box<str>>,
}

impl SubscriptionFilter {
    /// Whether it asks for nothing.
    pub fn is_empty(&self) -> bool {
        !(self.tools || self.resources || self.prompts) && self.resource_uris.is_empty()
    }

    /// Whether changes of `kind` are asked for.
    pub const fn list(&self, kind: ListKind) -> bool {
        match kind {
            ListKind::Tools => self.tools,
            ListKind::Resources => self.resources,
            ListKind::Prompts => self.prompts,
        }
    }

    /// Asks for changes of `kind`, or no longer.
    pub const fn set_list(&mut self, kind: ListKind, wanted: bool) {
        match kind {
            ListKind::Tools => self.tools = wanted,
            ListKind::Resources => self.resources = wanted,
            ListKind::Prompts => self.prompts = wanted,
        }
    }
}

/// Something that changed on a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A list.
    List(ListKind),
    /// A resource, by URI.
    Resource(Box<str>),
}
