//! The server role: commands, whatever carries the messages, and servers on a byte stream.

use barewire::transport::Stdio;
use barewire::{Instant, Machine as _, server};

use crate::config::ServerConfig;
use crate::errors::Outcome;
use crate::events::ServerEvent;
use crate::guard::{Guarded, data_to_send};

/// The commands of the server role, which every object of it has.
///
/// They do no I/O: what they cause waits to be sent, and events that they cause are given by the next verb.
macro_rules! server_commands {
    ($name:ident) => {
        const _: () = {
            use ::barewire::server::Notification;
            use ::barewire::{Change, RequestHandle, RpcError, SessionHandle, SubscriptionHandle};
            use $crate::values::{InputQuestion, ListKind, LogLevel, json};

            #[uniffi::export]
            impl $name {
                /// Takes out the events that commands have caused.
                pub fn events(&self) -> Outcome<Vec<ServerEvent>> {
                    self.0.step(|_| Ok(()))
                }

                /// Registers a tool: the text of its definition, with at least `name` and `inputSchema` (server/tools).
                /// Clients that watch the list are told.
                pub fn add_tool(&self, definition: &str) -> Outcome<()> {
                    self.0.command(|machine| machine.add_tool(definition))
                }

                /// Removes a tool.
                pub fn remove_tool(&self, name: &str) -> Outcome<()> {
                    self.0.command(|machine| machine.remove_tool(name))
                }

                /// Registers a resource: the text of its definition, with at least `uri` and `name` (server/resources).
                pub fn add_resource(&self, definition: &str) -> Outcome<()> {
                    self.0.command(|machine| machine.add_resource(definition))
                }

                /// Removes a resource.
                pub fn remove_resource(&self, uri: &str) -> Outcome<()> {
                    self.0.command(|machine| machine.remove_resource(uri))
                }

                /// Registers a resource template: the text of its definition, with at least `uriTemplate` (RFC 6570) and `name`.
                pub fn add_resource_template(&self, definition: &str) -> Outcome<()> {
                    self.0.command(|machine| machine.add_resource_template(definition))
                }

                /// Removes a resource template.
                pub fn remove_resource_template(&self, template: &str) -> Outcome<()> {
                    self.0.command(|machine| machine.remove_resource_template(template))
                }

                /// Registers a prompt: the text of its definition, with at least `name` (server/prompts).
                pub fn add_prompt(&self, definition: &str) -> Outcome<()> {
                    self.0.command(|machine| machine.add_prompt(definition))
                }

                /// Removes a prompt.
                pub fn remove_prompt(&self, name: &str) -> Outcome<()> {
                    self.0.command(|machine| machine.remove_prompt(name))
                }

                /// Answers a request with the text of its result object, written for the newest revision: what the client's
                /// revision must not see is left out or replaced.
                pub fn respond(&self, request: u64, result: String) -> Outcome<()> {
                    self.0.command(|machine| machine.respond(RequestHandle::from_number(request), result))
                }

                /// Answers a request with an error. `data` is the text of any JSON value.
                #[uniffi::method(default(data = None))]
                pub fn respond_error(
                    &self,
                    request: u64,
                    code: i64,
                    message: &str,
                    data: Option<String>,
                ) -> Outcome<()> {
                    let mut error = RpcError::new(code, message);
                    error.data = data.as_deref().map(json).transpose()?;
                    self.0
                        .command(|machine| machine.respond_error(RequestHandle::from_number(request), error))
                }

                /// Answers a request that its client lacks capabilities for; `required` is the text of the capabilities
                /// object that names them.
                pub fn respond_missing_capability(&self, request: u64, required: &str) -> Outcome<()> {
                    let request = RequestHandle::from_number(request);
                    self.0.command(|machine| machine.respond_missing_capability(request, required))
                }

                /// Refuses arguments that do not fit the tool: an error or a result, as the client's revision wants it.
                pub fn respond_invalid_arguments(&self, request: u64, message: &str) -> Outcome<()> {
                    let request = RequestHandle::from_number(request);
                    self.0.command(|machine| machine.respond_invalid_arguments(request, message))
                }

                /// Asks the client something before the request can be answered. The event of the request comes again with the
                /// answers, for the same handle in the legacy era, for a new one in the modern one. `state` is the text of any
                /// JSON value, given back with the event; in the modern era it travels sealed through the client.
                #[uniffi::method(default(state = None))]
                pub fn require_input(
                    &self,
                    request: u64,
                    questions: Vec<InputQuestion>,
                    now: u64,
                    state: Option<String>,
                ) -> Outcome<()> {
                    let questions = questions.iter().map(InputQuestion::to_core).collect::<Outcome<_>>()?;
                    let (now, request) = (Instant::from_millis(now), RequestHandle::from_number(request));
                    self.0.command(|machine| machine.require_input(now, request, questions, state.as_deref()))
                }

                /// Reports progress of a request; true if it was sent, false if the client did not ask for it, the request is
                /// over or the client has stopped reading.
                #[uniffi::method(default(total = None, message = None))]
                pub fn progress(
                    &self,
                    request: u64,
                    progress: f64,
                    total: Option<f64>,
                    message: Option<String>,
                ) -> Outcome<bool> {
                    let notification =
                        Notification::Progress { progress, total, message: message.as_deref() };
                    self.0
                        .command(|machine| machine.notify(RequestHandle::from_number(request), notification))
                }

                /// Logs something within a request, or outside any; true if it was sent. `data` is the text of any JSON value.
                #[uniffi::method(default(logger = None))]
                pub fn log(
                    &self,
                    request: Option<u64>,
                    level: LogLevel,
                    data: &str,
                    logger: Option<String>,
                ) -> Outcome<bool> {
                    let logger = logger.as_deref();
                    self.0.command(|machine| match request {
                        Some(request) => {
                            let notification = Notification::Log { level, logger, data };
                            machine.notify(RequestHandle::from_number(request), notification)
                        }
                        None => machine.log(level, logger, data).map(|()| true),
                    })
                }

                /// Sends a notification of an extension within a request; true if it was sent.
                #[uniffi::method(default(params = None))]
                pub fn notify(&self, request: u64, method: &str, params: Option<String>) -> Outcome<bool> {
                    let notification = Notification::Other { method, params: params.as_deref() };
                    self.0
                        .command(|machine| machine.notify(RequestHandle::from_number(request), notification))
                }

                /// Tells clients that a list has changed. Changes by `add_…` and `remove_…` are told by themselves.
                pub fn publish_list_changed(&self, kind: ListKind) -> Outcome<()> {
                    self.0.command(|machine| Ok(machine.publish(&Change::List(kind))))
                }

                /// Tells clients that a resource has changed.
                pub fn publish_resource_updated(&self, uri: &str) -> Outcome<()> {
                    self.0.command(|machine| Ok(machine.publish(&Change::Resource(uri.into()))))
                }

                /// Ends a client's subscription in order; `SubscriptionClosed` follows.
                pub fn end_subscription(&self, subscription: u64) -> Outcome<()> {
                    let subscription = SubscriptionHandle::from_number(subscription);
                    self.0.command(|machine| machine.end_subscription(subscription))
                }

                /// Sends a request to a legacy client and gives its handle; `ResponseReceived` follows. `params` is the text of
                /// an object.
                pub fn request(
                    &self,
                    session: u64,
                    method: &str,
                    params: Option<String>,
                    now: u64,
                ) -> Outcome<u64> {
                    let (now, session) = (Instant::from_millis(now), SessionHandle::from_number(session));
                    let sent =
                        self.0.command(|machine| machine.request(now, session, method, params.as_deref()));
                    sent.map(RequestHandle::number)
                }

                /// Asks a legacy client whether it is there and gives the handle of the request; `ResponseReceived` follows.
                pub fn ping(&self, session: u64, now: u64) -> Outcome<u64> {
                    let (now, session) = (Instant::from_millis(now), SessionHandle::from_number(session));
                    self.0.command(|machine| machine.ping(now, session)).map(RequestHandle::number)
                }

                /// A legacy session as text that `import_session` takes in another process. It is not secret, but whoever can
                /// change it decides what the client is taken to have declared.
                pub fn export_session(&self, session: u64) -> Outcome<String> {
                    self.0.command(|machine| machine.export_session(SessionHandle::from_number(session)))
                }

                /// Goes on with a session that `export_session` wrote; gives its handle.
                pub fn import_session(&self, text: &str) -> Outcome<u64> {
                    self.0.command(|machine| machine.import_session(text)).map(SessionHandle::number)
                }

                /// Ends the connection in order: what is owed is abandoned, and `Disconnected` follows.
                pub fn close(&self) -> Outcome<()> {
                    self.0.command(|machine| Ok(machine.close()))
                }
            }
        };
    };
}

