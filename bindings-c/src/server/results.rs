//! The commonest results, written from their parts.

use alloc::string::String;
use alloc::vec;

use barewire::RequestHandle;
use barewire::model::{CallToolResult, ContentBlock, Value as _};

use crate::bytes::bw_bytes;
use crate::status::bw_status;

use super::{bw_server, run};

fn respond_text(server: Option<&mut bw_server>, request: u64, text: bw_bytes, is_error: bool) -> bw_status {
    run(server, |machine| {
        let mut result = CallToolResult::new(vec![ContentBlock::text(text.text()?)]);
        result.is_error = is_error;
        let mut written = String::new();
        result.write(&mut written);
        Ok(machine.respond(RequestHandle::from_number(request), written)?)
    })
}

/// Answers the call of a tool with one block of text. Errors as for `bw_server_respond`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_respond_text(
    server: Option<&mut bw_server>,
    request: u64,
    text: bw_bytes,
) -> bw_status {
    respond_text(server, request, text, false)
}

/// Answers the call of a tool that failed, with one block of text that tells the model why. Errors as for
/// `bw_server_respond`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_respond_tool_error(
    server: Option<&mut bw_server>,
    request: u64,
    text: bw_bytes,
) -> bw_status {
    respond_text(server, request, text, true)
}
