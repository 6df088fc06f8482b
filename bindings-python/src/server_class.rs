//! What the classes of the server role share, whatever their machine sits behind: constructor, catalog, commands.

use barewire::server::Server as Machine;
use barewire::{CacheScope, Change, Error, InputQuestion};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::convert::{self, INPUT_KINDS, Text};
use crate::guard::{Carrier, Holder, with};

pub(crate) const CACHE_SCOPES: [(CacheScope, &str); 2] =
    [(CacheScope::Public, CacheScope::Public.as_str()), (CacheScope::Private, CacheScope::Private.as_str())];

pub(crate) type Events<'py> = PyResult<Bound<'py, PyList>>;

/// The methods of a class of the server role: its own, and those that all have, which have to stand in one `impl`.
/// What the macro itself needs in scope, such as `step` and `Instant`, is there for them too.
///
/// `options` are arguments of the constructor beyond the common ones; after the configuration of the machine they
/// are what `behind` is called with. It gives what puts a machine behind the transport.
macro_rules! server_class {
    (
        $name:ident($carrier:ty), $behind:path,
        options { $($option:ident: $type:ty),* $(,)? },
        $($own:tt)*
    ) => {
        impl $crate::guard::Holder for $name {
            type Carrier = $carrier;

            fn held(&mut self) -> &mut $crate::guard::Guarded<$carrier> {
                &mut self.0
            }
        }

        const _: () = {
        use ::barewire::server::{Notification, Server as Machine};
        use ::barewire::{
            Change, Freshness, Instant, RequestHandle, RpcError, ServerConfig, SessionHandle,
            SubscriptionHandle, UnixTime,
        };
        use $crate::config::{self, Limits, Timeouts};
        use $crate::convert::{self, LIST_KINDS, Text, text};
        use $crate::errors;
        use $crate::guard::{Guarded, step, with};
        use $crate::server_class::{self, CACHE_SCOPES, Events, run};

        #[pymethods]
        #[allow(clippy::too_many_arguments, reason = "most are named and optional in Python")]
        #[allow(clippy::needless_pass_by_value, reason = "what is read from Python is owned")]
        impl $name {
            $($own)*

            #[new]
            #[pyo3(signature = (
                *, name, version, seed, clock_origin, title = None, description = None, website_url = None,
                icons = None, instructions = None, revisions = None, logging = true, completions = false,
                extensions = None, extension_methods = None, ttl_ms = 0, cache_scope = "private",
                identify_results = true, request_state_keys = None, limits = None, timeouts = None
                $(, $option = None)*
            ))]
            #[allow(clippy::fn_params_excessive_bools, reason = "they are named in Python")]
            fn new(
                py: Python<'_>,
                name: &str,
                version: &str,
                seed: &[u8],
                clock_origin: u64,
                title: Option<&str>,
                description: Option<&str>,
                website_url: Option<&str>,
                icons: Option<Text<'_>>,
                instructions: Option<&str>,
                revisions: Option<Vec<String>>,
                logging: bool,
                completions: bool,
                extensions: Option<Text<'_>>,
                extension_methods: Option<Vec<String>>,
                ttl_ms: u64,
                cache_scope: &str,
                identify_results: bool,
                request_state_keys: Option<Vec<Vec<u8>>>,
                limits: Option<&Limits>,
                timeouts: Option<&Timeouts>,
                $($option: Option<$type>,)*
            ) -> PyResult<$name> {
                let who = config::implementation(py, name, version, title, description, website_url, icons)?;
                let mut config = ServerConfig::new(who, convert::bytes32(seed, "a seed")?);
                config.instructions = instructions.map(Box::from);
                config.revisions = config::revisions(revisions)?;
                config.logging = logging;
                config.completions = completions;
                config.extensions = extensions.map(|extensions| extensions.to_json(py)).transpose()?;
                let methods = extension_methods.unwrap_or_default();
                config.extension_methods = methods.into_iter().map(String::into_boxed_str).collect();
                config.freshness = Freshness { ttl_ms, scope: convert::kind_named(&CACHE_SCOPES, cache_scope)? };
                config.identify_results = identify_results;
                let keys = request_state_keys.unwrap_or_default();
                config.request_state_keys =
                    keys.iter().map(|key| convert::bytes32(key, "a key")).collect::<PyResult<_>>()?;
                config.clock_origin = UnixTime::from_millis(clock_origin);
                config.limits = Limits::or_default(limits);
                config.timeouts = Timeouts::or_default(timeouts);
                let behind = $behind(&config $(, $option)*)?;
                Guarded::new(|| Machine::new(config).map(behind))
                    .map($name)
                    .map_err(|error| errors::raised(py, &error))
            }

            /// Take out the events that commands have caused.
            fn events<'py>(this: &Bound<'py, $name>) -> Events<'py> {
                step(this, |_| Ok(()))
            }

            /// Register a tool by its definition.
            fn add_tool(this: &Bound<'_, $name>, definition: Text<'_>) -> PyResult<()> {
                run(this, |machine| machine.add_tool(definition.as_str()))
            }

            /// Remove a tool.
            fn remove_tool(this: &Bound<'_, $name>, name: &str) -> PyResult<()> {
                run(this, |machine| machine.remove_tool(name))
            }

            /// Register a resource by its definition.
            fn add_resource(this: &Bound<'_, $name>, definition: Text<'_>) -> PyResult<()> {
                run(this, |machine| machine.add_resource(definition.as_str()))
            }

            /// Remove a resource.
            fn remove_resource(this: &Bound<'_, $name>, uri: &str) -> PyResult<()> {
                run(this, |machine| machine.remove_resource(uri))
            }

            /// Register a resource template by its definition.
            fn add_resource_template(this: &Bound<'_, $name>, definition: Text<'_>) -> PyResult<()> {
                run(this, |machine| machine.add_resource_template(definition.as_str()))
            }

            /// Remove a resource template.
            fn remove_resource_template(this: &Bound<'_, $name>, template: &str) -> PyResult<()> {
                run(this, |machine| machine.remove_resource_template(template))
            }

            /// Register a prompt by its definition.
            fn add_prompt(this: &Bound<'_, $name>, definition: Text<'_>) -> PyResult<()> {
                run(this, |machine| machine.add_prompt(definition.as_str()))
            }

            /// Remove a prompt.
            fn remove_prompt(this: &Bound<'_, $name>, name: &str) -> PyResult<()> {
                run(this, |machine| machine.remove_prompt(name))
            }

            /// Answer a request with its result.
            fn respond(this: &Bound<'_, $name>, request: u64, result: Text<'_>) -> PyResult<()> {
                run(this, |machine| machine.respond(RequestHandle::from_number(request), result.as_str()))
            }

            /// Answer a request with an error.
            #[pyo3(signature = (request, code, message, data = None))]
            fn respond_error(
                this: &Bound<'_, $name>,
                request: u64,
                code: i64,
                message: &str,
                data: Option<Text<'_>>,
            ) -> PyResult<()> {
                let mut error = RpcError::new(code, message);
                error.data = data.map(|data| data.to_json(this.py())).transpose()?;
                run(this, |machine| machine.respond_error(RequestHandle::from_number(request), error))
            }

            /// Answer a request that its client lacks capabilities for.
            fn respond_missing_capability(this: &Bound<'_, $name>, request: u64, required: Text<'_>) -> PyResult<()> {
                let request = RequestHandle::from_number(request);
                run(this, |machine| machine.respond_missing_capability(request, required.as_str()))
            }

            /// Refuse arguments that do not fit the tool.
            fn respond_invalid_arguments(this: &Bound<'_, $name>, request: u64, message: &str) -> PyResult<()> {
                let request = RequestHandle::from_number(request);
                run(this, |machine| machine.respond_invalid_arguments(request, message))
            }

            /// Ask the client something before the request can be answered.
            #[pyo3(signature = (request, questions, now, state = None))]
            fn require_input(
                this: &Bound<'_, $name>,
                request: u64,
                questions: &Bound<'_, PyAny>,
                now: u64,
                state: Option<Text<'_>>,
            ) -> PyResult<()> {
                let questions = questions.try_iter()?.map(|tuple| server_class::question(&tuple?)).collect::<PyResult<Vec<_>>>()?;
                let request = RequestHandle::from_number(request);
                run(this, |machine| machine.require_input(Instant::from_millis(now), request, questions, text(state)))
            }

            /// Report progress of a request; whether it was sent.
            #[pyo3(signature = (request, progress, total = None, message = None))]
            fn progress(
                this: &Bound<'_, $name>,
                request: u64,
                progress: f64,
                total: Option<f64>,
                message: Option<&str>,
            ) -> PyResult<bool> {
                let notification = Notification::Progress { progress, total, message };
                run(this, |machine| machine.notify(RequestHandle::from_number(request), notification))
            }

            /// Log something within a request, or outside any; whether it was sent.
            #[pyo3(signature = (request, level, data, logger = None))]
            fn log(
                this: &Bound<'_, $name>,
                request: Option<u64>,
                level: &str,
                data: Text<'_>,
                logger: Option<&str>,
            ) -> PyResult<bool> {
                let level = convert::log_level(level)?;
                let data = data.as_str();
                run(this, |machine| match request {
                    Some(request) => {
                        let notification = Notification::Log { level, logger, data };
                        machine.notify(RequestHandle::from_number(request), notification)
                    }
                    None => machine.log(level, logger, data).map(|()| true),
                })
            }

            /// Send a notification of an extension within a request; whether it was sent.
            #[pyo3(signature = (request, method, params = None))]
            fn notify(this: &Bound<'_, $name>, request: u64, method: &str, params: Option<Text<'_>>) -> PyResult<bool> {
                let notification = Notification::Other { method, params: text(params) };
                run(this, |machine| machine.notify(RequestHandle::from_number(request), notification))
            }

            /// Tell clients that a list has changed.
            fn publish_list_changed(this: &Bound<'_, $name>, kind: &str) -> PyResult<()> {
                server_class::publish(this, &Change::List(convert::kind_named(&LIST_KINDS, kind)?))
            }

            /// Tell clients that a resource has changed.
            fn publish_resource_updated(this: &Bound<'_, $name>, uri: &str) -> PyResult<()> {
                server_class::publish(this, &Change::Resource(uri.into()))
            }

            /// End a client's subscription in order.
            fn end_subscription(this: &Bound<'_, $name>, subscription: u64) -> PyResult<()> {
                run(this, |machine| machine.end_subscription(SubscriptionHandle::from_number(subscription)))
            }

            /// Send a request to a legacy client.
            fn request(
                this: &Bound<'_, $name>,
                session: u64,
                method: &str,
                params: Option<Text<'_>>,
                now: u64,
            ) -> PyResult<u64> {
                let session = SessionHandle::from_number(session);
                let params = text(params);
                run(this, |machine| machine.request(Instant::from_millis(now), session, method, params))
                    .map(RequestHandle::number)
            }

            /// Ask a legacy client whether it is there.
            fn ping(this: &Bound<'_, $name>, session: u64, now: u64) -> PyResult<u64> {
                let session = SessionHandle::from_number(session);
                run(this, |machine| machine.ping(Instant::from_millis(now), session)).map(RequestHandle::number)
            }

            /// A legacy session as text that `import_session` takes in another process.
            fn export_session(this: &Bound<'_, $name>, session: u64) -> PyResult<String> {
                run(this, |machine| machine.export_session(SessionHandle::from_number(session)))
            }

            /// Go on with a session that `export_session` wrote; give its handle.
            fn import_session(this: &Bound<'_, $name>, text: &str) -> PyResult<u64> {
                run(this, |machine| machine.import_session(text)).map(SessionHandle::number)
            }

            /// End the connection in order; `Disconnected` follows.
            fn close(this: &Bound<'_, $name>) -> PyResult<()> {
                run(this, |machine| {
                    machine.close();
                    Ok(())
                })
            }
        }
        };
    };
}

/// Runs a command of the machine.
pub(crate) fn run<H, R>(
    this: &Bound<'_, H>,
    command: impl FnOnce(&mut Machine) -> Result<R, Error>,
) -> PyResult<R>
where
    H: Holder<Carrier: Carrier<Machine = Machine>>,
{
    with(this, |carrier| command(Carrier::machine_mut(carrier)))
}

pub(crate) fn publish<H>(this: &Bound<'_, H>, change: &Change) -> PyResult<()>
where
    H: Holder<Carrier: Carrier<Machine = Machine>>,
{
    run(this, |machine| {
        machine.publish(change);
        Ok(())
    })
}

/// A question from its tuple of key, kind and parameters.
pub(crate) fn question(tuple: &Bound<'_, PyAny>) -> PyResult<InputQuestion> {
    let (key, kind, params): (String, String, Bound<'_, PyAny>) = tuple.extract()?;
    let params: Text<'_> = params.extract()?;
    Ok(InputQuestion {
        key: key.into(),
        kind: convert::kind_named(&INPUT_KINDS, &kind)?,
        params: params.to_json(tuple.py())?,
    })
}
