//! How servers are set up.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem::MaybeUninit;

#[cfg(feature = "http")]
use barewire::transport::http::OriginPolicy;
#[cfg(feature = "http")]
use barewire::transport::http::server::{EventKeeping, HttpServerConfig};
use barewire::{Freshness, Implementation, Limits, ServerConfig, UnixTime};

use crate::bytes::{block, bw_bytes, place};
use crate::guard::{free, status};
use crate::room;
use crate::settings;
use crate::status::{Failure, bw_status};
use crate::values::{self, BW_SEED_BYTES};

/// How a server is set up. Whoever made it with `bw_server_config_new` frees it with `bw_server_config_free`; servers
/// made of it keep nothing of it. One thread at a time.
///
/// Each setter copies what it is given. All answer BW_ERROR_NULL_ARGUMENT for NULL, BW_ERROR_NOT_UTF8 for a text that is
/// not UTF-8 and BW_ERROR_INVALID_ARGUMENT for a number out of range; the configuration is then as before.
pub struct bw_server_config {
    pub(super) machine: ServerConfig,
    #[cfg(feature = "http")]
    pub(super) http: HttpServerConfig,
}

/// Sets something.
impl bw_server_config {
    /// The bytes of all texts and keys.
    pub(super) fn text_bytes(&self) -> usize {
        let ServerConfig { implementation, extension_methods, .. } = &self.machine;
        let texts = [
            Some(&implementation.name),
            Some(&implementation.version),
            implementation.title.as_ref(),
            implementation.description.as_ref(),
            implementation.website_url.as_ref(),
            self.machine.instructions.as_ref(),
        ];
        let json = [implementation.icons.as_ref(), self.machine.extensions.as_ref()];
        let methods = extension_methods.iter().map(|method| method.len() + size_of_val(method));
        texts.into_iter().flatten().map(|text| text.len()).sum::<usize>()
            + json.into_iter().flatten().map(|json| json.as_str().len()).sum::<usize>()
            + methods.sum::<usize>()
            + size_of_val(&*self.machine.request_state_keys)
    }
}

/// Adds to a list, if there is room for a longer one beside it.
fn add<T>(list: &mut Vec<T>, bytes: usize, item: impl FnOnce() -> Result<T, Failure>) -> Result<(), Failure> {
    room::check(bytes + 2 * (list.len() + 2) * size_of::<T>())?;
    list.push(item()?);
    Ok(())
}

fn set(
    config: Option<&mut bw_server_config>,
    work: impl FnOnce(&mut ServerConfig) -> Result<(), Failure>,
) -> bw_status {
    status(|| work(&mut config.ok_or(Failure::NULL)?.machine))
}

#[cfg(feature = "http")]
fn set_http(
    config: Option<&mut bw_server_config>,
    work: impl FnOnce(&mut HttpServerConfig) -> Result<(), Failure>,
) -> bw_status {
    status(|| work(&mut config.ok_or(Failure::NULL)?.http))
}

/// Makes the configuration of a server with an empty catalog, all revisions and default bounds. `name` and `version` say
/// who the server is. `seed` is BW_SEED_BYTES random bytes from the operating system, never used twice.
///
/// The caller frees `*config` with `bw_server_config_free`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_new(
    name: bw_bytes,
    version: bw_bytes,
    seed: *const u8,
    config: Option<&mut MaybeUninit<Option<Box<bw_server_config>>>>,
) -> bw_status {
    status(|| {
        let config = place(config)?;
        room::check(size_of::<bw_server_config>() + name.count() + version.count())?;
        let who = Implementation::new(name.text()?, version.text()?);
        let machine = ServerConfig::new(who, block::<BW_SEED_BYTES>(seed)?);
        #[cfg(feature = "http")]
        let http = HttpServerConfig::new(machine.seed.clone());
        config.write(Some(Box::new(bw_server_config {
            machine,
            #[cfg(feature = "http")]
            http,
        })));
        Ok(())
    })
}

/// Frees a configuration. NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_free(config: Option<Box<bw_server_config>>) {
    free(config);
}

/// Sets the server's name for people. From 2025-06-18. NULL data: none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_title(
    config: Option<&mut bw_server_config>,
    title: bw_bytes,
) -> bw_status {
    set(config, |machine| {
        machine.implementation.title = title.optional_boxed()?;
        Ok(())
    })
}

/// Sets what the server is. From 2025-11-25. NULL data: none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_description(
    config: Option<&mut bw_server_config>,
    description: bw_bytes,
) -> bw_status {
    set(config, |machine| {
        machine.implementation.description = description.optional_boxed()?;
        Ok(())
    })
}

/// Sets a page about the server. From 2025-11-25. NULL data: none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_website_url(
    config: Option<&mut bw_server_config>,
    url: bw_bytes,
) -> bw_status {
    set(config, |machine| {
        machine.implementation.website_url = url.optional_boxed()?;
        Ok(())
    })
}

