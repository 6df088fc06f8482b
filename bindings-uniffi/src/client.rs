//! The client role: commands, whatever carries the messages, and clients on a byte stream.

use barewire::transport::Stdio;
use barewire::{Instant, Machine as _, client};

use crate::config::ClientConfig;
use crate::errors::Outcome;
use crate::events::ClientEvent;
use crate::guard::{Guarded, data_to_send};
use crate::values::{LogLevel, json};

/// How one request is made.
#[derive(Clone, Debug, Default, PartialEq, Eq, uniffi::Record)]
pub struct RequestOptions {
    /// Whether to ask for progress reports.
    #[uniffi(default = false)]
    pub progress: bool,
    /// Milliseconds to wait with nothing heard, instead of `Timeouts.request`.
    #[uniffi(default = None)]
    pub timeout: Option<u64>,
    /// Milliseconds over all rounds, instead of `Timeouts.request_total`.
    #[uniffi(default = None)]
    pub total_timeout: Option<u64>,
    /// The least severity of log messages wanted while it runs (modern era), instead of the level set by `set_log_level`.
    #[uniffi(default = None)]
    pub log_level: Option<LogLevel>,
    /// The text of an object whose members are added to `_meta`, such as trace context.
    #[uniffi(default = None)]
    pub meta: Option<String>,
}

pub(crate) fn request_options(given: Option<RequestOptions>) -> Outcome<client::RequestOptions> {
    let mut options = client::RequestOptions::default();
    if let Some(given) = given {
        options.progress = given.progress;
        options.timeout = given.timeout;
        options.total_timeout = given.total_timeout;
        options.log_level = given.log_level;
        options.meta = given.meta.as_deref().map(json).transpose()?;
    }
    Ok(options)
}

