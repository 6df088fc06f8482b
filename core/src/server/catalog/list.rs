//! One list of definitions, and its pages.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::cursor;
use super::definition::{self, Checked};
use crate::error::ApiMisuse;
use crate::jsonrpc::RpcError;
use crate::mirror::params::ParamHeaders;
use crate::revision::{Definition, Method, ResultMembers, Revision, Revisions, write_list_result};
use crate::uri_template::UriTemplate;

/// Room for what stands around the definitions of a page.
const ENVELOPE: usize = 256;

#[derive(Debug)]
pub(super) struct List {
    kind: Definition,
    /// In the order of registration, and so of their numbers.
    entries: Vec<Entry>,
    numbers: BTreeMap<Arc<str>, u64>,
    next: u64,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    key: Arc<str>,
    definition: Box<str>,
    matter: Matter,
    /// The definition as the revisions may see it that cannot have all of it.
    projections: Vec<(Revision, Box<str>)>,
    /// The revisions that were asked for, for which it is known whether they have a projection.
    projected: Revisions,
}

/// How much may stand on one page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageBounds {
    /// Definitions.
    pub(crate) items: usize,
    /// Bytes of definitions, with the commas between them.
    pub(crate) bytes: usize,
}

/// What a definition says that the server acts on.
#[derive(Debug)]
enum Matter {
    Nothing,
    Template(UriTemplate),
    /// The headers that a tool wants of its arguments.
    Headers(ParamHeaders),
}

impl List {
    pub(super) const fn new(kind: Definition) -> List {
        List { kind, entries: Vec::new(), numbers: BTreeMap::new(), next: 0 }
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
        self.entries.push(Entry {
            number: self.next,
            key,
            definition: text,
            matter,
            projections: Vec::new(),
            projected: Revisions::NONE,
        });
        self.next += 1;
        Ok(())
    }

    pub(super) fn remove(&mut self, key: &str) -> Result<(), ApiMisuse> {
        let number = self.numbers.remove(key).ok_or(ApiMisuse::NotRegistered)?;
        if let Ok(place) = self.place(number) {
            self.entries.remove(place);
        }
        Ok(())
    }

    pub(super) fn contains(&self, key: &str) -> bool {
        self.numbers.contains_key(key)
    }

    pub(super) fn param_headers(&self, key: &str) -> Option<&ParamHeaders> {
        let place = self.place(*self.numbers.get(key)?).ok()?;
        match &self.entries.get(place)?.matter {
            Matter::Headers(headers) => Some(headers),
            Matter::Nothing | Matter::Template(_) => None,
        }
    }

    /// The templates with their texts, in the order of registration.
    pub(super) fn templates(&self) -> impl Iterator<Item = (&Arc<str>, &UriTemplate)> {
        self.entries.iter().filter_map(|entry| match &entry.matter {
            Matter::Template(template) => Some((&entry.key, template)),
            Matter::Nothing | Matter::Headers(_) => None,
        })
    }

    /// Where the definition with this number stands, or would stand.
    fn place(&self, number: u64) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&number, |entry| entry.number)
    }

    /// Bytes that the list takes to hold one more definition, beside those of the definition.
    pub(super) fn growth(&self) -> usize {
        let is_full = self.entries.len() == self.entries.capacity();
        if is_full { 2 * self.entries.len().max(2) * size_of::<Entry>() } else { 0 }
    }

    pub(super) fn longest_page(&self, page_bytes: usize) -> usize {
        let lengths = || self.entries.iter().map(|entry| entry.definition.len() + 1);
        lengths().sum::<usize>().min(lengths().max().unwrap_or(0).max(page_bytes))
    }

    pub(super) fn write_page(
        &mut self,
        out: &mut String,
        method: Method,
        revision: Revision,
        cursor: Option<&str>,
        bounds: PageBounds,
        members: &ResultMembers<'_>,
    ) -> Result<(), RpcError> {
        let first = match cursor.filter(|&cursor| cursor != "null") {
            None => 0,
            Some(text) => self.place(self.number_in(text)? + 1).unwrap_or_else(|place| place),
        };
        let kind = self.kind;
        // A place is never beyond the end.
        let (_, rest) = self.entries.split_at_mut(first);
        let lengths = rest.iter().take(bounds.items).map(|entry| entry.definition.len() + 1);
        out.reserve(lengths.sum::<usize>().min(bounds.bytes) + ENVELOPE);
        write_list_result(out, method, revision, members, |out, next_cursor| {
            let (mut last, mut bytes) = (None, 0);
            for (at, entry) in rest.iter_mut().enumerate() {
                let number = entry.number;
                let text = entry.project(kind, revision);
                bytes += text.len() + 1;
                // The first stands there whatever its length, so that the list goes on.
                if let Some(last) = last {
                    if at == bounds.items || bytes > bounds.bytes {
                        return cursor::write(next_cursor, kind, last);
                    }
                    out.push(',');
                }
                out.push_str(text);
                last = Some(number);
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
    /// The definition as `revision` may see it; what that is, is found out when it is first asked for.
    fn project(&mut self, kind: Definition, revision: Revision) -> &str {
        if !self.projected.contains(revision) {
            self.projected = self.projected.with(revision);
            let text = kind.project(&self.definition, revision);
            if text != *self.definition {
                self.projections.push((revision, text.into()));
            }
        }
        let own = self.projections.iter().find(|(of, _)| *of == revision);
        own.map_or(&self.definition, |(_, text)| text)
    }
}
