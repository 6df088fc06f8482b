//! The arguments that a tool wants mirrored: `x-mcp-header` in its `inputSchema` (server/tools, 2026-07-28).

use alloc::borrow::Cow;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use memchr::memmem;

use super::{Undecodable, decode, is_token};
use crate::json::scan::{ScanError, Scanner};
use crate::json::{MAX_DEPTH, scan};
use crate::jsonrpc::parse::decode_string;

/// The annotation.
const ANNOTATION: &str = "x-mcp-header";

/// Schemas that nest deeper than this are not searched; as many levels as a message has by default.
const DEEPEST: usize = 128;

/// Keywords whose value is data, not a schema.
const DATA: [&str; 4] = ["const", "default", "enum", "examples"];

/// Keywords whose value is an object of schemas by name.
const BY_NAME: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", PROPERTIES];

/// The only keyword that leads to where an annotation may stand.
const PROPERTIES: &str = "properties";

/// Types that can be mirrored.
const MIRRORED: [&str; 3] = ["\"boolean\"", "\"integer\"", "\"string\""];

/// The greatest integer, and the negative of the least, that every receiver reads exactly.
const SAFE_INTEGER: i64 = (1 << 53) - 1;

/// The arguments of one tool that are mirrored, as a tree of the members that lead to them. The first node stands for
/// the arguments as a whole; there is none if nothing is mirrored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ParamHeaders {
    nodes: Vec<Node>,
}

/// A member that is mirrored, or that leads to one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    /// What the tool calls the header, without the prefix.
    header: Option<Box<str>>,
    /// Its own members by name, and their places in the list of nodes.
    members: BTreeMap<Box<str>, usize>,
}

/// Why the arguments of a tool cannot be mirrored, so that it cannot be called over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unmirrored {
    /// The schema is no JSON object, or nests too deeply.
    InvalidSchema,
    /// The name is empty.
    EmptyName,
    /// The name is no string that can be part of the name of a header.
    InvalidName(Box<str>),
    /// Two arguments have names that differ in case at most.
    DuplicateName(Box<str>),
    /// The argument has no type, several, or another than string, integer and boolean.
    InvalidType(Box<str>),
    /// The annotation does not stand at a property that only `properties` lead to.
    Unreachable(Box<str>),
}

impl fmt::Display for Unmirrored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmirrored::InvalidSchema => {
                f.write_str("the input schema is not an object, or nests too deeply")
            }
            Unmirrored::EmptyName => write!(f, "{ANNOTATION} is empty"),
            Unmirrored::InvalidName(name) => write!(f, "{ANNOTATION} {name} is not the name of a header"),
            Unmirrored::DuplicateName(name) => write!(f, "{ANNOTATION} {name:?} stands twice"),
            Unmirrored::InvalidType(name) => {
                write!(f, "{ANNOTATION} {name:?} is not at a string, an integer or a boolean")
            }
            Unmirrored::Unreachable(name) => {
                write!(f, "{ANNOTATION} {name:?} is not at a property that only \"properties\" lead to")
            }
        }
    }
}

/// How an argument and its header disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// The name of the header behind the prefix, as the tool has it.
    pub(crate) name: Box<str>,
    pub(crate) kind: MismatchKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MismatchKind {
    /// The argument is there, the header is not.
    Missing,
    /// The header is there, the argument is not, or is null.
    Unexpected,
    /// The header stands more than once.
    Duplicate,
    /// They have different values.
    Different,
    /// The value of the header is none.
    Undecodable(Undecodable),
    /// The argument is nothing that can be mirrored: an object, an array, a fraction, an integer out of range.
    NotMirrorable,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let explanation = match self.kind {
            MismatchKind::Missing => "is missing",
            MismatchKind::Unexpected => "is there without its argument",
            MismatchKind::Duplicate => "stands more than once",
            MismatchKind::Different => "does not match its argument",
            MismatchKind::Undecodable(reason) => reason.explanation(),
            MismatchKind::NotMirrorable => "cannot hold its argument",
        };
        write!(f, "the header for {} {explanation}", self.name)
    }
}