pub(crate) use server_commands;

/// A server on a byte stream, one JSON-RPC message a line: standard input and output, a socket, a serial line.
///
/// Give it the bytes that were read, act on the events, write what `data_to_send` gives, until `is_finished`. It does no I/O
/// itself, and threads may share it. `now` is in milliseconds from an origin of the host's choice and does not go back.
#[derive(uniffi::Object)]
pub struct Server(Guarded<Stdio<server::Server>>);

#[uniffi::export]
impl Server {
    /// A server with an empty catalog.
    #[uniffi::constructor]
    pub fn new(config: ServerConfig) -> Outcome<Server> {
        let config = config.into_core()?;
        Guarded::new(|| server::Server::new(config).map(Stdio::new)).map(Server)
    }

    /// Takes bytes that were read, cut anywhere, and gives the events.
    pub fn receive_data(&self, data: Vec<u8>, now: u64) -> Outcome<Vec<ServerEvent>> {
        self.0.step(|stdio| stdio.receive_data(Instant::from_millis(now), &data))
    }

    /// The client closed its side: what is owed can still be answered, and then `Drained` follows.
    pub fn receive_eof(&self, now: u64) -> Outcome<Vec<ServerEvent>> {
        self.0.step(|stdio| stdio.receive_eof(Instant::from_millis(now)))
    }

