//! Notifications of the server.

use alloc::borrow::Cow;
use alloc::boxed::Box;

use crate::json::{Json, MAX_DEPTH, scan};
use crate::jsonrpc::parse::decode_string;
use crate::jsonrpc::{RequestId, Violation};
use crate::logging::LogLevel;
use crate::machine::RequestHandle;
use crate::revision::Method;
use crate::subscription::ListKind;

use super::state::{Action, Occurrence};
use super::{Client, Event};

/// The values of the named members of the object `text`, as written; absent and `null` are the same, and of
/// duplicates the last counts.
pub(super) fn members<'a, const N: usize>(text: Option<&'a str>, names: [&str; N]) -> [Option<&'a str>; N] {
    let mut found = [None; N];
    if let Some(text) = text {
        // What is no object has no members.
        let _ = scan::object_members(text, MAX_DEPTH, |name, value| {
            if let Some(at) = names.iter().position(|wanted| *wanted == &text[name.clone()]) {
                found[at] = Some(&text[value]);
            }
        });
    }
    found.map(|value| value.filter(|value| *value != "null"))
}

impl Client {
    pub(super) fn on_notification(
        &mut self,
        text: &str,
        method: &str,
        params: Option<&str>,
        within: Option<RequestHandle>,
    ) {
        let known = Method::from_name(method);
        let is_log = known == Some(Method::LoggingMessage);
        let occurrence = if is_log { Occurrence::Logged } else { Occurrence::Notified };
        if self.step(occurrence) != Action::Deliver {
            return;
        }
        let Some(known) = known else {
            return self.deliver_other(text, method, params);
        };
        let fits = self.revision.is_none_or(|revision| known.exists_in(revision));
        if !fits {
            return self.discard(Violation::UnexpectedMessage, text.as_bytes());
        }
        match known {
            Method::Progress => self.on_progress(text, params, within),
            Method::LoggingMessage => self.on_log(text, params, within),
            Method::Cancelled => self.on_cancelled(params),
            Method::SubscriptionsAcknowledged => self.on_acknowledged(text, params, within),
            Method::ToolsListChanged => self.on_list_changed(text, ListKind::Tools, params, within),
            Method::ResourcesListChanged => self.on_list_changed(text, ListKind::Resources, params, within),
            Method::PromptsListChanged => self.on_list_changed(text, ListKind::Prompts, params, within),
            Method::ResourcesUpdated => self.on_resource_updated(text, params, within),
            Method::ElicitationComplete => {
                self.deliver_other(text, method, params);
                self.on_visit_complete(params);
            }
            _ => self.discard(Violation::UnexpectedMessage, text.as_bytes()),
        }
    }

    fn deliver_other(&mut self, text: &str, method: &str, params: Option<&str>) {
        if self.admits(text.as_bytes()) {
            let params = params.map(Json::trusted);
            self.queues.tell(Event::NotificationReceived { method: method.into(), params });
        }
    }

    fn on_progress(&mut self, text: &str, params: Option<&str>, within: Option<RequestHandle>) {
        let [token, progress, total, message] =
            members(params, ["progressToken", "progress", "total", "message"]);
        let Some(progress) = progress.and_then(number) else {
            return self.discard(Violation::InvalidParams, text.as_bytes());
        };
        let report = match self.exchange_request(within) {
            Some(request) => self.pending.report_on(request, progress),
            None => {
                token.and_then(RequestId::from_token).and_then(|token| self.pending.report(&token, progress))
            }
        };
        let Some((request, increasing)) = report else {
            // A report that crossed the answer on its way, or somebody else's: no reason to worry.
            return self.tolerate(Violation::UnknownTarget, None, text);
        };
        if self.config.timeouts.progress_extends {
            self.pending.touch(self.now, request);
        }
        if self.admits(text.as_bytes()) {
            let total = total.and_then(number);
            let message = message.and_then(decode_string).map(Into::into);
            self.queues.tell(Event::ProgressReceived { request, progress, total, message, increasing });
        }
    }

    fn on_log(&mut self, text: &str, params: Option<&str>, within: Option<RequestHandle>) {
        let [level, logger] = members(params, ["level", "logger"]);
        let Some(data) = params.and_then(data_member) else {
            return self.discard(Violation::InvalidParams, text.as_bytes());
        };
        if self.admits(text.as_bytes()) {
            let request = self.logging_request(within);
            let level = level.and_then(decode_string).and_then(|name| LogLevel::from_name(&name));
            let logger = logger.and_then(decode_string).map(Into::into);
            self.queues.tell(Event::LogReceived { request, level, logger, data: Json::trusted(data) });
        }
    }

    /// Bad cancellations are ignored (basic/utilities/cancellation).
    fn on_cancelled(&mut self, params: Option<&str>) {
        let [id] = members(params, ["requestId"]);
        let Some(id) = id.and_then(RequestId::from_token) else { return };
        if self.is_modern() {
            self.on_listen_cancelled(&id);
        } else {
            self.on_request_cancelled(&id);
        }
    }
}

/// `data` of a log message, which may be any JSON value, `null` included.
fn data_member(params: &str) -> Option<&str> {
    let mut data = None;
    let _ = scan::object_members(params, MAX_DEPTH, |name, value| {
        if &params[name] == "data" {
            data = Some(&params[value]);
        }
    });
    data
}

/// The value of a number token, unless it is beyond what can be held.
fn number(token: &str) -> Option<f64> {
    // What Rust reads beyond JSON, such as `inf`, begins with a letter.
    let is_number = token.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    token.parse().ok().filter(|value: &f64| is_number && value.is_finite())
}

/// The value of a string member.
pub(super) fn text_of(token: Option<&str>) -> Option<Box<str>> {
    token.and_then(decode_string).map(Cow::into_owned).map(Into::into)
}
