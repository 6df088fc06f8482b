//! Core values as Python objects, and JSON arguments as text.

use std::sync::Arc;

use barewire::auth::{AuthorizationError, Secret, SigningRequest};
use barewire::client::{DisconnectReason, FailureReason};
use barewire::server::ClientFailure;
use barewire::{
    ApiMisuse, Capabilities, Capability, CloseReason, EraVerdict, ExchangeHandle, InputHandle, InputKind,
    Json, ListKind, LogLevel, RequestHandle, Revision, RpcError, SessionHandle, SubscriptionHandle,
    Violation,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::authorization;
use crate::errors::{self, ToException};
use crate::values;

/// A value that a getter can hand to Python. JSON becomes `bytes`.
pub(crate) trait ToPython {
    /// Whether no `__repr__` shows it.
    const IS_SECRET: bool = false;

    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
}

macro_rules! to_python {
    ($($type:ty: |$value:ident, $py:ident| $body:expr;)*) => {$(
        impl ToPython for $type {
            fn to_python<'py>(&self, $py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                let $value = self;
                Ok($body.into_any())
            }
        }
    )*};
}

to_python! {
    bool: |value, py| PyBool::new(py, *value).to_owned();
    u64: |value, py| PyInt::new(py, *value);
    u32: |value, py| PyInt::new(py, *value);
    i64: |value, py| PyInt::new(py, *value);
    f64: |value, py| PyFloat::new(py, *value);
    &'static str: |value, py| PyString::new(py, value);
    Box<str>: |value, py| PyString::new(py, value);
    Arc<str>: |value, py| PyString::new(py, value);
    Arc<Capabilities>: |value, py| Capabilities::to_python(value, py)?;
    Json: |value, py| PyBytes::new(py, value.as_str().as_bytes());
    Box<[u8]>: |value, py| PyBytes::new(py, value);
    Vec<u8>: |value, py| PyBytes::new(py, value);
    String: |value, py| PyString::new(py, value);
    RequestHandle: |value, py| PyInt::new(py, value.number());
    SubscriptionHandle: |value, py| PyInt::new(py, value.number());
    SessionHandle: |value, py| PyInt::new(py, value.number());
    ExchangeHandle: |value, py| PyInt::new(py, value.number());
    u16: |value, py| PyInt::new(py, *value);
    usize: |value, py| PyInt::new(py, *value);
    (String, String): |value, py| PyTuple::new(py, [value.0.as_str(), value.1.as_str()])?;
    InputHandle: |value, py| PyInt::new(py, value.number());
    Revision: |value, py| PyString::new(py, value.as_str());
    LogLevel: |value, py| PyString::new(py, value.as_str());
    InputKind: |value, py| PyString::new(py, name_of(&INPUT_KINDS, *value));
    ListKind: |value, py| PyString::new(py, name_of(&LIST_KINDS, *value));
    Violation: |value, py| PyString::intern(py, value.name());
    FailureReason: |value, py| value.to_exception(py)?;
    DisconnectReason: |value, py| value.to_exception(py)?;
    CloseReason: |value, py| value.to_exception(py)?;
    ClientFailure: |value, py| value.to_exception(py)?;
    RpcError: |value, py| Bound::new(py, values::RpcErrorValue::from(value.clone()))?;
    barewire::InputRequest: |value, py| Bound::new(py, values::InputRequest::from(value.clone()))?;
    barewire::InputAnswer: |value, py| Bound::new(py, values::InputAnswer::from(value.clone()))?;
    barewire::SubscriptionFilter: |value, py| Bound::new(py, values::SubscriptionFilter(value.clone()))?;
    SigningRequest: |value, py| Bound::new(py, authorization::SigningRequest(value.clone()))?;
    AuthorizationError: |value, py| value.to_exception(py)?;
    Py<values::RequestContext>: |value, py| value.bind(py).clone();
}

impl<T: ToPython> ToPython for Option<T> {
    const IS_SECRET: bool = T::IS_SECRET;

    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Some(value) => value.to_python(py),
            None => Ok(py.None().into_bound(py)),
        }
    }
}

impl ToPython for Secret {
    const IS_SECRET: bool = true;

    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyString::new(py, self.expose()).into_any())
    }
}

impl<T: ToPython> ToPython for Vec<T> {
    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let list = PyList::empty(py);
        for value in self {
            list.append(value.to_python(py)?)?;
        }
        Ok(list.into_any())
    }
}

