//! How clients are set up.

use alloc::boxed::Box;
use core::mem::MaybeUninit;

#[cfg(feature = "http")]
use barewire::transport::http::client::HttpClientConfig;
use barewire::{ClientConfig, EraVerdict, Implementation};

use crate::bytes::{block, bw_bytes, place};
use crate::guard::{free, status};
use crate::settings;
use crate::status::{Failure, bw_status};
use crate::values::BW_SEED_BYTES;

/// How a client is set up. Whoever made it with `bw_client_config_new` frees it with `bw_client_config_free`; clients made
/// of it keep nothing of it. One thread at a time.
///
/// Each setter copies what it is given. All answer BW_ERROR_NULL_ARGUMENT for NULL, BW_ERROR_NOT_UTF8 for a text that is
/// not UTF-8 and BW_ERROR_INVALID_ARGUMENT for a number out of range; the configuration is then as before.
pub struct bw_client_config {
    pub(crate) machine: ClientConfig,
    /// Its URL is set when a client is made.
    #[cfg(feature = "http")]
    pub(super) http: HttpClientConfig,
}

/// Sets something.
fn set(
    config: Option<&mut bw_client_config>,
    work: impl FnOnce(&mut ClientConfig) -> Result<(), Failure>,
) -> bw_status {
    status(|| work(&mut config.ok_or(Failure::NULL)?.machine))
}

/// Sets something that only HTTP has.
#[cfg(feature = "http")]
fn set_http(config: Option<&mut bw_client_config>, work: impl FnOnce(&mut HttpClientConfig)) -> bw_status {
    status(|| {
        work(&mut config.ok_or(Failure::NULL)?.http);
        Ok(())
    })
}

/// Makes the configuration of a client with no capabilities, all revisions and default bounds. `name` and `version` say who
/// the client is. `seed` is BW_SEED_BYTES random bytes from the operating system, never used twice.
///
/// The caller frees `*config` with `bw_client_config_free`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_config_new(
    name: bw_bytes,
    version: bw_bytes,
    seed: *const u8,
    config: Option<&mut MaybeUninit<Option<Box<bw_client_config>>>>,
) -> bw_status {
    status(|| {
        let config = place(config)?;
        let who = Implementation::new(name.text()?, version.text()?);
        config.write(Some(Box::new(bw_client_config {
            machine: ClientConfig::new(who, block::<BW_SEED_BYTES>(seed)?),
            #[cfg(feature = "http")]
            http: HttpClientConfig::new(""),
        })));
        Ok(())
    })
}

/// Frees a configuration. NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_config_free(config: Option<Box<bw_client_config>>) {
    free(config);
}

/// Sets the client's name for people. From 2025-06-18. NULL data: none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_config_set_title(
    config: Option<&mut bw_client_config>,
    title: bw_bytes,
) -> bw_status {
    set(config, |machine| {
        machine.implementation.title = title.optional_boxed()?;
        Ok(())
    })
}

/// Sets what the client is. From 2025-11-25. NULL data: none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_config_set_description(
    config: Option<&mut bw_client_config>,
    description: bw_bytes,
) -> bw_status {
    set(config, |machine| {
        machine.implementation.description = description.optional_boxed()?;
        Ok(())
    })
}

/// Sets a page about the client. From 2025-11-25. NULL data: none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_config_set_website_url(
    config: Option<&mut bw_client_config>,
    url: bw_bytes,
) -> bw_status {
    set(config, |machine| {
        machine.implementation.website_url = url.optional_boxed()?;
        Ok(())
    })
}

/// Sets the client's icons, a JSON array. From 2025-11-25. NULL data: none. BW_ERROR_INVALID_JSON if it is not JSON.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_config_set_icons(
    config: Option<&mut bw_client_config>,
    icons: bw_bytes,
) -> bw_status {
    set(config, |machine| {
        machine.implementation.icons = icons.optional_json()?;
        Ok(())
    })
}

