//! Matching: the inverse of expansion, in two passes and without backtracking.
//!
//! The URI becomes a row of [`Atom`]s. The first pass goes from the last part to the first and notes for every position
//! whether the rest of the template can match from there, and with how many of the expressions that may be absent. The
//! second pass goes forward and takes, at every part, the longest text that keeps to the best number. Each pass looks at
//! every position once for every part.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{
    Expression, Literal, MAX_MATCHED_URI_BYTES, Modifier, Name, Part, Value, escaped_octet, is_reserved,
    is_unreserved,
};

/// One decoded character of a URI. Equal atoms are equivalent spellings (RFC 3986 section 6.2.2): an unreserved or
/// non-ASCII character is the same with and without percent-encoding, any other one is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Atom(u32);

impl Atom {
    /// The character was, or had to be, percent-encoded, and it would mean something else as such.
    const ESCAPED: u32 = 1 << 24;
    /// A lone `%`, or an encoded octet that is not UTF-8. Never part of a value.
    const INVALID: u32 = 1 << 25;

    const fn new(character: char) -> Self {
        Self(character as u32)
    }

    /// The decoded character, `None` where there is none.
    fn character(self) -> Option<char> {
        if self.0 & Self::INVALID != 0 { None } else { char::from_u32(self.0 & !Self::ESCAPED) }
    }

    fn is_one_of(self, characters: &str) -> bool {
        characters.chars().any(|character| self == Self::new(character))
    }
}

pub(super) fn atoms(text: &str) -> Vec<Atom> {
    let mut atoms = Vec::with_capacity(text.len());
    atoms.extend(Atoms(text));
    atoms
}

/// The atoms of the rest of a text.
struct Atoms<'t>(&'t str);

impl Iterator for Atoms<'_> {
    type Item = Atom;

    fn next(&mut self) -> Option<Atom> {
        let character = self.0.chars().next()?;
        let (atom, length) = match character {
            '%' => escaped_atom(self.0),
            _ if character.is_ascii() && !is_unreserved(character) && !is_reserved(character) => {
                (Atom(character as u32 | Atom::ESCAPED), 1)
            }
            _ => (Atom::new(character), character.len_utf8()),
        };
        // `length` covers whole characters: the one above, or triplets of ASCII.
        self.0 = &self.0[length..];
        Some(atom)
    }
}

/// The atom at a `%`, and how many bytes it takes.
fn escaped_atom(text: &str) -> (Atom, usize) {
    let Some(octet) = escaped_octet(text) else { return (Atom('%' as u32 | Atom::INVALID), 1) };
    if octet.is_ascii() {
        let escaped = if is_unreserved(char::from(octet)) { 0 } else { Atom::ESCAPED };
        return (Atom(u32::from(octet) | escaped), 3);
    }
    let mut octets = [octet, 0, 0, 0];
    for count in 2..=octets.len() {
        let Some(next) = text.get(3 * (count - 1)..).and_then(escaped_octet) else { break };
        octets[count - 1] = next;
        if let Ok(decoded) = core::str::from_utf8(&octets[..count]) {
            return (decoded.chars().next().map_or(Atom(Atom::INVALID), Atom::new), 3 * count);
        }
    }
    (Atom(u32::from(octet) | Atom::INVALID), 3)
}

/// The value of every name, `None` for those that are absent.
pub(super) fn values(names: &[Name], parts: &[Part], uri: &str) -> Option<Vec<Option<Value>>> {
    if uri.len() > MAX_MATCHED_URI_BYTES || cannot_begin(parts, uri) {
        return None;
    }
    Matcher::new(names, parts, uri).run()
}

/// Refuses the common mismatch, another scheme or host, at the first difference, before the URI is read in full.
fn cannot_begin(parts: &[Part], uri: &str) -> bool {
    let Some(Part::Literal(literal)) = parts.first() else { return false };
    let mut found = Atoms(uri);
    literal.atoms.iter().any(|expected| found.next() != Some(*expected))
}

pub(super) struct Matcher<'t> {
    names: &'t [Name],
    parts: &'t [Part],
    atoms: Vec<Atom>,
    found: Vec<Option<Found>>,
    #[cfg(test)]
    pub(super) steps: usize,
}