/// Pairs as a `dict` in their order.
impl ToPython for Vec<(Box<str>, Box<str>)> {
    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let dict = PyDict::new(py);
        for (name, value) in self {
            dict.set_item(&**name, &**value)?;
        }
        Ok(dict.into_any())
    }
}

/// What a peer declared, as it wrote it.
impl ToPython for Capabilities {
    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.raw() {
            Some(raw) => raw.to_python(py),
            None => Ok(py.None().into_bound(py)),
        }
    }
}

/// JSON text given as `str` or `bytes`, borrowed for the call. Whether it is JSON is the core's to say.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    pub(crate) fn as_str(self) -> &'a str {
        self.0
    }

    /// As a checked value of the core.
    pub(crate) fn to_json(self, py: Python<'_>) -> PyResult<Json> {
        Json::new(self.0).map_err(|_| errors::raised(py, &ApiMisuse::InvalidJson.into()))
    }
}

impl<'a> FromPyObject<'a, '_> for Text<'a> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, '_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.extract::<&'a [u8]>() {
            return std::str::from_utf8(bytes).map(Text).map_err(|_| PyValueError::new_err("not UTF-8"));
        }
        if object.is_instance_of::<PyString>() {
            return object.extract::<&'a str>().map(Text);
        }
        Err(PyTypeError::new_err("JSON is given as bytes or str"))
    }
}

/// Text of an optional argument.
pub(crate) fn text(argument: Option<Text<'_>>) -> Option<&str> {
    argument.map(Text::as_str)
}

/// The names of kinds in Python.
pub(crate) const INPUT_KINDS: [(InputKind, &str); 3] =
    [(InputKind::Elicitation, "elicitation"), (InputKind::Sampling, "sampling"), (InputKind::Roots, "roots")];
pub(crate) const LIST_KINDS: [(ListKind, &str); 3] =
    [(ListKind::Tools, "tools"), (ListKind::Resources, "resources"), (ListKind::Prompts, "prompts")];

fn name_of<K: Copy + PartialEq>(names: &[(K, &'static str)], kind: K) -> &'static str {
    names.iter().find(|(known, _)| *known == kind).map_or("", |(_, name)| name)
}

/// The kind of that name in Python.
pub(crate) fn kind_named<K: Copy>(names: &[(K, &'static str)], name: &str) -> PyResult<K> {
    let known = names.iter().find(|(_, known)| *known == name);
    known.map(|(kind, _)| *kind).ok_or_else(|| unknown(name, names.iter().map(|(_, name)| *name)))
}

pub(crate) fn log_level(name: &str) -> PyResult<LogLevel> {
    LogLevel::from_name(name).ok_or_else(|| unknown(name, LogLevel::ALL.into_iter().map(LogLevel::as_str)))
}

pub(crate) fn revision(name: &str) -> PyResult<Revision> {
    Revision::from_name(name).ok_or_else(|| unknown(name, Revision::ALL.into_iter().map(Revision::as_str)))
}

/// A stored verdict on the era of a server.
pub(crate) fn era_verdict(text: &str) -> PyResult<EraVerdict> {
    EraVerdict::from_text(text).ok_or_else(|| {
        PyValueError::new_err(format!(
            "the era {text:?} is none that this version can read: give what `era` or `era_verdict` said, or leave \
             it out to have the server probed"
        ))
    })
}

/// Whether a capability, named by its member path, is declared.
pub(crate) fn has_capability(capabilities: &Capabilities, path: &str) -> PyResult<bool> {
    let known = Capability::ALL.into_iter().find(|capability| capability.path() == path);
    known
        .map(|capability| capabilities.has(capability))
        .ok_or_else(|| unknown(path, Capability::ALL.into_iter().map(Capability::path)))
}

fn unknown(name: &str, known: impl Iterator<Item = &'static str>) -> PyErr {
    let known: Vec<_> = known.collect();
    PyValueError::new_err(format!("{name:?} is none of {}", known.join(", ")))
}

/// A fixed number of bytes, such as a seed or a key.
pub(crate) fn bytes32(bytes: &[u8], what: &str) -> PyResult<[u8; 32]> {
    bytes.try_into().map_err(|_| PyValueError::new_err(format!("{what} is 32 bytes, not {}", bytes.len())))
}
