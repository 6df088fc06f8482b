//! Objects as tables of members: what each revision knows, and what becomes of the rest.

use alloc::string::String;

use super::text::{self, ObjectWriter};
use super::{Revision, Revisions};

/// One member of an object that the protocol defines. Members no table names pass untouched.
pub(super) struct Member {
    pub(super) name: &'static str,
    /// Where it may be sent.
    pub(super) revisions: Revisions,
    pub(super) rule: Rule,
}

/// What becomes of a member's value.
#[derive(Clone, Copy)]
pub(super) enum Rule {
    /// It is kept as it is.
    Keep,
    /// It is an object with these members.
    Object(&'static [Member]),
    /// It is an array of objects with these members.
    Each(&'static [Member]),
    /// It is kept where the function says so, `null` included.
    If(fn(&str, Revision) -> bool),
    /// It is kept where the function says so, as an object with these members.
    ObjectIf(fn(&str, Revision) -> bool, &'static [Member]),
    /// The function writes it.
    With(fn(&mut String, &str, Revision)),
}

/// A member that is kept from a revision on.
pub(super) const fn since(name: &'static str, first: Revision) -> Member {
    Member { name, revisions: Revisions::since(first), rule: Rule::Keep }
}

/// A member of some revisions.
pub(super) const fn only(name: &'static str, revisions: Revisions) -> Member {
    Member { name, revisions, rule: Rule::Keep }
}

/// A member of every revision whose value follows a rule.
pub(super) const fn always(name: &'static str, rule: Rule) -> Member {
    Member { name, revisions: Revisions::ALL, rule }
}

/// Appends the object `value` as `revision` may see it. A known member that is `null` is left out, as if
/// absent. Other values are appended as they are.
pub(super) fn write_object(out: &mut String, value: &str, members: &[Member], revision: Revision) {
    if !text::is_object(value) {
        out.push_str(value);
        return;
    }
    let mut object = ObjectWriter::open(out);
    text::each_member(value, |key, value| write_member(&mut object, key, value, members, revision));
    object.close();
}

/// Appends the elements of the array `value` through `element`. Other values are appended as they are.
pub(super) fn write_array(out: &mut String, value: &str, mut element: impl FnMut(&mut String, &str)) {
    if !text::is_array(value) {
        out.push_str(value);
        return;
    }
    out.push('[');
    let mut first = true;
    text::each_element(value, |value| {
        if !core::mem::take(&mut first) {
            out.push(',');
        }
        element(out, value);
    });
    out.push(']');
}

pub(super) fn write_member(
    object: &mut ObjectWriter<'_>,
    key: &str,
    value: &str,
    members: &[Member],
    revision: Revision,
) {
    let Some(member) = members.iter().find(|member| member.name == key) else {
        object.member(key, value);
        return;
    };
    let keeps_null = matches!(member.rule, Rule::If(_));
    if !member.revisions.contains(revision) || (value == "null" && !keeps_null) {
        return;
    }
    match member.rule {
        Rule::Keep => object.member(key, value),
        Rule::Object(members) => write_object(object.key(key), value, members, revision),
        Rule::Each(members) => write_array(object.key(key), value, |out, element| {
            write_object(out, element, members, revision);
        }),
        Rule::If(kept) => {
            if kept(value, revision) {
                object.member(key, value);
            }
        }
        Rule::ObjectIf(kept, members) => {
            if kept(value, revision) {
                write_object(object.key(key), value, members, revision);
            }
        }
        Rule::With(write) => write(object.key(key), value, revision),
    }
}