/// What follows the prefix in the name of a header, and the value, not encoded yet.
pub(crate) type NamedValue = (Box<str>, Box<str>);

impl ParamHeaders {
    /// Reads the annotations in the text of an `inputSchema`. Most schemas have none and are not walked.
    pub(crate) fn read(schema: &str) -> Result<ParamHeaders, Unmirrored> {
        let bytes = schema.as_bytes();
        let may_hold = memmem::find(bytes, ANNOTATION.as_bytes()).is_some()
            // The keyword may be written with escapes.
            || memmem::find(bytes, br"\u").is_some();
        if !may_hold {
            return Ok(ParamHeaders::default());
        }
        let mut walk = Walk::new(schema);
        let mut scanner = Scanner::new(schema, DEEPEST);
        let outcome = walk.schema(&mut scanner, 0, true).and_then(|()| scanner.end());
        match (outcome, walk.fault) {
            (Err(_), _) => Err(Unmirrored::InvalidSchema),
            (Ok(()), Some(fault)) => Err(fault),
            (Ok(()), None) => Ok(walk.found),
        }
    }

    /// True if no argument is mirrored.
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The headers for `arguments`, the text of an object. An argument that is absent or null has none.
    pub(crate) fn values(&self, arguments: Option<&str>) -> Result<Vec<NamedValue>, Mismatch> {
        let mut headers = Vec::new();
        for (name, token) in self.locate(arguments) {
            let Some(token) = token else { continue };
            let value = value_of(token).ok_or_else(|| mismatch(name, MismatchKind::NotMirrorable))?;
            headers.push((name.into(), value.into()));
        }
        Ok(headers)
    }

    /// Compares `arguments`, the text of an object, with the headers that came: the name behind the prefix in any
    /// case, and the trimmed value. Headers of other names do not count.
    pub(crate) fn check(&self, arguments: Option<&str>, received: &[(&str, &str)]) -> Result<(), Mismatch> {
        for (name, token) in self.locate(arguments) {
            let mut values = received.iter().filter(|(received, _)| received.eq_ignore_ascii_case(name));
            let agreed = match (token, values.next(), values.next()) {
                (_, _, Some(_)) => Err(MismatchKind::Duplicate),
                (None, None, None) => Ok(()),
                (Some(_), None, None) => Err(MismatchKind::Missing),
                (None, Some(_), None) => Err(MismatchKind::Unexpected),
                (Some(token), Some((_, value)), None) => compare(token, value),
            };
            agreed.map_err(|kind| mismatch(name, kind))?;
        }
        Ok(())
    }

    /// The name of each header and the token of its argument, if that is there and not null; of duplicate members the
    /// last counts.
    fn locate<'a>(&self, arguments: Option<&'a str>) -> impl Iterator<Item = (&str, Option<&'a str>)> {
        let mut found = alloc::vec![None; self.nodes.len()];
        if let Some(text) = arguments.filter(|_| !self.is_empty()) {
            // What is no object holds no argument; whoever checks arguments says so.
            let _ = self.locate_members(text, &mut Scanner::new(text, MAX_DEPTH), 0, 0, &mut found);
        }
        self.nodes.iter().zip(found).filter_map(|(node, token)| {
            let header = node.header.as_deref()?;
            Some((header, token.filter(|token| *token != "null")))
        })
    }

    /// Looks for the members of the node at `place` in the object before which the scanner stands, `depth` members deep.
    fn locate_members<'a>(
        &self,
        text: &'a str,
        scanner: &mut Scanner<'a>,
        depth: usize,
        place: usize,
        found: &mut [Option<&'a str>],
    ) -> Result<(), ScanError> {
        scanner.members(depth, |scanner, key| {
            // Places are those of nodes, and `found` has an entry for each.
            let member = self.nodes[place].members.get(&*decoded(text, &key)).copied();
            if let Some(member) = member {
                self.forget(member, found);
            }
            // White space before the value is no part of it.
            let is_object = scanner.peek() == Some(b'{');
            let start = scanner.position();
            match member {
                Some(member) if is_object => self.locate_members(text, scanner, depth + 1, member, found)?,
                _ => {
                    scanner.value_at_depth(depth + 1)?;
                }
            }
            if let Some(member) = member {
                found[member] = text.get(start..scanner.position());
            }
            Ok(())
        })
    }

    /// A member that was found stands there again: the earlier one and all within it do not count.
    fn forget(&self, member: usize, found: &mut [Option<&str>]) {
        if found[member].take().is_some() {
            for within in self.nodes[member].members.values() {
                self.forget(*within, found);
            }
        }
    }
}