    /// The transport broke: nothing can be sent any more.
    pub fn connection_lost(&self, now: u64) -> Outcome<Vec<ServerEvent>> {
        self.0.step(|stdio| stdio.connection_lost(Instant::from_millis(now)))
    }

    /// Takes out all bytes that wait to be sent.
    pub fn data_to_send(&self) -> Outcome<Vec<u8>> {
        self.0.call(|stdio| Ok(data_to_send(stdio)))
    }

    /// Lets time pass. Harmless when nothing is due.
    pub fn handle_timeout(&self, now: u64) -> Outcome<Vec<ServerEvent>> {
        self.0.step(|stdio| Ok(stdio.machine_mut().handle_timeout(Instant::from_millis(now))))
    }

    /// When to call `handle_timeout` at the latest, if ever.
    pub fn poll_timeout(&self) -> Outcome<Option<u64>> {
        self.0.call(|stdio| Ok(stdio.machine().poll_timeout().map(Instant::as_millis)))
    }

    /// False while so much waits that the host should stop reading.
    pub fn wants_input(&self) -> Outcome<bool> {
        self.0.call(|stdio| Ok(stdio.wants_input()))
    }

    /// True when everything is over and sent: close our side.
    pub fn is_finished(&self) -> Outcome<bool> {
        // The machine says that it is done in the order of what it sends.
        self.0.call(|stdio| Ok(stdio.data_to_send().is_empty() && stdio.is_finished()))
    }
}

server_commands! { Server }