/// Sets the server's icons, a JSON array. From 2025-11-25. NULL data: none. BW_ERROR_INVALID_JSON if it is not JSON.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_icons(
    config: Option<&mut bw_server_config>,
    icons: bw_bytes,
) -> bw_status {
    set(config, |machine| {
        machine.implementation.icons = icons.optional_json()?;
        Ok(())
    })
}

/// Sets guidance for the model, sent with the handshake or discovery. NULL data: none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_instructions(
    config: Option<&mut bw_server_config>,
    instructions: bw_bytes,
) -> bw_status {
    set(config, |machine| {
        machine.instructions = instructions.optional_boxed()?;
        Ok(())
    })
}

/// Sets the revisions to serve: `count` numbers of `bw_revision`. Default all.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_revisions(
    config: Option<&mut bw_server_config>,
    revisions: *const i32,
    count: usize,
) -> bw_status {
    set(config, |machine| {
        machine.revisions = settings::revisions(revisions, count)?;
        Ok(())
    })
}

/// Sets whether `logging` is offered. Default true.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_logging(
    config: Option<&mut bw_server_config>,
    offered: bool,
) -> bw_status {
    set(config, |machine| {
        machine.logging = offered;
        Ok(())
    })
}

/// Sets whether `completions` are offered: turn it on when COMPLETION_REQUESTED is answered. Default false.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_completions(
    config: Option<&mut bw_server_config>,
    offered: bool,
) -> bw_status {
    set(config, |machine| {
        machine.completions = offered;
        Ok(())
    })
}

/// Sets the extensions to declare: a JSON object by extension id. NULL data: none. BW_ERROR_INVALID_JSON if it is not
/// JSON; a name that is not of the form `prefix/name` is refused when the server is made.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_extensions(
    config: Option<&mut bw_server_config>,
    extensions: bw_bytes,
) -> bw_status {
    set(config, |machine| {
        machine.extensions = extensions.optional_json()?;
        Ok(())
    })
}

/// Adds a method beyond the protocol's own that the application wants as REQUEST_RECEIVED; others are refused.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_add_extension_method(
    config: Option<&mut bw_server_config>,
    method: bw_bytes,
) -> bw_status {
    set(config, |machine| add(&mut machine.extension_methods, method.count(), || Ok(method.text()?.into())))
}

/// Sets how long list results, and reads whose answer does not say, may be reused (server/utilities/caching): `ttl`
/// milliseconds, shared as the number of `bw_cache_scope` says. Default 0 and BW_CACHE_PRIVATE.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_freshness(
    config: Option<&mut bw_server_config>,
    ttl: u64,
    scope: i32,
) -> bw_status {
    set(config, |machine| {
        machine.freshness = Freshness { ttl_ms: ttl, scope: values::cache_scope(scope)? };
        Ok(())
    })
}

/// Sets whether each modern result says which server it is from (basic/index: SHOULD). Default true.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_identify_results(
    config: Option<&mut bw_server_config>,
    identified: bool,
) -> bw_status {
    set(config, |machine| {
        machine.identify_results = identified;
        Ok(())
    })
}

/// Adds a key of BW_SEED_BYTES secret bytes for the state of requests that ask for input. The first one seals, all open:
/// processes that share keys can take over each other's requests. Without any, a key of this server's own is used.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_add_request_state_key(
    config: Option<&mut bw_server_config>,
    key: *const u8,
) -> bw_status {
    set(config, |machine| add(&mut machine.request_state_keys, 0, || block::<BW_SEED_BYTES>(key)))
}

/// Sets the wall-clock time at the instant 0, in milliseconds since 1970-01-01T00:00:00Z, for data that outlives the
/// process. Default 0.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_clock_origin(
    config: Option<&mut bw_server_config>,
    unix_milliseconds: u64,
) -> bw_status {
    set(config, |machine| {
        machine.clock_origin = UnixTime::from_millis(unix_milliseconds);
        Ok(())
    })
}

/// Sets a bound, a number of `bw_limit`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_limit(
    config: Option<&mut bw_server_config>,
    limit: i32,
    value: u64,
) -> bw_status {
    set(config, |machine| settings::set_limit(&mut machine.limits, limit, value))
}

/// Sets all bounds to what fits a server on a byte stream that has this many bytes of memory for everything it keeps, from
/// 8 KiB on (embedded profile). Bounds set afterwards differ from that.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_memory(
    config: Option<&mut bw_server_config>,
    bytes: usize,
) -> bw_status {
    set(config, |machine| {
        machine.limits = Limits::for_memory(bytes);
        Ok(())
    })
}

/// Sets a duration, a number of `bw_timeout`, in milliseconds.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_timeout(
    config: Option<&mut bw_server_config>,
    timeout: i32,
    milliseconds: u64,
) -> bw_status {
    set(config, |machine| settings::set_timeout(&mut machine.timeouts, timeout, milliseconds))
}

