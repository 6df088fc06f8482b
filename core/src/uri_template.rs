//! URI templates (RFC 6570, all four levels): parse, expand, and the inverse, match.
//!
//! ```
//! use barewire::uri_template::{UriTemplate, Value};
//!
//! let template = UriTemplate::parse("notes://{user}/search{?text,page}")?;
//! let values = template.matches("notes://ann/search?page=2&text=a%20b").unwrap_or_default();
//! assert_eq!(
//!     values,
//!     [("user", Value::from("ann")), ("text", Value::from("a b")), ("page", Value::from("2"))]
//! );
//! # Ok::<(), barewire::uri_template::TemplateError>(())
//! ```
//!
//! # What matches
//!
//! RFC 6570 defines expansion only. [`UriTemplate::matches`] answers: which values could have been expanded to this
//! URI? It accepts a little more than an exact expander would write, because URIs are also written by hand and by
//! language models.
//!
//! | expression | matches | values |
//! |---|---|---|
//! | `{a}` | one or more characters, no `/`, `?`, `#` | |
//! | `{+a}` | one or more characters of any kind | |
//! | `{#a}` | absent, or `#` and any characters | may be empty |
//! | `{/a}` `{.a}` | absent, or the operator and characters other than `/`, `?`, `#` | may be empty |
//! | `{;a,b}` | absent, or `;name=value` and `;name`, in any order, none required; no `/`, `?`, `#` in a value | may be empty |
//! | `{?a,b}` `{&a,b}` | absent, or `name=value` members in any order, none required; no `&`, `#` in a value | may be empty |
//!
//! - Only the listed characters *as such* delimit. Percent-encoded they are part of the value: `{a}` matches `x%2Fy`
//!   and delivers `x/y`.
//! - Values are percent-decoded and always valid UTF-8; an escape that is not gives no match. `+` stays `+`.
//! - Equivalent spellings are equal in literals (RFC 3986 section 6.2.2): `%2f` and `%2F`, `%41` and `A`, `é` and
//!   `%C3%A9`. Case, `.` segments and doubled slashes are left as they are.
//! - A member of a query that the template does not name means no match, and so does the form `?name` without `=`.
//! - Several variables in `{a,b}`, `{+a,b}`, `{#a,b}` are cut at the commas. Fewer parts fill the first variables.
//!   Surplus parts go to the exploded variable, otherwise to the last one, commas included.
//! - An exploded variable (`{a*}`, `{/a*}`, `{?a*}`) delivers a list, cut at the operator's separator. A list without
//!   explode is delivered as its text with commas. **Maps are never delivered**: their keys cannot be told from
//!   values, or from the members of other variables.
//! - `{a:3}` matches up to three characters. The length is checked after the text has been divided among the
//!   expressions and does not steer the division.
//! - A variable that occurs more than once must have the same value everywhere (a `:n` occurrence: its beginning).
//! - An empty `{a}` or `{+a}` cannot be told from an undefined one, so neither matches the empty text.
//!
//! Where a URI can be divided in several ways, as many of the expressions that may be absent as possible are present;
//! then every expression, from the left, takes as much as it can. `{name}{.extension}` thus reads `a.tar.gz` as
//! `a.tar` and `gz`.
//!
//! # Values are untrusted
//!
//! **A matched value is what the peer wrote, decoded.** It may be `..`, `../../etc/passwd`, `/etc/passwd`, contain
//! NUL, backslashes or a drive letter, also from `{a}`, because `%2F` is decoded. Nothing here makes it fit for a file
//! name, a query language or a shell. A server that maps values to files must resolve the path and check that it is
//! still inside the intended directory (MCP, server/resources, security considerations).

mod matching;
mod parse;
#[cfg(test)]
mod tests;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use matching::Atom;

/// Most variables in one template. A longer one is refused by [`UriTemplate::parse`].
pub const MAX_VARIABLES: usize = 64;

/// A longer URI matches no template. There is no backtracking: time grows with the length of the URI times the length of
/// the template at most, memory with the length of the URI times the number of expressions and literals.
pub const MAX_MATCHED_URI_BYTES: usize = 65_536;

