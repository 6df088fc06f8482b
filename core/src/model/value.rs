//! How typed values are read from JSON text and written to it.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::json::{Json, MAX_DEPTH, scan};
use crate::jsonrpc::write;

/// A type with a JSON form.
pub trait Value: Sized {
    /// Reads the value.
    ///
    /// # Errors
    /// [`Unfit`] naming the member that does not fit.
    fn read(json: &Json) -> Result<Self, Unfit>;

    /// Appends the JSON text.
    fn write(&self, out: &mut String);

    /// The JSON text.
    fn to_json(&self) -> Json {
        let mut text = String::new();
        self.write(&mut text);
        Json::trusted(&text)
    }
}

/// Why JSON could not be read as a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// The path of the offending member from the value that was read, for example `content[2].text`; empty
    /// for the value itself.
    pub path: String,
    /// What is wrong with it, for example `is missing`.
    pub reason: &'static str,
}

impl Unfit {
    pub(super) fn new(reason: &'static str) -> Unfit {
        Unfit { path: String::new(), reason }
    }

    /// The same fault seen from one member further out.
    pub(super) fn inside(mut self, member: &str) -> Unfit {
        self.path = match self.path.as_bytes().first() {
            None => member.to_string(),
            Some(b'[') => format!("{member}{}", self.path),
            Some(_) => format!("{member}.{}", self.path),
        };
        self
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "the value" } else { &self.path };
        write!(f, "{path} {}", self.reason)
    }
}

impl core::error::Error for Unfit {}

/// An item of a list that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Its place in the list, from 0.
    pub index: usize,
    /// What is wrong with it.
    pub fault: Unfit,
    /// The item as written.
    pub raw: Json,
}

/// A list read item by item: one odd item never hides the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing<T> {
    /// The items that are sound, in order.
    pub items: Vec<T>,
    /// The items that are not.
    pub rejected: Vec<Rejected>,
    /// Where the next page begins; an empty cursor is a cursor (server/utilities/pagination).
    pub next_cursor: Option<String>,
}

impl<T> Listing<T> {
    /// The strict reading: all items, or what is wrong with those that do not fit.
    ///
    /// # Errors
    /// The rejected items, if there are any.
    pub fn strict(self) -> Result<Vec<T>, Vec<Rejected>> {
        if self.rejected.is_empty() { Ok(self.items) } else { Err(self.rejected) }
    }
}

/// Reads the list in `member` of a list result such as that of `tools/list`, item by item.
///
/// # Errors
/// [`Unfit`] if `result` is no object or has no array there.
pub fn read_list<T: Value>(result: &Json, member: &str) -> Result<Listing<T>, Unfit> {
    let list = result.member(member).ok_or_else(|| Unfit::new("is missing").inside(member))?;
    let (items, rejected) = read_items(&list).map_err(|fault| fault.inside(member))?;
    let next_cursor = result.member("nextCursor").map(|cursor| String::read(&cursor)).transpose();
    Ok(Listing { items, rejected, next_cursor: next_cursor.map_err(|fault| fault.inside("nextCursor"))? })
}

/// The sound and the unsound items of an array.
pub(super) fn read_items<T: Value>(list: &Json) -> Result<(Vec<T>, Vec<Rejected>), Unfit> {
    let (mut items, mut rejected) = (Vec::new(), Vec::new());
    for (index, raw) in elements(list)?.into_iter().enumerate() {
        match T::read(&raw) {
            Ok(item) => items.push(item),
            Err(fault) => rejected.push(Rejected { index, fault, raw }),
        }
    }
    Ok((items, rejected))
}

fn elements(list: &Json) -> Result<Vec<Json>, Unfit> {
    let mut elements = Vec::new();
    scan::array_elements(list.as_str(), MAX_DEPTH, |element| elements.push(list.slice(element)))
        .map_err(|_| Unfit::new("is not an array"))?;
    Ok(elements)
}

