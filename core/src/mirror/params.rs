//! The arguments that a tool wants mirrored: `x-mcp-header` in its `inputSchema` (server/tools, 2026-07-28).

use alloc::borrow::Cow;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::ToString;
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

/// The arguments of one tool that are mirrored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ParamHeaders {
    rows: Vec<Row>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    /// What the tool calls the header, without the prefix.
    name: Box<str>,
    /// The members that lead to the argument.
    path: Vec<Box<str>>,
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
        let mut found = ParamHeaders::default();
        let bytes = schema.as_bytes();
        let may_hold = memmem::find(bytes, ANNOTATION.as_bytes()).is_some()
            // The keyword may be written with escapes.
            || memmem::find(bytes, br"\u").is_some();
        if may_hold {
            let mut walk = Walk { text: schema, path: Vec::new(), rows: &mut found.rows, fault: None };
            let mut scanner = Scanner::new(schema, DEEPEST);
            walk.schema(&mut scanner, 0, true)
                .and_then(|()| scanner.end())
                .map_err(|_| Unmirrored::InvalidSchema)?;
            if let Some(fault) = walk.fault {
                return Err(fault);
            }
        }
        Ok(found)
    }

    /// True if no argument is mirrored.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The headers for `arguments`, the text of an object: the name behind the prefix and the value, not encoded yet. An
    /// argument that is absent or null has none.
    pub(crate) fn values(&self, arguments: Option<&str>) -> Result<Vec<NamedValue>, Mismatch> {
        let mut headers = Vec::new();
        for (row, token) in self.rows.iter().zip(self.locate(arguments)) {
            let Some(token) = token else { continue };
            let value = value_of(token).ok_or_else(|| row.mismatch(MismatchKind::NotMirrorable))?;
            headers.push((row.name.clone(), value.into()));
        }
        Ok(headers)
    }

    /// Compares `arguments`, the text of an object, with the headers that came: the name behind the prefix in any
    /// case, and the trimmed value. Headers of other names do not count.
    pub(crate) fn check(&self, arguments: Option<&str>, received: &[(&str, &str)]) -> Result<(), Mismatch> {
        for (row, token) in self.rows.iter().zip(self.locate(arguments)) {
            let mut values = received.iter().filter(|(name, _)| name.eq_ignore_ascii_case(&row.name));
            let agreed = match (token, values.next(), values.next()) {
                (_, _, Some(_)) => Err(MismatchKind::Duplicate),
                (None, None, None) => Ok(()),
                (Some(_), None, None) => Err(MismatchKind::Missing),
                (None, Some(_), None) => Err(MismatchKind::Unexpected),
                (Some(token), Some((_, value)), None) => compare(token, value),
            };
            agreed.map_err(|kind| row.mismatch(kind))?;
        }
        Ok(())
    }

    /// The token of each row's argument, if that is there and not null; of duplicate members the last counts.
    fn locate<'a>(&self, arguments: Option<&'a str>) -> Vec<Option<&'a str>> {
        let mut found = alloc::vec![None; self.rows.len()];
        if let Some(text) = arguments.filter(|_| !self.rows.is_empty()) {
            let rows: Vec<usize> = (0..self.rows.len()).collect();
            let mut scanner = Scanner::new(text, MAX_DEPTH);
            // What is no object holds no argument; whoever checks arguments says so.
            let _ = self.locate_in(text, &mut scanner, 0, &rows, &mut found);
        }
        found.into_iter().map(|token| token.filter(|token| *token != "null")).collect()
    }

    /// Looks for the arguments of `rows` in the object before which the scanner stands, `depth` members deep.
    fn locate_in<'a>(
        &self,
        text: &'a str,
        scanner: &mut Scanner<'a>,
        depth: usize,
        rows: &[usize],
        found: &mut [Option<&'a str>],
    ) -> Result<(), ScanError> {
        scanner.members(depth, |scanner, key| {
            let key = decoded(text, &key);
            // Indices come from `locate`, paths have an element for each depth that is entered.
            let leads = |row: &&usize| self.rows[**row].path.get(depth).is_some_and(|step| **step == *key);
            let led: Vec<usize> = rows.iter().filter(leads).copied().collect();
            for row in &led {
                found[*row] = None;
            }
            let (ends, goes_on): (Vec<usize>, Vec<usize>) =
                led.into_iter().partition(|row| self.rows[*row].path.len() == depth + 1);
            if !goes_on.is_empty() && scanner.peek() == Some(b'{') {
                return self.locate_in(text, scanner, depth + 1, &goes_on, found);
            }
            let value = scanner.value_at_depth(depth + 1)?;
            for row in ends {
                found[row] = text.get(value.clone());
            }
            Ok(())
        })
    }
}

impl Row {
    fn mismatch(&self, kind: MismatchKind) -> Mismatch {
        Mismatch { name: self.name.clone(), kind }
    }
}

/// A walk over a schema that collects the annotations.
struct Walk<'a, 'r> {
    text: &'a str,
    /// The properties that lead to the schema that is read.
    path: Vec<Box<str>>,
    rows: &'r mut Vec<Row>,
    /// The first thing wrong.
    fault: Option<Unmirrored>,
}

impl<'a> Walk<'a, '_> {
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
                self.path.push(decoded(text, &name).into());
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
        if self.rows.iter().any(|row| row.name.eq_ignore_ascii_case(&name)) {
            return Err(Unmirrored::DuplicateName(name.into()));
        }
        self.rows.push(Row { name: name.into(), path: self.path.clone() });
        Ok(())
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