struct Found {
    value: Value,
    /// The value may go on: it is as long as its prefix modifier allows.
    open_ended: bool,
}

/// For each position, 0: the parts from here on cannot match; otherwise 1 and the number of expressions that may be
/// absent and are present. [`MAX_VARIABLES`](super::MAX_VARIABLES) keeps it far below 255.
type Scores = Vec<u8>;

impl<'t> Matcher<'t> {
    pub(super) fn new(names: &'t [Name], parts: &'t [Part], uri: &str) -> Self {
        Self {
            names,
            parts,
            atoms: atoms(uri),
            found: names.iter().map(|_| None).collect(),
            #[cfg(test)]
            steps: 0,
        }
    }

    pub(super) fn run(&mut self) -> Option<Vec<Option<Value>>> {
        let scores = self.score();
        let mut position = 0;
        // `scores` has one row more than there are parts.
        for (part, rows) in self.parts.iter().zip(scores.windows(2)) {
            let target = rows[0][position];
            if target == 0 {
                return None;
            }
            position = match part {
                Part::Literal(literal) => position + literal.atoms.len(),
                Part::Expression(expression) => self.take(expression, position, &rows[1], target)?,
            };
        }
        // A template without parts matches the empty URI alone.
        if position != self.atoms.len() {
            return None;
        }
        Some(self.found.drain(..).map(|found| found.map(|found| found.value)).collect())
    }

    /// The backward pass: one row for each part, and one for the end.
    fn score(&mut self) -> Vec<Scores> {
        let length = self.atoms.len();
        let mut rows = Vec::with_capacity(self.parts.len() + 1);
        let mut next = vec![0; length + 1];
        next[length] = 1;
        for part in self.parts.iter().rev() {
            let row = match part {
                Part::Literal(literal) => self.score_literal(literal, &next),
                Part::Expression(expression) if expression.operator.named => {
                    self.score_members(expression, &next)
                }
                Part::Expression(expression) => self.score_run(expression, &next),
            };
            rows.push(core::mem::replace(&mut next, row));
        }
        rows.push(next);
        rows.reverse();
        rows
    }

    fn score_literal(&mut self, literal: &Literal, next: &[u8]) -> Scores {
        let mut row = vec![0; next.len()];
        for (position, score) in row.iter_mut().enumerate() {
            if self.text_is_at(&literal.atoms, position) {
                // The literal lies within the URI, so its end is a position.
                *score = next[position + literal.atoms.len()];
            }
        }
        row
    }

    /// An unnamed expression: its first character, if it has one, and a run of characters that may belong to it.
    fn score_run(&mut self, expression: &Expression, next: &[u8]) -> Scores {
        let mut row = vec![0; next.len()];
        // The best score at the end of a run that begins one position further on.
        let mut reach = 0;
        for position in (0..next.len()).rev() {
            self.count(1);
            let within = self.atoms.get(position).is_some_and(|atom| expression.may_hold(*atom));
            row[position] = match expression.operator.first {
                Some(first) => next[position].max(counted(self.is_at(first, position), reach)),
                None if within => reach,
                None => 0,
            };
            reach = next[position].max(if within { reach } else { 0 });
        }
        row
    }

    /// A named expression: its first character, and members with separators between them.
    fn score_members(&mut self, expression: &Expression, next: &[u8]) -> Scores {
        let operator = expression.operator;
        let mut members = MemberScores { in_value: vec![0; next.len()], after: vec![0; next.len()] };
        let mut row = vec![0; next.len()];
        for position in (0..next.len()).rev() {
            self.count(1);
            let (separates, begins) = (
                self.is_at(operator.separator, position),
                operator.first.is_some_and(|first| self.is_at(first, position)),
            );
            let member =
                if separates || begins { self.score_member(expression, position + 1, &members) } else { 0 };
            members.after[position] = next[position].max(if separates { member } else { 0 });
            let within = self.atoms.get(position).is_some_and(|atom| expression.may_hold(*atom));
            // Within the URI there is a position after this one.
            let value = if within { members.in_value[position + 1] } else { 0 };
            members.in_value[position] = members.after[position].max(value);
            row[position] = next[position].max(counted(begins, member));
        }
        row
    }