fn mismatch(name: &str, kind: MismatchKind) -> Mismatch {
    Mismatch { name: name.into(), kind }
}

/// A walk over a schema that collects the annotations.
struct Walk<'a> {
    text: &'a str,
    /// The properties that lead to the schema that is read, and their nodes if they have any yet.
    path: Vec<(Cow<'a, str>, Option<usize>)>,
    found: ParamHeaders,
    /// Names of headers in lower case.
    names: BTreeSet<String>,
    /// The first thing wrong.
    fault: Option<Unmirrored>,
}

impl<'a> Walk<'a> {
    fn new(text: &'a str) -> Walk<'a> {
        Walk { text, path: Vec::new(), found: ParamHeaders::default(), names: BTreeSet::new(), fault: None }
    }

    /// Reads the schema before which the scanner stands, inside `depth` containers. It is reachable if only
    /// `properties` lead to it.
    fn schema(&mut self, scanner: &mut Scanner<'a>, depth: usize, reachable: bool) -> Result<(), ScanError> {
        let mut annotation = None;
        let mut kind = None;
        let text = self.text;
        scanner.members(depth, |scanner, key| {
            let key = decoded(text, &key);
            match &*key {
                ANNOTATION => annotation = text.get(scanner.value_at_depth(depth + 1)?),
                "type" => kind = text.get(scanner.value_at_depth(depth + 1)?),
                key if DATA.contains(&key) => {
                    scanner.value_at_depth(depth + 1)?;
                }
                key if BY_NAME.contains(&key) && scanner.peek() == Some(b'{') => {
                    self.named(scanner, depth + 1, reachable && key == PROPERTIES)?;
                }
                _ => self.others(scanner, depth + 1)?,
            }
            Ok(())
        })?;
        if let Some(annotation) = annotation {
            let outcome = self.annotate(annotation, kind, reachable);
            self.fault = self.fault.take().or(outcome.err());
        }
        Ok(())
    }

    /// Reads an object of schemas by name.
    fn named(&mut self, scanner: &mut Scanner<'a>, depth: usize, reachable: bool) -> Result<(), ScanError> {
        let text = self.text;
        scanner.members(depth, |scanner, name| {
            if scanner.peek() != Some(b'{') {
                return self.others(scanner, depth + 1);
            }
            if reachable {
                self.path.push((decoded(text, &name), None));
            }
            let outcome = self.schema(scanner, depth + 1, reachable);
            if reachable {
                self.path.pop();
            }
            outcome
        })
    }

    /// Reads the value of a keyword that may hold schemas, none of them reachable.
    fn others(&mut self, scanner: &mut Scanner<'a>, depth: usize) -> Result<(), ScanError> {
        match scanner.peek() {
            Some(b'{') => self.schema(scanner, depth, false),
            Some(b'[') => scanner.elements(depth, |scanner| self.others(scanner, depth + 1)),
            _ => scanner.value_at_depth(depth).map(|_| ()),
        }
    }

    /// Takes an annotation in, if it is sound. The root of a schema has no property that leads to it.
    fn annotate(&mut self, token: &str, kind: Option<&str>, reachable: bool) -> Result<(), Unmirrored> {
        let name = decode_string(token).ok_or_else(|| Unmirrored::InvalidName(token.into()))?;
        if name.is_empty() {
            return Err(Unmirrored::EmptyName);
        }
        if !is_token(&name) {
            return Err(Unmirrored::InvalidName(token.into()));
        }
        if !reachable || self.path.is_empty() {
            return Err(Unmirrored::Unreachable(name.into()));
        }
        if !kind.is_some_and(|kind| MIRRORED.contains(&kind)) {
            return Err(Unmirrored::InvalidType(name.into()));
        }
        if !self.names.insert(name.to_ascii_lowercase()) {
            return Err(Unmirrored::DuplicateName(name.into()));
        }
        let place = self.node();
        self.found.nodes[place].header = Some(name.into());
        Ok(())
    }

    /// The place of the node for the property that is read, made with those that lead to it.
    fn node(&mut self) -> usize {
        let nodes = &mut self.found.nodes;
        if nodes.is_empty() {
            nodes.push(Node::default());
        }
        let mut place = 0;
        for (name, known) in &mut self.path {
            let next = nodes.len();
            let member =
                known.unwrap_or_else(|| *nodes[place].members.entry((&**name).into()).or_insert(next));
            if member == next {
                nodes.push(Node::default());
            }
            *known = Some(member);
            place = member;
        }
        place
    }
}

/// The key in `range`, which excludes the quotes, as it reads without escapes.
fn decoded<'a>(text: &'a str, range: &Range<usize>) -> Cow<'a, str> {
    // The quotes stand around the range.
    let token = text.get(range.start.wrapping_sub(1)..range.end + 1).unwrap_or_default();
    decode_string(token).unwrap_or_else(|| Cow::Borrowed(text.get(range.clone()).unwrap_or_default()))
}