/// The commands of the client role, which every object of it has.
///
/// They do no I/O: what they cause waits to be sent, and events that they cause are given by the next verb.
macro_rules! client_commands {
    ($name:ident) => {
        const _: () = {
            use ::barewire::{
                EraVerdict, InputHandle, InputResponse, RequestHandle, Revision, RpcError, SubscriptionHandle,
            };
            use $crate::client::{RequestOptions, request_options};
            use $crate::values::{
                Completion, CompletionReference, Listing, LogLevel, SubscriptionFilter, json,
            };

            #[uniffi::export]
            impl $name {
                /// Takes out the events that commands have caused.
                pub fn events(&self) -> Outcome<Vec<ClientEvent>> {
                    self.0.step(|_| Ok(()))
                }

                /// Sends a request of any method and gives its handle; `ResponseReceived` or `RequestFailed` follows. `params` is
                /// the text of an object. Before the revision is settled, requests are queued.
                #[uniffi::method(default(options = None))]
                pub fn request(
                    &self,
                    method: &str,
                    params: Option<String>,
                    now: u64,
                    options: Option<RequestOptions>,
                ) -> Outcome<u64> {
                    let (now, options) = (Instant::from_millis(now), request_options(options)?);
                    let sent =
                        self.0.command(|machine| machine.request(now, method, params.as_deref(), options));
                    sent.map(RequestHandle::number)
                }

                /// Calls a tool. `arguments` is the text of an object.
                #[uniffi::method(default(options = None))]
                pub fn call_tool(
                    &self,
                    name: &str,
                    arguments: Option<String>,
                    now: u64,
                    options: Option<RequestOptions>,
                ) -> Outcome<u64> {
                    let (now, options) = (Instant::from_millis(now), request_options(options)?);
                    let sent =
                        self.0.command(|machine| machine.call_tool(now, name, arguments.as_deref(), options));
                    sent.map(RequestHandle::number)
                }

                /// Asks for a page of a list: the first, or the one that the cursor of the page before leads to.
                #[uniffi::method(default(options = None))]
                pub fn list(
                    &self,
                    listing: Listing,
                    cursor: Option<String>,
                    now: u64,
                    options: Option<RequestOptions>,
                ) -> Outcome<u64> {
                    let (now, options) = (Instant::from_millis(now), request_options(options)?);
                    let sent =
                        self.0.command(|machine| machine.list(now, listing, cursor.as_deref(), options));
                    sent.map(RequestHandle::number)
                }

                /// Reads a resource.
                #[uniffi::method(default(options = None))]
                pub fn read_resource(
                    &self,
                    uri: &str,
                    now: u64,
                    options: Option<RequestOptions>,
                ) -> Outcome<u64> {
                    let (now, options) = (Instant::from_millis(now), request_options(options)?);
                    let sent = self.0.command(|machine| machine.read_resource(now, uri, options));
                    sent.map(RequestHandle::number)
                }

                /// Asks for a prompt. `arguments` is the text of an object of strings by name.
                #[uniffi::method(default(options = None))]
                pub fn get_prompt(
                    &self,
                    name: &str,
                    arguments: Option<String>,
                    now: u64,
                    options: Option<RequestOptions>,
                ) -> Outcome<u64> {
                    let (now, options) = (Instant::from_millis(now), request_options(options)?);
                    let sent = self
                        .0
                        .command(|machine| machine.get_prompt(now, name, arguments.as_deref(), options));
                    sent.map(RequestHandle::number)
                }

                /// Asks for suggestions for an argument.
                #[uniffi::method(default(options = None))]
                pub fn complete(
                    &self,
                    completion: Completion,
                    now: u64,
                    options: Option<RequestOptions>,
                ) -> Outcome<u64> {
                    let (now, options) = (Instant::from_millis(now), request_options(options)?);
                    let reference = match &completion.reference {
                        CompletionReference::Prompt { name } => client::CompletionReference::Prompt(name),
                        CompletionReference::Resource { uri } => client::CompletionReference::Resource(uri),
                    };
                    let asked = client::Completion {
                        reference,
                        argument: &completion.argument,
                        value: &completion.value,
                        arguments: completion.arguments.as_deref(),
                    };
                    self.0.command(|machine| machine.complete(now, asked, options)).map(RequestHandle::number)
                }

                /// Asks whether the server is there. The legacy era only.
                #[uniffi::method(default(options = None))]
                pub fn ping(&self, now: u64, options: Option<RequestOptions>) -> Outcome<u64> {
                    let (now, options) = (Instant::from_millis(now), request_options(options)?);
                    self.0.command(|machine| machine.ping(now, options)).map(RequestHandle::number)
                }

                /// Gives up a request; `RequestFailed` follows.
                #[uniffi::method(default(reason = None))]
                pub fn cancel(&self, request: u64, reason: Option<String>) -> Outcome<()> {
                    let request = RequestHandle::from_number(request);
                    self.0.command(|machine| machine.cancel(request, reason.as_deref()))
                }

                /// Answers a question of the server with the text of the result object. An elicitation that the user declines
                /// is a result, too.
                pub fn provide_input(&self, input: u64, result: &str, now: u64) -> Outcome<()> {
                    let (now, input) = (Instant::from_millis(now), InputHandle::from_number(input));
                    let response = InputResponse::Result(json(result)?);
                    self.0.command(|machine| machine.provide_input(now, input, response))
                }

                /// Refuses a question of the server: it cannot or may not be answered.
                pub fn refuse_input(&self, input: u64, code: i64, message: &str, now: u64) -> Outcome<()> {
                    let (now, input) = (Instant::from_millis(now), InputHandle::from_number(input));
                    let response = InputResponse::Refused(RpcError::new(code, message));
                    self.0.command(|machine| machine.provide_input(now, input, response))
                }

                /// Asks to be told of changes and gives the handle of the subscription; `SubscriptionAcknowledged` or
                /// `SubscriptionEnded` follows.
                pub fn subscribe(&self, filter: SubscriptionFilter, now: u64) -> Outcome<u64> {
                    let now = Instant::from_millis(now);
                    self.0
                        .command(|machine| machine.subscribe(now, filter.into()))
                        .map(SubscriptionHandle::number)
                }

                /// Ends a subscription; `SubscriptionEnded` follows.
                pub fn unsubscribe(&self, subscription: u64, now: u64) -> Outcome<()> {
                    let subscription = SubscriptionHandle::from_number(subscription);
                    self.0.command(|machine| machine.unsubscribe(Instant::from_millis(now), subscription))
                }

                /// Sets the least severity of log messages wanted; gives the handle of the request.
                pub fn set_log_level(&self, level: LogLevel, now: u64) -> Outcome<u64> {
                    let sent =
                        self.0.command(|machine| machine.set_log_level(Instant::from_millis(now), level));
                    sent.map(RequestHandle::number)
                }

                /// Sends a notification of any method. `params` is the text of an object.
                #[uniffi::method(default(params = None))]
                pub fn notify(&self, method: &str, params: Option<String>) -> Outcome<()> {
                    self.0.command(|machine| machine.notify(method, params.as_deref()))
                }

                /// Tells the server that the roots have changed. The legacy era only.
                pub fn notify_roots_changed(&self) -> Outcome<()> {
                    self.0.command(client::Client::notify_roots_changed)
                }

                /// Ends the connection in order; `Disconnected` follows.
                pub fn close(&self) -> Outcome<()> {
                    self.0.command(|machine| Ok(machine.close()))
                }

                /// The revision, once it is settled.
                pub fn revision(&self) -> Outcome<Option<String>> {
                    self.0.command(|machine| Ok(machine.revision().map(Revision::as_str).map(String::from)))
                }

                /// What to store and give as `era` to the next client of this server, once that is known.
                pub fn era_verdict(&self) -> Outcome<Option<String>> {
                    self.0.command(|machine| Ok(machine.era_verdict().map(EraVerdict::to_text)))
                }
            }
        };
    };
}

