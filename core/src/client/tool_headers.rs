//! Which arguments of each tool headers repeat: learnt from the lists that pass, kept within bounds, and fetched anew
//! when a server finds that headers do not match (basic/transports/streamable-http, Custom Headers from Tool
//! Parameters, and server/tools, `x-mcp-header`, 2026-07-28). HTTP only.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use crate::json::{Json, MAX_DEPTH, scan};
use crate::jsonrpc::{Outcome, RpcError};
use crate::machine::RequestHandle;
use crate::mirror::params::ParamHeaders;
use crate::revision::Method;

use super::calls::{Purpose, Stage};
use super::notifications::{members, text_of};
use super::params::Params;
use super::{Client, Event, FailureReason};

/// What is known of the server's tools.
#[derive(Debug, Default)]
pub(super) struct ToolHeaders {
    /// By name, those without such arguments included.
    known: BTreeMap<Box<str>, ParamHeaders>,
    /// What `known` may hold in memory, by the texts that it was read from.
    bytes: usize,
    /// Pages asked for by the refresh under way; none without one.
    pages: usize,
}

/// Bytes of names and schemas after which what was learnt is forgotten, to be learnt anew.
const MOST_BYTES: usize = 4 << 20;

/// Pages of one refresh.
const MOST_PAGES: usize = 64;

/// Bytes that an entry takes beside its texts.
const ENTRY: usize = 64;

impl ToolHeaders {
    /// The arguments of a call that headers repeat. Of a tool that is not known there are none.
    pub(super) fn mirror(&self, tool: &str, arguments: Option<&str>) -> Vec<(Box<str>, Box<str>)> {
        let headers = self.known.get(tool).filter(|headers| !headers.is_empty());
        // What no header can repeat the server refuses, and says why.
        headers.and_then(|headers| headers.values(arguments).ok()).unwrap_or_default()
    }

    fn learn(&mut self, tool: Box<str>, schema: &str, headers: ParamHeaders) {
        let bytes = ENTRY + tool.len() + if headers.is_empty() { 0 } else { schema.len() };
        if bytes > MOST_BYTES {
            return;
        }
        if self.bytes + bytes > MOST_BYTES {
            self.known.clear();
            self.bytes = 0;
        }
        // An entry that is replaced stays charged: too much is counted then, never too little.
        self.bytes += bytes;
        self.known.insert(tool, headers);
    }

    /// How many tools are known.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.known.len()
    }

    /// Whether a call of this tool may have been refused for arguments that headers should repeat.
    fn may_be_outdated(&self, tool: &str) -> bool {
        self.known.get(tool).is_none_or(|headers| !headers.is_empty())
    }
}

impl Client {
    /// Ends a request of the modern era with its result. A list of tools is learnt from, and tools that cannot be
    /// called are left out of it.
    pub(super) fn deliver_modern_result(&mut self, request: RequestHandle, result: &str) {
        let method = self.pending.get(request).and_then(|call| call.method.known());
        let without = if self.config.http && method == Some(Method::ToolsList) {
            self.learn_tools(result, Some(request))
        } else {
            None
        };
        self.deliver_result(request, Json::trusted(without.as_deref().unwrap_or(result)));
    }

    /// Learns from a page of the list of tools. Gives the result without the tools that cannot be called, if there are
    /// such; `teller` is the request that they are told for.
    fn learn_tools(&mut self, result: &str, teller: Option<RequestHandle>) -> Option<String> {
        let list = tools_member(result)?;
        let mut tools = Vec::new();
        // What is no list holds no tools.
        let _ = scan::array_elements(&result[list.clone()], MAX_DEPTH, |tool| {
            tools.push(&result[list.start + tool.start..list.start + tool.end]);
        });
        let all = tools.len();
        let mut index = 0;
        tools.retain(|tool| {
            index += 1;
            self.learn_tool(tool, index - 1, teller)
        });
        (tools.len() < all)
            .then(|| format!("{}[{}]{}", &result[..list.start], tools.join(","), &result[list.end..]))
    }

