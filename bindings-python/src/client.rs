//! The client role.

use barewire::client::{Client as Machine, Completion, CompletionReference, Listing, RequestOptions};
use barewire::transport::Stdio;
use barewire::{
    ClientConfig, EraVerdict, Error, Implementation, InputHandle, InputResponse, Instant, Machine as _,
    RequestHandle, Revision, RpcError, SubscriptionHandle,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::config::{self, Limits, Timeouts};
use crate::convert::{self, Text, text};
use crate::errors;
use crate::guard::{self, Carrier, Guarded, Holder, step, with};
use crate::values::SubscriptionFilter;

/// The lists of a server by their names in Python.
pub(crate) const LISTINGS: [(Listing, &str); 4] = [
    (Listing::Tools, "tools"),
    (Listing::Resources, "resources"),
    (Listing::ResourceTemplates, "resource_templates"),
    (Listing::Prompts, "prompts"),
];

/// A client behind newline framing. It starts to connect at once: take `data_to_send`.
///
/// `seed` is 32 random bytes, never used twice; `now` the time in milliseconds. `capabilities` is the JSON of a
/// `ClientCapabilities` object, `revisions` what it is willing to speak (all), `era` the `era_verdict` of an
/// earlier connection to the same server. One that this version cannot read is a `ValueError`: leave it out then,
/// and the server is probed.
#[pyclass(module = "barewire._native")]
pub(crate) struct Client(Guarded<Stdio<Machine>>);

impl Holder for Client {
    type Carrier = Stdio<Machine>;

    fn held(&mut self) -> &mut Guarded<Stdio<Machine>> {
        &mut self.0
    }
}

type Events<'py> = PyResult<Bound<'py, PyList>>;

/// A class around a client machine, whatever carries its messages.
pub(crate) trait ClientHolder: Holder<Carrier: Carrier<Machine = Machine>> {}

impl<H: Holder<Carrier: Carrier<Machine = Machine>>> ClientHolder for H {}

/// Runs a command of the machine that opens a request, and gives the number of its handle.
pub(crate) fn opened<H: ClientHolder>(
    this: &Bound<'_, H>,
    command: impl FnOnce(&mut Machine) -> Result<RequestHandle, Error>,
) -> PyResult<u64> {
    with(this, |carrier| Ok(command(carrier.machine_mut())?.number()))
}

/// Runs a command of the machine that gives nothing.
pub(crate) fn done<H: ClientHolder>(
    this: &Bound<'_, H>,
    command: impl FnOnce(&mut Machine) -> Result<(), Error>,
) -> PyResult<()> {
    with(this, |carrier| command(carrier.machine_mut()))
}

/// The settings that all classes of clients take.
#[allow(clippy::too_many_arguments, reason = "they come one by one from Python")]
pub(crate) fn configure(
    py: Python<'_>,
    who: Implementation,
    seed: &[u8],
    capabilities: Option<Text<'_>>,
    revisions: Option<Vec<String>>,
    era: Option<&str>,
    limits: Option<&Limits>,
    timeouts: Option<&Timeouts>,
) -> PyResult<ClientConfig> {
    let mut config = ClientConfig::new(who, convert::bytes32(seed, "a seed")?);
    if let Some(capabilities) = text(capabilities) {
        config.set_capabilities(capabilities).map_err(|error| errors::raised(py, &error))?;
    }
    config.revisions = config::revisions(revisions)?;
    config.era = era.map(convert::era_verdict).transpose()?;
    config.limits = Limits::or_default(limits);
    config.timeouts = Timeouts::or_default(timeouts);
    Ok(config)
}

pub(crate) fn waiting(timeout: Option<u64>) -> RequestOptions {
    let mut options = RequestOptions::default();
    options.timeout = timeout;
    options
}

pub(crate) fn options(
    py: Python<'_>,
    progress: bool,
    timeout: Option<u64>,
    total_timeout: Option<u64>,
    log_level: Option<&str>,
    meta: Option<Text<'_>>,
) -> PyResult<RequestOptions> {
    let mut options = waiting(timeout);
    options.progress = progress;
    options.total_timeout = total_timeout;
    options.log_level = log_level.map(convert::log_level).transpose()?;
    options.meta = meta.map(|meta| meta.to_json(py)).transpose()?;
    Ok(options)
}

/// The Python methods of a class around a client machine: its own, then the commands that all have. One macro writes
/// them, because methods of Python classes cannot be generic.
macro_rules! client_class {
    ($class:ident { $($own:tt)* }) => {
        #[pymethods]
        #[allow(clippy::too_many_arguments, reason = "most are named and optional in Python")]
        impl $class {
            $($own)*

            /// Send a request of any method.
            #[pyo3(signature = (
                method, params, now, *, progress = false, timeout = None, total_timeout = None, log_level = None,
                meta = None
            ))]
            fn request(
                this: &Bound<'_, Self>,
                method: &str,
                params: Option<Text<'_>>,
                now: u64,
                progress: bool,
                timeout: Option<u64>,
                total_timeout: Option<u64>,
                log_level: Option<&str>,
                meta: Option<Text<'_>>,
            ) -> PyResult<u64> {
                let options = options(this.py(), progress, timeout, total_timeout, log_level, meta)?;
                let params = text(params);
                opened(this, |machine| machine.request(Instant::from_millis(now), method, params, options))
            }

            /// Call a tool.
            #[pyo3(signature = (
                name, arguments, now, *, progress = false, timeout = None, total_timeout = None, log_level = None,
                meta = None
            ))]
            fn call_tool(
                this: &Bound<'_, Self>,
                name: &str,
                arguments: Option<Text<'_>>,
                now: u64,
                progress: bool,
                timeout: Option<u64>,
                total_timeout: Option<u64>,
                log_level: Option<&str>,
                meta: Option<Text<'_>>,
            ) -> PyResult<u64> {
                let options = options(this.py(), progress, timeout, total_timeout, log_level, meta)?;
                let arguments = text(arguments);
                opened(this, |machine| machine.call_tool(Instant::from_millis(now), name, arguments, options))
            }

            /// Ask for a page of a list.
            #[pyo3(signature = (kind, cursor, now, *, timeout = None))]
            fn list(
                this: &Bound<'_, Self>,
                kind: &str,
                cursor: Option<&str>,
                now: u64,
                timeout: Option<u64>,
            ) -> PyResult<u64> {
                let listing = convert::kind_named(&LISTINGS, kind)?;
                opened(this, |machine| machine.list(Instant::from_millis(now), listing, cursor, waiting(timeout)))
            }

            /// Read a resource.
            #[pyo3(signature = (uri, now, *, timeout = None))]
            fn read_resource(this: &Bound<'_, Self>, uri: &str, now: u64, timeout: Option<u64>) -> PyResult<u64> {
                opened(this, |machine| machine.read_resource(Instant::from_millis(now), uri, waiting(timeout)))
            }

            /// Ask for a prompt.
            #[pyo3(signature = (name, arguments, now, *, timeout = None))]
            fn get_prompt(
                this: &Bound<'_, Self>,
                name: &str,
                arguments: Option<Text<'_>>,
                now: u64,
                timeout: Option<u64>,
            ) -> PyResult<u64> {
                let arguments = text(arguments);
                opened(this, |machine| {
                    machine.get_prompt(Instant::from_millis(now), name, arguments, waiting(timeout))
                })
            }

            /// Ask for suggestions; exactly one of `prompt` and `resource` is given.
            #[pyo3(signature = (
                now, *, prompt = None, resource = None, argument, value, arguments = None, timeout = None
            ))]
            fn complete(
                this: &Bound<'_, Self>,
                now: u64,
                prompt: Option<&str>,
                resource: Option<&str>,
                argument: &str,
                value: &str,
                arguments: Option<Text<'_>>,
                timeout: Option<u64>,
            ) -> PyResult<u64> {
                let reference = match (prompt, resource) {
                    (Some(name), None) => CompletionReference::Prompt(name),
                    (None, Some(uri)) => CompletionReference::Resource(uri),
                    _ => return Err(PyValueError::new_err("give either a prompt or a resource")),
                };
                let completion = Completion { reference, argument, value, arguments: text(arguments) };
                opened(this, |machine| machine.complete(Instant::from_millis(now), completion, waiting(timeout)))
            }

            /// Ask whether the server is there. The legacy era only.
            #[pyo3(signature = (now, *, timeout = None))]
            fn ping(this: &Bound<'_, Self>, now: u64, timeout: Option<u64>) -> PyResult<u64> {
                opened(this, |machine| machine.ping(Instant::from_millis(now), waiting(timeout)))
            }

            /// Give up a request.
            #[pyo3(signature = (request, reason = None))]
            fn cancel(this: &Bound<'_, Self>, request: u64, reason: Option<&str>) -> PyResult<()> {
                done(this, |machine| machine.cancel(RequestHandle::from_number(request), reason))
            }

            /// Answer a question of the server.
            fn provide_input(this: &Bound<'_, Self>, input: u64, result: Text<'_>, now: u64) -> PyResult<()> {
                let response = InputResponse::Result(result.to_json(this.py())?);
                done(this, |machine| {
                    machine.provide_input(Instant::from_millis(now), InputHandle::from_number(input), response)
                })
            }

            /// Refuse a question of the server.
            fn refuse_input(this: &Bound<'_, Self>, input: u64, code: i64, message: &str, now: u64) -> PyResult<()> {
                let response = InputResponse::Refused(RpcError::new(code, message));
                done(this, |machine| {
                    machine.provide_input(Instant::from_millis(now), InputHandle::from_number(input), response)
                })
            }

            /// Ask to be told of changes.
            fn subscribe(this: &Bound<'_, Self>, filter: &SubscriptionFilter, now: u64) -> PyResult<u64> {
                let filter = filter.0.clone();
                with(this, |carrier| Ok(carrier.machine_mut().subscribe(Instant::from_millis(now), filter)?.number()))
            }

            /// End a subscription.
            fn unsubscribe(this: &Bound<'_, Self>, subscription: u64, now: u64) -> PyResult<()> {
                let subscription = SubscriptionHandle::from_number(subscription);
                done(this, |machine| machine.unsubscribe(Instant::from_millis(now), subscription))
            }

            /// Set the least severity of log messages wanted.
            fn set_log_level(this: &Bound<'_, Self>, level: &str, now: u64) -> PyResult<u64> {
                let level = convert::log_level(level)?;
                opened(this, |machine| machine.set_log_level(Instant::from_millis(now), level))
            }

            /// Send a notification of any method.
            #[pyo3(signature = (method, params = None))]
            fn notify(this: &Bound<'_, Self>, method: &str, params: Option<Text<'_>>) -> PyResult<()> {
                done(this, |machine| machine.notify(method, text(params)))
            }

            /// Tell the server that the roots have changed. The legacy era only.
            fn notify_roots_changed(this: &Bound<'_, Self>) -> PyResult<()> {
                done(this, Machine::notify_roots_changed)
            }

            /// End the connection in order; `Disconnected` follows.
            fn close(this: &Bound<'_, Self>) -> PyResult<()> {
                done(this, |machine| {
                    machine.close();
                    Ok(())
                })
            }

            /// The revision, once it is settled.
            #[getter]
            fn revision(this: &Bound<'_, Self>) -> PyResult<Option<&'static str>> {
                with(this, |carrier| Ok(carrier.machine_mut().revision().map(Revision::as_str)))
            }

            /// What to store and give as `era` to the next client of this server, once that is known.
            #[getter]
            fn era_verdict(this: &Bound<'_, Self>) -> PyResult<Option<String>> {
                with(this, |carrier| Ok(carrier.machine_mut().era_verdict().map(EraVerdict::to_text)))
            }
        }
    };
}

