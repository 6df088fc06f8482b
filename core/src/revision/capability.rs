//! What a peer declares that it can do.

use core::fmt;

use crate::json::{Json, MAX_DEPTH, scan};

/// One declared ability, named by its member path in `ClientCapabilities` or `ServerCapabilities`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Capability {
    /// Server: `tools`
    Tools,
    /// Server: `tools.listChanged`
    ToolsListChanged,
    /// Server: `resources`
    Resources,
    /// Server: `resources.subscribe`
    ResourcesSubscribe,
    /// Server: `resources.listChanged`
    ResourcesListChanged,
    /// Server: `prompts`
    Prompts,
    /// Server: `prompts.listChanged`
    PromptsListChanged,
    /// Server: `logging`
    Logging,
    /// Server: `completions`
    Completions,
    /// Client: `roots`
    Roots,
    /// Client: `roots.listChanged`
    RootsListChanged,
    /// Client: `sampling`
    Sampling,
    /// Client: `sampling.tools`
    SamplingTools,
    /// Client: `sampling.context`
    SamplingContext,
    /// Client: `elicitation`, which includes the form mode unless only another mode is named
    Elicitation,
    /// Client: `elicitation.url`
    ElicitationUrl,
}

impl Capability {
    /// Every capability.
    pub const ALL: [Capability; 16] = [
        Capability::Tools,
        Capability::ToolsListChanged,
        Capability::Resources,
        Capability::ResourcesSubscribe,
        Capability::ResourcesListChanged,
        Capability::Prompts,
        Capability::PromptsListChanged,
        Capability::Logging,
        Capability::Completions,
        Capability::Roots,
        Capability::RootsListChanged,
        Capability::Sampling,
        Capability::SamplingTools,
        Capability::SamplingContext,
        Capability::Elicitation,
        Capability::ElicitationUrl,
    ];

    /// The member path, for example `tools.listChanged`.
    pub const fn path(self) -> &'static str {
        match self {
            Capability::Tools => "tools",
            Capability::ToolsListChanged => "tools.listChanged",
            Capability::Resources => "resources",
            Capability::ResourcesSubscribe => "resources.subscribe",
            Capability::ResourcesListChanged => "resources.listChanged",
            Capability::Prompts => "prompts",
            Capability::PromptsListChanged => "prompts.listChanged",
            Capability::Logging => "logging",
            Capability::Completions => "completions",
            Capability::Roots => "roots",
            Capability::RootsListChanged => "roots.listChanged",
            Capability::Sampling => "sampling",
            Capability::SamplingTools => "sampling.tools",
            Capability::SamplingContext => "sampling.context",
            Capability::Elicitation => "elicitation",
            Capability::ElicitationUrl => "elicitation.url",
        }
    }
}

/// A capabilities object: the abilities the core acts on, and the object as the peer wrote it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Capabilities {
    declared: u32,
    raw: Option<Json>,
}

impl Capabilities {
    /// Reads a capabilities object leniently: a member counts as declared if it is an object or `true`;
    /// whatever else it holds stays reachable through [`raw`](Self::raw).
    pub fn read(object: &Json) -> Capabilities {
        let mut capabilities = Capabilities { declared: 0, raw: Some(object.clone()) };
        let text = object.as_str();
        if text == "{}" {
            return capabilities;
        }
        let mut url_alone = false;
        // Text that is not an object declares nothing.
        let _ = scan::object_members(text, MAX_DEPTH, |key, value| {
            let (name, value) = (&text[key], &text[value]);
            if !counts(value) {
                return;
            }
            let Some(outer) = Capability::ALL.into_iter().find(|capability| capability.path() == name) else {
                return;
            };
            capabilities.insert(outer);
            let (mut url, mut form) = (false, false);
            let _ = scan::object_members(value, MAX_DEPTH, |key, inner| {
                let (key, inner) = (&value[key], &value[inner]);
                if !counts(inner) {
                    return;
                }
                url |= key == "url";
                form |= key == "form";
                let is_member =
                    |capability: &Capability| capability.path().split_once('.') == Some((name, key));
                if let Some(capability) = Capability::ALL.into_iter().find(is_member) {
                    capabilities.insert(capability);
                }
            });
            url_alone |= outer == Capability::Elicitation && url && !form;
        });
        // `elicitation: {url: {}}` declares the URL mode alone; `{}` means the form mode (client/elicitation).
        if url_alone {
            capabilities.remove(Capability::Elicitation);
        }
        capabilities
    }

    /// Whether `capability` is declared.
    pub const fn has(&self, capability: Capability) -> bool {
        self.declared & (1 << capability as u32) != 0
    }

    /// Declares `capability`; the object as written does not change.
    pub const fn insert(&mut self, capability: Capability) {
        self.declared |= 1 << capability as u32;
    }

    /// Withdraws `capability`; the object as written does not change.
    pub const fn remove(&mut self, capability: Capability) {
        self.declared &= !(1 << capability as u32);
    }

    /// The object as the peer wrote it, extensions and experimental members included.
    pub const fn raw(&self) -> Option<&Json> {
        self.raw.as_ref()
    }

    /// The settings object of an extension, from `extensions.<id>`.
    pub fn extension(&self, id: &str) -> Option<Json> {
        self.raw.as_ref()?.member("extensions")?.member(id)
    }
}

/// An object or `true` declares; `false`, numbers and strings do not.
fn counts(value: &str) -> bool {
    value.starts_with('{') || value == "true"
}

impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let declared =
            Capability::ALL.into_iter().filter(|&capability| self.has(capability)).map(Capability::path);
        f.debug_set().entries(declared).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: FEAT-302
    #[test]
    fn elicitation_modes() {
        let read = |text| Capabilities::read(&Json::new(text).unwrap());
        assert!(read(r#"{"elicitation":{}}"#).has(Capability::Elicitation));
        assert!(!read(r#"{"elicitation":{"url":{}}}"#).has(Capability::Elicitation));
        assert!(read(r#"{"elicitation":{"url":{}}}"#).has(Capability::ElicitationUrl));
        assert!(read(r#"{"elicitation":{"url":{},"form":{}}}"#).has(Capability::Elicitation));
        assert!(!read(r#"{"tools":null}"#).has(Capability::Tools));
        assert!(read(r#"{"tools":{"listChanged":true}}"#).has(Capability::ToolsListChanged));
        assert!(!read(r#"{"tools":{"listChanged":false}}"#).has(Capability::ToolsListChanged));
        assert!(read(r#"{"extensions":{"x.y/z":{"a":1}}}"#).extension("x.y/z").is_some());
    }
}