/// A parsed URI template (RFC 6570). Immutable; two templates are equal when their texts are.
#[derive(Clone)]
pub struct UriTemplate {
    source: String,
    names: Vec<Name>,
    parts: Vec<Part>,
}

/// The value of a variable, given to expansion or delivered by matching.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A string.
    Text(String),
    /// A list; an empty one counts as undefined (RFC 6570 section 2.3).
    List(Vec<String>),
    /// An associative array in the order of its members; an empty one counts as undefined. Matching never delivers it.
    Map(Vec<(String, String)>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Why a text is not a URI template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// Where: bytes from the start of the template.
    pub position: usize,
    /// What is wrong there.
    pub kind: TemplateErrorKind,
}

/// The kinds of [`TemplateError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateErrorKind {
    /// `{` without `}`.
    UnclosedExpression,
    /// `}` without `{`.
    StrayClosingBrace,
    /// A character that a literal may not hold (RFC 6570 section 2.1), such as a space.
    InvalidLiteral,
    /// `%` without two hexadecimal digits after it.
    InvalidPercentEncoding,
    /// An expression without a variable.
    EmptyExpression,
    /// One of `=`, `,`, `!`, `@`, `|`, which RFC 6570 keeps for the future.
    ReservedOperator,
    /// A variable name other than letters, digits, `_`, percent-encoded octets, and single dots between them.
    InvalidVariableName,
    /// A prefix length other than 1 to 9999 without leading zero, or one beside an explode modifier.
    InvalidPrefix,
    /// More than [`MAX_VARIABLES`].
    TooManyVariables,
}

/// Expansion failed: a list or map was given for this variable, which has a prefix modifier such as `:3`
/// (RFC 6570 section 2.4.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixOfComposite {
    /// The variable.
    pub name: String,
}

#[derive(Clone, Debug)]
struct Name {
    text: String,
    atoms: Vec<Atom>,
}

#[derive(Clone, Debug)]
enum Part {
    Literal(Literal),
    Expression(Expression),
}

#[derive(Clone, Debug)]
struct Literal {
    /// As it appears in an expansion: what a URI may not hold is percent-encoded.
    text: String,
    atoms: Vec<Atom>,
}

/// `{/a,b}` and `{.a,b}` are kept as `{/a}{/b}` and `{.a}{.b}`, which is the same expansion and needs no counting of
/// segments in a match.
#[derive(Clone, Debug)]
struct Expression {
    operator: &'static Operator,
    variables: Vec<Variable>,
}

#[derive(Clone, Copy, Debug)]
struct Variable {
    /// Index into the template's names.
    name: usize,
    modifier: Modifier,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Modifier {
    None,
    Prefix(usize),
    Explode,
}

/// A row of the table in RFC 6570 appendix A, with one column of ours for matching.
#[derive(Debug)]
struct Operator {
    /// The character after `{`, and the first character of the expansion unless the operator is `+`.
    symbol: Option<char>,
    /// What the expansion begins with.
    first: Option<char>,
    /// What stands between variables.
    separator: char,
    /// Whether `name=` goes before a value.
    named: bool,
    /// What stands for `=` when the value is empty.
    if_empty: &'static str,
    /// Whether reserved characters and percent-encoded triplets are copied.
    reserved: bool,
    /// Matching: characters that end a value unless they are percent-encoded.
    stops: &'static str,
}

#[rustfmt::skip]
static OPERATORS: [Operator; 8] = [
    Operator { symbol: None,      first: None,      separator: ',', named: false, if_empty: "",  reserved: false, stops: "/?#" },
    Operator { symbol: Some('+'), first: None,      separator: ',', named: false, if_empty: "",  reserved: true,  stops: "" },
    Operator { symbol: Some('.'), first: Some('.'), separator: '.', named: false, if_empty: "",  reserved: false, stops: "/?#" },
    Operator { symbol: Some('/'), first: Some('/'), separator: '/', named: false, if_empty: "",  reserved: false, stops: "/?#" },
    Operator { symbol: Some(';'), first: Some(';'), separator: ';', named: true,  if_empty: "",  reserved: false, stops: ";/?#" },
    Operator { symbol: Some('?'), first: Some('?'), separator: '&', named: true,  if_empty: "=", reserved: false, stops: "&#" },
    Operator { symbol: Some('&'), first: Some('&'), separator: '&', named: true,  if_empty: "=", reserved: false, stops: "&#" },
    Operator { symbol: Some('#'), first: Some('#'), separator: ',', named: false, if_empty: "",  reserved: true,  stops: "" },
];

impl UriTemplate {
    /// Parses a template. The grammar is that of RFC 6570 section 2, with `'` allowed in literals, as it
    /// is in URIs.
    pub fn parse(source: &str) -> Result<Self, TemplateError> {
        let (names, parts) = parse::parse(source)?;
        Ok(Self { source: source.into(), names, parts })
    }