/// What a header says for an argument: strings as they are, integers in decimal, booleans by their names. `None` for
/// what cannot be mirrored.
fn value_of(token: &str) -> Option<Cow<'_, str>> {
    match token.as_bytes().first()? {
        b'"' => decode_string(token),
        b't' | b'f' => Some(Cow::Borrowed(token)),
        _ => integer(token).map(|integer| Cow::Owned(integer.to_string())),
    }
}

fn compare(token: &str, header: &str) -> Result<(), MismatchKind> {
    let argument = value_of(token).ok_or(MismatchKind::NotMirrorable)?;
    let header = decode(header).map_err(MismatchKind::Undecodable)?;
    let is_number = !token.starts_with(['"', 't', 'f']);
    // Integers compare as numbers: 42 and 42.0 are the same.
    let same = argument == header
        || is_number && scan::check(&header, 1).is_ok() && integer(&header) == integer(token);
    if same { Ok(()) } else { Err(MismatchKind::Different) }
}

/// The integer that a number of JSON is, however it is written, if every receiver can read it exactly.
fn integer(number: &str) -> Option<i64> {
    let (negative, number) = match number.strip_prefix('-') {
        Some(number) => (true, number),
        None => (false, number),
    };
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits = whole.to_owned();
    digits.push_str(fraction);
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) || digits.is_empty() {
        return None;
    }
    let significant = digits.trim_end_matches('0');
    let dropped = digits.len() - significant.len();
    let significant = significant.trim_start_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    // An exponent beyond 64 bits makes the number a fraction or far too great.
    let exponent: i64 = exponent.parse().ok()?;
    let shift = i64::try_from(dropped).ok()? - i64::try_from(fraction.len()).ok()?;
    let zeros = u32::try_from(exponent.checked_add(shift)?).ok()?;
    let magnitude = significant.parse::<i64>().ok()?.checked_mul(10_i64.checked_pow(zeros)?)?;
    let value = if negative { -magnitude } else { magnitude };
    (magnitude <= SAFE_INTEGER).then_some(value)
}

#[cfg(test)]
mod tests;