/// The members of an object in order, keys decoded; those with the value `null` are left out.
pub(super) fn members(object: &Json) -> Result<Vec<(String, Json)>, Unfit> {
    let text = object.as_str();
    let mut members = Vec::new();
    scan::object_members(text, MAX_DEPTH, |key, value| {
        let value = object.slice(value);
        if value.as_str() == "null" {
            return;
        }
        // The scanner gives the key without its quotes, which stand right beside it.
        let key = match &text[key.clone()] {
            plain if !plain.contains('\\') => plain.to_string(),
            escaped => {
                serde_json::from_str(&text[key.start - 1..=key.end]).unwrap_or_else(|_| escaped.to_string())
            }
        };
        members.push((key, value));
    })
    .map_err(|_| Unfit::new("is not an object"))?;
    Ok(members)
}

/// A JSON object whose members are not looked at, such as a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object(Json);

impl Object {
    /// The object's JSON.
    pub fn json(&self) -> &Json {
        &self.0
    }
}

impl Value for Object {
    fn read(json: &Json) -> Result<Self, Unfit> {
        if json.as_str().starts_with('{') {
            Ok(Object(json.clone()))
        } else {
            Err(Unfit::new("is not an object"))
        }
    }

    fn write(&self, out: &mut String) {
        self.0.write(out);
    }
}

impl Value for Json {
    fn read(json: &Json) -> Result<Self, Unfit> {
        Ok(json.clone())
    }

    fn write(&self, out: &mut String) {
        out.push_str(self.as_str());
    }
}

impl Value for String {
    fn read(json: &Json) -> Result<Self, Unfit> {
        json.as_text().to_text().map(String::from).ok_or(Unfit::new("is not a string"))
    }

    fn write(&self, out: &mut String) {
        write::string(out, self);
    }
}

impl Value for bool {
    fn read(json: &Json) -> Result<Self, Unfit> {
        json.as_text().as_bool().ok_or(Unfit::new("is not a boolean"))
    }

    fn write(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }
}

impl Value for i64 {
    fn read(json: &Json) -> Result<Self, Unfit> {
        json.parse().map_err(|_| Unfit::new("is not an integer of 64 bits"))
    }

    fn write(&self, out: &mut String) {
        write::integer(out, *self);
    }
}

impl Value for f64 {
    fn read(json: &Json) -> Result<Self, Unfit> {
        json.parse().ok().filter(|number: &f64| number.is_finite()).ok_or(Unfit::new("is not a number"))
    }

    fn write(&self, out: &mut String) {
        // JSON has no infinities; a value that is not finite is written as null, which reads as absent.
        match serde_json::to_string(self) {
            Ok(text) => out.push_str(&text),
            Err(_) => out.push_str("null"),
        }
    }
}

impl<T: Value> Value for Vec<T> {
    fn read(json: &Json) -> Result<Self, Unfit> {
        let elements = elements(json)?;
        let read = |(index, element): (usize, Json)| {
            T::read(&element).map_err(|fault| fault.inside(&format!("[{index}]")))
        };
        elements.into_iter().enumerate().map(read).collect()
    }

    fn write(&self, out: &mut String) {
        out.push('[');
        for (index, value) in self.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            value.write(out);
        }
        out.push(']');
    }
}

impl<T: Value> Value for BTreeMap<String, T> {
    fn read(json: &Json) -> Result<Self, Unfit> {
        let read = |(key, value): (String, Json)| match T::read(&value) {
            Ok(value) => Ok((key, value)),
            Err(fault) => Err(fault.inside(&key)),
        };
        members(json)?.into_iter().map(read).collect()
    }

    fn write(&self, out: &mut String) {
        let mut writer = Members::begin(out);
        for (key, value) in self {
            writer.member(key, value);
        }
        writer.end();
    }
}

/// Writes an object member by member.
pub(super) struct Members<'a> {
    out: &'a mut String,
    first: bool,
}