    /// The text that was parsed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// The names of the variables, each once, in the order of their first occurrence.
    pub fn variable_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(|name| name.text.as_str())
    }

    /// How specific the template is: the number of characters in its literals. Of several templates that match a URI,
    /// the one with the highest number is chosen, and the one declared first among equals.
    #[must_use]
    pub fn specificity(&self) -> usize {
        let literals = self.parts.iter().map(|part| match part {
            Part::Literal(literal) => literal.atoms.len(),
            Part::Expression(_) => 0,
        });
        literals.sum()
    }

    /// Expands the template (RFC 6570 section 3). `value_of` is asked for every occurrence of a variable; `None` means
    /// undefined. Fails only when a list or map meets a prefix modifier.
    pub fn expand(
        &self,
        mut value_of: impl FnMut(&str) -> Option<Value>,
    ) -> Result<String, PrefixOfComposite> {
        let mut uri = String::with_capacity(self.source.len());
        for part in &self.parts {
            match part {
                Part::Literal(literal) => uri.push_str(&literal.text),
                Part::Expression(expression) => {
                    self.expand_expression(expression, &mut value_of, &mut uri)?;
                }
            }
        }
        Ok(uri)
    }

    fn expand_expression(
        &self,
        expression: &Expression,
        value_of: &mut impl FnMut(&str) -> Option<Value>,
        uri: &mut String,
    ) -> Result<(), PrefixOfComposite> {
        let operator = expression.operator;
        let mut lead = operator.first;
        for variable in &expression.variables {
            let name = self.names[variable.name].text.as_str();
            let Some(value) = value_of(name).filter(Value::is_defined) else { continue };
            if matches!(variable.modifier, Modifier::Prefix(_)) && !matches!(value, Value::Text(_)) {
                return Err(PrefixOfComposite { name: name.into() });
            }
            uri.extend(lead);
            lead = Some(operator.separator);
            operator.expand_value(name, variable.modifier, &value, uri);
        }
        Ok(())
    }

    /// The values with which the template would expand to `uri`, or `None` when there are none. In the order of
    /// [`variable_names`](Self::variable_names), without the variables that are absent. The module's documentation says
    /// what matches and why the values must not be trusted.
    #[must_use]
    pub fn matches(&self, uri: &str) -> Option<Vec<(&str, Value)>> {
        let values = matching::values(&self.names, &self.parts, uri)?;
        Some(self.variable_names().zip(values).filter_map(|(name, value)| Some((name, value?))).collect())
    }
}

impl Value {
    fn is_defined(&self) -> bool {
        match self {
            Self::Text(_) => true,
            Self::List(items) => !items.is_empty(),
            Self::Map(members) => !members.is_empty(),
        }
    }
}

impl Operator {
    /// One defined variable, without what goes before it (RFC 6570 section 3.2.1).
    fn expand_value(&self, name: &str, modifier: Modifier, value: &Value, uri: &mut String) {
        let explode = modifier == Modifier::Explode;
        match value {
            Value::Text(text) => {
                let text = match modifier {
                    Modifier::Prefix(length) => self.prefix(text, length),
                    Modifier::None | Modifier::Explode => text,
                };
                self.push_member(self.named.then_some(name), text, uri);
            }
            Value::List(items) if explode => {
                for (index, item) in items.iter().enumerate() {
                    uri.extend((index > 0).then_some(self.separator));
                    self.push_member(self.named.then_some(name), item, uri);
                }
            }
            Value::Map(members) if explode => {
                for (index, (key, item)) in members.iter().enumerate() {
                    uri.extend((index > 0).then_some(self.separator));
                    self.push_encoded(key, uri);
                    uri.push_str(if self.named && item.is_empty() { self.if_empty } else { "=" });
                    self.push_encoded(item, uri);
                }
            }
            Value::List(items) => self.push_joined(name, items.iter(), uri),
            Value::Map(members) => {
                self.push_joined(name, members.iter().flat_map(|(key, item)| [key, item]), uri);
            }
        }
    }