pub(crate) use client_commands;

/// A client on a byte stream, one JSON-RPC message a line: the input and output of a child process, a socket, a serial
/// line. It starts to connect at once: write what `data_to_send` gives.
///
/// Give it the bytes that were read and act on the events, until `is_finished`. It does no I/O itself, and threads may
/// share it. `now` is in milliseconds from an origin of the host's choice and does not go back.
#[derive(uniffi::Object)]
pub struct Client(Guarded<Stdio<client::Client>>);

#[uniffi::export]
impl Client {
    /// A client that starts to connect.
    #[uniffi::constructor]
    pub fn new(config: ClientConfig, now: u64) -> Outcome<Client> {
        let config = config.into_core()?;
        Guarded::new(|| client::Client::new(config, Instant::from_millis(now)).map(Stdio::new)).map(Client)
    }

    /// Takes bytes that were read, cut anywhere, and gives the events.
    pub fn receive_data(&self, data: Vec<u8>, now: u64) -> Outcome<Vec<ClientEvent>> {
        self.0.step(|stdio| stdio.receive_data(Instant::from_millis(now), &data))
    }

    /// The server closed its side.
    pub fn receive_eof(&self, now: u64) -> Outcome<Vec<ClientEvent>> {
        self.0.step(|stdio| stdio.receive_eof(Instant::from_millis(now)))
    }

    /// The transport broke: nothing can be sent any more.
    pub fn connection_lost(&self, now: u64) -> Outcome<Vec<ClientEvent>> {
        self.0.step(|stdio| stdio.connection_lost(Instant::from_millis(now)))
    }

    /// The server was started afresh, as `RestartRequired` asked.
    pub fn restart(&self, now: u64) -> Outcome<Vec<ClientEvent>> {
        self.0.step(|stdio| stdio.restart(Instant::from_millis(now)))
    }

    /// Takes out all bytes that wait to be sent.
    pub fn data_to_send(&self) -> Outcome<Vec<u8>> {
        self.0.call(|stdio| Ok(data_to_send(stdio)))
    }

    /// Lets time pass. Harmless when nothing is due.
    pub fn handle_timeout(&self, now: u64) -> Outcome<Vec<ClientEvent>> {
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

client_commands! { Client }
