//! How machines are set up.

use std::fmt::Debug;

use barewire::{Implementation, Revisions};
use pyo3::prelude::*;

use crate::convert::{self, Text};

/// A class whose constructor takes each setting by name and leaves the others at the core's default.
macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? })*) => {$(
        $(#[$doc])*
        #[pyclass(frozen, module = "barewire._native")]
        pub(crate) struct $name(barewire::$name);

        #[pymethods]
        impl $name {
            #[new]
            #[pyo3(signature = (*, $($field = None),*))]
            #[allow(clippy::too_many_arguments, reason = "each is a named setting")]
            fn new($($field: Option<$type>),*) -> $name {
                let mut settings = barewire::$name::default();
                $(if let Some(value) = $field {
                    settings.$field = value;
                })*
                $name(settings)
            }

            fn __repr__(&self) -> String {
                let fields = [$(format!("{}={}", stringify!($field), python(&self.0.$field))),*];
                format!("{}({})", stringify!($name), fields.join(", "))
            }
        }

        impl $name {
            pub(crate) fn or_default(settings: Option<&$name>) -> barewire::$name {
                settings.map(|settings| settings.0.clone()).unwrap_or_default()
            }
        }
    )*};
}

/// A setting as Python writes it.
fn python(value: &dyn Debug) -> String {
    match format!("{value:?}").as_str() {
        "true" => "True".into(),
        "false" => "False".into(),
        number => number.into(),
    }
}

settings! {
    /// Bounds on everything a peer can make the core keep.
    Limits {
        message_bytes: usize,
        depth: usize,
        requests_in_flight: usize,
        queued_requests: usize,
        queued_events: usize,
        queued_bytes: usize,
        batch_items: usize,
        sessions: usize,
        subscriptions: usize,
        watched_resources: usize,
        rounds: u32,
        inputs: usize,
        request_state_bytes: usize,
        page_items: usize,
    }

    /// Durations in milliseconds.
    Timeouts {
        probe: u64,
        handshake: u64,
        request: u64,
        request_total: u64,
        progress_extends: bool,
        acknowledgement: u64,
        drain: u64,
        request_state: u64,
        child_exit: u64,
        child_terminate: u64,
    }
}

/// Who a client or server is, from the arguments that both constructors take.
pub(crate) fn implementation(
    py: Python<'_>,
    name: &str,
    version: &str,
    title: Option<&str>,
    description: Option<&str>,
    website_url: Option<&str>,
    icons: Option<Text<'_>>,
) -> PyResult<Implementation> {
    let mut implementation = Implementation::new(name, version);
    implementation.title = title.map(Box::from);
    implementation.description = description.map(Box::from);
    implementation.website_url = website_url.map(Box::from);
    implementation.icons = icons.map(|icons| icons.to_json(py)).transpose()?;
    Ok(implementation)
}

/// The set of the named revisions; all if none are named.
pub(crate) fn revisions(names: Option<Vec<String>>) -> PyResult<Revisions> {
    let Some(names) = names else {
        return Ok(Revisions::ALL);
    };
    let members: Vec<_> = names.iter().map(|name| convert::revision(name)).collect::<PyResult<_>>()?;
    Ok(Revisions::of(&members))
}
