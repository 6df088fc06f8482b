//! The one table of methods: direction, revisions, capability, rounds, caching, and the member that names the target.

use super::{Capability, Revision, Revisions};

/// Who sends a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The client only.
    ClientToServer,
    /// The server only.
    ServerToClient,
    /// Either side.
    Both,
}

/// Whether an answer is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Has an id and is answered once.
    Request,
    /// Has no id and is never answered.
    Notification,
}

/// One row of the method table.
#[derive(Clone, Copy, Debug)]
pub struct MethodRow {
    /// The method this row is about.
    pub method: Method,
    /// The name on the wire.
    pub name: &'static str,
    /// Who sends it.
    pub direction: Direction,
    /// Request or notification.
    pub kind: Kind,
    /// Where it exists as a message of its own.
    pub revisions: Revisions,
    /// What the receiver must have declared, if anything.
    pub capability: Option<Capability>,
    /// From 2026-07-28 its answer can be `input_required` (basic/patterns/mrtr).
    pub rounds: bool,
    /// From 2026-07-28 its result carries `ttlMs` and `cacheScope` (server/utilities/caching).
    pub cacheable: bool,
    /// The member of `params` that names the target.
    pub name_member: Option<&'static str>,
}

macro_rules! methods {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $direction:ident, $kind:ident, $revisions:expr, $capability:expr $(, $flag:ident $(= $value:literal)?)*;)*) => {
        /// A method that the protocol defines.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Method {
            $(
                #[doc = concat!("`", $name, "`")]
                $variant,
            )*
        }

        impl Method {
            /// The table, in the order of the variants.
            pub const TABLE: &'static [MethodRow] = &[
                $({
                    #[allow(unused_mut, reason = "only some rows have flags")]
                    let mut row = MethodRow {
                        method: Method::$variant,
                        name: $name,
                        direction: Direction::$direction,
                        kind: Kind::$kind,
                        revisions: $revisions,
                        capability: $capability,
                        rounds: false,
                        cacheable: false,
                        name_member: None,
                    };
                    $(methods!(@flag row $flag $($value)?);)*
                    row
                },)*
            ];
        }
    };
    (@flag $row:ident rounds) => { $row.rounds = true; };
    (@flag $row:ident cacheable) => { $row.cacheable = true; };
    (@flag $row:ident named $value:literal) => { $row.name_member = Some($value); };
}

const ALL: Revisions = Revisions::ALL;
const LEGACY: Revisions = Revisions::LEGACY;
const MODERN: Revisions = Revisions::MODERN;
const ELICITING: Revisions = Revisions::of(&[Revision::V2025_06_18, Revision::V2025_11_25]);
const NEWEST_LEGACY: Revisions = Revisions::of(&[Revision::V2025_11_25]);

methods! {
    Initialize = "initialize", ClientToServer, Request, LEGACY, None;
    Initialized = "notifications/initialized", ClientToServer, Notification, LEGACY, None;
    Ping = "ping", Both, Request, LEGACY, None;
    Cancelled = "notifications/cancelled", Both, Notification, ALL, None;
    Progress = "notifications/progress", Both, Notification, ALL, None;
    Discover = "server/discover", ClientToServer, Request, MODERN, None, cacheable;
    SubscriptionsListen = "subscriptions/listen", ClientToServer, Request, MODERN, None;
    SubscriptionsAcknowledged = "notifications/subscriptions/acknowledged", ServerToClient, Notification, MODERN, None;
    ToolsList = "tools/list", ClientToServer, Request, ALL, Some(Capability::Tools), cacheable;
    ToolsCall = "tools/call", ClientToServer, Request, ALL, Some(Capability::Tools), rounds, named = "name";
    ToolsListChanged = "notifications/tools/list_changed", ServerToClient, Notification, ALL, Some(Capability::ToolsListChanged);
    ResourcesList = "resources/list", ClientToServer, Request, ALL, Some(Capability::Resources), cacheable;
    ResourceTemplatesList = "resources/templates/list", ClientToServer, Request, ALL, Some(Capability::Resources), cacheable;
    ResourcesRead = "resources/read", ClientToServer, Request, ALL, Some(Capability::Resources), rounds, cacheable, named = "uri";
    ResourcesSubscribe = "resources/subscribe", ClientToServer, Request, LEGACY, Some(Capability::ResourcesSubscribe), named = "uri";
    ResourcesUnsubscribe = "resources/unsubscribe", ClientToServer, Request, LEGACY, Some(Capability::ResourcesSubscribe), named = "uri";
    ResourcesUpdated = "notifications/resources/updated", ServerToClient, Notification, ALL, Some(Capability::ResourcesSubscribe);
    ResourcesListChanged = "notifications/resources/list_changed", ServerToClient, Notification, ALL, Some(Capability::ResourcesListChanged);
    PromptsList = "prompts/list", ClientToServer, Request, ALL, Some(Capability::Prompts), cacheable;
    PromptsGet = "prompts/get", ClientToServer, Request, ALL, Some(Capability::Prompts), rounds, named = "name";
    PromptsListChanged = "notifications/prompts/list_changed", ServerToClient, Notification, ALL, Some(Capability::PromptsListChanged);
    CompletionComplete = "completion/complete", ClientToServer, Request, ALL, Some(Capability::Completions);
    LoggingSetLevel = "logging/setLevel", ClientToServer, Request, LEGACY, Some(Capability::Logging);
    LoggingMessage = "notifications/message", ServerToClient, Notification, ALL, Some(Capability::Logging);
    SamplingCreateMessage = "sampling/createMessage", ServerToClient, Request, LEGACY, Some(Capability::Sampling);
    RootsList = "roots/list", ServerToClient, Request, LEGACY, Some(Capability::Roots);
    RootsListChanged = "notifications/roots/list_changed", ClientToServer, Notification, LEGACY, Some(Capability::RootsListChanged);
    ElicitationCreate = "elicitation/create", ServerToClient, Request, ELICITING, Some(Capability::Elicitation);
    ElicitationComplete = "notifications/elicitation/complete", ServerToClient, Notification, NEWEST_LEGACY, Some(Capability::ElicitationUrl);
}

impl Method {
    /// This method's row.
    pub const fn row(self) -> &'static MethodRow {
        &Method::TABLE[self as usize]
    }

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The method of that name, whatever the revision.
    pub fn from_name(name: &str) -> Option<Method> {
        // Calls are most of the traffic.
        if name == Method::ToolsCall.name() {
            return Some(Method::ToolsCall);
        }
        Method::TABLE.iter().find(|row| row.name == name).map(|row| row.method)
    }

    /// Whether `revision` defines this method as a message of its own.
    pub const fn exists_in(self, revision: Revision) -> bool {
        self.row().revisions.contains(revision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_their_method() {
        for (at, row) in Method::TABLE.iter().enumerate() {
            assert_eq!(row.method as usize, at);
            assert_eq!(Method::from_name(row.name), Some(row.method));
            assert_eq!(row.kind == Kind::Notification, row.name.starts_with("notifications/"));
        }
        assert_eq!(Method::from_name("tools/unknown"), None);
    }
}