    /// Learns from a definition. False if the tool cannot be called.
    fn learn_tool(&mut self, tool: &str, index: usize, teller: Option<RequestHandle>) -> bool {
        let [name, schema] = members(Some(tool), ["name", "inputSchema"]);
        let (name, schema) = (text_of(name), schema.unwrap_or("{}"));
        match ParamHeaders::read(schema) {
            Ok(headers) => {
                if let Some(name) = name {
                    self.tools.learn(name, schema, headers);
                }
                true
            }
            Err(fault) => {
                if let Some(request) = teller.filter(|_| self.admits(tool.as_bytes())) {
                    let path = format!("tools[{index}].inputSchema").into();
                    let reason = fault.to_string().into();
                    self.queues.tell(Event::ToolOmitted { request, index, name, path, reason });
                }
                false
            }
        }
    }

    /// Whether a call failed in a way that a newer list of tools may mend.
    pub(super) fn wants_refresh(&self, request: RequestHandle, error: &RpcError) -> bool {
        if error.code != RpcError::HEADER_MISMATCH || !self.config.http || !self.is_modern() {
            return false;
        }
        let Some(call) = self.pending.get(request) else { return false };
        let [tool] = members(call.params.as_deref(), ["name"]);
        // In a later round the headers were right before.
        call.method.known() == Some(Method::ToolsCall)
            && call.round == 0
            && !call.with_new_headers
            && text_of(tool).is_some_and(|tool| self.tools.may_be_outdated(&tool))
    }

    /// Fetches the list of tools, and sends the request again after it.
    pub(super) fn refresh(&mut self, request: RequestHandle, error: RpcError) {
        // Only modern servers compare headers.
        self.opening.confirm();
        self.pending.pause(request);
        if let Some(call) = self.pending.get_mut(request) {
            call.with_new_headers = true;
            call.stage = Stage::Refreshing(Box::new(error));
        }
        if self.tools.pages == 0 {
            self.ask_for_tools(None);
        }
    }

    fn ask_for_tools(&mut self, cursor: Option<&str>) {
        self.tools.pages += 1;
        let request = self.pending.draw();
        let params = cursor.map(|cursor| format!("{{\"cursor\":{cursor}}}"));
        let params = params.as_deref().map_or(Params::Given(None), Params::Written);
        self.send_own(request, Method::ToolsList, Purpose::Refresh, params);
    }

    pub(super) fn on_refresh_answer(&mut self, request: RequestHandle, outcome: &Outcome<'_>) {
        self.pending.take(request);
        let Outcome::Result(result) = outcome else { return self.end_refresh(false) };
        self.learn_tools(result, None);
        let [cursor] = members(Some(result), ["nextCursor"]);
        let more = cursor.filter(|cursor| cursor.starts_with('"') && self.tools.pages < MOST_PAGES);
        match more {
            Some(cursor) => self.ask_for_tools(Some(cursor)),
            None => self.end_refresh(true),
        }
    }

    /// The list of tools came, or did not: the calls that wait for it go out once more, or fail.
    pub(super) fn end_refresh(&mut self, came: bool) {
        self.tools.pages = 0;
        let waiting: Vec<_> = self
            .pending
            .iter()
            .filter_map(|(request, call)| match &call.stage {
                Stage::Refreshing(error) => Some((request, RpcError::clone(error))),
                _ => None,
            })
            .collect();
        for (request, error) in waiting {
            if came {
                self.send_again(request);
            } else {
                self.drop_answered(request, FailureReason::Rpc(error));
            }
        }
    }
}

/// Where the list stands in the text of a result.
fn tools_member(result: &str) -> Option<Range<usize>> {
    let mut found = None;
    // A result is an object that was scanned before.
    let _ = scan::object_members(result, MAX_DEPTH, |name, value| {
        if &result[name] == "tools" {
            found = Some(value);
        }
    });
    found
}
