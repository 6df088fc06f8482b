//! Notifications within a request, and log messages outside any.

use alloc::string::String;

use crate::error::{ApiMisuse, Error};
use crate::json::{Json, MAX_DEPTH, scan};
use crate::jsonrpc::write;
use crate::logging::LogLevel;
use crate::machine::{Disposition, Labels, RequestHandle, Route};
use crate::model::Value;
use crate::revision::{Direction, Era, Kind, Method, Revision};

use super::in_flight::InFlight;
use super::source::to_session;
use super::{Notification, Server, rounds};

/// Room for a progress notification without its texts.
const PROGRESS_ROOM: usize = 144;

/// Room for the parameters of a log message without its data.
const LOG_ROOM: usize = 96;

impl Server {
    pub(super) fn notify_within(
        &mut self,
        request: RequestHandle,
        notification: Notification<'_>,
    ) -> Result<bool, Error> {
        self.check_open()?;
        match notification {
            Notification::Progress { progress, total, message } => {
                self.progress(request, progress, total, message)
            }
            Notification::Log { level, logger, data } => self.log_within(request, level, logger, data),
            Notification::Other { method, params } => self.other(request, method, params),
        }
    }

    fn progress(
        &mut self,
        request: RequestHandle,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> Result<bool, Error> {
        if !progress.is_finite() || total.is_some_and(|total| !total.is_finite()) {
            return Err(ApiMisuse::InvalidJson.into());
        }
        let Some(entry) = self.in_flight.get_mut(request) else { return Ok(false) };
        let Some(token) = &entry.context.progress_token else { return Ok(false) };
        // Each must be more than the last (basic/utilities/progress).
        if self.queues.is_clogged(&self.config.limits) || entry.progress.is_some_and(|last| progress <= last)
        {
            return Ok(false);
        }
        entry.progress = Some(progress);
        let message = message.filter(|_| entry.context.revision >= Revision::V2025_03_26);
        let room = PROGRESS_ROOM + token.as_str().len() + message.map_or(0, str::len);
        let mut out = String::with_capacity(room);
        out.push_str(
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":",
        );
        out.push_str(token.as_str());
        out.push_str(",\"progress\":");
        number(&mut out, progress);
        if let Some(total) = total {
            out.push_str(",\"total\":");
            number(&mut out, total);
        }
        if let Some(message) = message {
            write::string_member(&mut out, "message", message);
        }
        out.push_str("}}");
        let labels = entry.source.labels(Disposition::Droppable);
        self.queues.send(out, Route::Within(request), labels);
        Ok(true)
    }

    fn log_within(
        &mut self,
        request: RequestHandle,
        level: LogLevel,
        logger: Option<&str>,
        data: &str,
    ) -> Result<bool, Error> {
        let Some(entry) = self.in_flight.get(request) else { return Ok(false) };
        let is_wanted = self.threshold(entry).is_some_and(|least| level >= least);
        if !is_wanted || self.queues.is_clogged(&self.config.limits) {
            return Ok(false);
        }
        check_json(data)?;
        let labels = entry.source.labels(Disposition::Droppable);
        self.queues.send(log_message(level, logger, data), Route::Within(request), labels);
        Ok(true)
    }

    /// The least severity that the client of a request wants to hear of: what it said with the request, or
    /// what its session is set to now.
    fn threshold(&self, entry: &InFlight) -> Option<LogLevel> {
        match entry.context.era() {
            Era::Modern => entry.context.log_level,
            Era::Legacy => {
                let session = entry.source.session.filter(|_| self.config.logging)?;
                self.sessions.get(session).map(|session| session.log_level)
            }
        }
    }

    fn other(&mut self, request: RequestHandle, method: &str, params: Option<&str>) -> Result<bool, Error> {
        let params = params.map(rounds::object_of).transpose()?;
        let Some(entry) = self.in_flight.get(request) else { return Ok(false) };
        let revision = entry.context.revision;
        if let Some(known) = Method::from_name(method) {
            let row = known.row();
            let is_ours = row.kind == Kind::Notification && row.direction != Direction::ClientToServer;
            if !is_ours || !known.exists_in(revision) {
                return Err(ApiMisuse::NotAllowedInRevision(revision).into());
            }
            let id = params.as_ref().and_then(|params| params.member("elicitationId"));
            if known == Method::ElicitationComplete && !id.is_some_and(|id| id.as_str().starts_with('"')) {
                return Err(ApiMisuse::InvalidDefinition("elicitationId").into());
            }
        }
        let text = write::notification(method, params.as_ref().map(Json::as_str));
        let labels = entry.source.labels(Disposition::Continues);
        self.queues.send(text, Route::Within(request), labels);
        Ok(true)
    }

    pub(super) fn log_alone(
        &mut self,
        level: LogLevel,
        logger: Option<&str>,
        data: &str,
    ) -> Result<(), Error> {
        self.check_open()?;
        let mut wanting = self
            .sessions
            .iter()
            .filter(|session| self.config.logging && level >= session.log_level)
            .peekable();
        if wanting.peek().is_none() || self.queues.is_clogged(&self.config.limits) {
            return Ok(());
        }
        check_json(data)?;
        let text = log_message(level, logger, data);
        for session in wanting {
            let labels = Labels { disposition: Disposition::Droppable, ..to_session(session.handle) };
            self.queues.send(text.clone(), Route::Alone, labels);
        }
        Ok(())
    }
}

fn check_json(text: &str) -> Result<(), Error> {
    scan::check(text, MAX_DEPTH).map_err(|_| ApiMisuse::InvalidJson.into())
}

fn log_message(level: LogLevel, logger: Option<&str>, data: &str) -> String {
    let mut params = String::with_capacity(data.len() + LOG_ROOM);
    params.push_str("{\"level\":");
    write::string(&mut params, level.as_str());
    if let Some(logger) = logger {
        write::string_member(&mut params, "logger", logger);
    }
    params.push_str(",\"data\":");
    params.push_str(data);
    params.push('}');
    write::notification(Method::LoggingMessage.name(), Some(&params))
}

/// Appends a finite number; one without a fraction as an integer.
fn number(out: &mut String, value: f64) {
    /// Up to here every integer has an `f64` of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[allow(clippy::cast_possible_truncation, reason = "the value is integral and in range")]
    let integral = value as i64;
    #[allow(clippy::cast_precision_loss, clippy::float_cmp, reason = "it is exact in this range")]
    if value.abs() < EXACT && integral as f64 == value {
        write::integer(out, integral);
    } else {
        Value::write(&value, out);
    }
}