    fn score_member(&mut self, expression: &Expression, position: usize, scores: &MemberScores) -> u8 {
        let mut best = 0;
        for variable in &expression.variables {
            let name = &self.names[variable.name].atoms;
            if !self.text_is_at(name, position) {
                continue;
            }
            let end = position + name.len();
            best = best.max(if self.is_at('=', end) {
                scores.in_value[end + 1]
            } else if expression.operator.if_empty.is_empty() {
                scores.after[end]
            } else {
                0
            });
        }
        best
    }

    /// The forward pass at one expression: stores its values and returns where it ends.
    fn take(&mut self, expression: &Expression, start: usize, next: &[u8], target: u8) -> Option<usize> {
        let operator = expression.operator;
        let Some(first) = operator.first else {
            let end = self.run_end(expression, start, next, target)?;
            // Expressions without a first character are never absent, hence never empty.
            self.store_run(expression, start, end)?;
            return Some(end);
        };
        if self.is_at(first, start) {
            let find = if operator.named { Self::members_end } else { Self::run_end };
            if let Some(end) = find(self, expression, start + 1, next, target - 1) {
                if operator.named {
                    self.store_members(expression, start + 1, end)?;
                } else {
                    self.store_run(expression, start + 1, end)?;
                }
                return Some(end);
            }
        }
        (next[start] == target).then_some(start)
    }

    /// The furthest end of a run from `start` at which the rest scores `target`. An expression without a first
    /// character needs one character at least.
    fn run_end(&mut self, expression: &Expression, start: usize, next: &[u8], target: u8) -> Option<usize> {
        let mut best = None;
        for (end, score) in next.iter().enumerate().skip(start) {
            self.count(1);
            if *score == target && target > 0 && (end > start || expression.operator.first.is_some()) {
                best = Some(end);
            }
            if !self.atoms.get(end).is_some_and(|atom| expression.may_hold(*atom)) {
                break;
            }
        }
        best
    }

    /// The same for members.
    fn members_end(
        &mut self,
        expression: &Expression,
        start: usize,
        next: &[u8],
        target: u8,
    ) -> Option<usize> {
        let mut best = None;
        let mut position = start;
        while let Some((name_end, has_value)) = self.member_name(expression, position) {
            position = name_end;
            if has_value {
                position += 1;
                while self.atoms.get(position).is_some_and(|atom| expression.may_hold(*atom)) {
                    self.count(1);
                    best = if next[position] == target && target > 0 { Some(position) } else { best };
                    position += 1;
                }
            }
            best = if next[position] == target && target > 0 { Some(position) } else { best };
            if !self.is_at(expression.operator.separator, position) {
                break;
            }
            position += 1;
        }
        best
    }

    /// The end of the member name at `position` and whether `=` follows. Of several names the longest counts, but one
    /// before `=` above all.
    fn member_name(&mut self, expression: &Expression, position: usize) -> Option<(usize, bool)> {
        let mut best = None;
        for variable in &expression.variables {
            let name = &self.names[variable.name].atoms;
            if self.text_is_at(name, position) {
                let end = position + name.len();
                let has_value = self.is_at('=', end);
                if has_value || expression.operator.if_empty.is_empty() {
                    best = best.max(Some((has_value, end)));
                }
            }
        }
        best.map(|(has_value, end)| (end, has_value))
    }

    /// Divides the text of an unnamed expression among its variables.
    fn store_run(&mut self, expression: &Expression, start: usize, end: usize) -> Option<()> {
        let separator = Atom::new(expression.operator.separator);
        let mut borders = vec![start];
        borders.extend((start..end).filter(|at| self.atoms[*at] == separator).map(|at| at + 1));
        // Past the end and its imagined separator: every piece is `borders[n]..borders[n + 1] - 1`.
        borders.push(end + 1);
        let pieces = borders.len() - 1;
        let exploded = |variable: &super::Variable| variable.modifier == Modifier::Explode;
        let last = expression.variables.len() - 1;
        let absorber = expression.variables.iter().position(exploded).unwrap_or(last);
        let surplus = pieces.saturating_sub(expression.variables.len());
        let mut used = 0;
        for (index, variable) in expression.variables.iter().enumerate() {
            if used == pieces {
                break;
            }
            let count = 1 + if index == absorber { surplus } else { 0 };
            let borders = &borders[used..=used + count];
            used += count;
            let value = if exploded(variable) {
                Value::List(borders.windows(2).map(|pair| self.text(pair[0], pair[1] - 1)).collect())
            } else {
                Value::Text(self.text(borders[0], borders[count] - 1))
            };
            self.store(variable.name, variable.modifier, value)?;
        }
        Some(())
    }

