//! One list of definitions, and its pages.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use core::ops::Bound;

use super::cursor;
use super::definition::{self, Checked};
use crate::error::ApiMisuse;
use crate::jsonrpc::RpcError;
use crate::mirror::params::ParamHeaders;
use crate::revision::{Definition, Method, ResultMembers, Revision, write_list_result};
use crate::uri_template::UriTemplate;

/// Room for what stands around the definitions of a page.
const ENVELOPE: usize = 256;

#[derive(Debug)]
pub(super) struct List {
    kind: Definition,
    /// By number in the order of registration.
    entries: BTreeMap<u64, Entry>,
    numbers: BTreeMap<Arc<str>, u64>,
    next: u64,
}

#[derive(Debug)]
struct Entry {
    key: Arc<str>,
    definition: Box<str>,
    matter: Matter,
    /// The definition as each revision may see it, made when first asked for.
    projections: [Projection; Revision::ALL.len()],
}

/// What a definition says that the server acts on.
#[derive(Debug)]
enum Matter {
    Nothing,
    Template(UriTemplate),
    /// The headers that a tool wants of its arguments.
    Headers(ParamHeaders),
}

#[derive(Clone, Debug, Default)]
enum Projection {
    #[default]
    Unknown,
    /// Nothing had to be left out.
    Same,
    Text(Box<str>),
}

impl List {
    pub(super) const fn new(kind: Definition) -> List {
        List { kind, entries: BTreeMap::new(), numbers: BTreeMap::new(), next: 0 }
    }

    pub(super) fn add(&mut self, definition: &str) -> Result<(), ApiMisuse> {
        let Checked { key, text, headers } = definition::check(self.kind, definition)?;
        let matter = match self.kind {
            Definition::Template => {
                Matter::Template(UriTemplate::parse(&key).map_err(|_| ApiMisuse::InvalidTemplate)?)
            }
            Definition::Tool => Matter::Headers(headers),
            Definition::Resource | Definition::Prompt => Matter::Nothing,
        };
        if self.numbers.contains_key(&*key) {
            return Err(ApiMisuse::AlreadyRegistered);
        }
        let key: Arc<str> = key.into();
        self.numbers.insert(Arc::clone(&key), self.next);
        let entry = Entry { key, definition: text, matter, projections: Default::default() };
        self.entries.insert(self.next, entry);
        self.next += 1;
        Ok(())
    }

    pub(super) fn remove(&mut self, key: &str) -> Result<(), ApiMisuse> {
        let number = self.numbers.remove(key).ok_or(ApiMisuse::NotRegistered)?;
        self.entries.remove(&number);
        Ok(())
    }

    pub(super) fn contains(&self, key: &str) -> bool {
        self.numbers.contains_key(key)
    }

    pub(super) fn param_headers(&self, key: &str) -> Option<&ParamHeaders> {
        match &self.entries.get(self.numbers.get(key)?)?.matter {
            Matter::Headers(headers) => Some(headers),
            Matter::Nothing | Matter::Template(_) => None,
        }
    }

    /// The templates with their texts, in the order of registration.
    pub(super) fn templates(&self) -> impl Iterator<Item = (&Arc<str>, &UriTemplate)> {
        self.entries.values().filter_map(|entry| match &entry.matter {
            Matter::Template(template) => Some((&entry.key, template)),
            Matter::Nothing | Matter::Headers(_) => None,
        })
    }

    pub(super) fn write_page(
        &mut self,
        out: &mut String,
        method: Method,
        revision: Revision,
        cursor: Option<&str>,
        page_items: usize,
        members: &ResultMembers<'_>,
    ) -> Result<(), RpcError> {
        let after = match cursor.filter(|&cursor| cursor != "null") {
            None => Bound::Unbounded,
            Some(text) => Bound::Excluded(self.number_in(text)?),
        };
        let page_items = page_items.max(1);
        let kind = self.kind;
        let lengths = self.entries.range((after, Bound::Unbounded)).take(page_items);
        out.reserve(lengths.map(|(_, entry)| entry.definition.len() + 1).sum::<usize>() + ENVELOPE);
        let mut rest = self.entries.range_mut((after, Bound::Unbounded));
        write_list_result(out, method, revision, members, |out, next_cursor| {
            let mut last = None;
            for (&number, entry) in rest.by_ref().take(page_items) {
                if last.is_some() {
                    out.push(',');
                }
                out.push_str(entry.project(kind, revision));
                last = Some(number);
            }
            if let Some(last) = last.filter(|_| rest.next().is_some()) {
                cursor::write(next_cursor, kind, last);
            }
        });
        Ok(())
    }

    fn number_in(&self, cursor: &str) -> Result<u64, RpcError> {
        let number = cursor::read(self.kind, cursor).filter(|&number| number < self.next);
        number.ok_or_else(|| RpcError::new(RpcError::INVALID_PARAMS, "Invalid params: unknown cursor"))
    }
}

impl Entry {
    fn project(&mut self, kind: Definition, revision: Revision) -> &str {
        let projection = &mut self.projections[revision as usize];
        if matches!(projection, Projection::Unknown) {
            let text = kind.project(&self.definition, revision);
            let is_same = text == *self.definition;
            *projection = if is_same { Projection::Same } else { Projection::Text(text.into()) };
        }
        match projection {
            Projection::Text(text) => text,
            _ => &self.definition,
        }
    }
}