/// Sets whether progress starts the time for a request to a client anew. Default true.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_progress_extends(
    config: Option<&mut bw_server_config>,
    extends: bool,
) -> bw_status {
    set(config, |machine| {
        machine.timeouts.progress_extends = extends;
        Ok(())
    })
}

/// HTTP: allows requests from pages of `origin`, such as "https://app.example"; "*" allows any. Without it, pages of the
/// loopback interface are allowed, and requests that name no origin. BW_ERROR_INVALID_ARGUMENT if it is no origin.
#[cfg(feature = "http")]
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_allow_origin(
    config: Option<&mut bw_server_config>,
    origin: bw_bytes,
) -> bw_status {
    set_http(config, |http| {
        let origin = origin.text()?;
        allow(http, |policy| {
            if origin == ANY { Some(policy.with_any_origin()) } else { policy.with_origin(origin).ok() }
        })
    })
}

/// HTTP: allows requests to the server under the name `host`, such as "mcp.example" or "mcp.example:8443"; "*" allows
/// any. Without it, names of the loopback interface are allowed. BW_ERROR_INVALID_ARGUMENT if it is no host.
#[cfg(feature = "http")]
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_allow_host(
    config: Option<&mut bw_server_config>,
    host: bw_bytes,
) -> bw_status {
    set_http(config, |http| {
        let host = host.text()?;
        allow(
            http,
            |policy| if host == ANY { Some(policy.with_any_host()) } else { policy.with_host(host).ok() },
        )
    })
}

/// Everything is allowed where that is said.
#[cfg(feature = "http")]
const ANY: &str = "*";

#[cfg(feature = "http")]
fn allow(
    http: &mut HttpServerConfig,
    change: impl FnOnce(OriginPolicy) -> Option<OriginPolicy>,
) -> Result<(), Failure> {
    http.origins = change(http.origins.clone()).ok_or(Failure::argument("not an origin or host"))?;
    Ok(())
}

/// HTTP: sets how many bytes a request body may have; a longer one is refused with 413. Default 4 MiB.
#[cfg(feature = "http")]
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_body_bytes(
    config: Option<&mut bw_server_config>,
    bytes: usize,
) -> bw_status {
    set_http(config, |http| {
        http.body_bytes = bytes;
        Ok(())
    })
}

/// HTTP: sets the milliseconds of silence on an open stream after which a comment is sent. Default 15 000; 0 sends none.
#[cfg(feature = "http")]
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_keep_alive(
    config: Option<&mut bw_server_config>,
    milliseconds: u64,
) -> bw_status {
    set_http(config, |http| {
        http.keep_alive = milliseconds;
        Ok(())
    })
}

/// HTTP: sets the milliseconds without an exchange after which a legacy session is ended. Default 1 800 000.
#[cfg(feature = "http")]
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_session_idle(
    config: Option<&mut bw_server_config>,
    milliseconds: u64,
) -> bw_status {
    set_http(config, |http| {
        http.session_idle = milliseconds;
        Ok(())
    })
}

/// HTTP: sets the milliseconds that a client is asked to wait before it reconnects to a stream. Default 1 000.
#[cfg(feature = "http")]
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_retry(
    config: Option<&mut bw_server_config>,
    milliseconds: u64,
) -> bw_status {
    set_http(config, |http| {
        http.retry = milliseconds;
        Ok(())
    })
}

/// HTTP: keeps events of legacy streams nowhere: a lost stream is lost.
#[cfg(feature = "http")]
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_keep_no_events(config: Option<&mut bw_server_config>) -> bw_status {
    set_http(config, |http| {
        http.events = EventKeeping::None;
        Ok(())
    })
}

/// HTTP: keeps events of legacy streams in memory, for clients that reconnect: `events` of one stream, `bytes` of all
/// streams, for `age` milliseconds. The default, with 256, 16 MiB and 300 000.
#[cfg(feature = "http")]
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_keep_events_in_memory(
    config: Option<&mut bw_server_config>,
    events: usize,
    bytes: usize,
    age: u64,
) -> bw_status {
    set_http(config, |http| {
        http.events = EventKeeping::Memory { events, bytes, age };
        Ok(())
    })
}

/// HTTP: keeps events of legacy streams with the host: EVENT_APPENDED, REPLAY_REQUESTED and STREAMS_FORGOTTEN say what to
/// keep, give back and drop.
#[cfg(feature = "http")]
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_keep_events_externally(
    config: Option<&mut bw_server_config>,
) -> bw_status {
    set_http(config, |http| {
        http.events = EventKeeping::External;
        Ok(())
    })
}

/// HTTP: sets whether sessions may live outside, so that an unknown id is asked for with SESSION_REQUESTED before it is
/// refused. Default false.
#[cfg(feature = "http")]
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_config_set_external_sessions(
    config: Option<&mut bw_server_config>,
    external: bool,
) -> bw_status {
    set_http(config, |http| {
        http.external_sessions = external;
        Ok(())
    })
}
