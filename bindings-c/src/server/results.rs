//! The commonest results, written from their parts.

use alloc::vec::Vec;

use barewire::{RequestHandle, Step};

use crate::bytes::{array_or_empty, bw_bytes};
use crate::json::bw_json_writer;
use crate::room::written;
use crate::status::{Failure, bw_status};

use super::{bw_server, run};

/// What a result costs beside its texts.
const RESULT: usize = 192;

/// What a value costs beside its text.
const VALUE: usize = 32;

/// The step of answering with a result that is written of texts of so many bytes.
fn answer(bytes: usize) -> Step<'static> {
    Step::Send(2 * bytes + RESULT)
}

const fn handle(request: u64) -> RequestHandle {
    RequestHandle::from_number(request)
}

/// Answers the call of a tool with one block of text. Errors as for `bw_server_respond`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_respond_text(
    server: Option<&mut bw_server>,
    request: u64,
    text: bw_bytes,
) -> bw_status {
    run(server, answer(written(text)), |machine| Ok(machine.respond_text(handle(request), text.text()?)?))
}

/// Answers the call of a tool that failed, with one block of text that tells the model why. Errors as for
/// `bw_server_respond`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_respond_tool_error(
    server: Option<&mut bw_server>,
    request: u64,
    text: bw_bytes,
) -> bw_status {
    run(server, answer(written(text)), |machine| {
        Ok(machine.respond_tool_error(handle(request), text.text()?)?)
    })
}

/// Answers the request for a prompt with one message of the user. Errors as for `bw_server_respond`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_respond_prompt_text(
    server: Option<&mut bw_server>,
    request: u64,
    text: bw_bytes,
) -> bw_status {
    run(server, answer(written(text)), |machine| {
        Ok(machine.respond_prompt_text(handle(request), text.text()?)?)
    })
}

/// Answers the read of a resource with text. `mime_type` may be nothing. Errors as for `bw_server_respond`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_respond_resource_text(
    server: Option<&mut bw_server>,
    request: u64,
    uri: bw_bytes,
    mime_type: bw_bytes,
    text: bw_bytes,
) -> bw_status {
    run(server, answer(written(uri) + written(mime_type) + written(text)), |machine| {
        let (uri, mime_type, text) = (uri.text()?, mime_type.optional_text()?, text.text()?);
        Ok(machine.respond_resource_text(handle(request), uri, mime_type, text)?)
    })
}

/// Answers the read of a resource with bytes, which travel as base64. `mime_type` may be nothing. Errors as for
/// `bw_server_respond`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_respond_resource_blob(
    server: Option<&mut bw_server>,
    request: u64,
    uri: bw_bytes,
    mime_type: bw_bytes,
    data: bw_bytes,
) -> bw_status {
    run(server, answer(written(uri) + written(mime_type) + 2 * data.count()), |machine| {
        let (uri, mime_type, data) = (uri.text()?, mime_type.optional_text()?, data.bytes()?);
        Ok(machine.respond_resource_blob(handle(request), uri, mime_type, data)?)
    })
}

/// Answers a request for suggestions: `count` values. Of more than 100 the rest is left out, and told by their number.
/// Errors as for `bw_server_respond`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_respond_completion(
    server: Option<&mut bw_server>,
    request: u64,
    values: *const bw_bytes,
    count: usize,
) -> bw_status {
    let bytes = match array_or_empty(values, count) {
        Ok(values) => values.iter().map(|value| written(*value) + VALUE).sum(),
        Err(failure) => return failure.code(),
    };
    run(server, answer(bytes), |machine| {
        let values = array_or_empty(values, count)?;
        let values = values.iter().map(bw_bytes::text).collect::<Result<Vec<_>, Failure>>()?;
        Ok(machine.respond_completion(handle(request), &values)?)
    })
}

/// Answers a request with the result that a writer holds. Memory that grew becomes the message instead of being copied into
/// one: the way to give a large result. The writer is empty then, and may be used anew; after an error too, for the result
/// is gone.
///
/// Errors as for `bw_json_finish` and `bw_server_respond`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_respond_written(
    server: Option<&mut bw_server>,
    request: u64,
    result: Option<&mut bw_json_writer>,
) -> bw_status {
    let bytes = result.as_ref().map_or(0, |result| result.count());
    run(server, Step::Send(bytes), |machine| {
        let written = result.ok_or(Failure::NULL)?.give()?;
        Ok(machine.respond(handle(request), written)?)
    })
}
