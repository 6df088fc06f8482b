//! The catalog: what a server offers, as definitions in JSON text, and the list results made of it.

mod cursor;
mod definition;
mod list;

use alloc::string::String;
use alloc::sync::Arc;

use super::{CompletionReference, TemplateMatch};
use crate::error::Error;
use crate::jsonrpc::RpcError;
use crate::mirror::params::ParamHeaders;
use crate::revision::{Definition, Method, ResultMembers, Revision};
use crate::uri;
use crate::uri_template::Value;
use list::List;
pub(crate) use list::PageBounds;

/// Everything that is registered. Order is the order of registration; what is removed and registered again
/// stands at the end.
#[derive(Debug)]
pub(crate) struct Catalog {
    tools: List,
    resources: List,
    templates: List,
    prompts: List,
}

/// What a URI leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundResource {
    /// The template that matched; `None` if the URI is registered itself.
    pub(crate) template: Option<TemplateMatch>,
}

impl Default for Catalog {
    fn default() -> Self {
        Catalog {
            tools: List::new(Definition::Tool),
            resources: List::new(Definition::Resource),
            templates: List::new(Definition::Template),
            prompts: List::new(Definition::Prompt),
        }
    }
}

impl Catalog {
    /// Registers a `Tool` object.
    ///
    /// # Errors
    /// `InvalidJson`, `InvalidDefinition`, `AlreadyRegistered`.
    pub(crate) fn add_tool(&mut self, definition: &str) -> Result<(), Error> {
        Ok(self.tools.add(definition)?)
    }

    /// # Errors
    /// `NotRegistered`.
    pub(crate) fn remove_tool(&mut self, name: &str) -> Result<(), Error> {
        Ok(self.tools.remove(name)?)
    }

    /// Registers a `Resource` object.
    ///
    /// # Errors
    /// As [`add_tool`](Self::add_tool).
    pub(crate) fn add_resource(&mut self, definition: &str) -> Result<(), Error> {
        Ok(self.resources.add(definition)?)
    }

    /// # Errors
    /// `NotRegistered`.
    pub(crate) fn remove_resource(&mut self, uri: &str) -> Result<(), Error> {
        Ok(self.resources.remove(uri)?)
    }

    /// Registers a `ResourceTemplate` object.
    ///
    /// # Errors
    /// As [`add_tool`](Self::add_tool), and `InvalidTemplate`.
    pub(crate) fn add_resource_template(&mut self, definition: &str) -> Result<(), Error> {
        Ok(self.templates.add(definition)?)
    }

    /// # Errors
    /// `NotRegistered`.
    pub(crate) fn remove_resource_template(&mut self, template: &str) -> Result<(), Error> {
        Ok(self.templates.remove(template)?)
    }

    /// Registers a `Prompt` object.
    ///
    /// # Errors
    /// As [`add_tool`](Self::add_tool).
    pub(crate) fn add_prompt(&mut self, definition: &str) -> Result<(), Error> {
        Ok(self.prompts.add(definition)?)
    }

    /// # Errors
    /// `NotRegistered`.
    pub(crate) fn remove_prompt(&mut self, name: &str) -> Result<(), Error> {
        Ok(self.prompts.remove(name)?)
    }

    pub(crate) fn has_tool(&self, name: &str) -> bool {
        self.tools.contains(name)
    }

    /// The headers that a tool wants of its arguments; none if there is no such tool.
    pub(crate) fn param_headers(&self, tool: &str) -> Option<&ParamHeaders> {
        self.tools.param_headers(tool)
    }

    pub(crate) fn has_templates(&self) -> bool {
        self.templates.templates().next().is_some()
    }

    pub(crate) fn has_prompt(&self, name: &str) -> bool {
        self.prompts.contains(name)
    }

    /// What answers a read of `uri`: a resource of exactly that URI, else the most specific template that
    /// matches, the one registered first among equals. A template takes no `file:` URI that leads upwards, so that
    /// what a client asks for stays below what the template names (server/resources, Security Considerations).
    pub(crate) fn find_resource(&self, uri: &str) -> Option<FoundResource> {
        if self.resources.contains(uri) {
            return Some(FoundResource { template: None });
        }
        if !uri::is_uri(uri) || (uri::is_file_uri(uri) && uri::climbs(uri)) {
            return None;
        }
        let mut best: Option<(usize, TemplateMatch)> = None;
        for (name, template) in self.templates.templates() {
            let specificity = template.specificity();
            if best.as_ref().is_some_and(|&(so_far, _)| so_far >= specificity) {
                continue;
            }
            if let Some(variables) = template.matches(uri) {
                let variables =
                    variables.into_iter().map(|(name, value)| (name.into(), as_text(value).into()));
                best = Some((
                    specificity,
                    TemplateMatch { template: Arc::clone(name), variables: variables.collect() },
                ));
            }
        }
        best.map(|(_, found)| FoundResource { template: Some(found) })
    }

    /// Whether a completion for `reference` can be asked for: a registered prompt, a registered template by
    /// its text, or a URI that leads to a resource (server/utilities/completion).
    pub(crate) fn has_completion_target(&self, reference: &CompletionReference) -> bool {
        match reference {
            CompletionReference::Prompt(name) => self.prompts.contains(name),
            CompletionReference::Resource(uri) => {
                self.templates.contains(uri) || self.find_resource(uri).is_some()
            }
        }
    }

    /// Most bytes that it takes to hold one more definition, beside those of the definition.
    pub(crate) fn growth(&self) -> usize {
        let lists = [&self.tools, &self.resources, &self.templates, &self.prompts];
        lists.into_iter().map(List::growth).max().unwrap_or(0)
    }

    /// Most bytes of definitions on a page, where at most `page_bytes` stand on one with several.
    pub(crate) fn longest_page(&self, page_bytes: usize) -> usize {
        let lists = [&self.tools, &self.resources, &self.templates, &self.prompts];
        lists.into_iter().map(|list| list.longest_page(page_bytes)).max().unwrap_or(0)
    }

    /// Appends the result of the list method `method`: the page behind `cursor` (the JSON text of the
    /// parameter, if given), as many definitions as `bounds` allow and at least one, as `revision` may see them,
    /// with all that `revision` wants of the result.
    ///
    /// # Errors
    /// -32602 for a cursor that no server with this catalog gave out; -32601 if `method` is no list
    /// method. Nothing is appended then.
    pub(crate) fn write_page(
        &mut self,
        out: &mut String,
        method: Method,
        revision: Revision,
        cursor: Option<&str>,
        bounds: PageBounds,
        members: &ResultMembers<'_>,
    ) -> Result<(), RpcError> {
        let list = match method {
            Method::ToolsList => &mut self.tools,
            Method::ResourcesList => &mut self.resources,
            Method::ResourceTemplatesList => &mut self.templates,
            Method::PromptsList => &mut self.prompts,
            _ => return Err(RpcError::new(RpcError::METHOD_NOT_FOUND, "Method not found")),
        };
        list.write_page(out, method, revision, cursor, bounds, members)
    }
}

/// A variable as text; the parts of an exploded one are joined by commas.
fn as_text(value: Value) -> String {
    match value {
        Value::Text(text) => text,
        Value::List(parts) => parts.join(","),
        Value::Map(members) => members
            .into_iter()
            .map(|(key, value)| [key, value].join("="))
            .collect::<alloc::vec::Vec<_>>()
            .join(","),
    }
}

#[cfg(test)]
mod tests;
