//! What both eras share: lists from the catalog, and requests that the application answers.

use alloc::boxed::Box;
use alloc::format;

use crate::json::Json;
use crate::jsonrpc::RpcError;
use crate::machine::RequestHandle;
use crate::revision::{Era, Method, Revision, resource_not_found};

use super::in_flight::InFlight;
use super::intake::Arrival;
use super::ladder::Target;
use super::modern::Caller;
use super::text::{CompletionParts, Members, MessageText, Params, is_id, object, present, string};
use super::{CompletionReference, Event, RequestContext, Server, TemplateMatch, refusal};

/// A request for the application, read and found in the catalog.
pub(super) enum Call {
    Tool {
        name: Box<str>,
        arguments: Option<Json>,
    },
    Read {
        uri: Box<str>,
        template: Option<TemplateMatch>,
    },
    Prompt {
        name: Box<str>,
        arguments: Option<Json>,
    },
    Completion {
        reference: CompletionReference,
        argument: Box<str>,
        value: Box<str>,
        arguments: Option<Json>,
    },
    Other {
        method: Box<str>,
        params: Option<Json>,
    },
}

impl Call {
    pub(super) fn into_event(self, request: RequestHandle, context: RequestContext) -> Event {
        match self {
            Call::Tool { name, arguments } => Event::ToolCalled { request, name, arguments, context },
            Call::Read { uri, template } => Event::ResourceReadRequested { request, uri, template, context },
            Call::Prompt { name, arguments } => Event::PromptRequested { request, name, arguments, context },
            Call::Completion { reference, argument, value, arguments } => {
                Event::CompletionRequested { request, reference, argument, value, arguments, context }
            }
            Call::Other { method, params } => Event::RequestReceived { request, method, params, context },
        }
    }
}

impl Server {
    /// Serves a request whose method is offered.
    pub(super) fn dispatch(
        &mut self,
        arrival: &Arrival<'_>,
        target: Target,
        caller: Caller,
        message: &mut MessageText<'_>,
    ) {
        let to = arrival.addressee();
        let revision = caller.revision;
        let method = match target {
            Target::Core(method) => method,
            Target::Extension => {
                let params = arrival.text.map(|text| message.keep(text));
                let call = Call::Other { method: arrival.method.as_ref().into(), params };
                return self.hand_over(arrival, None, caller, call, message);
            }
        };
        match method {
            Method::Ping => self.answer_ping(&to),
            Method::Discover => self.discover(&to, revision),
            Method::SubscriptionsListen => self.listen(arrival, caller, message),
            Method::LoggingSetLevel => self.set_level(arrival, revision),
            Method::ResourcesSubscribe => self.subscribe(arrival, revision),
            Method::ResourcesUnsubscribe => self.unsubscribe(arrival, revision),
            Method::ToolsList
            | Method::ResourcesList
            | Method::ResourceTemplatesList
            | Method::PromptsList => {
                self.answer_page(&to, method, revision, present(arrival.params.cursor));
            }
            Method::ToolsCall | Method::ResourcesRead | Method::PromptsGet | Method::CompletionComplete => {
                match self.read_call(method, arrival.params, revision, &mut |part| message.keep(part)) {
                    Ok(call) => self.hand_over(arrival, Some(method), caller, call, message),
                    Err(error) => self.decline(&to, &error),
                }
            }
            Method::Initialize => {
                self.decline(&to, &refusal::invalid_request("the handshake was made before"));
            }
            _ => self.decline(&to, &refusal::method_not_found(&arrival.method)),
        }
    }

    /// Gives a request to the application, with what earlier rounds brought.
    fn hand_over(
        &mut self,
        arrival: &Arrival<'_>,
        method: Option<Method>,
        caller: Caller,
        call: Call,
        message: &mut MessageText<'_>,
    ) {
        let takes_rounds = method.is_some_and(|method| method.row().rounds);
        let mut context = self.context(arrival, caller, message);
        let has_rounds = takes_rounds && context.era() == Era::Modern;
        let state = present(arrival.params.request_state).filter(|_| has_rounds);
        if has_rounds && state.is_none() {
            match self.answers_ahead(arrival) {
                Ok(answers) => context.input_answers = answers,
                Err(error) => return self.refuse(&arrival.addressee(), &error),
            }
        }
        if let Some(state) = state {
            let reopened = match self.reopen(arrival, &context, state) {
                Ok(reopened) => reopened,
                Err(error) => return self.decline(&arrival.addressee(), &error),
            };
            if let Some(again) = reopened.ask_again {
                return self.ask_again(arrival, &context, method, &again);
            }
            context.input_answers = reopened.answers;
            context.state = reopened.state;
            context.round = reopened.round;
        }
        let params = if takes_rounds { arrival.text.map(|text| message.keep(text)) } else { None };
        let entry = InFlight {
            id: arrival.id.clone(),
            method,
            context: context.clone(),
            source: arrival.source,
            takes_stream: arrival.envelope.takes_stream,
            progress: None,
            batch: arrival.batch,
            params,
            asking: None,
            subscription: None,
        };
        if self.enter(arrival.handle, Box::new(entry)) {
            self.queues.tell(call.into_event(arrival.handle, context));
        }
    }