/// Sets what the client can do: a JSON object (`ClientCapabilities` in the schema), sent as it is but for what older
/// revisions lack. Default none.
///
/// BW_ERROR_INVALID_JSON if it is no JSON object, BW_ERROR_INVALID_DEFINITION if one of its `extensions` is not named
/// `prefix/name`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_config_set_capabilities(
    config: Option<&mut bw_client_config>,
    capabilities: bw_bytes,
) -> bw_status {
    set(config, |machine| Ok(machine.set_capabilities(capabilities.text()?)?))
}

/// Sets the revisions that the client is willing to speak: `count` numbers of `bw_revision`. Default all.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_config_set_revisions(
    config: Option<&mut bw_client_config>,
    revisions: *const i32,
    count: usize,
) -> bw_status {
    set(config, |machine| {
        machine.revisions = settings::revisions(revisions, count)?;
        Ok(())
    })
}

/// Sets the verdict of an earlier client on the era of the same server, so that the probe is skipped: what
/// `bw_client_era_verdict` gave. NULL data: none. BW_ERROR_INVALID_ARGUMENT if the text is of another version of the
/// library; go on without it then.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_config_set_era_verdict(
    config: Option<&mut bw_client_config>,
    verdict: bw_bytes,
) -> bw_status {
    set(config, |machine| {
        let read =
            |text| EraVerdict::from_text(text).ok_or(Failure::argument("not a verdict of this version"));
        machine.era = verdict.optional_text()?.map(read).transpose()?;
        Ok(())
    })
}

/// Sets a bound, a number of `bw_limit`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_config_set_limit(
    config: Option<&mut bw_client_config>,
    limit: i32,
    value: u64,
) -> bw_status {
    set(config, |machine| settings::set_limit(&mut machine.limits, limit, value))
}

/// Sets a duration, a number of `bw_timeout`, in milliseconds.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_config_set_timeout(
    config: Option<&mut bw_client_config>,
    timeout: i32,
    milliseconds: u64,
) -> bw_status {
    set(config, |machine| settings::set_timeout(&mut machine.timeouts, timeout, milliseconds))
}

/// Sets whether progress starts the time for a request anew. Default true.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_config_set_progress_extends(
    config: Option<&mut bw_client_config>,
    extends: bool,
) -> bw_status {
    set(config, |machine| {
        machine.timeouts.progress_extends = extends;
        Ok(())
    })
}

/// HTTP: sets whether to try HTTP+SSE (2024-11-05) where Streamable HTTP is refused. Default true.
#[cfg(feature = "http")]
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_config_set_sse_fallback(
    config: Option<&mut bw_client_config>,
    tried: bool,
) -> bw_status {
    set_http(config, |http| http.falls_back_to_sse = tried)
}

/// HTTP: sets whether to open the stream of a legacy session that belongs to no request. Default true.
#[cfg(feature = "http")]
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_config_set_opens_stream(
    config: Option<&mut bw_client_config>,
    opened: bool,
) -> bw_status {
    set_http(config, |http| http.opens_stream = opened)
}

/// HTTP: sets whether the application answers AUTHORIZATION_REQUIRED; without it a 401 or 403 fails the request. Default
/// false.
#[cfg(feature = "http")]
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_config_set_authorizes(
    config: Option<&mut bw_client_config>,
    authorizes: bool,
) -> bw_status {
    set_http(config, |http| http.authorizes = authorizes)
}

/// HTTP: sets the milliseconds after which an exchange that nobody authorizes fails. Default 900 000.
#[cfg(feature = "http")]
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_config_set_authorization_timeout(
    config: Option<&mut bw_client_config>,
    milliseconds: u64,
) -> bw_status {
    set_http(config, |http| http.authorization_timeout = milliseconds)
}

/// HTTP: sets how many attempts in a row to resume the stream of a request may bring nothing. Default 5.
#[cfg(feature = "http")]
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_config_set_resumptions(
    config: Option<&mut bw_client_config>,
    resumptions: u32,
) -> bw_status {
    set_http(config, |http| http.resumptions = resumptions)
}

/// HTTP: sets the milliseconds to wait before a stream is resumed, where the server names no time; doubled with each
/// attempt that brings nothing, up to a minute. Default 1 000.
#[cfg(feature = "http")]
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_config_set_retry(
    config: Option<&mut bw_client_config>,
    milliseconds: u64,
) -> bw_status {
    set_http(config, |http| http.retry = milliseconds)
}