impl<'a> Members<'a> {
    pub(super) fn begin(out: &'a mut String) -> Self {
        out.push('{');
        Members { out, first: true }
    }

    pub(super) fn member<T: Value>(&mut self, key: &str, value: &T) {
        if !core::mem::take(&mut self.first) {
            self.out.push(',');
        }
        write::string(self.out, key);
        self.out.push(':');
        value.write(self.out);
    }

    pub(super) fn end(self) {
        self.out.push('}');
    }
}

/// Declares an object type: its members, which of them are required, and everything else kept in `extra`.
macro_rules! object {
    (
        $(#[$doc:meta])*
        $name:ident {
            required { $( $(#[$rdoc:meta])* $rfield:ident: $rtype:ty = $rwire:literal; )* }
            optional { $( $(#[$odoc:meta])* $ofield:ident: $otype:ty = $owire:literal; )* }
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $( $(#[$rdoc])* pub $rfield: $rtype, )*
            $( $(#[$odoc])* pub $ofield: Option<$otype>, )*
            /// Members that this type does not know, as written.
            pub extra: alloc::vec::Vec<(alloc::string::String, $crate::json::Json)>,
        }

        impl $name {
            /// A value with the required members only.
            #[allow(clippy::new_without_default, reason = "few types require nothing")]
            pub fn new($($rfield: impl Into<$rtype>),*) -> Self {
                $name { $($rfield: $rfield.into(),)* $($ofield: None,)* extra: alloc::vec::Vec::new() }
            }
        }

        impl $crate::model::value::Value for $name {
            fn read(json: &$crate::json::Json) -> Result<Self, $crate::model::value::Unfit> {
                use $crate::model::value::{Unfit, Value, members};
                $( let mut $rfield: Option<$rtype> = None; )*
                $( let mut $ofield: Option<$otype> = None; )*
                let mut extra = alloc::vec::Vec::new();
                for (key, value) in members(json)? {
                    match key.as_str() {
                        $( $rwire => $rfield = Some(Value::read(&value).map_err(|fault: Unfit| fault.inside($rwire))?), )*
                        $( $owire => $ofield = Some(Value::read(&value).map_err(|fault: Unfit| fault.inside($owire))?), )*
                        _ => extra.push((key, value)),
                    }
                }
                Ok($name {
                    $( $rfield: $rfield.ok_or_else(|| Unfit::new("is missing").inside($rwire))?, )*
                    $( $ofield, )*
                    extra,
                })
            }

            fn write(&self, out: &mut alloc::string::String) {
                let mut members = $crate::model::value::Members::begin(out);
                self.write_members(&mut members);
                members.end();
            }
        }

        impl $name {
            /// Writes the members into an object that has begun, so that a tag can stand before them.
            pub(super) fn write_members(&self, members: &mut $crate::model::value::Members<'_>) {
                $( members.member($rwire, &self.$rfield); )*
                $( if let Some(value) = &self.$ofield { members.member($owire, value); } )*
                for (key, value) in &self.extra {
                    members.member(key, value);
                }
            }
        }
    };
}

/// Declares a closed set of strings.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $( $(#[$vdoc:meta])* $variant:ident = $wire:literal; )* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $( $(#[$vdoc])* $variant, )*
        }

        impl $crate::model::value::Value for $name {
            fn read(json: &$crate::json::Json) -> Result<Self, $crate::model::value::Unfit> {
                let word: alloc::string::String = $crate::model::value::Value::read(json)?;
                match word.as_str() {
                    $( $wire => Ok($name::$variant), )*
                    _ => Err($crate::model::value::Unfit::new("is not one of the known words")),
                }
            }

            fn write(&self, out: &mut alloc::string::String) {
                $crate::jsonrpc::write::string(out, match self { $( $name::$variant => $wire, )* });
            }
        }
    };
}

pub(super) use {object, words};
