//! Frozen Python classes with named members, made by one macro.

use std::fmt::Write;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// A frozen class for each entry: a getter and a place in `__match_args__` for each field, and a short
/// `__repr__`. Members become Python objects when they are read.
macro_rules! records {
    ($(
        $(#[$doc:meta])*
        $name:ident { $($field:ident: $type:ty),* $(,)? } $(+ { $($method:tt)* })?
    )*) => {$(
        $(#[$doc])*
        #[pyclass(frozen, module = "barewire._native")]
        pub(crate) struct $name {
            $(pub(crate) $field: $type,)*
        }

        #[pymethods]
        impl $name {
            #[classattr]
            fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, pyo3::types::PyTuple>> {
                const FIELDS: &[&str] = &[$(stringify!($field)),*];
                pyo3::types::PyTuple::new(py, FIELDS)
            }

            $(
                #[getter]
                fn $field<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    $crate::convert::ToPython::to_python(&self.$field, py)
                }
            )*

            fn __repr__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyString>> {
                let members = [$((
                    stringify!($field),
                    <$type as $crate::convert::ToPython>::IS_SECRET,
                    self.$field(py)?,
                )),*];
                $crate::record::describe(py, stringify!($name), &members)
            }

            $($($method)*)?
        }
    )*};
}

/// Bytes up to this many are shown in full.
const SHOWN_BYTES: usize = 40;

/// `Name(member=value)`: members that are `None` are left out, long bytes are counted, secrets not shown.
pub(crate) fn describe<'py>(
    py: Python<'py>,
    name: &str,
    members: &[(&str, bool, Bound<'py, PyAny>)],
) -> PyResult<Bound<'py, PyString>> {
    let mut text = format!("{name}(");
    let mut separator = "";
    for (member, is_secret, value) in members {
        if value.is_none() {
            continue;
        }
        let length = value.cast::<PyBytes>().map_or(0, |bytes| bytes.as_bytes().len());
        // Writing to a String cannot fail.
        let _ = if *is_secret {
            write!(text, "{separator}{member}=<secret>")
        } else if length > SHOWN_BYTES {
            write!(text, "{separator}{member}=<{length} bytes>")
        } else {
            write!(text, "{separator}{member}={}", value.repr()?)
        };
        separator = ", ";
    }
    text.push(')');
    Ok(PyString::new(py, &text))
}