    pub(super) fn context(
        &self,
        arrival: &Arrival<'_>,
        caller: Caller,
        message: &mut MessageText<'_>,
    ) -> RequestContext {
        RequestContext {
            revision: caller.revision,
            client: caller.client,
            capabilities: caller.capabilities,
            log_level: caller.log_level,
            progress_token: arrival
                .meta
                .progress_token
                .filter(|token| is_id(token))
                .map(|token| message.keep(token)),
            meta: object(arrival.params.meta).map(|meta| message.keep(meta)),
            session: caller.session,
            exchange: arrival.source.channel.exchange(),
            principal: self.principal(),
            input_answers: alloc::vec::Vec::new(),
            state: None,
            round: 0,
        }
    }

    /// Reads the parameters of a request for the application, and finds its target in the catalog.
    pub(super) fn read_call(
        &self,
        method: Method,
        params: &Params<'_>,
        revision: Revision,
        keep: &mut dyn FnMut(&str) -> Json,
    ) -> Result<Call, RpcError> {
        match method {
            Method::ToolsCall | Method::PromptsGet => {
                let name = required(params.name, "name")?;
                let arguments = optional_object(params.arguments, "arguments")?.map(keep);
                let (is_known, what) = match method {
                    Method::ToolsCall => (self.catalog.has_tool(&name), "tool"),
                    _ => (self.catalog.has_prompt(&name), "prompt"),
                };
                if !is_known {
                    return Err(RpcError::new(RpcError::INVALID_PARAMS, &format!("Unknown {what}: {name}")));
                }
                Ok(if method == Method::ToolsCall {
                    Call::Tool { name, arguments }
                } else {
                    Call::Prompt { name, arguments }
                })
            }
            Method::ResourcesRead => {
                let uri = required(params.uri, "uri")?;
                match self.catalog.find_resource(&uri) {
                    Some(hit) => Ok(Call::Read { uri, template: hit.template }),
                    None => Err(resource_not_found(revision, &uri)),
                }
            }
            _ => self.read_completion(params, keep),
        }
    }

    fn read_completion(
        &self,
        params: &Params<'_>,
        keep: &mut dyn FnMut(&str) -> Json,
    ) -> Result<Call, RpcError> {
        let reference = parts(params.reference, "ref")?;
        let argument = parts(params.argument, "argument")?;
        let context = object(params.context).map(CompletionParts::read).unwrap_or_default();
        let reference = match string(reference.kind).as_deref() {
            Some("ref/prompt") => CompletionReference::Prompt(required(reference.name, "ref.name")?),
            Some("ref/resource") => CompletionReference::Resource(required(reference.uri, "ref.uri")?),
            _ => return Err(refusal::invalid_params("ref.type is neither ref/prompt nor ref/resource")),
        };
        if !self.catalog.has_completion_target(&reference) {
            return Err(refusal::invalid_params("ref names nothing that is known"));
        }
        Ok(Call::Completion {
            reference,
            argument: required(argument.name, "argument.name")?,
            value: required(argument.value, "argument.value")?,
            arguments: optional_object(context.arguments, "context.arguments")?.map(keep),
        })
    }

    /// Tells the application of a legacy request again, with the answers to its questions. What it is for was
    /// found when it came, and may have left the catalog since.
    pub(super) fn tell_again(&mut self, request: RequestHandle) {
        let Some(entry) = self.in_flight.get(request) else { return };
        let Some(params) = &entry.params else { return };
        let members = Params::read(params.as_str());
        let name = || string(members.name).unwrap_or_default().into();
        // A copy: the message was shared when the request arrived, and questions are rare.
        let arguments = || object(members.arguments).map(Json::trusted);
        let call = match entry.method {
            Some(Method::ResourcesRead) => {
                let uri = string(members.uri).unwrap_or_default();
                let template = self.catalog.find_resource(&uri).and_then(|found| found.template);
                Call::Read { uri: uri.into(), template }
            }
            Some(Method::PromptsGet) => Call::Prompt { name: name(), arguments: arguments() },
            _ => Call::Tool { name: name(), arguments: arguments() },
        };
        let event = call.into_event(request, entry.context.clone());
        self.queues.tell(event);
    }
}

fn parts<'a>(member: Option<&'a str>, name: &str) -> Result<CompletionParts<'a>, RpcError> {
    match object(member) {
        Some(text) => Ok(CompletionParts::read(text)),
        None => Err(refusal::invalid_params(&format!("{name} is not an object"))),
    }
}

fn required(member: Option<&str>, name: &str) -> Result<Box<str>, RpcError> {
    match string(member) {
        Some(text) => Ok(text.into()),
        None => Err(refusal::invalid_params(&format!("{name} is missing or not a string"))),
    }
}

fn optional_object<'a>(member: Option<&'a str>, name: &str) -> Result<Option<&'a str>, RpcError> {
    match present(member) {
        Some(value) if !value.starts_with('{') => {
            Err(refusal::invalid_params(&format!("{name} is not an object")))
        }
        value => Ok(value),
    }
}