    /// Gives the members from `start` to `end` to the variables they name.
    fn store_members(&mut self, expression: &Expression, start: usize, end: usize) -> Option<()> {
        let mut lists = vec![Vec::new(); expression.variables.len()];
        let mut position = start;
        while position < end {
            let separator = Atom::new(expression.operator.separator);
            let rest = &self.atoms[position..end];
            let member = rest.split(|atom| *atom == separator).next()?;
            let name_length = member.iter().position(|atom| *atom == Atom::new('=')).unwrap_or(member.len());
            let named = |variable: &super::Variable| {
                self.names[variable.name].atoms.as_slice() == &member[..name_length]
            };
            let index = expression.variables.iter().position(named)?;
            let variable = expression.variables[index];
            let member_end = position + member.len();
            let text = self.text((position + name_length + 1).min(member_end), member_end);
            if variable.modifier == Modifier::Explode {
                lists[index].push(text);
            } else {
                self.store(variable.name, variable.modifier, Value::Text(text))?;
            }
            position = member_end + 1;
        }
        for (variable, list) in expression.variables.iter().zip(lists) {
            if !list.is_empty() {
                self.store(variable.name, variable.modifier, Value::List(list))?;
            }
        }
        Some(())
    }

    /// Keeps a value; `None` when it breaks its prefix modifier or contradicts an earlier occurrence.
    fn store(&mut self, name: usize, modifier: Modifier, value: Value) -> Option<()> {
        let mut open_ended = false;
        if let (Modifier::Prefix(limit), Value::Text(text)) = (modifier, &value) {
            let length = text.chars().count();
            if length > limit {
                return None;
            }
            open_ended = length == limit;
        }
        let found = Found { value, open_ended };
        let merged = match self.found[name].take() {
            None => found,
            Some(earlier) if earlier.goes_on_as(&found) => found,
            Some(earlier) if found.goes_on_as(&earlier) => earlier,
            Some(_) => return None,
        };
        self.found[name] = Some(merged);
        Some(())
    }

    /// Decodes a stretch. Values hold no atom without a character.
    fn text(&self, start: usize, end: usize) -> String {
        self.atoms[start..end].iter().filter_map(|atom| atom.character()).collect()
    }

    fn is_at(&self, character: char, position: usize) -> bool {
        self.atoms.get(position) == Some(&Atom::new(character))
    }

    fn text_is_at(&mut self, text: &[Atom], position: usize) -> bool {
        let rest = self.atoms.get(position..).unwrap_or_default();
        let same = rest.iter().zip(text).take_while(|(left, right)| left == right).count();
        self.count(same + 1);
        same == text.len()
    }

    /// Counts the work for the tests that bound it; nothing in a build.
    #[cfg(test)]
    fn count(&mut self, steps: usize) {
        self.steps += steps;
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self, reason = "the tests' one uses it")]
    const fn count(&self, _steps: usize) {}
}

/// Scores inside a named expression: at a position in a value, and at the end of a member.
struct MemberScores {
    in_value: Scores,
    after: Scores,
}

impl Expression {
    /// Whether an atom may stand in the text after the expression's first character (unnamed), or in a value (named).
    fn may_hold(&self, atom: Atom) -> bool {
        let operator = self.operator;
        let joins = || {
            !operator.named
                && atom == Atom::new(operator.separator)
                && self.variables.iter().any(|variable| variable.modifier == Modifier::Explode)
        };
        atom.character().is_some() && (!atom.is_one_of(operator.stops) || joins())
    }
}

impl Found {
    fn goes_on_as(&self, longer: &Self) -> bool {
        match (&self.value, &longer.value) {
            (Value::Text(start), Value::Text(whole)) if self.open_ended => whole.starts_with(start.as_str()),
            (start, whole) => start == whole,
        }
    }
}

/// A score with one more expression present, 0 if it cannot be.
const fn counted(present: bool, score: u8) -> u8 {
    if present && score > 0 { score + 1 } else { 0 }
}
