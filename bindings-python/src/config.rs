//! How machines are set up.

use std::fmt::Debug;

use barewire::{Implementation, Revisions};
use pyo3::prelude::*;

use crate::convert::{self, Text};

/// A class whose constructor takes each setting by name and leaves the others at the core's default. Each can
/// be read.
macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $field:ident: $type:ty),* $(,)? })*) => {$(
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

            $(
                $(#[$about])*
                #[getter]
                fn $field(&self) -> $type {
                    self.0.$field
                }
            )*

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
    /// Bounds on everything a peer can make the core keep; what is left out has its default.
    ///
    /// Reaching one is a typed refusal or an event, never growth.
    Limits {
        /// Bytes of one inbound message. Default 16 MiB.
        message_bytes: usize,
        /// Levels of nesting of one inbound message. Default 128.
        depth: usize,
        /// Requests in flight, each direction counted alone. Default 2048.
        requests_in_flight: usize,
        /// Requests accepted before the connection is ready. Default 256.
        queued_requests: usize,
        /// Events that wait to be taken at which `wants_input` turns false. Default 4096.
        queued_events: usize,
        /// Bytes that wait to be sent or taken at which `wants_input` turns false. Default 8 MiB.
        queued_bytes: usize,
        /// Elements of a JSON-RPC batch. Default 256.
        batch_items: usize,
        /// Sessions of one server. Default 10 000.
        sessions: usize,
        /// Open subscriptions of one peer. Default 256.
        subscriptions: usize,
        /// Resource URIs that one peer watches over all its subscriptions. Default 1024.
        watched_resources: usize,
        /// How many times one request may ask its client. Default 10.
        rounds: u32,
        /// Questions in one round. Default 32.
        inputs: usize,
        /// Bytes of the state that travels with questions. Default 64 KiB.
        request_state_bytes: usize,
        /// Items on one page of a list. Default 1000.
        page_items: usize,
        /// Bytes of the items on one page of a list. Default 1 MiB.
        page_bytes: usize,
    }

    /// Durations in milliseconds; what is left out has its default.
    Timeouts {
        /// A client waits for the answer to its era probe. Default 5 000 ms.
        probe: u64,
        /// A client waits for the answer to the handshake. Default 30 000 ms.
        handshake: u64,
        /// A request waits with nothing heard of it. Default 60 000 ms.
        request: u64,
        /// A request may last over all its rounds, whatever is heard of it. Default 600 000 ms.
        request_total: u64,
        /// Whether progress starts the `request` time anew. Default true.
        progress_extends: bool,
        /// A client waits for a subscription to be acknowledged. Default 30 000 ms.
        acknowledgement: u64,
        /// A server sends the answers that are owed after the end of input. Default 10 000 ms.
        drain: u64,
        /// How long a server accepts a sealed state again. Default 3 600 000 ms.
        request_state: u64,
        /// A child may take to exit once its input is closed. Default 2 000 ms.
        child_exit: u64,
        /// A child may take to exit once it was asked to end. Default 2 000 ms.
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