pub(crate) use client_class;

client_class! {
    Client {
        #[new]
        #[pyo3(signature = (
            *, name, version, seed, now, title = None, description = None, website_url = None, icons = None,
            capabilities = None, revisions = None, era = None, limits = None, timeouts = None
        ))]
        fn new(
            py: Python<'_>,
            name: &str,
            version: &str,
            seed: &[u8],
            now: u64,
            title: Option<&str>,
            description: Option<&str>,
            website_url: Option<&str>,
            icons: Option<Text<'_>>,
            capabilities: Option<Text<'_>>,
            revisions: Option<Vec<String>>,
            era: Option<&str>,
            limits: Option<&Limits>,
            timeouts: Option<&Timeouts>,
        ) -> PyResult<Client> {
            let who = config::implementation(py, name, version, title, description, website_url, icons)?;
            let config = configure(py, who, seed, capabilities, revisions, era, limits, timeouts)?;
            Guarded::new(|| Machine::new(config, Instant::from_millis(now)).map(Stdio::new))
                .map(Client)
                .map_err(|error| errors::raised(py, &error))
        }

        /// Take bytes that were read, cut anywhere, and give the events.
        fn receive_data<'py>(this: &Bound<'py, Self>, data: &[u8], now: u64) -> Events<'py> {
            step(this, |stdio| stdio.receive_data(Instant::from_millis(now), data))
        }

        /// The server closed its side.
        fn receive_eof<'py>(this: &Bound<'py, Self>, now: u64) -> Events<'py> {
            step(this, |stdio| stdio.receive_eof(Instant::from_millis(now)))
        }

        /// The transport broke.
        fn connection_lost<'py>(this: &Bound<'py, Self>, now: u64) -> Events<'py> {
            step(this, |stdio| stdio.connection_lost(Instant::from_millis(now)))
        }

        /// The server was started afresh, as `RestartRequired` asked.
        fn restart<'py>(this: &Bound<'py, Self>, now: u64) -> Events<'py> {
            step(this, |stdio| stdio.restart(Instant::from_millis(now)))
        }

        /// Take out all bytes that wait to be sent.
        fn data_to_send<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyBytes>> {
            guard::data_to_send(this)
        }

        /// Take out the events that commands have caused.
        fn events<'py>(this: &Bound<'py, Self>) -> Events<'py> {
            step(this, |_| Ok(()))
        }

        /// Let time pass.
        fn handle_timeout<'py>(this: &Bound<'py, Self>, now: u64) -> Events<'py> {
            step(this, |stdio| {
                stdio.machine_mut().handle_timeout(Instant::from_millis(now));
                Ok(())
            })
        }

        /// When to call `handle_timeout` at the latest, if ever.
        fn poll_timeout(this: &Bound<'_, Self>) -> PyResult<Option<u64>> {
            with(this, |stdio| Ok(stdio.machine().poll_timeout().map(Instant::as_millis)))
        }

        /// False while so much waits that the host should stop reading.
        #[getter]
        fn wants_input(this: &Bound<'_, Self>) -> PyResult<bool> {
            with(this, |stdio| Ok(stdio.wants_input()))
        }

        /// True when everything is over and sent: close our side.
        #[getter]
        fn is_finished(this: &Bound<'_, Self>) -> PyResult<bool> {
            // The machine says that it is done in the order of what it sends.
            with(this, |stdio| Ok(stdio.data_to_send().is_empty() && stdio.is_finished()))
        }
    }
}