    fn push_member(&self, name: Option<&str>, text: &str, uri: &mut String) {
        if let Some(name) = name {
            uri.push_str(name);
            uri.push_str(if text.is_empty() { self.if_empty } else { "=" });
        }
        self.push_encoded(text, uri);
    }

    fn push_joined<'a>(&self, name: &str, items: impl Iterator<Item = &'a String>, uri: &mut String) {
        if self.named {
            uri.push_str(name);
            uri.push('=');
        }
        for (index, item) in items.enumerate() {
            uri.extend((index > 0).then_some(','));
            self.push_encoded(item, uri);
        }
    }

    fn push_encoded(&self, text: &str, uri: &mut String) {
        for (index, character) in text.char_indices() {
            let copied = is_unreserved(character)
                || self.reserved && (is_reserved(character) || escaped_octet(&text[index..]).is_some());
            if copied {
                uri.push(character);
            } else {
                push_escaped(character, uri);
            }
        }
    }

    /// The first `length` characters. A triplet that will be copied counts as one, so that none is cut.
    fn prefix<'t>(&self, text: &'t str, length: usize) -> &'t str {
        let mut rest = text;
        for _ in 0..length {
            let Some(character) = rest.chars().next() else { break };
            let triplet = self.reserved && escaped_octet(rest).is_some();
            // A triplet is three ASCII characters, so both lengths end on a border.
            rest = &rest[if triplet { 3 } else { character.len_utf8() }..];
        }
        &text[..text.len() - rest.len()]
    }
}

/// RFC 3986 section 2.3.
const fn is_unreserved(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '.' | '_' | '~')
}

/// RFC 3986 section 2.2.
#[rustfmt::skip]
const fn is_reserved(character: char) -> bool {
    matches!(
        character,
        ':' | '/' | '?' | '#' | '[' | ']' | '@'
        | '!' | '$' | '&' | '\'' | '(' | ')' | '*' | '+' | ',' | ';' | '='
    )
}

/// The octet of the percent-encoded triplet that `text` begins with.
fn escaped_octet(text: &str) -> Option<u8> {
    let [b'%', high, low, ..] = text.as_bytes() else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(*high)? << 4 | digit(*low)?)
}

fn push_escaped(character: char, uri: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in character.encode_utf8(&mut [0; 4]).bytes() {
        uri.push('%');
        uri.push(char::from(DIGITS[usize::from(byte >> 4)]));
        uri.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

impl PartialEq for UriTemplate {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for UriTemplate {}

impl fmt::Debug for UriTemplate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("UriTemplate").field(&self.source).finish()
    }
}

impl fmt::Display for UriTemplate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.source)
    }
}

impl fmt::Display for TemplateErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::UnclosedExpression => "`{` is never closed",
            Self::StrayClosingBrace => "`}` without `{`",
            Self::InvalidLiteral => "character not allowed in a literal",
            Self::InvalidPercentEncoding => "`%` without two hexadecimal digits",
            Self::EmptyExpression => "expression without a variable",
            Self::ReservedOperator => "operator reserved by RFC 6570",
            Self::InvalidVariableName => "invalid variable name",
            Self::InvalidPrefix => "prefix length is not 1 to 9999",
            Self::TooManyVariables => "too many variables",
        })
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "invalid URI template at byte {}: {}", self.position, self.kind)
    }
}

impl core::error::Error for TemplateError {}

impl fmt::Display for PrefixOfComposite {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "variable `{}` has a prefix modifier and cannot be a list or map", self.name)
    }
}

impl core::error::Error for PrefixOfComposite {}
