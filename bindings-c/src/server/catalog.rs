//! The catalog of a server: what it offers.

use barewire::Step;

use crate::bytes::bw_bytes;
use crate::status::bw_status;

use super::{bw_server, run};

/// Registers a tool: a JSON object with at least `name` and `inputSchema` (`Tool` in the schema). Clients that watch the
/// list are told.
///
/// BW_ERROR_INVALID_JSON, BW_ERROR_INVALID_DEFINITION naming the member, BW_ERROR_ALREADY_REGISTERED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_add_tool(server: Option<&mut bw_server>, definition: bw_bytes) -> bw_status {
    run(server, Step::Keep(definition.count()), |machine| Ok(machine.add_tool(definition.text()?)?))
}

/// Removes a tool by its name. BW_ERROR_NOT_REGISTERED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_remove_tool(server: Option<&mut bw_server>, name: bw_bytes) -> bw_status {
    run(server, Step::Keep(0), |machine| Ok(machine.remove_tool(name.text()?)?))
}

/// Registers a resource: a JSON object with at least `uri` and `name` (`Resource` in the schema). Errors as for
/// `bw_server_add_tool`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_add_resource(server: Option<&mut bw_server>, definition: bw_bytes) -> bw_status {
    run(server, Step::Keep(definition.count()), |machine| Ok(machine.add_resource(definition.text()?)?))
}

/// Removes a resource by its URI. BW_ERROR_NOT_REGISTERED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_remove_resource(server: Option<&mut bw_server>, uri: bw_bytes) -> bw_status {
    run(server, Step::Keep(0), |machine| Ok(machine.remove_resource(uri.text()?)?))
}

/// Registers a resource template: a JSON object with at least `uriTemplate` (RFC 6570) and `name` (`ResourceTemplate` in
/// the schema). Errors as for `bw_server_add_tool`, and BW_ERROR_INVALID_TEMPLATE.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_add_resource_template(
    server: Option<&mut bw_server>,
    definition: bw_bytes,
) -> bw_status {
    run(server, Step::Keep(definition.count()), |machine| {
        Ok(machine.add_resource_template(definition.text()?)?)
    })
}

/// Removes a resource template by its `uriTemplate`. BW_ERROR_NOT_REGISTERED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_remove_resource_template(
    server: Option<&mut bw_server>,
    uri_template: bw_bytes,
) -> bw_status {
    run(server, Step::Keep(0), |machine| Ok(machine.remove_resource_template(uri_template.text()?)?))
}

/// Registers a prompt: a JSON object with at least `name` (`Prompt` in the schema). Errors as for `bw_server_add_tool`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_add_prompt(server: Option<&mut bw_server>, definition: bw_bytes) -> bw_status {
    run(server, Step::Keep(definition.count()), |machine| Ok(machine.add_prompt(definition.text()?)?))
}

/// Removes a prompt by its name. BW_ERROR_NOT_REGISTERED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_remove_prompt(server: Option<&mut bw_server>, name: bw_bytes) -> bw_status {
    run(server, Step::Keep(0), |machine| Ok(machine.remove_prompt(name.text()?)?))
}
