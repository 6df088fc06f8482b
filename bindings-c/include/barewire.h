/*
 * barewire: the Model Context Protocol as bare wire. Bytes in, events out.
 *
 * A `bw_server` or `bw_client` is a state machine. The host moves the bytes and tells the time:
 *
 *   1. Read bytes and give them to `..._receive_data`; at the end of input call `..._receive_eof`. Stop reading while
 *      `..._wants_input` is false.
 *   2. Take events from `..._poll_event` until NULL, and act on them with commands. Commands do no I/O.
 *   3. Write what `..._data_to_send` lends, and `..._consume` what was written.
 *   4. Call `..._handle_timeout` when `..._poll_timeout` says so.
 *   5. Stop when `..._is_finished` is true.
 *
 * Over HTTP, functions with `_http_` in their names take the place of 1 and 3: requests and responses are values. The
 * embedded profile of the library has none of those.
 *
 * Rules, which hold everywhere unless a function says otherwise:
 *
 *   - What a function with `_new` in its name gives is the caller's, who frees it with the `_free` of its type. Nothing
 *     else is ever freed, and nothing given to a function changes hands.
 *   - Functions read what they are given during the call only.
 *   - Texts are UTF-8 with a length (`bw_bytes`); they end with no NUL. `BW_LITERAL("...")` makes one of a literal,
 *     `bw_string` one of a C string. Where nothing is allowed, NULL data (`bw_none()`) is nothing.
 *   - Results come last, by pointer; nothing is written there when a function fails.
 *   - NULL is never a crash: functions with a status answer BW_ERROR_NULL_ARGUMENT, others what they have to say of nothing.
 *   - Defects of the library do not cross: a panic inside is caught, and its handle answers BW_ERROR_POISONED ever after.
 *   - A handle may be used by any thread, by one at a time. There is no global state.
 *   - Times are milliseconds from any fixed origin of the caller's choice; for authorization, since 1970.
 *
 * This file is made of the library's source. Do not edit it.
 */

#ifndef BAREWIRE_H
#define BAREWIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The version of this header; compare what `bw_version` gives. */
#define BW_VERSION "0.1.0"
#define BW_VERSION_MAJOR 0
#define BW_VERSION_MINOR 1
#define BW_VERSION_PATCH 0
/** The version of this header as one number; compare what `bw_version_number` gives. */
#define BW_VERSION_NUMBER (BW_VERSION_MAJOR << 16 | BW_VERSION_MINOR << 8 | BW_VERSION_PATCH)

/**
 * A point in time that never comes.
 */
#define BW_NEVER UINT64_MAX

/**
 * The bytes of a seed, and of a key for the state of requests.
 */
#define BW_SEED_BYTES 32

/**
 * What an event is about. It decides which members it has.
 */
typedef enum {
    /**
     * No event.
     */
    BW_EVENT_NONE = 0,
    /**
     * Server: a registered tool is called. To be answered once, as all requests that servers are told of.
     * Members: request, name, arguments, and the context.
     */
    BW_EVENT_TOOL_CALLED = 1,
    /**
     * Server: a resource is read: registered itself, or matched by a registered template.
     * Members: request, uri, template, variables, and the context.
     */
    BW_EVENT_RESOURCE_READ_REQUESTED = 2,
    /**
     * Server: a registered prompt is asked for. Members: request, name, arguments, and the context.
     */
    BW_EVENT_PROMPT_REQUESTED = 3,
    /**
     * Server: suggestions for an argument are asked for.
     * Members: request, name (of a prompt) or uri (of a resource), argument, value, arguments, and the context.
     */
    BW_EVENT_COMPLETION_REQUESTED = 4,
    /**
     * Server: a method that the application asked to see. Members: request, method, params, and the context.
     */
    BW_EVENT_REQUEST_RECEIVED = 5,
    /**
     * Server: the client no longer wants the answer. A late answer is accepted and sends nothing.
     * Members: request, reason.
     */
    BW_EVENT_REQUEST_CANCELLED = 6,
    /**
     * Server: a client watches something. Members: subscription, watches, uris.
     */
    BW_EVENT_SUBSCRIPTION_OPENED = 7,
    /**
     * Server: a client no longer watches. Members: subscription.
     */
    BW_EVENT_SUBSCRIPTION_CLOSED = 8,
    /**
     * Server: a legacy client has finished its handshake. Members: session, revision, peer, capabilities.
     */
    BW_EVENT_SESSION_OPENED = 9,
    /**
     * Server: a legacy session is over. Members: session.
     */
    BW_EVENT_SESSION_CLOSED = 10,
    /**
     * Server: the end of input was reached, and every owed answer was given or the time for it passed.
     * Members: abandoned.
     */
    BW_EVENT_DRAINED = 11,
    /**
     * Client: a request ended well. Members: request, result, freshness.
     * Server: a request to a legacy client ended. Members: request, session, result, or code, message, data.
     */
    BW_EVENT_RESPONSE_RECEIVED = 12,
    /**
     * Any other notification, extensions included. Members: method, params, session (server).
     */
    BW_EVENT_NOTIFICATION_RECEIVED = 13,
    /**
     * The peer deviated from the protocol in a way that did not matter. Members: violation, request, bytes.
     */
    BW_EVENT_VIOLATION_TOLERATED = 14,
    /**
     * The peer sent something unusable; the connection goes on. Members: violation, bytes.
     */
    BW_EVENT_MESSAGE_DISCARDED = 15,
    /**
     * The last event. Members: code, message, data, http_status.
     */
    BW_EVENT_DISCONNECTED = 16,
    /**
     * Client: era and revision are settled; queued requests go out. It comes once more if a stored verdict turns out
     * wrong. Members: revision, peer, capabilities, instructions.
     */
    BW_EVENT_READY = 17,
    /**
     * Client: the server had lost the session, and a new one is there (HTTP, up to 2025-11-25). Members: as READY.
     */
    BW_EVENT_SESSION_REPLACED = 18,
    /**
     * Client: the server ended on the probe. Start it afresh and call `bw_client_restart`. It comes at most once.
     */
    BW_EVENT_RESTART_REQUIRED = 19,
    /**
     * Client: a request ended without a result. Members: request, code, message, data, http_status.
     */
    BW_EVENT_REQUEST_FAILED = 20,
    /**
     * Client: the server asks something; answer each question. Members: request (0 where the revision does not say),
     * inputs, round.
     */
    BW_EVENT_INPUT_REQUIRED = 21,
    /**
     * Client: a question no longer stands. Members: input.
     */
    BW_EVENT_INPUT_WITHDRAWN = 22,
    /**
     * Client: a tool was left out of a list that a request asked for (HTTP, from 2026-07-28).
     * Members: request, index, name, path, reason.
     */
    BW_EVENT_TOOL_OMITTED = 23,
    /**
     * Client: a request reports progress. Members: request, progress, total, message, increasing.
     */
    BW_EVENT_PROGRESS_RECEIVED = 24,
    /**
     * Client: the server logs something. Members: request (0 if that is not certain), log_level (0 for an unknown
     * one), logger, data.
     */
    BW_EVENT_LOG_RECEIVED = 25,
    /**
     * Client: a subscription is in force. Members: subscription, watches, uris: what the server agreed to.
     */
    BW_EVENT_SUBSCRIPTION_ACKNOWLEDGED = 26,
    /**
     * Client: a subscription is over. Members: subscription, graceful.
     */
    BW_EVENT_SUBSCRIPTION_ENDED = 27,
    /**
     * Client: a list of the server changed: fetch it again. Members: list, subscription (or 0).
     */
    BW_EVENT_LIST_CHANGED = 28,
    /**
     * Client: a resource changed: read it again. Members: uri, subscription (or 0).
     */
    BW_EVENT_RESOURCE_UPDATED = 29,
    /**
     * HTTP server: a session id that is not known here. Load the session, import it and answer with
     * `bw_server_http_resolve_session`. Members: exchange, id.
     */
    BW_EVENT_SESSION_REQUESTED = 30,
    /**
     * HTTP server: a session has got its id, which is a secret. Members: session, id.
     */
    BW_EVENT_SESSION_NAMED = 31,
    /**
     * HTTP server: keep this event of a stream. Members: session, stream, id, data.
     */
    BW_EVENT_EVENT_APPENDED = 32,
    /**
     * HTTP server: give the events after `after` with `bw_server_http_replay`. Members: exchange, session, stream,
     * after.
     */
    BW_EVENT_REPLAY_REQUESTED = 33,
    /**
     * HTTP server: nobody will ask for the streams of this session any more. Members: session.
     */
    BW_EVENT_STREAMS_FORGOTTEN = 34,
    /**
     * HTTP client: the server wants authorization. The exchange waits for `bw_client_http_authorized` or
     * `bw_client_http_unauthorized`. Members: exchange, http_status, challenges, dpop_nonce, operation.
     */
    BW_EVENT_AUTHORIZATION_REQUIRED = 35,
} bw_kind;

/**
 * What to do. Each is answered with the function that its kind names, or with `bw_authorization_fail_action`.
 */
typedef enum {
    /**
     * No action.
     */
    BW_ACTION_NONE = 0,
    /**
     * Read what is stored for this MCP server and principal, as it is now; other processes may have written it. Answer
     * with `bw_authorization_loaded`.
     */
    BW_ACTION_LOAD = 1,
    /**
     * Store the record if the store still has the expected generation; answer with `bw_authorization_saved` or
     * `bw_authorization_save_conflicted`. It holds tokens and secrets: keep it like passwords. Members:
     * expected_generation, record.
     */
    BW_ACTION_SAVE = 2,
    /**
     * Carry out an HTTP request; answer with `bw_authorization_receive_response`. Members: request.
     */
    BW_ACTION_SEND = 3,
    /**
     * Listen at the redirect URI, then open the user's browser, never through a shell; answer with
     * `bw_authorization_receive_callback` when it comes back. Members: url, redirect_uri.
     */
    BW_ACTION_OPEN_USER_AGENT = 4,
    /**
     * Sign; answer with `bw_authorization_signed`. Members: signing.
     */
    BW_ACTION_SIGN = 5,
    /**
     * Ask the user for a client that is registered at this authorization server; answer with
     * `bw_authorization_client_provided`. Members: issuer.
     */
    BW_ACTION_PROVIDE_CLIENT = 6,
    /**
     * Get an assertion that is valid now: the user's ID token or SAML assertion (enterprise), or the JWT of the workload,
     * which must be for `issuer`; answer with `bw_authorization_assertion_provided`. Members: issuer, resource.
     */
    BW_ACTION_PROVIDE_ASSERTION = 7,
} bw_action_type;

/**
 * What to do to a child process next (basic/transports/stdio, Shutdown).
 */
typedef enum {
    /**
     * Nothing for now.
     */
    BW_CHILD_NOTHING = 0,
    /**
     * Close the child's standard input.
     */
    BW_CHILD_CLOSE_INPUT = 1,
    /**
     * Ask the child and its process group to end (SIGTERM where there are signals).
     */
    BW_CHILD_TERMINATE = 2,
    /**
     * End the child and its process group by force (SIGKILL where there are signals).
     */
    BW_CHILD_KILL = 3,
} bw_child_action;

/**
 * What a JSON value is.
 */
typedef enum {
    /**
     * There is no value there.
     */
    BW_JSON_NONE = 0,
    /**
     * `null`
     */
    BW_JSON_NULL = 1,
    /**
     * `true` or `false`
     */
    BW_JSON_BOOL = 2,
    /**
     * A number.
     */
    BW_JSON_NUMBER = 3,
    /**
     * A string.
     */
    BW_JSON_STRING = 4,
    /**
     * An array.
     */
    BW_JSON_ARRAY = 5,
    /**
     * An object.
     */
    BW_JSON_OBJECT = 6,
} bw_json_type;

/**
 * What can go wrong. The numbers never change and are not reused.
 *
 * 101 to 199: the caller asked for something that is not possible now; nothing changed. 201 to 299: the peer broke
 * the protocol. 301 to 399: the peers have no common ground. 401 to 499: a configured bound is reached. 501 to 599:
 * it was over already. 601 to 699: how requests end without a result; only events carry them. 901 to 999: what only C
 * can do wrong; nothing changed.
 */
typedef enum {
    /**
     * It went well.
     */
    BW_OK = 0,
    /**
     * No such request is in flight (it may have ended already).
     */
    BW_ERROR_UNKNOWN_REQUEST = 101,
    /**
     * The request was answered before.
     */
    BW_ERROR_ALREADY_ANSWERED = 102,
    /**
     * No such question stands.
     */
    BW_ERROR_UNKNOWN_INPUT = 103,
    /**
     * No such subscription is open.
     */
    BW_ERROR_UNKNOWN_SUBSCRIPTION = 104,
    /**
     * No such session is open.
     */
    BW_ERROR_UNKNOWN_SESSION = 105,
    /**
     * The revision in use has no such message or feature.
     */
    BW_ERROR_NOT_ALLOWED_IN_REVISION = 106,
    /**
     * The peer did not declare the capability that this needs.
     */
    BW_ERROR_CAPABILITY_NOT_DECLARED = 107,
    /**
     * The text is not JSON, or not the kind of JSON value that belongs there.
     */
    BW_ERROR_INVALID_JSON = 108,
    /**
     * A member of a definition is missing or wrong; the message names it.
     */
    BW_ERROR_INVALID_DEFINITION = 109,
    /**
     * The name, URI or template is registered already.
     */
    BW_ERROR_ALREADY_REGISTERED = 110,
    /**
     * Nothing is registered under that name, URI or template.
     */
    BW_ERROR_NOT_REGISTERED = 111,
    /**
     * The URI template does not follow RFC 6570.
     */
    BW_ERROR_INVALID_TEMPLATE = 112,
    /**
     * The request cannot ask for input in this revision or method.
     */
    BW_ERROR_INPUT_NOT_POSSIBLE = 113,
    /**
     * The method is one that the library sends itself, that this side never sends, or of the other kind.
     */
    BW_ERROR_METHOD_NOT_ALLOWED = 114,
    /**
     * A form asks for a property that is not flat; the message names it.
     */
    BW_ERROR_INVALID_FORM_PROPERTY = 115,
    /**
     * An argument of a prompt or completion is not a string; the message names it.
     */
    BW_ERROR_ARGUMENT_NOT_STRING = 116,
    /**
     * The answer to the handshake is not usable.
     */
    BW_ERROR_INVALID_HANDSHAKE = 201,
    /**
     * A handshake came where none belongs.
     */
    BW_ERROR_UNEXPECTED_HANDSHAKE = 202,
    /**
     * No revision is spoken by both sides.
     */
    BW_ERROR_NO_COMMON_REVISION = 301,
    /**
     * The peer lacks a capability that the request cannot do without; the message names it.
     */
    BW_ERROR_MISSING_CAPABILITY = 302,
    /**
     * The limit on the bytes of a message.
     */
    BW_ERROR_LIMIT_MESSAGE_BYTES = 401,
    /**
     * The limit on nesting.
     */
    BW_ERROR_LIMIT_DEPTH = 402,
    /**
     * The limit on requests in flight.
     */
    BW_ERROR_LIMIT_REQUESTS_IN_FLIGHT = 403,
    /**
     * The limit on requests that wait for the connection.
     */
    BW_ERROR_LIMIT_QUEUED_REQUESTS = 404,
    /**
     * The limit on events that wait to be polled.
     */
    BW_ERROR_LIMIT_QUEUED_EVENTS = 405,
    /**
     * The limit on the elements of a batch.
     */
    BW_ERROR_LIMIT_BATCH_ITEMS = 406,
    /**
     * The limit on sessions.
     */
    BW_ERROR_LIMIT_SESSIONS = 407,
    /**
     * The limit on subscriptions.
     */
    BW_ERROR_LIMIT_SUBSCRIPTIONS = 408,
    /**
     * The limit on resources that are watched.
     */
    BW_ERROR_LIMIT_WATCHED_RESOURCES = 409,
    /**
     * The limit on rounds of one request.
     */
    BW_ERROR_LIMIT_ROUNDS = 410,
    /**
     * The limit on questions in one round.
     */
    BW_ERROR_LIMIT_INPUTS = 411,
    /**
     * The limit on the state that travels with a request.
     */
    BW_ERROR_LIMIT_REQUEST_STATE_BYTES = 412,
    /**
     * The memory that is left. Nothing has changed: poll, send, answer, and try again (embedded profile).
     */
    BW_ERROR_LIMIT_MEMORY = 413,
    /**
     * This side closed it.
     */
    BW_ERROR_CLOSED_BY_US = 501,
    /**
     * The peer closed it in order.
     */
    BW_ERROR_CLOSED_BY_PEER = 502,
    /**
     * The transport broke.
     */
    BW_ERROR_TRANSPORT_LOST = 503,
    /**
     * The handshake or probe failed.
     */
    BW_ERROR_HANDSHAKE_FAILED = 504,
    /**
     * A defect of the library was caught; the handle is good for nothing any more but to be freed.
     */
    BW_ERROR_POISONED = 505,
    /**
     * No answer came in time.
     */
    BW_ERROR_TIMED_OUT = 601,
    /**
     * The request was cancelled by this side.
     */
    BW_ERROR_CANCELLED = 602,
    /**
     * The connection ended before the answer came.
     */
    BW_ERROR_CONNECTION_LOST = 603,
    /**
     * The answer is malformed or not what the method defines.
     */
    BW_ERROR_INVALID_RESULT = 604,
    /**
     * A question that had to be answered was refused by this side.
     */
    BW_ERROR_INPUT_REFUSED = 605,
    /**
     * The server asked more often than the limit on rounds allows.
     */
    BW_ERROR_ROUNDS_EXCEEDED = 606,
    /**
     * The server did not answer the handshake in time.
     */
    BW_ERROR_HANDSHAKE_TIMED_OUT = 607,
    /**
     * HTTP: the server refused the request with a status that says nothing of the protocol.
     */
    BW_ERROR_EXCHANGE_REFUSED = 608,
    /**
     * HTTP: the server does not know the session any more.
     */
    BW_ERROR_SESSION_LOST = 609,
    /**
     * HTTP: the server wants authorization.
     */
    BW_ERROR_UNAUTHORIZED = 610,
    /**
     * HTTP: the server is out of order or cannot be reached.
     */
    BW_ERROR_UNAVAILABLE = 611,
    /**
     * HTTP: the response ended before the answer.
     */
    BW_ERROR_TRUNCATED = 612,
    /**
     * A handle, text or place for a result is NULL and must not be.
     */
    BW_ERROR_NULL_ARGUMENT = 901,
    /**
     * A text is not UTF-8, or a JSON string has no form in UTF-8 (a lone surrogate).
     */
    BW_ERROR_NOT_UTF8 = 902,
    /**
     * A number is none of those that the argument takes.
     */
    BW_ERROR_INVALID_ARGUMENT = 903,
    /**
     * The function is for handles of the other transport: byte stream or HTTP.
     */
    BW_ERROR_WRONG_TRANSPORT = 904,
    /**
     * The buffer is too small; the length that is needed was given.
     */
    BW_ERROR_BUFFER_TOO_SMALL = 905,
    /**
     * There is nothing under the JSON pointer, key or index.
     */
    BW_ERROR_NOT_FOUND = 906,
    /**
     * The JSON value is of another type.
     */
    BW_ERROR_WRONG_TYPE = 907,
    /**
     * The number does not fit the type without being changed.
     */
    BW_ERROR_OUT_OF_RANGE = 908,
    /**
     * A value was written where none can stand, or what was begun is not ended.
     */
    BW_ERROR_WRITER_MISUSED = 909,
    /**
     * The request is not authorized: refuse it as the `bw_denial` says.
     */
    BW_ERROR_DENIED = 910,
} bw_error;

/**
 * Codes of JSON-RPC errors that the protocol gives a meaning. Servers may answer others.
 */
typedef enum {
    /**
     * The text is not JSON (JSON-RPC 2.0, section 5.1).
     */
    BW_RPC_PARSE_ERROR = -32700,
    /**
     * The JSON is not a request (JSON-RPC 2.0, section 5.1).
     */
    BW_RPC_INVALID_REQUEST = -32600,
    /**
     * No such method, or not offered (JSON-RPC 2.0, section 5.1).
     */
    BW_RPC_METHOD_NOT_FOUND = -32601,
    /**
     * The parameters are wrong (JSON-RPC 2.0, section 5.1).
     */
    BW_RPC_INVALID_PARAMS = -32602,
    /**
     * The receiver failed (JSON-RPC 2.0, section 5.1).
     */
    BW_RPC_INTERNAL_ERROR = -32603,
    /**
     * No such resource. Written for all revisions; clients from 2026-07-28 get the code they expect.
     */
    BW_RPC_RESOURCE_NOT_FOUND = -32002,
    /**
     * Headers and body disagree, from 2026-07-28 (basic/transports/streamable-http).
     */
    BW_RPC_HEADER_MISMATCH = -32020,
    /**
     * The client did not declare what the request needs, from 2026-07-28 (basic/index).
     */
    BW_RPC_MISSING_CLIENT_CAPABILITY = -32021,
    /**
     * The revision named by the client is not served, from 2026-07-28 (basic/versioning).
     */
    BW_RPC_UNSUPPORTED_PROTOCOL_VERSION = -32022,
    /**
     * The user must visit URLs first, in 2025-11-25 (client/elicitation).
     */
    BW_RPC_URL_ELICITATION_REQUIRED = -32042,
    /**
     * The client has cancelled the request.
     */
    BW_RPC_REQUEST_CANCELLED = -32800,
    /**
     * The user refused, up to 2025-11-25 (client/sampling).
     */
    BW_RPC_USER_REFUSED = -1,
} bw_rpc_code;

/**
 * A published revision of the protocol. A newer one has a greater number; 0 is none.
 */
typedef enum {
    /**
     * None, or not settled yet.
     */
    BW_REVISION_NONE = 0,
    /**
     * 2024-11-05
     */
    BW_REVISION_2024_11_05 = 1,
    /**
     * 2025-03-26
     */
    BW_REVISION_2025_03_26 = 2,
    /**
     * 2025-06-18
     */
    BW_REVISION_2025_06_18 = 3,
    /**
     * 2025-11-25
     */
    BW_REVISION_2025_11_25 = 4,
    /**
     * 2026-07-28
     */
    BW_REVISION_2026_07_28 = 5,
} bw_revision;

/**
 * The two ways the protocol has worked.
 */
typedef enum {
    /**
     * None, or not settled yet.
     */
    BW_ERA_NONE = 0,
    /**
     * Handshake and session: up to 2025-11-25.
     */
    BW_ERA_LEGACY = 1,
    /**
     * Stateless, metadata on every request: from 2026-07-28.
     */
    BW_ERA_MODERN = 2,
} bw_era;

/**
 * Severity of a log message (RFC 5424, section 6.2.1). A more severe one has a greater number; 0 is none.
 */
typedef enum {
    /**
     * None.
     */
    BW_LOG_LEVEL_NONE = 0,
    /**
     * Detail for developers.
     */
    BW_LOG_LEVEL_DEBUG = 1,
    /**
     * Ordinary events.
     */
    BW_LOG_LEVEL_INFO = 2,
    /**
     * Ordinary but significant events.
     */
    BW_LOG_LEVEL_NOTICE = 3,
    /**
     * Warnings.
     */
    BW_LOG_LEVEL_WARNING = 4,
    /**
     * Errors.
     */
    BW_LOG_LEVEL_ERROR = 5,
    /**
     * Critical conditions.
     */
    BW_LOG_LEVEL_CRITICAL = 6,
    /**
     * Action must be taken at once.
     */
    BW_LOG_LEVEL_ALERT = 7,
    /**
     * The system is unusable.
     */
    BW_LOG_LEVEL_EMERGENCY = 8,
} bw_log_level;

/**
 * A list of the server that can change and be watched.
 */
typedef enum {
    /**
     * None.
     */
    BW_LIST_NONE = 0,
    /**
     * Tools.
     */
    BW_LIST_TOOLS = 1,
    /**
     * Resources and resource templates.
     */
    BW_LIST_RESOURCES = 2,
    /**
     * Prompts.
     */
    BW_LIST_PROMPTS = 3,
} bw_list_kind;

/**
 * A list that a server gives page by page.
 */
typedef enum {
    /**
     * Tools (server/tools).
     */
    BW_LISTING_TOOLS = 1,
    /**
     * Resources (server/resources).
     */
    BW_LISTING_RESOURCES = 2,
    /**
     * Resource templates (server/resources).
     */
    BW_LISTING_RESOURCE_TEMPLATES = 3,
    /**
     * Prompts (server/prompts).
     */
    BW_LISTING_PROMPTS = 4,
} bw_listing;

/**
 * What a server can ask its client for.
 */
typedef enum {
    /**
     * The user fills a form or visits a URL (client/elicitation).
     */
    BW_INPUT_ELICITATION = 1,
    /**
     * The client's model completes a conversation (client/sampling).
     */
    BW_INPUT_SAMPLING = 2,
    /**
     * The client's roots (client/roots).
     */
    BW_INPUT_ROOTS = 3,
} bw_input_kind;

/**
 * Who may share a cached result (server/utilities/caching).
 */
typedef enum {
    /**
     * Anyone: it does not depend on who asked.
     */
    BW_CACHE_PUBLIC = 1,
    /**
     * The asking user only.
     */
    BW_CACHE_PRIVATE = 2,
} bw_cache_scope;

/**
 * What an argument to complete belongs to (server/utilities/completion).
 */
typedef enum {
    /**
     * A prompt, by name.
     */
    BW_COMPLETION_PROMPT = 1,
    /**
     * A resource template, or the URI of a resource.
     */
    BW_COMPLETION_RESOURCE = 2,
} bw_completion_kind;

/**
 * One declared ability, named by its place in the capabilities object of a server or client.
 */
typedef enum {
    /**
     * Server: `tools`
     */
    BW_CAPABILITY_TOOLS = 1,
    /**
     * Server: `tools.listChanged`
     */
    BW_CAPABILITY_TOOLS_LIST_CHANGED = 2,
    /**
     * Server: `resources`
     */
    BW_CAPABILITY_RESOURCES = 3,
    /**
     * Server: `resources.subscribe`
     */
    BW_CAPABILITY_RESOURCES_SUBSCRIBE = 4,
    /**
     * Server: `resources.listChanged`
     */
    BW_CAPABILITY_RESOURCES_LIST_CHANGED = 5,
    /**
     * Server: `prompts`
     */
    BW_CAPABILITY_PROMPTS = 6,
    /**
     * Server: `prompts.listChanged`
     */
    BW_CAPABILITY_PROMPTS_LIST_CHANGED = 7,
    /**
     * Server: `logging`
     */
    BW_CAPABILITY_LOGGING = 8,
    /**
     * Server: `completions`
     */
    BW_CAPABILITY_COMPLETIONS = 9,
    /**
     * Client: `roots`
     */
    BW_CAPABILITY_ROOTS = 10,
    /**
     * Client: `roots.listChanged`
     */
    BW_CAPABILITY_ROOTS_LIST_CHANGED = 11,
    /**
     * Client: `sampling`
     */
    BW_CAPABILITY_SAMPLING = 12,
    /**
     * Client: `sampling.tools`
     */
    BW_CAPABILITY_SAMPLING_TOOLS = 13,
    /**
     * Client: `sampling.context`
     */
    BW_CAPABILITY_SAMPLING_CONTEXT = 14,
    /**
     * Client: `elicitation`, which includes the form mode unless only another mode is named
     */
    BW_CAPABILITY_ELICITATION = 15,
    /**
     * Client: `elicitation.url`
     */
    BW_CAPABILITY_ELICITATION_URL = 16,
} bw_capability;

/**
 * Something in a message that the protocol does not allow. 0 is nothing.
 */
typedef enum {
    /**
     * Nothing.
     */
    BW_VIOLATION_NONE = 0,
    /**
     * The line is not JSON: a log line, a banner, a broken message.
     */
    BW_VIOLATION_NOT_JSON = 1,
    /**
     * The line is not UTF-8.
     */
    BW_VIOLATION_NOT_UTF8 = 2,
    /**
     * The message is longer than the limit; its head is given.
     */
    BW_VIOLATION_TOO_LONG = 3,
    /**
     * The message nests deeper than the limit.
     */
    BW_VIOLATION_TOO_DEEP = 4,
    /**
     * The input ended inside a message.
     */
    BW_VIOLATION_ENDED_EARLY = 5,
    /**
     * A byte-order mark stood before the message.
     */
    BW_VIOLATION_BYTE_ORDER_MARK = 6,
    /**
     * JSON, but no object with a method, a result or an error.
     */
    BW_VIOLATION_NOT_A_MESSAGE = 7,
    /**
     * `"jsonrpc": "2.0"` is missing or wrong.
     */
    BW_VIOLATION_WRONG_VERSION_MEMBER = 8,
    /**
     * A request id that is null, a fraction, or no string and no number.
     */
    BW_VIOLATION_INVALID_ID = 9,
    /**
     * A member of the envelope stands twice.
     */
    BW_VIOLATION_DUPLICATE_MEMBER = 10,
    /**
     * A member of the envelope that JSON-RPC does not know.
     */
    BW_VIOLATION_UNKNOWN_MEMBER = 11,
    /**
     * `params` is not an object.
     */
    BW_VIOLATION_INVALID_PARAMS = 12,
    /**
     * Result and error stand side by side.
     */
    BW_VIOLATION_RESULT_AND_ERROR = 13,
    /**
     * A response with neither result nor error.
     */
    BW_VIOLATION_EMPTY_RESPONSE = 14,
    /**
     * The error's code is missing or no integer.
     */
    BW_VIOLATION_INVALID_ERROR_CODE = 15,
    /**
     * The error is no object.
     */
    BW_VIOLATION_INVALID_ERROR = 16,
    /**
     * A batch where the revision has none, or one that is empty or too long.
     */
    BW_VIOLATION_UNEXPECTED_BATCH = 17,
    /**
     * A request with an id that is still in flight.
     */
    BW_VIOLATION_DUPLICATE_ID = 18,
    /**
     * A response to nothing that is in flight.
     */
    BW_VIOLATION_UNKNOWN_RESPONSE = 19,
    /**
     * A notification for a token, request or subscription that is not in flight.
     */
    BW_VIOLATION_UNKNOWN_TARGET = 20,
    /**
     * A message that this side or revision does not take.
     */
    BW_VIOLATION_UNEXPECTED_MESSAGE = 21,
    /**
     * Progress that does not increase.
     */
    BW_VIOLATION_PROGRESS_NOT_INCREASING = 22,
    /**
     * A result that is not what its method defines.
     */
    BW_VIOLATION_INVALID_RESULT = 23,
    /**
     * More arrived than the application took; the message was dropped.
     */
    BW_VIOLATION_QUEUE_FULL = 24,
    /**
     * There is too little memory to take the message (embedded profile).
     */
    BW_VIOLATION_NO_ROOM = 25,
} bw_violation;

/**
 * A bound of a machine, to be set at a configuration.
 */
typedef enum {
    /**
     * Bytes of one inbound message (one line on a byte stream). Default 16 MiB.
     */
    BW_LIMIT_MESSAGE_BYTES = 1,
    /**
     * Levels of nesting of one inbound message. Default 128, at most 1024.
     */
    BW_LIMIT_DEPTH = 2,
    /**
     * Requests in flight, each direction counted alone. Default 2048.
     */
    BW_LIMIT_REQUESTS_IN_FLIGHT = 3,
    /**
     * Requests accepted before the connection is settled. Default 256.
     */
    BW_LIMIT_QUEUED_REQUESTS = 4,
    /**
     * Events waiting to be polled at which the machine wants no more input. Default 4096.
     */
    BW_LIMIT_QUEUED_EVENTS = 5,
    /**
     * Elements of a JSON-RPC batch (2025-03-26). Default 256.
     */
    BW_LIMIT_BATCH_ITEMS = 6,
    /**
     * Sessions of one server; on HTTP also, counted alone, its subscriptions from 2026-07-28 on. Default 10 000.
     */
    BW_LIMIT_SESSIONS = 7,
    /**
     * Open subscriptions of one connection or session. Default 256.
     */
    BW_LIMIT_SUBSCRIPTIONS = 8,
    /**
     * Resources watched over all subscriptions of one connection or session. Default 1024.
     */
    BW_LIMIT_WATCHED_RESOURCES = 9,
    /**
     * Rounds of one request that asks for input. Default 10.
     */
    BW_LIMIT_ROUNDS = 10,
    /**
     * Questions in one round. Default 32.
     */
    BW_LIMIT_INPUTS = 11,
    /**
     * Bytes of the state that travels with a request. Default 64 KiB.
     */
    BW_LIMIT_REQUEST_STATE_BYTES = 12,
    /**
     * Bytes of messages waiting to be sent, or of messages whose events wait to be polled, at which the machine wants
     * no more input. Default 8 MiB.
     */
    BW_LIMIT_QUEUED_BYTES = 13,
    /**
     * Items on one page of a list result. Default 1000.
     */
    BW_LIMIT_PAGE_ITEMS = 14,
    /**
     * Bytes of the items on one page of a list result, for links and peers that take little at once; an item that alone
     * is longer has a page to itself. Default 1 MiB.
     */
    BW_LIMIT_PAGE_BYTES = 15,
} bw_limit;

/**
 * How long something may take, in milliseconds, to be set at a configuration.
 */
typedef enum {
    /**
     * Client: waiting for the answer to the probe before the server counts as legacy. Default 5 000.
     */
    BW_TIMEOUT_PROBE = 1,
    /**
     * Client: waiting for the answer to the handshake. Default 30 000.
     */
    BW_TIMEOUT_HANDSHAKE = 2,
    /**
     * Waiting for an answer with nothing heard of the request. Default 60 000.
     */
    BW_TIMEOUT_REQUEST = 3,
    /**
     * A request over all its rounds, whatever is heard of it. Default 600 000.
     */
    BW_TIMEOUT_REQUEST_TOTAL = 4,
    /**
     * Client: waiting for the acknowledgement of a subscription. Default 30 000.
     */
    BW_TIMEOUT_ACKNOWLEDGEMENT = 5,
    /**
     * Server: sending the answers that are owed after the end of input. Default 10 000.
     */
    BW_TIMEOUT_DRAIN = 6,
    /**
     * Server: life of the sealed state of a request. Default 3 600 000.
     */
    BW_TIMEOUT_REQUEST_STATE = 7,
    /**
     * Client: waiting for a child to exit after its input was closed. Default 2 000.
     */
    BW_TIMEOUT_CHILD_EXIT = 8,
    /**
     * Client: waiting for a child to exit after it was asked to end. Default 2 000.
     */
    BW_TIMEOUT_CHILD_TERMINATE = 9,
} bw_timeout;

/**
 * An endpoint of a server over HTTP; the host routes by path.
 */
typedef enum {
    /**
     * The one of Streamable HTTP.
     */
    BW_ENDPOINT_STREAMABLE = 0,
    /**
     * The stream of HTTP+SSE (2024-11-05).
     */
    BW_ENDPOINT_EVENT_STREAM = 1,
    /**
     * Where HTTP+SSE takes messages.
     */
    BW_ENDPOINT_MESSAGES = 2,
} bw_endpoint;

/**
 * What to do next over HTTP.
 */
typedef enum {
    /**
     * Send a request.
     */
    BW_TRANSMIT_REQUEST = 1,
    /**
     * Give up an exchange: close its connection or reset its stream. Nothing is reported of it any more.
     */
    BW_TRANSMIT_ABORT = 2,
    /**
     * Everything is over: nothing more will be asked for, and nothing is under way.
     */
    BW_TRANSMIT_CLOSE = 3,
} bw_transmit_kind;

/**
 * Why an exchange brought no response, or not all of it.
 */
typedef enum {
    /**
     * No connection could be made, so that the server has not seen the request.
     */
    BW_EXCHANGE_NOT_SENT = 1,
    /**
     * The connection broke, or its data made no sense as HTTP.
     */
    BW_EXCHANGE_BROKEN = 2,
} bw_exchange_failure;

/**
 * Why there are no credentials. The numbers never change, are not reused, and none is one of `bw_error`'s.
 *
 * 701 to 709: what the servers publish about themselves. 711 to 719: being a client. 721 to 729: the user's consent. 731 to
 * 739: tokens. 741 to 749: the MCP server refuses. 751 to 759: requests. 761 to 769: the host.
 */
typedef enum {
    /**
     * The MCP server has no usable protected resource metadata (RFC 9728).
     */
    BW_AUTHORIZATION_ERROR_NO_RESOURCE_METADATA = 701,
    /**
     * Its metadata is about another resource.
     */
    BW_AUTHORIZATION_ERROR_RESOURCE_MISMATCH = 702,
    /**
     * The authorization server has no usable metadata (RFC 8414, OpenID Connect Discovery).
     */
    BW_AUTHORIZATION_ERROR_NO_SERVER_METADATA = 703,
    /**
     * The metadata names another issuer than the one it was asked of.
     */
    BW_AUTHORIZATION_ERROR_ISSUER_MISMATCH = 704,
    /**
     * The authorization server does not say that it supports PKCE with S256.
     */
    BW_AUTHORIZATION_ERROR_PKCE_UNSUPPORTED = 705,
    /**
     * A URL that metadata names cannot be used: not https, not http on a loopback host where that is allowed.
     */
    BW_AUTHORIZATION_ERROR_UNUSABLE_URL = 706,
    /**
     * There is no way to be a client of this authorization server.
     */
    BW_AUTHORIZATION_ERROR_NO_REGISTRATION = 711,
    /**
     * Clients are configured, but for other authorization servers.
     */
    BW_AUTHORIZATION_ERROR_PREREGISTERED_ISSUER_MISMATCH = 712,
    /**
     * The authorization server refused the registration.
     */
    BW_AUTHORIZATION_ERROR_REGISTRATION_REJECTED = 713,
    /**
     * The answer to a registration makes no sense.
     */
    BW_AUTHORIZATION_ERROR_INVALID_REGISTRATION = 714,
    /**
     * The callback names no `state`, or another one: it was dropped, and the right one is still awaited.
     */
    BW_AUTHORIZATION_ERROR_STATE_MISMATCH = 721,
    /**
     * No callback is awaited.
     */
    BW_AUTHORIZATION_ERROR_UNEXPECTED_CALLBACK = 722,
    /**
     * The callback has a parameter twice.
     */
    BW_AUTHORIZATION_ERROR_DUPLICATE_PARAMETER = 723,
    /**
     * The callback lacks `iss`, which the authorization server sends (RFC 9207).
     */
    BW_AUTHORIZATION_ERROR_ISSUER_PARAMETER_MISSING = 724,
    /**
     * The callback comes from another issuer.
     */
    BW_AUTHORIZATION_ERROR_ISSUER_PARAMETER_MISMATCH = 725,
    /**
     * The authorization server, or the user there, refused.
     */
    BW_AUTHORIZATION_ERROR_DENIED = 726,
    /**
     * The callback has neither a code nor an error.
     */
    BW_AUTHORIZATION_ERROR_NO_CODE = 727,
    /**
     * The user did not come back in time.
     */
    BW_AUTHORIZATION_ERROR_TIMED_OUT = 728,
    /**
     * The host cancelled it, or the user did not want it.
     */
    BW_AUTHORIZATION_ERROR_CANCELLED = 729,
    /**
     * The token endpoint refused.
     */
    BW_AUTHORIZATION_ERROR_TOKEN_REQUEST_REJECTED = 731,
    /**
     * The answer of the token endpoint makes no sense.
     */
    BW_AUTHORIZATION_ERROR_INVALID_TOKEN_RESPONSE = 732,
    /**
     * The token is not bound to the key, which is required.
     */
    BW_AUTHORIZATION_ERROR_TOKEN_NOT_BOUND = 733,
    /**
     * The identity provider gave something else than an identity assertion grant.
     */
    BW_AUTHORIZATION_ERROR_NOT_IDENTITY_ASSERTION_GRANT = 734,
    /**
     * The MCP server refuses tokens that were just issued for it.
     */
    BW_AUTHORIZATION_ERROR_TOKEN_REFUSED = 741,
    /**
     * The MCP server forbids the operation, and names no scope that would help.
     */
    BW_AUTHORIZATION_ERROR_FORBIDDEN = 742,
    /**
     * The scopes that the operation needs were asked for already and not granted.
     */
    BW_AUTHORIZATION_ERROR_SCOPE_DENIED = 743,
    /**
     * The operation was refused as often as it may be.
     */
    BW_AUTHORIZATION_ERROR_STEP_UP_EXHAUSTED = 744,
    /**
     * A request brought no response, or 5xx or 429. Worth another try.
     */
    BW_AUTHORIZATION_ERROR_UNAVAILABLE = 751,
    /**
     * A response is too large.
     */
    BW_AUTHORIZATION_ERROR_RESPONSE_TOO_LARGE = 752,
    /**
     * A response was a redirect, which is not followed.
     */
    BW_AUTHORIZATION_ERROR_REDIRECTED = 753,
    /**
     * The host's policy forbade a request.
     */
    BW_AUTHORIZATION_ERROR_REQUEST_FORBIDDEN = 754,
    /**
     * The host could not sign.
     */
    BW_AUTHORIZATION_ERROR_SIGNING_FAILED = 761,
    /**
     * The host had no assertion.
     */
    BW_AUTHORIZATION_ERROR_NO_ASSERTION = 762,
    /**
     * The store is out of order. Worth another try.
     */
    BW_AUTHORIZATION_ERROR_STORE_UNAVAILABLE = 763,
} bw_authorization_error;

/**
 * How tokens are come by.
 */
typedef enum {
    /**
     * A user consents in a user agent (OAuth 2.1, section 4.1), with PKCE.
     */
    BW_GRANT_AUTHORIZATION_CODE = 1,
    /**
     * The client acts for itself (OAuth 2.1, section 4.2; extension `io.modelcontextprotocol/oauth-client-credentials`).
     * It has to be added, with a secret or a key.
     */
    BW_GRANT_CLIENT_CREDENTIALS = 2,
    /**
     * The identity provider of an organisation vouches for the user (extension
     * `io.modelcontextprotocol/enterprise-managed-authorization`). The client at the authorization server has to be added.
     */
    BW_GRANT_ENTERPRISE = 3,
    /**
     * A JWT that the platform gave to the workload is exchanged for a token (RFC 7523, section 2.1). The client has to be
     * added.
     */
    BW_GRANT_WORKLOAD_IDENTITY = 4,
} bw_grant;

/**
 * How a client's secret is sent; 0: as the authorization server likes it, in the header if it likes both.
 */
typedef enum {
    /**
     * In the `Authorization` header: `client_secret_basic`.
     */
    BW_SECRET_BASIC = 1,
    /**
     * In the body: `client_secret_post`.
     */
    BW_SECRET_POST = 2,
} bw_secret_method;

/**
 * Whom the JWT with which a client authenticates is for; authorization servers differ. 0: the issuer identifier.
 */
typedef enum {
    /**
     * The issuer identifier.
     */
    BW_AUDIENCE_ISSUER = 1,
    /**
     * The URL of the token endpoint.
     */
    BW_AUDIENCE_TOKEN_ENDPOINT = 2,
} bw_assertion_audience;

/**
 * What an application is (OpenID Connect Dynamic Client Registration 1.0, section 2). 0: web if the redirect URI is https,
 * else native.
 */
typedef enum {
    /**
     * On the user's machine.
     */
    BW_APPLICATION_NATIVE = 1,
    /**
     * On a web server.
     */
    BW_APPLICATION_WEB = 2,
} bw_application_type;

/**
 * Kinds of identity assertions (RFC 8693, section 3).
 */
typedef enum {
    /**
     * An ID token of OpenID Connect.
     */
    BW_SUBJECT_ID_TOKEN = 1,
    /**
     * A SAML 2.0 assertion, base64url-encoded.
     */
    BW_SUBJECT_SAML2 = 2,
} bw_subject_token;

/**
 * Why an action was not carried out.
 */
typedef enum {
    /**
     * No response came, or not all of it; a store, a signer or a source of assertions is out of order. Worth another try.
     */
    BW_ACTION_UNAVAILABLE = 1,
    /**
     * The body is longer than `response_bytes` of the request.
     */
    BW_ACTION_TOO_LARGE = 2,
    /**
     * A policy of the host forbids it.
     */
    BW_ACTION_FORBIDDEN = 3,
    /**
     * The user does not want it.
     */
    BW_ACTION_DECLINED = 4,
} bw_action_failure;

/**
 * What an HTTP request is for, so that the host can apply its policies: which addresses may be reached, through which proxy
 * (tutorials/security/security_best_practices, Server-Side Request Forgery).
 */
typedef enum {
    /**
     * Protected resource metadata (RFC 9728); the URL may come from the MCP server.
     */
    BW_PURPOSE_RESOURCE_METADATA = 1,
    /**
     * Authorization server metadata (RFC 8414, OpenID Connect Discovery); the URL comes from the MCP server.
     */
    BW_PURPOSE_SERVER_METADATA = 2,
    /**
     * Dynamic registration (RFC 7591).
     */
    BW_PURPOSE_REGISTRATION = 3,
    /**
     * A token.
     */
    BW_PURPOSE_TOKEN = 4,
    /**
     * A token exchange at the identity provider, whose URL is configured.
     */
    BW_PURPOSE_IDENTITY_PROVIDER = 5,
} bw_http_purpose;

/**
 * A key of the host.
 */
typedef enum {
    /**
     * The key of a client, with which it authenticates.
     */
    BW_KEY_CLIENT = 1,
    /**
     * The key that tokens are bound to.
     */
    BW_KEY_DPOP = 2,
} bw_signing_key;

/**
 * Why a request is refused.
 */
typedef enum {
    /**
     * It has no token.
     */
    BW_DENIAL_NO_TOKEN = 1,
    /**
     * Its credentials are malformed: two headers, a token in the query, an empty one.
     */
    BW_DENIAL_MALFORMED = 2,
    /**
     * The token is not genuine, was revoked, or its claims make no sense.
     */
    BW_DENIAL_INVALID_TOKEN = 3,
    /**
     * The token has expired.
     */
    BW_DENIAL_EXPIRED = 4,
    /**
     * The token is not valid yet.
     */
    BW_DENIAL_NOT_YET_VALID = 5,
    /**
     * It comes from an authorization server that is not one of ours.
     */
    BW_DENIAL_WRONG_ISSUER = 6,
    /**
     * It is meant for somebody else.
     */
    BW_DENIAL_WRONG_AUDIENCE = 7,
    /**
     * It is bound to a key, and came without a proof of it (RFC 9449, section 7.1).
     */
    BW_DENIAL_BOUND = 8,
    /**
     * It lacks scopes.
     */
    BW_DENIAL_INSUFFICIENT_SCOPE = 9,
} bw_denial_reason;

/**
 * One thing to do. It belongs to its authorization: it is good until the next `bw_authorization_poll_action` on the same
 * handle, or until that is freed, and is never freed itself. The other functions of the handle leave it as it is.
 * Everything that its accessors give is good for as long as the action, and much of it is secret.
 *
 * Each accessor names the kinds of actions that have the member. Of other actions, and of NULL, it gives nothing: NULL
 * data, 0 or false.
 */
typedef struct bw_action bw_action;

/**
 * The authorization of one principal at one MCP server (basic/authorization), whatever revision is spoken: the OAuth client
 * as a machine that does no I/O and signs nothing.
 *
 * Before each request to the MCP server: `bw_authorization_is_ready`, and if it is not, `bw_authorization_acquire` and wait
 * for the event; then `bw_authorization_credentials`. After AUTHORIZATION_REQUIRED: `bw_authorization_challenge`, wait for
 * the event, then `bw_client_http_authorized` or `bw_client_http_unauthorized`. After each function: carry out what
 * `bw_authorization_poll_action` gives, and poll the events; `bw_authorization_handle_timeout` when it is due.
 *
 * Whoever made it with `bw_authorization_new` frees it with `bw_authorization_free`. It may be used by any thread, by one
 * at a time. Times are milliseconds since 1970. All functions answer BW_ERROR_NULL_ARGUMENT for NULL, BW_ERROR_NOT_UTF8 for
 * a text that is not UTF-8 and, once a defect of the library was caught, BW_ERROR_POISONED.
 */
typedef struct bw_authorization bw_authorization;

/**
 * How an authorization is set up. Whoever made it with `bw_authorization_config_new` frees it with
 * `bw_authorization_config_free`; authorizations made of it keep nothing of it. One thread at a time.
 *
 * Each setter copies what it is given. All answer BW_ERROR_NULL_ARGUMENT for NULL, BW_ERROR_NOT_UTF8 for a text that is
 * not UTF-8 and BW_ERROR_INVALID_ARGUMENT for a number out of range and for what another grant needs; the configuration is
 * then as before.
 */
typedef struct bw_authorization_config bw_authorization_config;

/**
 * The steps that end a child process: close its input, wait, ask, wait, force (basic/transports/stdio, Shutdown).
 *
 * Whoever made it with `bw_child_shutdown_new` frees it with `bw_child_shutdown_free`. One thread at a time. Start it when
 * the host is done with the child, carry out each action, wait no longer than the timeout says, and stop when the child
 * has exited. Nothing can hang: the last action is one that no child can refuse.
 */
typedef struct bw_child_shutdown bw_child_shutdown;

/**
 * A client of the protocol: of one server, on a byte stream or over HTTP.
 *
 * Whoever made it with `bw_client_new` or `bw_client_http_new` frees it with `bw_client_free`. It may be used by any
 * thread, by one at a time; different clients have nothing in common.
 *
 * It does no I/O and reads no clock: times are milliseconds from any fixed origin of the caller's choice, and an earlier
 * time than before counts as the latest seen. Any function may be called at any time. All answer
 * BW_ERROR_NULL_ARGUMENT for NULL, BW_ERROR_NOT_UTF8 for a text that is not UTF-8 and, once a defect of the library was
 * caught, BW_ERROR_POISONED.
 */
typedef struct bw_client bw_client;

/**
 * How a client is set up. Whoever made it with `bw_client_config_new` frees it with `bw_client_config_free`; clients made
 * of it keep nothing of it. One thread at a time.
 *
 * Each setter copies what it is given. All answer BW_ERROR_NULL_ARGUMENT for NULL, BW_ERROR_NOT_UTF8 for a text that is
 * not UTF-8 and BW_ERROR_INVALID_ARGUMENT for a number out of range; the configuration is then as before.
 */
typedef struct bw_client_config bw_client_config;

/**
 * What a machine tells its application.
 *
 * An event belongs to its machine: it is good until the next `poll_event` on the same handle, or until that is freed,
 * and is never freed itself. Commands on the handle leave it as it is, so that an event can be answered while it is
 * read. Everything that its accessors give is good for as long as the event.
 *
 * Each accessor names the kinds of events that have the member. Of other events, and of NULL, it gives nothing: NULL
 * data, 0 or false. Handles of requests, subscriptions and so on are never 0.
 */
typedef struct bw_event bw_event;

/**
 * Who a request comes from. Whoever made it with `bw_principal_new` frees it with `bw_principal_free`. It never changes:
 * any thread may read it. What its accessors give is good for as long as it is; of NULL they give nothing.
 */
typedef struct bw_principal bw_principal;

/**
 * A protected MCP server as an OAuth 2.1 resource server (basic/authorization): its metadata, and its judgement of
 * requests. It keeps nothing of them. Nothing of this applies to stdio.
 *
 * Whether a token is genuine is the host's to find out, by the signature of a JWT or by introspection (RFC 7662). What is
 * left is decided here: `bw_resource_server_bearer` finds the token, `bw_principal_new` says from its claims who that is,
 * `bw_resource_server_authorize` whether they may do it. Each answers BW_ERROR_DENIED if the request is to be refused, and
 * gives the refusal. The token must not be passed on.
 *
 * Whoever made it with `bw_resource_server_new` frees it with `bw_resource_server_free`. It may be used by any thread, by
 * one at a time.
 */
typedef struct bw_resource_server bw_resource_server;

/**
 * How a protected server is set up. Whoever made it with `bw_resource_server_config_new` frees it with
 * `bw_resource_server_config_free`; servers made of it keep nothing of it. One thread at a time.
 *
 * Each setter copies what it is given. All answer BW_ERROR_NULL_ARGUMENT for NULL and BW_ERROR_NOT_UTF8 for a text that is
 * not UTF-8; the configuration is then as before.
 */
typedef struct bw_resource_server_config bw_resource_server_config;

/**
 * A server of the protocol: one client on a byte stream, or many on HTTP.
 *
 * Whoever made it with `bw_server_new` or `bw_server_http_new` frees it with `bw_server_free`. It may be used by any
 * thread, by one at a time; different servers have nothing in common.
 *
 * It does no I/O and reads no clock: times are milliseconds from any fixed origin of the caller's choice, and an earlier
 * time than before counts as the latest seen. Any function may be called at any time. All answer
 * BW_ERROR_NULL_ARGUMENT for NULL, BW_ERROR_NOT_UTF8 for a text that is not UTF-8 and, once a defect of the library was
 * caught, BW_ERROR_POISONED.
 */
typedef struct bw_server bw_server;

/**
 * How a server is set up. Whoever made it with `bw_server_config_new` frees it with `bw_server_config_free`; servers
 * made of it keep nothing of it. One thread at a time.
 *
 * Each setter copies what it is given. All answer BW_ERROR_NULL_ARGUMENT for NULL, BW_ERROR_NOT_UTF8 for a text that is
 * not UTF-8 and BW_ERROR_INVALID_ARGUMENT for a number out of range; the configuration is then as before.
 */
typedef struct bw_server_config bw_server_config;

/**
 * How a call ended: `BW_OK`, or another number of `bw_error`.
 */
typedef int32_t bw_status;

/**
 * A run of bytes: text in UTF-8, JSON, or anything. It owns nothing and ends with no NUL.
 *
 * Given to a function, it is read during the call only. Given by a function, it is good until the next call that
 * takes the same handle as one that is not const, unless its function says otherwise. `data` is NULL if there is
 * nothing; an empty text has a `data` that is not NULL, and the length 0.
 */
typedef struct {
    /**
     * The first byte, or NULL for nothing.
     */
    const uint8_t *data;
    /**
     * How many bytes there are.
     */
    size_t length;
} bw_bytes;

/**
 * A question to the client.
 */
typedef struct {
    /**
     * A key of the application's choice, unique within the request over all rounds; the answer comes back under it.
     */
    bw_bytes key;
    /**
     * What is asked for, a number of `bw_input_kind`.
     */
    int32_t kind;
    /**
     * The parameters, a JSON object.
     */
    bw_bytes params;
} bw_question;

/**
 * A name and a value: a header of HTTP, or a variable of a URI template.
 */
typedef struct {
    /**
     * The name.
     */
    bw_bytes name;
    /**
     * The value.
     */
    bw_bytes value;
} bw_pair;

/**
 * The head of a request to a server. Set all to zero first; what is left so is absent.
 */
typedef struct {
    /**
     * The method, as it came.
     */
    bw_bytes method;
    /**
     * Which endpoint it is for, a number of `bw_endpoint`.
     */
    int32_t endpoint;
    /**
     * BW_ENDPOINT_EVENT_STREAM: the path of the endpoint that takes messages, without a query. BW_ENDPOINT_MESSAGES: the
     * query string, without the question mark.
     */
    bw_bytes endpoint_detail;
    /**
     * Names and values in the order of arrival; `Host` among them, from `:authority` if need be. Values are UTF-8; one
     * that is not is given with its bytes above 127 as they are in Latin-1.
     */
    const bw_pair *headers;
    /**
     * How many headers there are.
     */
    size_t header_count;
    /**
     * Who sends it, as far as the host knows: an opaque key. Sessions belong to it.
     */
    bw_bytes principal;
} bw_request_head;

/**
 * A refusal, ready to be sent: give it to `bw_server_http_receive_denied` or `bw_server_http_deny`. What it points to is good
 * until the next call that takes the resource server as one that is not const.
 */
typedef struct {
    /**
     * Why, a number of `bw_denial_reason`.
     */
    int32_t reason;
    /**
     * The status to send: 400, 401 or 403.
     */
    uint16_t status;
    /**
     * The value of `WWW-Authenticate`.
     */
    bw_bytes challenge;
} bw_denial;

/**
 * What to send next in one exchange. Parts are sent in order: the head, then `data`, then the end. What it points to is
 * good until the next `bw_server_http_poll_response` on the handle.
 */
typedef struct {
    /**
     * The status, in the first part; 0 if there is no head in this one.
     */
    uint16_t status;
    /**
     * Names in lower case, and values. `content-length` is among them unless the body is a stream, or there is none.
     */
    const bw_pair *headers;
    /**
     * How many headers there are.
     */
    size_t header_count;
    /**
     * Bytes of the body; may be empty.
     */
    bw_bytes data;
    /**
     * Nothing follows: the exchange is over and its handle is of no use any more.
     */
    bool is_last;
    /**
     * Close the connection without an orderly end of the body: the client must not take what it got for the whole.
     * `is_last` is true as well.
     */
    bool is_aborted;
} bw_response_part;

/**
 * Writes one JSON value piece by piece, for results, arguments and definitions. All members are the library's.
 *
 * Begin with `bw_json_writer_init`. Writes have no results: the first one that fails makes all later ones do nothing, and
 * `bw_json_finish` tells. A writer that grows is freed with `bw_json_writer_free`; one on a buffer of the caller's needs
 * that not, and allocates nothing. One thread at a time.
 */
typedef struct {
    /**
     * Where the text goes.
     */
    uint8_t *buffer;
    /**
     * How much room there is.
     */
    size_t capacity;
    /**
     * How much is written; what does not fit is counted as well.
     */
    size_t length;
    /**
     * One bit for each level of nesting, set for an object.
     */
    uint64_t objects;
    /**
     * How many levels are open.
     */
    uint32_t depth;
    /**
     * What was wrong first.
     */
    int32_t error;
    /**
     * The buffer is the library's and grows.
     */
    bool grows;
    /**
     * Something stands before at this level, so that a comma is due.
     */
    bool is_started;
    /**
     * A key was written whose value is due.
     */
    bool is_keyed;
} bw_json_writer;

/**
 * A question of the server to the client's user or model. What it points to is good for as long as its event.
 */
typedef struct {
    /**
     * Names the question; an answer is given to it.
     */
    uint64_t input;
    /**
     * What is asked for, a number of `bw_input_kind`.
     */
    int32_t kind;
    /**
     * The parameters, a JSON object, if there are any.
     */
    bw_bytes params;
    /**
     * The server's own key for the question, where the revision has one.
     */
    bw_bytes key;
} bw_input;

/**
 * An answer of a client to a question of this server. What it points to is good for as long as its event.
 */
typedef struct {
    /**
     * The key of the question.
     */
    bw_bytes key;
    /**
     * The result, a JSON object; nothing if the client refused, which only legacy clients do.
     */
    bw_bytes result;
    /**
     * The code of the client's error; 0 if there is a result.
     */
    int64_t error_code;
    /**
     * The message of the client's error.
     */
    bw_bytes error_message;
    /**
     * What the client gave with its error, as JSON.
     */
    bw_bytes error_data;
} bw_answer;

/**
 * How one request is made. Set all to zero first; what is left so has its default.
 */
typedef struct {
    /**
     * Ask for progress reports.
     */
    bool progress;
    /**
     * Milliseconds to wait with nothing heard; 0: as configured.
     */
    uint64_t timeout;
    /**
     * Milliseconds over all rounds; 0: as configured.
     */
    uint64_t total_timeout;
    /**
     * The least severity of log messages wanted while it runs (from 2026-07-28), a number of `bw_log_level`; 0: the
     * level set with `bw_client_set_log_level`.
     */
    int32_t log_level;
    /**
     * Members to add to `_meta`, such as trace context: a JSON object, or nothing.
     */
    bw_bytes meta;
} bw_request_options;

/**
 * What a subscription is about. Set all to zero first.
 */
typedef struct {
    /**
     * Changes of the tool list.
     */
    bool tools;
    /**
     * Changes of the resource and template lists.
     */
    bool resources;
    /**
     * Changes of the prompt list.
     */
    bool prompts;
    /**
     * Changes of these resources, by URI.
     */
    const bw_bytes *uris;
    /**
     * How many URIs there are.
     */
    size_t uri_count;
} bw_subscription_filter;

/**
 * One thing to do over HTTP. What it points to is good until the next `bw_client_http_poll_transmit` on the handle.
 *
 * Requests are carried out all at once and in any order of completion. The host follows no redirect: the head of one is
 * handed in like any other.
 */
typedef struct {
    /**
     * What to do, a number of `bw_transmit_kind`. Without a request, what follows the exchange is empty.
     */
    int32_t kind;
    /**
     * Names the exchange in what the host reports; 0 if all is over.
     */
    uint64_t exchange;
    /**
     * The method: GET, POST or DELETE.
     */
    bw_bytes method;
    /**
     * Where to.
     */
    bw_bytes url;
    /**
     * Names in lower case, and values, without those of the host's own (`Host`, `Content-Length`, `Authorization`, ...).
     */
    const bw_pair *headers;
    /**
     * How many headers there are.
     */
    size_t header_count;
    /**
     * The body; empty for GET and DELETE.
     */
    bw_bytes body;
    /**
     * The response may stay silent for as long as it likes: no read timeout applies.
     */
    bool is_stream;
} bw_http_transmit;

/**
 * Bytes to sign, which become a JWT with their signature (RFC 7515, section 5.1).
 */
typedef struct {
    /**
     * With which key, a number of `bw_signing_key`; 0 if there is nothing to sign.
     */
    int32_t key;
    /**
     * The client whose key it is; nothing for the key that tokens are bound to.
     */
    bw_bytes client_id;
    /**
     * The algorithm's name in JOSE, as configured. The signature has the form of RFC 7518: for ECDSA the two numbers one
     * after the other, not DER.
     */
    bw_bytes algorithm;
    /**
     * What is signed, as ASCII.
     */
    bw_bytes input;
} bw_signing_request;

/**
 * What goes with one request to the MCP server. What it points to is good until the next `bw_authorization_credentials` on
 * the handle, and is secret.
 */
typedef struct {
    /**
     * Names the token in `bw_refusal`; 0: there is none.
     */
    uint64_t generation;
    /**
     * The value of the header `Authorization`; nothing without a token.
     */
    bw_bytes authorization;
    /**
     * What to sign with the key that the token is bound to, for `bw_dpop_proof`; its `key` is 0 if there is nothing to sign.
     */
    bw_signing_request proof;
} bw_credentials;

/**
 * A 401 or 403 of the MCP server: what the event AUTHORIZATION_REQUIRED says.
 */
typedef struct {
    /**
     * Its status.
     */
    uint16_t status;
    /**
     * The values of `WWW-Authenticate`, in order.
     */
    const bw_bytes *challenges;
    /**
     * How many there are.
     */
    size_t challenge_count;
    /**
     * The value of `DPoP-Nonce`, or nothing.
     */
    bw_bytes dpop_nonce;
    /**
     * The generation of the `bw_credentials` that went with the request.
     */
    uint64_t generation;
    /**
     * What was tried, for counting.
     */
    bw_bytes operation;
} bw_refusal;

/**
 * What an authorization tells whoever waits for credentials. What it points to is good until the next
 * `bw_authorization_poll_event` on the handle.
 */
typedef struct {
    /**
     * Who waited, as given to `bw_authorization_acquire` or `bw_authorization_challenge`.
     */
    uint64_t waiter;
    /**
     * 0: there is something to try, `bw_authorization_credentials` gives it. Otherwise there is not: a number of
     * `bw_authorization_error`.
     */
    int32_t error;
    /**
     * Whether the same may work a little later: nothing was decided.
     */
    bool is_retryable;
    /**
     * The error in words, for people; nothing without one. It holds no secret.
     */
    bw_bytes message;
    /**
     * `error` of the OAuth response, where there was one (OAuth 2.1, sections 3.2.4 and 4.1.2.1): the peer's words.
     */
    bw_bytes oauth_error;
    /**
     * Its `error_description`.
     */
    bw_bytes oauth_description;
    /**
     * Its `error_uri`.
     */
    bw_bytes oauth_uri;
} bw_authorization_event;

/**
 * What is stored between processes and runs. Key of the entry: the URL of the MCP server, and the principal.
 */
typedef struct {
    /**
     * One more with each change; the first is 1.
     */
    uint64_t generation;
    /**
     * JSON; its members are the machine's own affair. Secret.
     */
    bw_bytes text;
} bw_stored_record;

/**
 * A client as one authorization server knows it. Zero-initialised but for `client_id`, it is a public client of the
 * authorization server that the MCP server names first.
 *
 * It authenticates with `secret`, or with a JWT that is signed with `algorithm` (RFC 7523, section 2.2), or not at all;
 * with both it is refused.
 */
typedef struct {
    /**
     * The issuer identifier of the authorization server, byte for byte. Nothing: the one that the MCP server names first;
     * it is kept with the tokens, and another one is refused from then on.
     */
    bw_bytes issuer;
    /**
     * Its id.
     */
    bw_bytes client_id;
    /**
     * Its secret, or nothing.
     */
    bw_bytes secret;
    /**
     * How the secret is sent, a number of `bw_secret_method`, or 0.
     */
    int32_t secret_method;
    /**
     * The name of the signature's algorithm in JOSE, such as `ES256`, or nothing.
     */
    bw_bytes algorithm;
    /**
     * The id of the key for the header of the JWT, or nothing.
     */
    bw_bytes key_id;
    /**
     * Whom the JWT is for, a number of `bw_assertion_audience`, or 0.
     */
    int32_t audience;
} bw_client_registration;

/**
 * An HTTP request to carry out. The host follows no redirect and sends no cookies: the response is handed in, whatever its
 * status. Time limits are the host's.
 */
typedef struct {
    /**
     * What it is for, a number of `bw_http_purpose`.
     */
    int32_t purpose;
    /**
     * The method: GET or POST.
     */
    bw_bytes method;
    /**
     * Where to.
     */
    bw_bytes url;
    /**
     * Names in lower case, and values, without those of the host's own (`Host`, `Content-Length`, ...).
     */
    const bw_pair *headers;
    /**
     * How many headers there are.
     */
    size_t header_count;
    /**
     * The body; empty for GET.
     */
    bw_bytes body;
    /**
     * The body of the response may have no more bytes than this: read no further, and fail with BW_ACTION_TOO_LARGE.
     */
    size_t response_bytes;
} bw_oauth_request;

/**
 * Whether a scope that was granted stands for another one that is needed. `context` is the caller's.
 */
typedef bool (*bw_scope_implies)(void *context, bw_bytes granted, bw_bytes needed);

/**
 * Where an iteration over an array or object stands. All members are the library's.
 */
typedef struct {
    bw_bytes container;
    size_t position;
} bw_json_iterator;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/* ---- Versions and numbers -------------------------------------------------------------------------------- */

/**
 * The version of the library that is linked, such as "1.2.3"; compare BW_VERSION, which is that of the header. The text
 * ends with a NUL and is never freed.
 */
const char *bw_version(void);

/**
 * The version of the library that is linked as one number: major << 16 | minor << 8 | patch; compare BW_VERSION_NUMBER.
 */
uint32_t bw_version_number(void);

/* ---- Errors ---------------------------------------------------------------------------------------------- */

/**
 * The name of a number of `bw_error` or `bw_authorization_error`, such as "BW_ERROR_UNKNOWN_REQUEST". The text ends with a NUL and is never freed.
 * A number that is none of them gives "BW_ERROR_UNKNOWN".
 */
const char *bw_error_name(bw_status status);

/**
 * Whether a machine that answered `status` is of no use any more: it has ended, or the peer is one that it cannot talk
 * to. After any other number it goes on as before.
 */
bool bw_error_is_fatal(bw_status status);

/* ---- Revisions, severities, capabilities ----------------------------------------------------------------- */

/**
 * How many revisions this library speaks.
 */
size_t bw_revision_count(void);

/**
 * The revision at `index`, newest first, as a number of `bw_revision`; 0 beyond the last.
 */
int32_t bw_revision_at(size_t index);

/**
 * The name of a revision on the wire, such as "2025-11-25"; nothing for a number that is none of `bw_revision`. The
 * text is never freed.
 */
bw_bytes bw_revision_name(int32_t number);

/**
 * The number in `bw_revision` of the revision of that name, exactly as on the wire; 0 if it is unknown.
 */
int32_t bw_revision_from_name(bw_bytes name);

/**
 * The era of a revision, as a number of `bw_era`; 0 for a number that is none of `bw_revision`.
 */
int32_t bw_revision_era(int32_t number);

/**
 * The name of a severity on the wire, such as "warning"; nothing for a number that is none of `bw_log_level`. The text
 * is never freed.
 */
bw_bytes bw_log_level_name(int32_t level);

/**
 * The number in `bw_log_level` of the severity of that name, exactly as on the wire; 0 if it is unknown.
 */
int32_t bw_log_level_from_name(bw_bytes name);

/**
 * The place of a capability in the capabilities object, such as "tools.listChanged"; nothing for a number that is none
 * of `bw_capability`. The text is never freed.
 */
bw_bytes bw_capability_path(int32_t number);

/* ---- Servers: life, time, byte streams ------------------------------------------------------------------- */

/**
 * Makes a server for one client on a byte stream: standard input and output, a socket, a serial line.
 *
 * The caller frees `*server` with `bw_server_free`; `config` stays the caller's. BW_ERROR_NO_COMMON_REVISION if it serves
 * no revision, BW_ERROR_INVALID_DEFINITION if an extension is not named `prefix/name`.
 */
bw_status bw_server_new(const bw_server_config *config, bw_server **server);

/**
 * Frees a server, with its event and all that it has lent. NULL is nothing to free.
 */
void bw_server_free(bw_server *server);

/**
 * What was wrong with the last call on this handle that failed, for people; an empty text if none has. Good until the
 * next call that takes the handle as one that is not const.
 */
bw_bytes bw_server_error_message(const bw_server *server);

/**
 * The next thing that the application should know, in order; NULL if there is none for now. The event belongs to the
 * server and is good until the next call of this function on it.
 *
 * Poll until NULL after each function that takes something in. Events are never lost by polling late, but hold what
 * arrived in memory.
 */
const bw_event *bw_server_poll_event(bw_server *server);

/**
 * When to call `bw_server_handle_timeout` at the latest; BW_NEVER if nothing is due.
 */
uint64_t bw_server_poll_timeout(bw_server *server);

/**
 * Lets time pass. Harmless when nothing is due.
 */
bw_status bw_server_handle_timeout(bw_server *server, uint64_t now);

/**
 * Ends the connection: subscriptions end in order, what is owed is abandoned with REQUEST_CANCELLED for each request,
 * DISCONNECTED follows.
 */
bw_status bw_server_close(bw_server *server);

/**
 * Byte stream: takes bytes that were read, cut anywhere. `data` is read during the call only.
 *
 * Faulty input is no error; it is answered, or reported as an event. The errors are fatal ends; their events are still to
 * be polled. In the embedded profile also BW_ERROR_LIMIT_MEMORY: there is not even room to refuse what `data` holds, and
 * nothing was taken. Poll, send, answer, and give the same bytes again.
 */
bw_status bw_server_receive_data(bw_server *server, uint64_t now, bw_bytes data);

/**
 * Byte stream: the client closed its side. Answers that are owed can still be sent; DRAINED follows.
 */
bw_status bw_server_receive_eof(bw_server *server, uint64_t now);

/**
 * Byte stream: the transport broke; nothing can be sent or received any more. DISCONNECTED follows.
 */
bw_status bw_server_connection_lost(bw_server *server, uint64_t now);

/**
 * Byte stream: the bytes to send next, possibly not all there are; length 0 if there are none for now. They are lent
 * without a copy and good until the next call that takes the handle as one that is not const. Mark what was written with
 * `bw_server_consume`, and ask again until there are none.
 */
bw_bytes bw_server_data_to_send(bw_server *server);

/**
 * Byte stream: marks the first `count` bytes of `bw_server_data_to_send` as sent; more than there are count as all.
 */
bw_status bw_server_consume(bw_server *server, size_t count);

/**
 * Whether the host should go on reading: false while too much waits to be polled or sent.
 */
bool bw_server_wants_input(bw_server *server);

/**
 * Byte stream: whether the server is done and everything was sent: close our side. True as well for NULL and for a
 * poisoned handle, with which nothing can be done.
 */
bool bw_server_is_finished(bw_server *server);

/* ---- Servers: what is offered ---------------------------------------------------------------------------- */

/**
 * Registers a tool: a JSON object with at least `name` and `inputSchema` (`Tool` in the schema). Clients that watch the
 * list are told.
 *
 * BW_ERROR_INVALID_JSON, BW_ERROR_INVALID_DEFINITION naming the member, BW_ERROR_ALREADY_REGISTERED.
 */
bw_status bw_server_add_tool(bw_server *server, bw_bytes definition);

/**
 * Removes a tool by its name. BW_ERROR_NOT_REGISTERED.
 */
bw_status bw_server_remove_tool(bw_server *server, bw_bytes name);

/**
 * Registers a resource: a JSON object with at least `uri` and `name` (`Resource` in the schema). Errors as for
 * `bw_server_add_tool`.
 */
bw_status bw_server_add_resource(bw_server *server, bw_bytes definition);

/**
 * Removes a resource by its URI. BW_ERROR_NOT_REGISTERED.
 */
bw_status bw_server_remove_resource(bw_server *server, bw_bytes uri);

/**
 * Registers a resource template: a JSON object with at least `uriTemplate` (RFC 6570) and `name` (`ResourceTemplate` in
 * the schema). Errors as for `bw_server_add_tool`, and BW_ERROR_INVALID_TEMPLATE.
 */
bw_status bw_server_add_resource_template(bw_server *server, bw_bytes definition);

/**
 * Removes a resource template by its `uriTemplate`. BW_ERROR_NOT_REGISTERED.
 */
bw_status bw_server_remove_resource_template(bw_server *server, bw_bytes uri_template);

/**
 * Registers a prompt: a JSON object with at least `name` (`Prompt` in the schema). Errors as for `bw_server_add_tool`.
 */
bw_status bw_server_add_prompt(bw_server *server, bw_bytes definition);

/**
 * Removes a prompt by its name. BW_ERROR_NOT_REGISTERED.
 */
bw_status bw_server_remove_prompt(bw_server *server, bw_bytes name);

/* ---- Servers: answers, questions, notices, sessions ------------------------------------------------------ */

/**
 * Answers a request with its result, a JSON object written for the newest revision: what the client's revision must not
 * see is left out or replaced. A request that was cancelled takes the answer and sends nothing.
 *
 * BW_ERROR_UNKNOWN_REQUEST, BW_ERROR_ALREADY_ANSWERED, BW_ERROR_INVALID_JSON, and the request then still waits for its
 * answer; BW_ERROR_CLOSED_BY_US and its like after the end.
 */
bw_status bw_server_respond(bw_server *server, uint64_t request, bw_bytes result);

/**
 * Answers a request with an error: a number of `bw_rpc_code` or another one, a text for people, and `data`, a JSON value,
 * or nothing.
 *
 * Errors as for `bw_server_respond`; BW_ERROR_INVALID_DEFINITION if the error asks for visits to URLs and its data does
 * not list them.
 */
bw_status bw_server_respond_error(bw_server *server,
                                  uint64_t request,
                                  int64_t code,
                                  bw_bytes message,
                                  bw_bytes data);

/**
 * Answers a request that its client lacks capabilities for: `required`, a JSON object, is the capabilities object that
 * would do. Errors as for `bw_server_respond`.
 */
bw_status bw_server_respond_missing_capability(bw_server *server, uint64_t request, bw_bytes required);

/**
 * Refuses arguments that do not fit the tool: an error or a result that says so, as the client's revision wants it
 * (server/tools, Error Handling). Errors as for `bw_server_respond`.
 */
bw_status bw_server_respond_invalid_arguments(bw_server *server, uint64_t request, bw_bytes message);

/**
 * Asks the client something before the request can be answered. The event of the request comes again with the answers,
 * for the same handle in the legacy era, for a new one from 2026-07-28. `state`, a JSON value or nothing, is given back
 * with the event; from 2026-07-28 it travels sealed through the client, who can give it back more than once until it
 * expires.
 *
 * BW_ERROR_INPUT_NOT_POSSIBLE for methods that cannot ask and clients that take no stream; BW_ERROR_MISSING_CAPABILITY for
 * clients that cannot answer: answer the request then; a BW_ERROR_LIMIT for rounds, questions or state; as for
 * `bw_server_respond`.
 */
bw_status bw_server_require_input(bw_server *server,
                                  uint64_t now,
                                  uint64_t request,
                                  const bw_question *questions,
                                  size_t count,
                                  bw_bytes state);

/**
 * Reports progress of a request: more than the last time. `total` is where it will end, or less than 0 if that is not
 * known; `message` is what is being done, or nothing.
 *
 * `sent`, which may be NULL, tells whether it was sent: not if the client asked for no progress, the request is over, it is
 * not more than the last time, or the client has stopped reading.
 */
bw_status bw_server_notify_progress(bw_server *server,
                                    uint64_t request,
                                    double progress,
                                    double total,
                                    bw_bytes message,
                                    bool *sent);

/**
 * Logs something within a request: `level`, a number of `bw_log_level`; `logger`, which part of the server speaks, or
 * nothing; `data`, any JSON value.
 *
 * `sent`, which may be NULL, tells whether it was sent: not if the client wants no such severity, the request is over, or
 * the client has stopped reading. BW_ERROR_INVALID_JSON.
 */
bw_status bw_server_notify_log(bw_server *server,
                               uint64_t request,
                               int32_t level,
                               bw_bytes logger,
                               bw_bytes data,
                               bool *sent);

/**
 * Sends a notification of an extension within a request. `params` is a JSON object, or nothing. `sent`, which may be NULL,
 * tells whether it was sent. BW_ERROR_INVALID_JSON.
 */
bw_status bw_server_notify(bw_server *server, uint64_t request, bw_bytes method, bw_bytes params, bool *sent);

/**
 * Logs something outside any request, to legacy sessions that want this severity: as `bw_server_notify_log`.
 */
bw_status bw_server_log(bw_server *server, int32_t level, bw_bytes logger, bw_bytes data);

/**
 * Tells every client that watches it that a list, a number of `bw_list_kind`, has changed. Changes of the catalog are
 * told by themselves.
 */
bw_status bw_server_publish_list_changed(bw_server *server, int32_t list);

/**
 * Tells every client that watches it that a resource has changed.
 */
bw_status bw_server_publish_resource_updated(bw_server *server, bw_bytes uri);

/**
 * Ends a client's subscription in order; SUBSCRIPTION_CLOSED follows. BW_ERROR_UNKNOWN_SUBSCRIPTION.
 */
bw_status bw_server_end_subscription(bw_server *server, uint64_t subscription);

/**
 * Sends a request of the server's own to a legacy client; RESPONSE_RECEIVED follows for `*request`. `params` is a JSON
 * object, or nothing.
 *
 * BW_ERROR_UNKNOWN_SESSION, BW_ERROR_NOT_ALLOWED_IN_REVISION, BW_ERROR_CAPABILITY_NOT_DECLARED, a BW_ERROR_LIMIT.
 */
bw_status bw_server_request(bw_server *server,
                            uint64_t now,
                            uint64_t session,
                            bw_bytes method,
                            bw_bytes params,
                            uint64_t *request);

/**
 * Asks a legacy client whether it is there; RESPONSE_RECEIVED follows for `*request`. Errors as for `bw_server_request`.
 */
bw_status bw_server_ping(bw_server *server, uint64_t now, uint64_t session, uint64_t *request);

/**
 * A legacy session as text that `bw_server_import_session` takes in another process: what was negotiated, the log level
 * and the watched resources, but no requests in flight. Keep it where clients cannot write.
 *
 * `*text` is good until the next call of this function on the handle. BW_ERROR_UNKNOWN_SESSION.
 */
bw_status bw_server_export_session(bw_server *server, uint64_t session, bw_bytes *text);

/**
 * Goes on with a session that was exported: one of many on HTTP, the only one on a byte stream. SESSION_OPENED and
 * SUBSCRIPTION_OPENED follow for `*session` as if the client had just done it all again.
 *
 * BW_ERROR_INVALID_JSON if the text is not of this version, BW_ERROR_NOT_ALLOWED_IN_REVISION, BW_ERROR_ALREADY_REGISTERED
 * if the byte stream has a session, a BW_ERROR_LIMIT. Nothing has changed then.
 */
bw_status bw_server_import_session(bw_server *server, bw_bytes text, uint64_t *session);

/**
 * Ends a legacy session of HTTP: what is in flight in it is cancelled, SESSION_CLOSED follows. On a byte stream the
 * session ends with the connection. BW_ERROR_UNKNOWN_SESSION.
 */
bw_status bw_server_end_session(bw_server *server, uint64_t session);

/* ---- Servers: configuration ------------------------------------------------------------------------------ */

/**
 * Makes the configuration of a server with an empty catalog, all revisions and default bounds. `name` and `version` say
 * who the server is. `seed` is BW_SEED_BYTES random bytes from the operating system, never used twice.
 *
 * The caller frees `*config` with `bw_server_config_free`.
 */
bw_status bw_server_config_new(bw_bytes name,
                               bw_bytes version,
                               const uint8_t *seed,
                               bw_server_config **config);

/**
 * Frees a configuration. NULL is nothing to free.
 */
void bw_server_config_free(bw_server_config *config);

/**
 * Sets the server's name for people. From 2025-06-18. NULL data: none.
 */
bw_status bw_server_config_set_title(bw_server_config *config, bw_bytes title);

/**
 * Sets what the server is. From 2025-11-25. NULL data: none.
 */
bw_status bw_server_config_set_description(bw_server_config *config, bw_bytes description);

/**
 * Sets a page about the server. From 2025-11-25. NULL data: none.
 */
bw_status bw_server_config_set_website_url(bw_server_config *config, bw_bytes url);

/**
 * Sets the server's icons, a JSON array. From 2025-11-25. NULL data: none. BW_ERROR_INVALID_JSON if it is not JSON.
 */
bw_status bw_server_config_set_icons(bw_server_config *config, bw_bytes icons);

/**
 * Sets guidance for the model, sent with the handshake or discovery. NULL data: none.
 */
bw_status bw_server_config_set_instructions(bw_server_config *config, bw_bytes instructions);

/**
 * Sets the revisions to serve: `count` numbers of `bw_revision`. Default all.
 */
bw_status bw_server_config_set_revisions(bw_server_config *config, const int32_t *revisions, size_t count);

/**
 * Sets whether `logging` is offered. Default true.
 */
bw_status bw_server_config_set_logging(bw_server_config *config, bool offered);

/**
 * Sets whether `completions` are offered: turn it on when COMPLETION_REQUESTED is answered. Default false.
 */
bw_status bw_server_config_set_completions(bw_server_config *config, bool offered);

/**
 * Sets the extensions to declare: a JSON object by extension id. NULL data: none. BW_ERROR_INVALID_JSON if it is not
 * JSON; a name that is not of the form `prefix/name` is refused when the server is made.
 */
bw_status bw_server_config_set_extensions(bw_server_config *config, bw_bytes extensions);

/**
 * Adds a method beyond the protocol's own that the application wants as REQUEST_RECEIVED; others are refused.
 */
bw_status bw_server_config_add_extension_method(bw_server_config *config, bw_bytes method);

/**
 * Sets how long list results, and reads whose answer does not say, may be reused (server/utilities/caching): `ttl`
 * milliseconds, shared as the number of `bw_cache_scope` says. Default 0 and BW_CACHE_PRIVATE.
 */
bw_status bw_server_config_set_freshness(bw_server_config *config, uint64_t ttl, int32_t scope);

/**
 * Sets whether each modern result says which server it is from (basic/index: SHOULD). Default true.
 */
bw_status bw_server_config_set_identify_results(bw_server_config *config, bool identified);

/**
 * Adds a key of BW_SEED_BYTES secret bytes for the state of requests that ask for input. The first one seals, all open:
 * processes that share keys can take over each other's requests. Without any, a key of this server's own is used.
 */
bw_status bw_server_config_add_request_state_key(bw_server_config *config, const uint8_t *key);

/**
 * Sets the wall-clock time at the instant 0, in milliseconds since 1970-01-01T00:00:00Z, for data that outlives the
 * process. Default 0.
 */
bw_status bw_server_config_set_clock_origin(bw_server_config *config, uint64_t unix_milliseconds);

/**
 * Sets a bound, a number of `bw_limit`.
 */
bw_status bw_server_config_set_limit(bw_server_config *config, int32_t limit, uint64_t value);

/**
 * Sets all bounds to what fits a server on a byte stream that has this many bytes of memory for everything it keeps, from
 * 8 KiB on (embedded profile). Bounds set afterwards differ from that.
 */
bw_status bw_server_config_set_memory(bw_server_config *config, size_t bytes);

/**
 * Sets a duration, a number of `bw_timeout`, in milliseconds.
 */
bw_status bw_server_config_set_timeout(bw_server_config *config, int32_t timeout, uint64_t milliseconds);

/**
 * Sets whether progress starts the time for a request to a client anew. Default true.
 */
bw_status bw_server_config_set_progress_extends(bw_server_config *config, bool extends);

/**
 * HTTP: allows requests from pages of `origin`, such as "https://app.example"; "*" allows any. Without it, pages of the
 * loopback interface are allowed, and requests that name no origin. BW_ERROR_INVALID_ARGUMENT if it is no origin.
 */
bw_status bw_server_config_allow_origin(bw_server_config *config, bw_bytes origin);

/**
 * HTTP: allows requests to the server under the name `host`, such as "mcp.example" or "mcp.example:8443"; "*" allows
 * any. Without it, names of the loopback interface are allowed. BW_ERROR_INVALID_ARGUMENT if it is no host.
 */
bw_status bw_server_config_allow_host(bw_server_config *config, bw_bytes host);

/**
 * HTTP: sets how many bytes a request body may have; a longer one is refused with 413. Default 4 MiB.
 */
bw_status bw_server_config_set_body_bytes(bw_server_config *config, size_t bytes);

/**
 * HTTP: sets the milliseconds of silence on an open stream after which a comment is sent. Default 15 000; 0 sends none.
 */
bw_status bw_server_config_set_keep_alive(bw_server_config *config, uint64_t milliseconds);

/**
 * HTTP: sets the milliseconds without an exchange after which a legacy session is ended. Default 1 800 000.
 */
bw_status bw_server_config_set_session_idle(bw_server_config *config, uint64_t milliseconds);

/**
 * HTTP: sets the milliseconds that a client is asked to wait before it reconnects to a stream. Default 1 000.
 */
bw_status bw_server_config_set_retry(bw_server_config *config, uint64_t milliseconds);

/**
 * HTTP: keeps events of legacy streams nowhere: a lost stream is lost.
 */
bw_status bw_server_config_keep_no_events(bw_server_config *config);

/**
 * HTTP: keeps events of legacy streams in memory, for clients that reconnect: `events` of one stream, `bytes` of all
 * streams, for `age` milliseconds. The default, with 256, 16 MiB and 300 000.
 */
bw_status bw_server_config_keep_events_in_memory(bw_server_config *config,
                                                 size_t events,
                                                 size_t bytes,
                                                 uint64_t age);

/**
 * HTTP: keeps events of legacy streams with the host: EVENT_APPENDED, REPLAY_REQUESTED and STREAMS_FORGOTTEN say what to
 * keep, give back and drop.
 */
bw_status bw_server_config_keep_events_externally(bw_server_config *config);

/**
 * HTTP: sets whether sessions may live outside, so that an unknown id is asked for with SESSION_REQUESTED before it is
 * refused. Default false.
 */
bw_status bw_server_config_set_external_sessions(bw_server_config *config, bool external);

/* ---- Servers: HTTP --------------------------------------------------------------------------------------- */

/**
 * Makes a server for any number of clients over HTTP. The host owns sockets, TLS and the syntax of HTTP, and brings each
 * request and its response as an exchange.
 *
 * The caller frees `*server` with `bw_server_free`; `config` stays the caller's. Errors as for `bw_server_new`.
 */
bw_status bw_server_http_new(const bw_server_config *config, bw_server **server);

/**
 * Takes the head of a request and names its exchange. What refuses it is ready to be sent at once; the body is then
 * ignored. What the head points to is read during the call only.
 */
bw_status bw_server_http_receive_request(bw_server *server,
                                         uint64_t now,
                                         const bw_request_head *head,
                                         uint64_t *exchange);

/**
 * Takes a piece of the body of a request.
 */
bw_status bw_server_http_receive_body(bw_server *server, uint64_t now, uint64_t exchange, bw_bytes data);

/**
 * The body of a request is complete: what it holds goes to the server.
 */
bw_status bw_server_http_receive_end(bw_server *server, uint64_t now, uint64_t exchange);

/**
 * Takes a request whose body is at hand as a whole, which spares a copy of it. NULL data: no body.
 */
bw_status bw_server_http_receive_whole(bw_server *server,
                                       uint64_t now,
                                       const bw_request_head *head,
                                       bw_bytes body,
                                       uint64_t *exchange);

/**
 * Takes the head of a request that the host does not let through, and names its exchange: the answer is ready to be sent,
 * and the body is ignored. What the server refuses itself it refuses as ever, and OPTIONS is answered, because browsers ask
 * without credentials.
 *
 * `denial` is what a `bw_resource_server` gave; or one with the status 503 and no challenge, where nothing can be said of a
 * token now.
 */
bw_status bw_server_http_receive_denied(bw_server *server,
                                        uint64_t now,
                                        const bw_request_head *head,
                                        const bw_denial *denial,
                                        uint64_t *exchange);

/**
 * Does not let through what an exchange has brought after all, such as the call of a tool that its sender may not use. The
 * request still has to be answered: that goes nowhere. `denial` is as for `bw_server_http_receive_denied`.
 *
 * `possible`, which may be NULL, tells whether that could be done: not if the response has begun, and nothing is changed
 * then.
 */
bw_status bw_server_http_deny(bw_server *server,
                              uint64_t now,
                              uint64_t exchange,
                              const bw_denial *denial,
                              bool *possible);

/**
 * The client has gone, or nothing can be sent to it any more. The handle of the exchange is of no use afterwards.
 */
bw_status bw_server_http_receive_abort(bw_server *server, uint64_t now, uint64_t exchange);

/**
 * An exchange that has something to send and was not named since it last had nothing; 0 if there is none. Ask until 0
 * after each function that takes something in, and after commands.
 */
uint64_t bw_server_http_poll_ready(bw_server *server);

/**
 * What to send next in an exchange. False, and nothing written, if that is nothing for now; the exchange is named by
 * `bw_server_http_poll_ready` again when there is something.
 *
 * What `*part` points to is good until the next call of this function on the handle, whatever its exchange.
 */
bool bw_server_http_poll_response(bw_server *server, uint64_t exchange, bw_response_part *part);

/**
 * Bytes that wait to be taken by an exchange. The host may let the application wait while they are many.
 */
size_t bw_server_http_backlog(bw_server *server, uint64_t exchange);

/**
 * Answers SESSION_REQUESTED: the session as it was imported, or 0 if there is none for this principal. It has to be
 * answered even if the exchange is over by then.
 */
bw_status bw_server_http_resolve_session(bw_server *server,
                                         uint64_t now,
                                         uint64_t exchange,
                                         uint64_t session);

/**
 * Answers REPLAY_REQUESTED: `events` are ids (`name`) and data (`value`) of what followed, in order; `count` may be 0. NULL
 * says that the session has no such stream.
 */
bw_status bw_server_http_replay(bw_server *server,
                                uint64_t now,
                                uint64_t exchange,
                                const bw_pair *events,
                                size_t count);

/**
 * Ends the response of a legacy request for now: the client reconnects after `retry` milliseconds (BW_NEVER: those of the
 * configuration) and finds what followed. `exchange` is the one that brought the request. `possible`, which may be NULL,
 * tells whether that could be done: the client takes a stream, its revision knows of this, and events are kept.
 */
bw_status bw_server_http_close_stream(bw_server *server,
                                      uint64_t now,
                                      uint64_t exchange,
                                      uint64_t retry,
                                      bool *possible);

/**
 * Takes no more requests: they are refused with 503, streams that belong to no request end, and what is in flight goes
 * on. Streams of modern subscriptions and HTTP+SSE end with `bw_server_close`.
 */
bw_status bw_server_http_shut_down(bw_server *server, uint64_t now);

/**
 * Whether no exchange is open. True as well where there is no server over HTTP.
 */
bool bw_server_http_is_idle(bw_server *server);

/* ---- Servers: the commonest results ---------------------------------------------------------------------- */

/**
 * Answers the call of a tool with one block of text. Errors as for `bw_server_respond`.
 */
bw_status bw_server_respond_text(bw_server *server, uint64_t request, bw_bytes text);

/**
 * Answers the call of a tool that failed, with one block of text that tells the model why. Errors as for
 * `bw_server_respond`.
 */
bw_status bw_server_respond_tool_error(bw_server *server, uint64_t request, bw_bytes text);

/**
 * Answers the request for a prompt with one message of the user. Errors as for `bw_server_respond`.
 */
bw_status bw_server_respond_prompt_text(bw_server *server, uint64_t request, bw_bytes text);

/**
 * Answers the read of a resource with text. `mime_type` may be nothing. Errors as for `bw_server_respond`.
 */
bw_status bw_server_respond_resource_text(bw_server *server,
                                          uint64_t request,
                                          bw_bytes uri,
                                          bw_bytes mime_type,
                                          bw_bytes text);

/**
 * Answers the read of a resource with bytes, which travel as base64. `mime_type` may be nothing. Errors as for
 * `bw_server_respond`.
 */
bw_status bw_server_respond_resource_blob(bw_server *server,
                                          uint64_t request,
                                          bw_bytes uri,
                                          bw_bytes mime_type,
                                          bw_bytes data);

/**
 * Answers a request for suggestions: `count` values. Of more than 100 the rest is left out, and told by their number.
 * Errors as for `bw_server_respond`.
 */
bw_status bw_server_respond_completion(bw_server *server,
                                       uint64_t request,
                                       const bw_bytes *values,
                                       size_t count);

/**
 * Answers a request with the result that a writer holds. Memory that grew becomes the message instead of being copied into
 * one: the way to give a large result. The writer is empty then, and may be used anew; after an error too, for the result
 * is gone.
 *
 * Errors as for `bw_json_finish` and `bw_server_respond`.
 */
bw_status bw_server_respond_written(bw_server *server, uint64_t request, bw_json_writer *result);

/* ---- Events: members ------------------------------------------------------------------------------------- */

/**
 * What the event is about; `BW_EVENT_NONE` for NULL.
 */
bw_kind bw_event_kind(const bw_event *event);

/**
 * The request that the event is about. 0 if there is none.
 */
uint64_t bw_event_request(const bw_event *event);

/**
 * The subscription that the event is about. 0 if there is none.
 */
uint64_t bw_event_subscription(const bw_event *event);

/**
 * The legacy session that the event is about, or that its request came in. 0 if there is none.
 */
uint64_t bw_event_session(const bw_event *event);

/**
 * The HTTP exchange that waits, or that carries the request. 0 if there is none.
 */
uint64_t bw_event_exchange(const bw_event *event);

/**
 * The question that no longer stands: INPUT_WITHDRAWN. 0 otherwise.
 */
uint64_t bw_event_input(const bw_event *event);

/**
 * The tool or prompt: TOOL_CALLED, PROMPT_REQUESTED, COMPLETION_REQUESTED (for a prompt), TOOL_OMITTED (if it has one).
 */
bw_bytes bw_event_name(const bw_event *event);

/**
 * The resource: RESOURCE_READ_REQUESTED, COMPLETION_REQUESTED (for a resource), RESOURCE_UPDATED.
 */
bw_bytes bw_event_uri(const bw_event *event);

/**
 * The registered template that the URI matched, if it was one: RESOURCE_READ_REQUESTED.
 */
bw_bytes bw_event_template(const bw_event *event);

/**
 * The method: REQUEST_RECEIVED, NOTIFICATION_RECEIVED.
 */
bw_bytes bw_event_method(const bw_event *event);

/**
 * The parameters, a JSON object, if there are any: REQUEST_RECEIVED, NOTIFICATION_RECEIVED.
 */
bw_bytes bw_event_params(const bw_event *event);

/**
 * The arguments, a JSON object, if there are any: TOOL_CALLED (not checked against the schema of the tool),
 * PROMPT_REQUESTED, and COMPLETION_REQUESTED (those settled before).
 */
bw_bytes bw_event_arguments(const bw_event *event);

/**
 * The name of the argument to complete: COMPLETION_REQUESTED.
 */
bw_bytes bw_event_argument(const bw_event *event);

/**
 * What the user has typed so far: COMPLETION_REQUESTED.
 */
bw_bytes bw_event_value(const bw_event *event);

/**
 * The result, a JSON object as the peer wrote it: RESPONSE_RECEIVED, where the request ended well.
 */
bw_bytes bw_event_result(const bw_event *event);

/**
 * How long the result may be reused: RESPONSE_RECEIVED of a client. `ttl` is in milliseconds, `scope` a number of
 * `bw_cache_scope`; either may be NULL. False, and nothing written, if the result does not say or the revision has no
 * such thing (server/utilities/caching).
 */
bool bw_event_freshness(const bw_event *event, uint64_t *ttl, int32_t *scope);

/**
 * Why there is no result, or why it is over: REQUEST_FAILED, RESPONSE_RECEIVED of a server, DISCONNECTED. A number of
 * `bw_error`, or else the code of the error that the peer answered (see `bw_event_is_rpc_error`). 0 if there is a result.
 */
int64_t bw_event_code(const bw_event *event);

/**
 * Whether the peer answered with an error, so that `bw_event_code` is the peer's: REQUEST_FAILED, RESPONSE_RECEIVED of a
 * server, DISCONNECTED. A local end can never pass for the peer's.
 */
bool bw_event_is_rpc_error(const bw_event *event);

/**
 * A text for people: why there is no result (REQUEST_FAILED, RESPONSE_RECEIVED of a server, DISCONNECTED), or what is
 * being done (PROGRESS_RECEIVED).
 */
bw_bytes bw_event_message(const bw_event *event);

/**
 * JSON that came along: what the peer gave with its error (as for `bw_event_code`), what was logged (LOG_RECEIVED), the
 * message to keep (EVENT_APPENDED; empty for the first event of a stream, which only gives an id).
 */
bw_bytes bw_event_data(const bw_event *event);

/**
 * The HTTP status: AUTHORIZATION_REQUIRED (401 or 403), REQUEST_FAILED and DISCONNECTED if the end came with one. 0
 * otherwise.
 */
uint16_t bw_event_http_status(const bw_event *event);

/**
 * The value of `DPoP-Nonce`, if one came (RFC 9449, section 9): AUTHORIZATION_REQUIRED.
 */
bw_bytes bw_event_dpop_nonce(const bw_event *event);

/**
 * What was tried, for `bw_refusal`: AUTHORIZATION_REQUIRED.
 */
bw_bytes bw_event_operation(const bw_event *event);

/**
 * Why: REQUEST_CANCELLED (if the client said so), TOOL_OMITTED.
 */
bw_bytes bw_event_reason(const bw_event *event);

/**
 * Guidance for the model, if the server gave any: READY, SESSION_REPLACED.
 */
bw_bytes bw_event_instructions(const bw_event *event);

/**
 * What was wrong, as a number of `bw_violation`: VIOLATION_TOLERATED, MESSAGE_DISCARDED. 0 otherwise.
 */
int32_t bw_event_violation(const bw_event *event);

/**
 * What was wrong, in a few words: VIOLATION_TOLERATED, MESSAGE_DISCARDED.
 */
bw_bytes bw_event_violation_text(const bw_event *event);

/**
 * The bytes as they arrived, or their head up to the limit; not always UTF-8: VIOLATION_TOLERATED, MESSAGE_DISCARDED.
 */
bw_bytes bw_event_bytes(const bw_event *event);

/**
 * How many times the request has asked before (of a server), or has asked, from 1: INPUT_REQUIRED.
 */
uint32_t bw_event_round(const bw_event *event);

/**
 * The place of the tool in the list as the server sent it, from 0: TOOL_OMITTED.
 */
size_t bw_event_index(const bw_event *event);

/**
 * The member of the definition that is wrong: TOOL_OMITTED.
 */
bw_bytes bw_event_path(const bw_event *event);

/**
 * How far the request is: PROGRESS_RECEIVED. 0 otherwise.
 */
double bw_event_progress(const bw_event *event);

/**
 * How far the request will go: PROGRESS_RECEIVED. False, and nothing written, if that is not known.
 */
bool bw_event_total(const bw_event *event, double *total);

/**
 * Whether progress is more than the last time, as the protocol wants it: PROGRESS_RECEIVED.
 */
bool bw_event_is_increasing(const bw_event *event);

/**
 * A severity as a number of `bw_log_level`: of the message (LOG_RECEIVED; 0 for an unknown one), or the least that the
 * client of a request wants to be told of (0: no log messages).
 */
int32_t bw_event_log_level(const bw_event *event);

/**
 * Which part of the server speaks, if it says so: LOG_RECEIVED.
 */
bw_bytes bw_event_logger(const bw_event *event);

/**
 * Whether a subscription ended in order; false if it was lost or refused, so that changes may have been missed:
 * SUBSCRIPTION_ENDED.
 */
bool bw_event_is_graceful(const bw_event *event);

/**
 * Which list changed, as a number of `bw_list_kind`: LIST_CHANGED. 0 otherwise.
 */
int32_t bw_event_list(const bw_event *event);

/**
 * The id: of a session, a secret (SESSION_REQUESTED, SESSION_NAMED), or of an event of a stream (EVENT_APPENDED).
 * SESSION_REQUESTED gives what the client wrote, which may be anything.
 */
bw_bytes bw_event_id(const bw_event *event);

/**
 * The stream: EVENT_APPENDED, REPLAY_REQUESTED.
 */
bw_bytes bw_event_stream(const bw_event *event);

/**
 * The id of the last event that the client got: REPLAY_REQUESTED.
 */
bw_bytes bw_event_after(const bw_event *event);

/* ---- Events: who sent a request, and what came with it --------------------------------------------------- */

/**
 * The revision in use, as a number of `bw_revision`: requests to a server, SESSION_OPENED, READY, SESSION_REPLACED. 0
 * otherwise.
 */
int32_t bw_event_revision(const bw_event *event);

/**
 * The peer's name and version object (`Implementation` in the schema), if it gave one: as for `bw_event_revision`. It
 * identifies nobody.
 */
bw_bytes bw_event_peer(const bw_event *event);

/**
 * The capabilities object as the peer wrote it, if it is known: as for `bw_event_revision`.
 */
bw_bytes bw_event_capabilities(const bw_event *event);

/**
 * Whether the peer declared a capability, a number of `bw_capability`: as for `bw_event_revision`.
 */
bool bw_event_has_capability(const bw_event *event, int32_t capability);

/**
 * The token to report progress under, as JSON; nothing if no progress is wanted: requests to a server. Reports need not
 * name it.
 */
bw_bytes bw_event_progress_token(const bw_event *event);

/**
 * The `_meta` object of a request to a server, if it has one: trace context, extensions.
 */
bw_bytes bw_event_meta(const bw_event *event);

/**
 * Who the host said the client is (`principal` of the request's head), if it did: requests to a server over HTTP.
 */
bw_bytes bw_event_principal(const bw_event *event);

/**
 * What the application kept with its last question, a JSON value: requests to a server.
 */
bw_bytes bw_event_state(const bw_event *event);

/* ---- Events: lists --------------------------------------------------------------------------------------- */

/**
 * Whether the subscription watches a list, a number of `bw_list_kind`: SUBSCRIPTION_OPENED, SUBSCRIPTION_ACKNOWLEDGED.
 */
bool bw_event_watches(const bw_event *event, int32_t list);

/**
 * How many resources the subscription watches: SUBSCRIPTION_OPENED, SUBSCRIPTION_ACKNOWLEDGED.
 */
size_t bw_event_watched_uri_count(const bw_event *event);

/**
 * The URI of a resource that the subscription watches; nothing beyond the last.
 */
bw_bytes bw_event_watched_uri(const bw_event *event, size_t index);

/**
 * How many variables of the template the URI gave values: RESOURCE_READ_REQUESTED.
 */
size_t bw_event_variable_count(const bw_event *event);

/**
 * A variable of the template and its value, percent-decoded, in the order of the template. False, and nothing written,
 * beyond the last.
 */
bool bw_event_variable_at(const bw_event *event, size_t index, bw_pair *variable);

/**
 * The value of a variable of the template by its name, percent-decoded: RESOURCE_READ_REQUESTED. Nothing if the URI gave
 * it none.
 */
bw_bytes bw_event_variable(const bw_event *event, bw_bytes name);

/**
 * How many questions the server asks: INPUT_REQUIRED.
 */
size_t bw_event_input_count(const bw_event *event);

/**
 * A question of the server: INPUT_REQUIRED. False, and nothing written, beyond the last.
 */
bool bw_event_input_at(const bw_event *event, size_t index, bw_input *input);

/**
 * How many answers came with a request to a server, from all its rounds.
 */
size_t bw_event_answer_count(const bw_event *event);

/**
 * An answer that came with a request to a server. False, and nothing written, beyond the last.
 */
bool bw_event_answer_at(const bw_event *event, size_t index, bw_answer *answer);

/**
 * The answer to the question of that key that came with a request to a server. False, and nothing written, if there is
 * none.
 */
bool bw_event_answer(const bw_event *event, bw_bytes key, bw_answer *answer);

/**
 * How many requests were never answered: DRAINED.
 */
size_t bw_event_abandoned_count(const bw_event *event);

/**
 * A request that was never answered: DRAINED. 0 beyond the last.
 */
uint64_t bw_event_abandoned(const bw_event *event, size_t index);

/**
 * How many values of `WWW-Authenticate` came: AUTHORIZATION_REQUIRED.
 */
size_t bw_event_challenge_count(const bw_event *event);

/**
 * A value of `WWW-Authenticate`, in order: AUTHORIZATION_REQUIRED. Nothing beyond the last.
 */
bw_bytes bw_event_challenge(const bw_event *event, size_t index);

/* ---- Clients: life, time, byte streams ------------------------------------------------------------------- */

/**
 * Makes a client on a byte stream: the pipes of a child process, a socket, a serial line. It starts to connect at once:
 * the probe or handshake waits to be sent.
 *
 * The caller frees `*client` with `bw_client_free`; `config` stays the caller's. BW_ERROR_NO_COMMON_REVISION if it allows
 * no revision.
 */
bw_status bw_client_new(const bw_client_config *config, uint64_t now, bw_client **client);

/**
 * Frees a client, with its event and all that it has lent. NULL is nothing to free.
 */
void bw_client_free(bw_client *client);

/**
 * What was wrong with the last call on this handle that failed, for people; an empty text if none has. Good until the
 * next call that takes the handle as one that is not const.
 */
bw_bytes bw_client_error_message(const bw_client *client);

/**
 * The next thing that the application should know, in order; NULL if there is none for now. The event belongs to the
 * client and is good until the next call of this function on it.
 *
 * Poll until NULL after each function that takes something in. Events are never lost by polling late, but hold what
 * arrived in memory.
 */
const bw_event *bw_client_poll_event(bw_client *client);

/**
 * When to call `bw_client_handle_timeout` at the latest; BW_NEVER if nothing is due.
 */
uint64_t bw_client_poll_timeout(bw_client *client);

/**
 * Lets time pass. Harmless when nothing is due. The errors are fatal ends; their events are still to be polled.
 */
bw_status bw_client_handle_timeout(bw_client *client, uint64_t now);

/**
 * Ends the connection in order: what is in flight fails with BW_ERROR_CONNECTION_LOST, questions are withdrawn,
 * DISCONNECTED follows.
 */
bw_status bw_client_close(bw_client *client);

/**
 * Byte stream: takes bytes that were read, cut anywhere. `data` is read during the call only.
 *
 * Faulty input is no error; it is answered, or reported as an event. The errors are fatal ends; their events are still to
 * be polled.
 */
bw_status bw_client_receive_data(bw_client *client, uint64_t now, bw_bytes data);

/**
 * Byte stream: the server closed its side. RESTART_REQUIRED or DISCONNECTED follows.
 */
bw_status bw_client_receive_eof(bw_client *client, uint64_t now);

/**
 * Byte stream: the transport broke; nothing can be sent or received any more. DISCONNECTED follows.
 */
bw_status bw_client_connection_lost(bw_client *client, uint64_t now);

/**
 * Byte stream: the server was started afresh, as RESTART_REQUIRED asked. What was half read or half sent belonged to the
 * old one and is dropped; queued requests are kept.
 */
bw_status bw_client_restart(bw_client *client, uint64_t now);

/**
 * Byte stream: the bytes to send next, possibly not all there are; length 0 if there are none for now. They are lent
 * without a copy and good until the next call that takes the handle as one that is not const. Mark what was written with
 * `bw_client_consume`, and ask again until there are none.
 */
bw_bytes bw_client_data_to_send(bw_client *client);

/**
 * Byte stream: marks the first `count` bytes of `bw_client_data_to_send` as sent; more than there are count as all.
 */
bw_status bw_client_consume(bw_client *client, size_t count);

/**
 * Whether the host should go on reading: false while too much waits to be polled or sent. Over HTTP,
 * `bw_client_http_wants_input` says it for one exchange.
 */
bool bw_client_wants_input(bw_client *client);

/**
 * Whether the client is done and everything was sent: on a byte stream, close our side. True as well for NULL and for a
 * poisoned handle, with which nothing can be done.
 */
bool bw_client_is_finished(bw_client *client);

/**
 * The revision in use, a number of `bw_revision`; 0 while it is not settled.
 */
int32_t bw_client_revision(bw_client *client);

/**
 * Whether the server declared a capability, a number of `bw_capability`; false while that is not known.
 */
bool bw_client_server_has_capability(bw_client *client, int32_t capability);

/**
 * What to store so that the next client of this server skips the probe: see `bw_client_config_set_era_verdict`. Nothing
 * while it is not known. Good until the next call of this function on the handle.
 */
bw_bytes bw_client_era_verdict(bw_client *client);

/* ---- Clients: requests, questions, subscriptions --------------------------------------------------------- */

/**
 * Sends a request, or queues it until the connection is ready; RESPONSE_RECEIVED or REQUEST_FAILED follows for `*request`.
 * `params` is a JSON object, or nothing. `options` may be NULL.
 *
 * BW_ERROR_INVALID_JSON, BW_ERROR_METHOD_NOT_ALLOWED for one that the library sends itself,
 * BW_ERROR_NOT_ALLOWED_IN_REVISION, BW_ERROR_CAPABILITY_NOT_DECLARED, a BW_ERROR_LIMIT, or the number of the end.
 */
bw_status bw_client_request(bw_client *client,
                            uint64_t now,
                            bw_bytes method,
                            bw_bytes params,
                            const bw_request_options *options,
                            uint64_t *request);

/**
 * Calls a tool. `arguments` is a JSON object, or nothing. As `bw_client_request`.
 */
bw_status bw_client_call_tool(bw_client *client,
                              uint64_t now,
                              bw_bytes name,
                              bw_bytes arguments,
                              const bw_request_options *options,
                              uint64_t *request);

/**
 * Asks for a page of a list, a number of `bw_listing`: the first (NULL data), or the one that `cursor` of the page before
 * leads to. As `bw_client_request`.
 */
bw_status bw_client_list(bw_client *client,
                         uint64_t now,
                         int32_t listing,
                         bw_bytes cursor,
                         const bw_request_options *options,
                         uint64_t *request);

/**
 * Reads a resource. As `bw_client_request`.
 */
bw_status bw_client_read_resource(bw_client *client,
                                  uint64_t now,
                                  bw_bytes uri,
                                  const bw_request_options *options,
                                  uint64_t *request);

/**
 * Asks for a prompt. `arguments` is a JSON object of strings, or nothing. As `bw_client_request`, and
 * BW_ERROR_ARGUMENT_NOT_STRING.
 */
bw_status bw_client_get_prompt(bw_client *client,
                               uint64_t now,
                               bw_bytes name,
                               bw_bytes arguments,
                               const bw_request_options *options,
                               uint64_t *request);

/**
 * Asks for suggestions for an argument of what `kind`, a number of `bw_completion_kind`, and `reference` name: a prompt by
 * its name, or a resource by its template or URI. `value` is what the user has typed so far; `arguments` are those settled
 * before, a JSON object of strings, or nothing. As `bw_client_get_prompt`.
 */
bw_status bw_client_complete(bw_client *client,
                             uint64_t now,
                             int32_t kind,
                             bw_bytes reference,
                             bw_bytes argument,
                             bw_bytes value,
                             bw_bytes arguments,
                             const bw_request_options *options,
                             uint64_t *request);

/**
 * Asks whether the server is there. The legacy era only. As `bw_client_request`.
 */
bw_status bw_client_ping(bw_client *client,
                         uint64_t now,
                         const bw_request_options *options,
                         uint64_t *request);

/**
 * Gives up a request: it fails at once with BW_ERROR_CANCELLED, the server is told as its revision wants, and a late
 * answer is dropped. `reason` is for people, or nothing. BW_ERROR_UNKNOWN_REQUEST if it has ended.
 */
bw_status bw_client_cancel(bw_client *client, uint64_t request, bw_bytes reason);

/**
 * Answers a question of the server with a result, a JSON object written for the newest revision. An elicitation that the
 * user declines or dismisses is a result too.
 *
 * BW_ERROR_UNKNOWN_INPUT if it no longer stands; BW_ERROR_INVALID_JSON, BW_ERROR_INVALID_DEFINITION naming a member,
 * BW_ERROR_NOT_ALLOWED_IN_REVISION, and the question then still stands.
 */
bw_status bw_client_provide_input(bw_client *client, uint64_t now, uint64_t input, bw_bytes result);

/**
 * Refuses a question of the server: it cannot or may not be answered. Legacy servers get an error with that code and
 * message; from 2026-07-28 the request that asked ends with BW_ERROR_INPUT_REFUSED. BW_ERROR_UNKNOWN_INPUT.
 */
bw_status bw_client_refuse_input(bw_client *client,
                                 uint64_t now,
                                 uint64_t input,
                                 int64_t code,
                                 bw_bytes message);

/**
 * Asks to be told of changes. The same events follow in both eras: SUBSCRIPTION_ACKNOWLEDGED, changes,
 * SUBSCRIPTION_ENDED, each for `*subscription`. A BW_ERROR_LIMIT, or the number of the end.
 */
bw_status bw_client_subscribe(bw_client *client,
                              uint64_t now,
                              const bw_subscription_filter *filter,
                              uint64_t *subscription);

/**
 * Ends a subscription; SUBSCRIPTION_ENDED follows. BW_ERROR_UNKNOWN_SUBSCRIPTION if it has ended.
 */
bw_status bw_client_unsubscribe(bw_client *client, uint64_t now, uint64_t subscription);

/**
 * Sets the least severity of log messages wanted, a number of `bw_log_level`. RESPONSE_RECEIVED or REQUEST_FAILED follows
 * for `*request`, which may be NULL. As `bw_client_request`.
 */
bw_status bw_client_set_log_level(bw_client *client, uint64_t now, int32_t level, uint64_t *request);

/**
 * Sends a notification, or queues it until the connection is ready. `params` is a JSON object, or nothing. Errors as for
 * `bw_client_request`.
 */
bw_status bw_client_notify(bw_client *client, bw_bytes method, bw_bytes params);

/**
 * Tells the server that the roots have changed. The legacy era only. Errors as for `bw_client_request`.
 */
bw_status bw_client_notify_roots_changed(bw_client *client);

/* ---- Clients: configuration ------------------------------------------------------------------------------ */

/**
 * Makes the configuration of a client with no capabilities, all revisions and default bounds. `name` and `version` say who
 * the client is. `seed` is BW_SEED_BYTES random bytes from the operating system, never used twice.
 *
 * The caller frees `*config` with `bw_client_config_free`.
 */
bw_status bw_client_config_new(bw_bytes name,
                               bw_bytes version,
                               const uint8_t *seed,
                               bw_client_config **config);

/**
 * Frees a configuration. NULL is nothing to free.
 */
void bw_client_config_free(bw_client_config *config);

/**
 * Sets the client's name for people. From 2025-06-18. NULL data: none.
 */
bw_status bw_client_config_set_title(bw_client_config *config, bw_bytes title);

/**
 * Sets what the client is. From 2025-11-25. NULL data: none.
 */
bw_status bw_client_config_set_description(bw_client_config *config, bw_bytes description);

/**
 * Sets a page about the client. From 2025-11-25. NULL data: none.
 */
bw_status bw_client_config_set_website_url(bw_client_config *config, bw_bytes url);

/**
 * Sets the client's icons, a JSON array. From 2025-11-25. NULL data: none. BW_ERROR_INVALID_JSON if it is not JSON.
 */
bw_status bw_client_config_set_icons(bw_client_config *config, bw_bytes icons);

/**
 * Sets what the client can do: a JSON object (`ClientCapabilities` in the schema), sent as it is but for what older
 * revisions lack. Default none.
 *
 * BW_ERROR_INVALID_JSON if it is no JSON object, BW_ERROR_INVALID_DEFINITION if one of its `extensions` is not named
 * `prefix/name`.
 */
bw_status bw_client_config_set_capabilities(bw_client_config *config, bw_bytes capabilities);

/**
 * Sets the revisions that the client is willing to speak: `count` numbers of `bw_revision`. Default all.
 */
bw_status bw_client_config_set_revisions(bw_client_config *config, const int32_t *revisions, size_t count);

/**
 * Sets the verdict of an earlier client on the era of the same server, so that the probe is skipped: what
 * `bw_client_era_verdict` gave. NULL data: none. BW_ERROR_INVALID_ARGUMENT if the text is of another version of the
 * library; go on without it then.
 */
bw_status bw_client_config_set_era_verdict(bw_client_config *config, bw_bytes verdict);

/**
 * Sets a bound, a number of `bw_limit`.
 */
bw_status bw_client_config_set_limit(bw_client_config *config, int32_t limit, uint64_t value);

/**
 * Sets a duration, a number of `bw_timeout`, in milliseconds.
 */
bw_status bw_client_config_set_timeout(bw_client_config *config, int32_t timeout, uint64_t milliseconds);

/**
 * Sets whether progress starts the time for a request anew. Default true.
 */
bw_status bw_client_config_set_progress_extends(bw_client_config *config, bool extends);

/**
 * HTTP: sets whether to try HTTP+SSE (2024-11-05) where Streamable HTTP is refused. Default true.
 */
bw_status bw_client_config_set_sse_fallback(bw_client_config *config, bool tried);

/**
 * HTTP: sets whether to open the stream of a legacy session that belongs to no request. Default true.
 */
bw_status bw_client_config_set_opens_stream(bw_client_config *config, bool opened);

/**
 * HTTP: sets whether the application answers AUTHORIZATION_REQUIRED; without it a 401 or 403 fails the request. Default
 * false.
 */
bw_status bw_client_config_set_authorizes(bw_client_config *config, bool authorizes);

/**
 * HTTP: sets the milliseconds after which an exchange that nobody authorizes fails. Default 900 000.
 */
bw_status bw_client_config_set_authorization_timeout(bw_client_config *config, uint64_t milliseconds);

/**
 * HTTP: sets how many attempts in a row to resume the stream of a request may bring nothing. Default 5.
 */
bw_status bw_client_config_set_resumptions(bw_client_config *config, uint32_t resumptions);

/**
 * HTTP: sets the milliseconds to wait before a stream is resumed, where the server names no time; doubled with each
 * attempt that brings nothing, up to a minute. Default 1 000.
 */
bw_status bw_client_config_set_retry(bw_client_config *config, uint64_t milliseconds);

/* ---- Clients: HTTP --------------------------------------------------------------------------------------- */

/**
 * Makes a client of the server at `url`, an http or https URL as the user wrote it. It starts to connect at once: the
 * first request waits to be polled. The host owns sockets, TLS and the syntax of HTTP.
 *
 * The caller frees `*client` with `bw_client_free`; `config` stays the caller's. BW_ERROR_INVALID_DEFINITION if the URL is
 * none, BW_ERROR_NO_COMMON_REVISION if no revision is allowed.
 */
bw_status bw_client_http_new(const bw_client_config *config, bw_bytes url, uint64_t now, bw_client **client);

/**
 * What to do next; false, and nothing written, if that is nothing for now. Ask until false after each other function of
 * the handle.
 *
 * What `*transmit` points to is good until the next call of this function on the handle.
 */
bool bw_client_http_poll_transmit(bw_client *client, uint64_t now, bw_http_transmit *transmit);

/**
 * Takes the head of a response; interim responses (1xx) are the host's. Values of headers are UTF-8; one that is not is
 * given with its bytes above 127 as they are in Latin-1.
 *
 * What is handed in of an exchange that is over is passed over. The errors of this function and of those below are fatal
 * ends; their events are still to be polled.
 */
bw_status bw_client_http_receive_head(bw_client *client,
                                      uint64_t now,
                                      uint64_t exchange,
                                      uint16_t status,
                                      const bw_pair *headers,
                                      size_t header_count);

/**
 * Takes a piece of the body of a response, of any length, after content and transfer codings were undone.
 */
bw_status bw_client_http_receive_body(bw_client *client, uint64_t now, uint64_t exchange, bw_bytes data);

/**
 * The response is complete.
 */
bw_status bw_client_http_receive_end(bw_client *client, uint64_t now, uint64_t exchange);

/**
 * The exchange has failed, as a number of `bw_exchange_failure` says.
 */
bw_status bw_client_http_receive_failure(bw_client *client, uint64_t now, uint64_t exchange, int32_t failure);

/**
 * The exchange brought a redirect that must not be followed, with its HTTP status.
 */
bw_status bw_client_http_receive_redirect(bw_client *client,
                                          uint64_t now,
                                          uint64_t exchange,
                                          uint16_t status);

/**
 * Whether the host should read on in an exchange.
 */
bool bw_client_http_wants_input(bw_client *client, uint64_t exchange);

/**
 * Answers AUTHORIZATION_REQUIRED: there are new credentials, and what was refused is sent again in a new exchange. What is
 * refused again and again fails.
 */
bw_status bw_client_http_authorized(bw_client *client, uint64_t now, uint64_t exchange);

/**
 * Answers AUTHORIZATION_REQUIRED: there are no credentials, and what waits for the exchange fails.
 */
bw_status bw_client_http_unauthorized(bw_client *client, uint64_t now, uint64_t exchange);

/* ---- Authorization: clients ------------------------------------------------------------------------------ */

/**
 * Makes an authorization that has not read its store yet.
 *
 * The caller frees `*authorization` with `bw_authorization_free`; `config` stays the caller's. BW_ERROR_INVALID_DEFINITION
 * if a URL, an id, a key or an algorithm of the configuration cannot be used.
 */
bw_status bw_authorization_new(const bw_authorization_config *config, bw_authorization **authorization);

/**
 * Frees an authorization, with its action and all that it has lent. NULL is nothing to free.
 */
void bw_authorization_free(bw_authorization *authorization);

/**
 * What was wrong with the last call on this handle that failed, for people; an empty text if none has. Good until the
 * next call that takes the handle as one that is not const. It holds no secret.
 */
bw_bytes bw_authorization_error_message(const bw_authorization *authorization);

/**
 * Whether `bw_authorization_credentials` gives the best there is. If not, `bw_authorization_acquire` them first.
 */
bool bw_authorization_is_ready(bw_authorization *authorization, uint64_t now);

/**
 * Waits until there are credentials, or none without a challenge. One event follows for `waiter`, a number of the host's,
 * such as that of an exchange. It reads the store and renews a token that is about to expire; it never opens a browser.
 */
bw_status bw_authorization_acquire(bw_authorization *authorization, uint64_t now, uint64_t waiter);

/**
 * What goes with a request to the MCP server: ask anew for each, also for one that is sent again. `method` and `url` are
 * those of the request. A token goes to the origin of the MCP server only: elsewhere there is none.
 */
bw_status bw_authorization_credentials(bw_authorization *authorization,
                                       uint64_t now,
                                       bw_bytes method,
                                       bw_bytes url,
                                       bw_credentials *credentials);

/**
 * Puts the value of the header `DPoP` into the buffer (RFC 9449, section 4.2): the `input` of the proof to sign, and its
 * signature. `*header` is the text there.
 *
 * BW_ERROR_BUFFER_TOO_SMALL if it does not fit; `header->length` is then what is needed, and its data NULL.
 */
bw_status bw_dpop_proof(bw_bytes input, bw_bytes signature, char *buffer, size_t size, bw_bytes *header);

/**
 * The MCP server refused a request. One event follows for `waiter`.
 */
bw_status bw_authorization_challenge(bw_authorization *authorization,
                                     uint64_t now,
                                     uint64_t waiter,
                                     const bw_refusal *refusal);

/**
 * The MCP server took the token of this generation: call it for each response that is not a 401. Without it, a fresh token
 * that is refused twice counts as useless.
 */
bw_status bw_authorization_note_success(bw_authorization *authorization, uint64_t generation);

/**
 * The MCP server gave a nonce, the value of `DPoP-Nonce`, with a response that was none of 401 and 403 (RFC 9449, section
 * 8.2).
 */
bw_status bw_authorization_note_nonce(bw_authorization *authorization, bw_bytes nonce);

/**
 * The next thing to do; NULL if that is nothing for now. The action belongs to the authorization and is good until the next
 * call of this function on it. One action is open at a time, and answers that come late are passed over.
 */
const bw_action *bw_authorization_poll_action(bw_authorization *authorization);

/**
 * What there is to tell whoever waits; false, and nothing written, if that is nothing for now.
 */
bool bw_authorization_poll_event(bw_authorization *authorization, bw_authorization_event *event);

/**
 * When to call `bw_authorization_handle_timeout` at the latest, in milliseconds since 1970; BW_NEVER if nothing is due.
 */
uint64_t bw_authorization_poll_timeout(bw_authorization *authorization);

/**
 * Lets time pass. Harmless when nothing is due.
 */
bw_status bw_authorization_handle_timeout(bw_authorization *authorization, uint64_t now);

/**
 * Answers LOAD: what the store holds, NULL if that is nothing.
 */
bw_status bw_authorization_loaded(bw_authorization *authorization,
                                  uint64_t now,
                                  uint64_t action,
                                  const bw_stored_record *record);

/**
 * Answers SAVE: it is stored.
 */
bw_status bw_authorization_saved(bw_authorization *authorization, uint64_t now, uint64_t action);

/**
 * Answers SAVE: the store had another generation, and nothing was written. `record` is what it holds, NULL if that is
 * nothing.
 */
bw_status bw_authorization_save_conflicted(bw_authorization *authorization,
                                           uint64_t now,
                                           uint64_t action,
                                           const bw_stored_record *record);

/**
 * Answers SEND: the response, whole, whatever its status. Values of headers are as for `bw_client_http_receive_head`.
 */
bw_status bw_authorization_receive_response(bw_authorization *authorization,
                                            uint64_t now,
                                            uint64_t action,
                                            uint16_t status,
                                            const bw_pair *headers,
                                            size_t header_count,
                                            bw_bytes body);

/**
 * Answers OPEN_USER_AGENT: what the user agent brought back, the query of the request, or its whole target or URL, as it
 * came.
 *
 * Gives a number of `bw_authorization_error` if that is nothing to go on with, which the user should be told. If
 * `bw_authorization_awaits_callback` is true nevertheless, it was none of ours and the right one may still come; else the
 * flow has failed.
 */
bw_status bw_authorization_receive_callback(bw_authorization *authorization, uint64_t now, bw_bytes query);

/**
 * Whether the user is to come back.
 */
bool bw_authorization_awaits_callback(bw_authorization *authorization);

/**
 * Answers SIGN: the signature over `input`.
 */
bw_status bw_authorization_signed(bw_authorization *authorization,
                                  uint64_t now,
                                  uint64_t action,
                                  bw_bytes signature);

/**
 * Answers PROVIDE_CLIENT. The issuer of the client is the one that was asked for.
 */
bw_status bw_authorization_client_provided(bw_authorization *authorization,
                                           uint64_t now,
                                           uint64_t action,
                                           const bw_client_registration *client);

/**
 * Answers PROVIDE_ASSERTION.
 */
bw_status bw_authorization_assertion_provided(bw_authorization *authorization,
                                              uint64_t now,
                                              uint64_t action,
                                              bw_bytes assertion);

/**
 * An action of any kind was not carried out, as a number of `bw_action_failure` says.
 */
bw_status bw_authorization_fail_action(bw_authorization *authorization,
                                       uint64_t now,
                                       uint64_t action,
                                       int32_t failure);

/**
 * Gives up what is under way. Whoever waits is refused, and so is whoever comes, until `bw_authorization_reset`.
 */
bw_status bw_authorization_cancel(bw_authorization *authorization, uint64_t now);

/**
 * Forgets that it failed: the next challenge begins anew. Without it, a failure that is not retryable stays, and each
 * challenge is refused with it at once.
 */
bw_status bw_authorization_reset(bw_authorization *authorization);

/**
 * What to do; `BW_ACTION_NONE` for NULL.
 */
bw_action_type bw_action_kind(const bw_action *action);

/**
 * Names the action in its answer; never 0 but for NULL.
 */
uint64_t bw_action_handle(const bw_action *action);

/**
 * The generation that the store must have, 0 if there must be nothing: SAVE.
 */
uint64_t bw_action_expected_generation(const bw_action *action);

/**
 * What to store: SAVE. False, and nothing written, otherwise.
 */
bool bw_action_record(const bw_action *action, bw_stored_record *record);

/**
 * The request to carry out: SEND. False, and nothing written, otherwise.
 */
bool bw_action_request(const bw_action *action, bw_oauth_request *request);

/**
 * What to sign: SIGN. False, and nothing written, otherwise.
 */
bool bw_action_signing(const bw_action *action, bw_signing_request *signing);

/**
 * The URL to open; it carries `state` and the challenge: OPEN_USER_AGENT.
 */
bw_bytes bw_action_url(const bw_action *action);

/**
 * Where the user agent comes back to: OPEN_USER_AGENT.
 */
bw_bytes bw_action_redirect_uri(const bw_action *action);

/**
 * The issuer identifier of the authorization server: PROVIDE_CLIENT, PROVIDE_ASSERTION.
 */
bw_bytes bw_action_issuer(const bw_action *action);

/**
 * The MCP server: PROVIDE_ASSERTION.
 */
bw_bytes bw_action_resource(const bw_action *action);

/* ---- Authorization: configuration ------------------------------------------------------------------------ */

/**
 * Makes the configuration of an authorization at the MCP server at `server_url`, with the defaults. `grant` is a number of
 * `bw_grant`. `seed` is BW_SEED_BYTES random bytes from the operating system, never used twice.
 *
 * The URL is as the user wrote it: https, or http on a loopback host. http on loopback hosts is allowed for OAuth URLs only
 * if this URL is such a one, so that a remote server cannot lead a client to services of its own machine.
 *
 * The authorization code grant needs `bw_authorization_config_set_redirect_uri`, the enterprise grant
 * `bw_authorization_config_set_identity_provider`.
 *
 * The caller frees `*config` with `bw_authorization_config_free`.
 */
bw_status bw_authorization_config_new(bw_bytes server_url,
                                      int32_t grant,
                                      const uint8_t *seed,
                                      bw_authorization_config **config);

/**
 * Frees a configuration. NULL is nothing to free.
 */
void bw_authorization_config_free(bw_authorization_config *config);

/**
 * Authorization code: sets where the user agent comes back to: https, or http on a loopback host, or a scheme with a dot
 * in it that belongs to the application (RFC 8252, section 7.1). A stored registration is used again for the same one only.
 */
bw_status bw_authorization_config_set_redirect_uri(bw_authorization_config *config, bw_bytes redirect_uri);

/**
 * Authorization code: sets that dynamic registration (RFC 7591) is used, and the client's name for people there.
 * `application_type` is a number of `bw_application_type`, or 0. Without this call it is not used.
 */
bw_status bw_authorization_config_set_dynamic_registration(bw_authorization_config *config,
                                                           bw_bytes client_name,
                                                           int32_t application_type);

/**
 * Authorization code: sets the client whose id is the https URL of its metadata document, for authorization servers that
 * take such. Default none.
 */
bw_status bw_authorization_config_set_metadata_client(bw_authorization_config *config,
                                                      const bw_client_registration *client);

/**
 * Authorization code: sets whether the host can provide a client when nothing else is left (BW_ACTION_PROVIDE_CLIENT).
 * Default false.
 */
bw_status bw_authorization_config_set_asks_for_client(bw_authorization_config *config, bool asks);

/**
 * Enterprise: sets where the identity provider exchanges tokens (RFC 8693), the client there (its `issuer` is the
 * provider's), and what kind of assertion the host has, a number of `bw_subject_token`.
 */
bw_status bw_authorization_config_set_identity_provider(bw_authorization_config *config,
                                                        bw_bytes token_endpoint,
                                                        const bw_client_registration *client,
                                                        int32_t subject_token);

/**
 * Adds a client that was registered beforehand, with the authorization server that knows it. If there are some and none
 * fits, the flow fails with BW_AUTHORIZATION_ERROR_PREREGISTERED_ISSUER_MISMATCH.
 */
bw_status bw_authorization_config_add_client(bw_authorization_config *config,
                                             const bw_client_registration *client);

/**
 * Sets the scopes to ask for at first, instead of those that the server names.
 */
bw_status bw_authorization_config_set_scopes(bw_authorization_config *config,
                                             const bw_bytes *scopes,
                                             size_t count);

/**
 * Sets whether to ask for refresh tokens: `refresh_token` among the grant types of a registration, and the scope
 * `offline_access` where the authorization server lists it. Default true.
 */
bw_status bw_authorization_config_set_wants_refresh(bw_authorization_config *config, bool wanted);

/**
 * Sets the key that tokens are bound to (RFC 9449), used with authorization servers that list its algorithm: the name of
 * the algorithm in JOSE, such as `ES256`, and the public key as a JWK object (RFC 7517). With `required` a token that is not
 * bound to it is refused; without, it is used as a bearer token. Default no key.
 */
bw_status bw_authorization_config_set_dpop_key(bw_authorization_config *config,
                                               bw_bytes algorithm,
                                               bw_bytes public_key,
                                               bool required);

/**
 * Sets whether to fall back to the endpoints of the oldest revision with authorization, at the origin of the MCP server,
 * where it has no resource metadata. Default false: later revisions forbid it, and what stands there is not checked for
 * PKCE.
 */
bw_status bw_authorization_config_set_legacy_endpoints(bw_authorization_config *config, bool used);

/**
 * Sets the milliseconds to wait for the user to come back. Default 600 000.
 */
bw_status bw_authorization_config_set_callback_timeout(bw_authorization_config *config,
                                                       uint64_t milliseconds);

/**
 * Sets the milliseconds before its expiry from which a token is renewed. Default 30 000.
 */
bw_status bw_authorization_config_set_renew_before(bw_authorization_config *config, uint64_t milliseconds);

/**
 * Sets the most bytes of the body of a response. Default 262 144.
 */
bw_status bw_authorization_config_set_response_bytes(bw_authorization_config *config, size_t bytes);

/* ---- Authorization: protected servers -------------------------------------------------------------------- */

/**
 * Makes the configuration of a protected server. `resource` is its identifier: the URL of the MCP endpoint as clients know
 * it, without fragment and useless slash at the end; https, or http on a loopback host. The authorization servers are issuer
 * identifiers, at least one; tokens of others are refused.
 *
 * The caller frees `*config` with `bw_resource_server_config_free`.
 */
bw_status bw_resource_server_config_new(bw_bytes resource,
                                        const bw_bytes *authorization_servers,
                                        size_t count,
                                        bw_resource_server_config **config);

/**
 * Frees a configuration. NULL is nothing to free.
 */
void bw_resource_server_config_free(bw_resource_server_config *config);

/**
 * Sets the scopes that suffice for basic use (basic/authorization, Scope Selection Strategy). Default none.
 */
bw_status bw_resource_server_config_set_scopes(bw_resource_server_config *config,
                                               const bw_bytes *scopes,
                                               size_t count);

/**
 * Sets what tokens may name as their audience beside the resource. Default none.
 */
bw_status bw_resource_server_config_set_audiences(bw_resource_server_config *config,
                                                  const bw_bytes *audiences,
                                                  size_t count);

/**
 * Sets a name for people. NULL data: none, the default.
 */
bw_status bw_resource_server_config_set_name(bw_resource_server_config *config, bw_bytes name);

/**
 * Sets the URL of a page for developers. NULL data: none, the default.
 */
bw_status bw_resource_server_config_set_documentation(bw_resource_server_config *config, bw_bytes url);

/**
 * Sets the milliseconds by which clocks may differ. Default 30 000.
 */
bw_status bw_resource_server_config_set_leeway(bw_resource_server_config *config, uint64_t milliseconds);

/**
 * Makes a protected server.
 *
 * The caller frees `*server` with `bw_resource_server_free`; `config` stays the caller's. BW_ERROR_INVALID_DEFINITION if
 * the resource or one of the authorization servers cannot be used, or there is none.
 */
bw_status bw_resource_server_new(const bw_resource_server_config *config, bw_resource_server **server);

/**
 * Frees a protected server, and the refusal that it has lent. NULL is nothing to free.
 */
void bw_resource_server_free(bw_resource_server *server);

/**
 * The protected resource metadata (RFC 9728, section 2), as JSON. Serve it with status 200 and
 * `Content-Type: application/json`, to anybody. Good for as long as the handle.
 */
bw_bytes bw_resource_server_metadata(const bw_resource_server *server);

/**
 * A path at which to serve the metadata: behind the path of the resource, and at the root. Nothing beyond the last. Good for
 * as long as the handle.
 */
bw_bytes bw_resource_server_metadata_path(const bw_resource_server *server, size_t index);

/**
 * Where challenges say that the metadata is. Good for as long as the handle.
 */
bw_bytes bw_resource_server_metadata_url(const bw_resource_server *server);

/**
 * The token of a request: the one `Authorization` header, its scheme in any case (RFC 6750, section 2.1). `query` is what
 * stands behind the question mark, or nothing. `*token` is a part of that header's value.
 *
 * BW_ERROR_DENIED if there is none or the credentials are malformed; `*denial` is the refusal then.
 */
bw_status bw_resource_server_bearer(bw_resource_server *server,
                                    const bw_pair *headers,
                                    size_t header_count,
                                    bw_bytes query,
                                    bw_bytes *token,
                                    bw_denial *denial);

/**
 * Judges the claims of a token that was found genuine, a JSON object: the payload of a JWT whose signature was verified with
 * a key of its `iss`, or the answer of an introspection endpoint (RFC 7662, section 2.2). If the host knows issuer or
 * audience by other means, it adds `iss` or `aud` to the claims: a token that names none is refused. `exp` may be absent only
 * if `active` is true. `now` is in milliseconds since 1970.
 *
 * The caller frees `*principal` with `bw_principal_free`. BW_ERROR_DENIED if the token is refused; `*denial` says how then.
 * BW_ERROR_INVALID_JSON if the claims are no JSON.
 */
bw_status bw_principal_new(bw_resource_server *server,
                           uint64_t now,
                           bw_bytes claims,
                           bw_principal **principal,
                           bw_denial *denial);

/**
 * Frees a principal. NULL is nothing to free.
 */
void bw_principal_free(bw_principal *principal);

/**
 * Whether a principal may do what needs these scopes. `implies` says whether a scope that was granted stands for one that is
 * needed; NULL: none does. A scope always stands for itself.
 *
 * BW_ERROR_DENIED if not; `*denial` names all scopes that are needed then.
 */
bw_status bw_resource_server_authorize(bw_resource_server *server,
                                       const bw_principal *principal,
                                       const bw_bytes *needed,
                                       size_t count,
                                       bw_scope_implies implies,
                                       void *context,
                                       bw_denial *denial);

/**
 * A refusal for a reason, a number of `bw_denial_reason`. `scopes` are those that the operation needs, or that suffice for
 * a start.
 */
bw_status bw_resource_server_deny(bw_resource_server *server,
                                  int32_t reason,
                                  const bw_bytes *scopes,
                                  size_t count,
                                  bw_denial *denial);

/**
 * A refusal that names the scopes of the configuration, for requests that are refused before it is known what they want.
 */
bw_status bw_resource_server_deny_unknown(bw_resource_server *server, int32_t reason, bw_denial *denial);

/**
 * Puts a URL into the buffer at which the metadata of an authorization server may be, in the order in which it is looked for
 * (basic/authorization, Authorization Server Metadata Discovery): for hosts that look for its keys there. What is found must
 * name `issuer`, byte for byte. `*url` is the text there.
 *
 * BW_ERROR_NOT_FOUND beyond the last, and if the issuer cannot be used. BW_ERROR_BUFFER_TOO_SMALL if it does not fit;
 * `url->length` is then what is needed, and its data NULL.
 */
bw_status bw_server_metadata_url(bw_bytes issuer, size_t index, char *buffer, size_t size, bw_bytes *url);

/**
 * The authorization server that vouches for the principal.
 */
bw_bytes bw_principal_issuer(const bw_principal *principal);

/**
 * Its identifier there: a user, or a client that acts for itself.
 */
bw_bytes bw_principal_subject(const bw_principal *principal);

/**
 * The client through which it comes, if that is known.
 */
bw_bytes bw_principal_client(const bw_principal *principal);

/**
 * A scope that was granted. Nothing beyond the last.
 */
bw_bytes bw_principal_scope(const bw_principal *principal, size_t index);

/**
 * When the token expires, in milliseconds since 1970; BW_NEVER if that is not known.
 */
uint64_t bw_principal_expires_at(const bw_principal *principal);

/**
 * Puts a text into the buffer that is the same for the same issuer, subject and client, and for no others, and tells
 * nothing of the three: give it as the `principal` of `bw_request_head`, so that sessions and states of requests are bound to
 * it. `*key` is the text there.
 *
 * BW_ERROR_BUFFER_TOO_SMALL if it does not fit, which 64 bytes prevent; `key->length` is then what is needed, and its data
 * NULL.
 */
bw_status bw_principal_key(const bw_principal *principal, char *buffer, size_t size, bw_bytes *key);

/* ---- The end of a child process -------------------------------------------------------------------------- */

/**
 * Watches over a child that runs, with the waits BW_TIMEOUT_CHILD_EXIT and BW_TIMEOUT_CHILD_TERMINATE of the configuration.
 *
 * The caller frees `*child` with `bw_child_shutdown_free`; `config` stays the caller's. BW_ERROR_NULL_ARGUMENT.
 */
bw_status bw_child_shutdown_new(const bw_client_config *config, bw_child_shutdown **child);

/**
 * Frees it. NULL is nothing to free.
 */
void bw_child_shutdown_free(bw_child_shutdown *child);

/**
 * Begins to end the child. Harmless when begun before. BW_ERROR_NULL_ARGUMENT.
 */
bw_status bw_child_shutdown_start(bw_child_shutdown *child);

/**
 * The child has exited: nothing more is due. BW_ERROR_NULL_ARGUMENT.
 */
bw_status bw_child_shutdown_exited(bw_child_shutdown *child);

/**
 * The next action, each once; `now` is when it is carried out. BW_CHILD_NOTHING if there is none for now.
 */
bw_child_action bw_child_shutdown_poll_action(bw_child_shutdown *child, uint64_t now);

/**
 * When to call `bw_child_shutdown_handle_timeout` at the latest; BW_NEVER if nothing is due.
 */
uint64_t bw_child_shutdown_poll_timeout(const bw_child_shutdown *child);

/**
 * Lets time pass. Harmless when nothing is due. BW_ERROR_NULL_ARGUMENT.
 */
bw_status bw_child_shutdown_handle_timeout(bw_child_shutdown *child, uint64_t now);

/**
 * Whether the child has exited. True for NULL.
 */
bool bw_child_shutdown_is_finished(const bw_child_shutdown *child);

/* ---- JSON: readers --------------------------------------------------------------------------------------- */

/**
 * Whether a text is one JSON value (RFC 8259): BW_OK, or BW_ERROR_INVALID_JSON.
 */
bw_status bw_json_check(bw_bytes json);

/**
 * What is under a JSON Pointer (RFC 6901), such as "/arguments/text" or "/content/0"; "" is the whole. The pointer ends
 * with a NUL; in it `~1` stands for `/` and `~0` for `~`. BW_JSON_NONE if there is no value there, or `json` is not JSON.
 */
bw_json_type bw_json_get_type(bw_bytes json, const char *pointer);

/**
 * The text of the value under a JSON Pointer, of any type, as it is written. It is a part of `json` and good for as long.
 *
 * This function and those below read `json` as a whole, so that it need not be checked before. Names of members are
 * compared decoded; of members of one name the last one counts. All answer BW_ERROR_INVALID_JSON, BW_ERROR_NOT_FOUND,
 * BW_ERROR_INVALID_ARGUMENT for a pointer that is none, BW_ERROR_NOT_UTF8 and BW_ERROR_NULL_ARGUMENT; nothing is written
 * then.
 */
bw_status bw_json_get(bw_bytes json, const char *pointer, bw_bytes *value);

/**
 * The string under a JSON Pointer, decoded. Without escapes it is a part of `json`, good for as long, and the buffer is
 * not used; otherwise it is written to `buffer`, which has `size` bytes and may be NULL if that is 0. No NUL is added.
 *
 * BW_ERROR_WRONG_TYPE; BW_ERROR_NOT_UTF8 for a lone surrogate, which is no character; BW_ERROR_BUFFER_TOO_SMALL, and then
 * `string` has the length that is needed and NULL data. Others as for `bw_json_get`.
 */
bw_status bw_json_get_string(bw_bytes json, const char *pointer, char *buffer, size_t size, bw_bytes *string);

/**
 * Decodes the contents of a JSON string, such as a key that `bw_json_next` gave: as `bw_json_get_string`.
 * BW_ERROR_INVALID_JSON if they are none.
 */
bw_status bw_json_unescape(bw_bytes contents, char *buffer, size_t size, bw_bytes *string);

/**
 * The integer under a JSON Pointer, however it is written (`10`, `1e1`, `10.0`). BW_ERROR_WRONG_TYPE,
 * BW_ERROR_OUT_OF_RANGE if it is none of this type: it is never rounded. Others as for `bw_json_get`.
 */
bw_status bw_json_get_i64(bw_bytes json, const char *pointer, int64_t *value);

/**
 * As `bw_json_get_i64`, without sign.
 */
bw_status bw_json_get_u64(bw_bytes json, const char *pointer, uint64_t *value);

/**
 * The number under a JSON Pointer as the nearest one of double precision. BW_ERROR_WRONG_TYPE; BW_ERROR_OUT_OF_RANGE if it
 * is beyond the range, or an integer that would lose digits. Others as for `bw_json_get`.
 */
bw_status bw_json_get_double(bw_bytes json, const char *pointer, double *value);

/**
 * The truth value under a JSON Pointer. BW_ERROR_WRONG_TYPE; others as for `bw_json_get`.
 */
bw_status bw_json_get_bool(bw_bytes json, const char *pointer, bool *value);

/**
 * How many elements or members the array or object under a JSON Pointer has. BW_ERROR_WRONG_TYPE; others as for
 * `bw_json_get`.
 */
bw_status bw_json_get_length(bw_bytes json, const char *pointer, size_t *length);

/**
 * Begins to go through the array or object under a JSON Pointer with `bw_json_next`. `json` has to stay as it is
 * meanwhile; nothing is to be freed. BW_ERROR_WRONG_TYPE; others as for `bw_json_get`.
 */
bw_status bw_json_iterate(bw_bytes json, const char *pointer, bw_json_iterator *iterator);

/**
 * The next element or member; false, and nothing written, after the last. `key` is the name of a member as it is written,
 * without quotes (see `bw_json_unescape`), and nothing for an element; `value` is the text of the value. Both are parts of
 * the JSON and good for as long; either may be NULL.
 */
bool bw_json_next(bw_json_iterator *iterator, bw_bytes *key, bw_bytes *value);

/* ---- JSON: a writer -------------------------------------------------------------------------------------- */

/**
 * Begins to write. With a `buffer` of `size` bytes the text goes there, and has to fit; the buffer stays the caller's and
 * must live as long as the writer. With NULL the text goes to memory that grows, and `bw_json_writer_free` frees it.
 * BW_ERROR_NULL_ARGUMENT.
 *
 * What the writer held before is not freed: it may never have been a writer.
 */
bw_status bw_json_writer_init(bw_json_writer *writer, char *buffer, size_t size);

/**
 * Frees what the writer holds and begins anew, as after `bw_json_writer_init` with the same buffer. NULL is nothing to free.
 */
void bw_json_writer_free(bw_json_writer *writer);

/**
 * The text that was written, if it is one whole JSON value. It is good until the next write, or until the writer is freed.
 *
 * BW_ERROR_WRITER_MISUSED if a value was written where none can stand, or what was begun is not ended;
 * BW_ERROR_BUFFER_TOO_SMALL, and `json` then has the length that is needed and NULL data; BW_ERROR_INVALID_JSON or
 * BW_ERROR_NOT_UTF8 for something that was given; BW_ERROR_OUT_OF_RANGE for a number that JSON has not. In the embedded
 * profile also BW_ERROR_LIMIT_MEMORY for a writer that could not grow.
 */
bw_status bw_json_finish(bw_json_writer *writer, bw_bytes *json);

/**
 * Begins an object: keys and values follow.
 */
void bw_json_begin_object(bw_json_writer *writer);

/**
 * Ends an object.
 */
void bw_json_end_object(bw_json_writer *writer);

/**
 * Begins an array: values follow.
 */
void bw_json_begin_array(bw_json_writer *writer);

/**
 * Ends an array.
 */
void bw_json_end_array(bw_json_writer *writer);

/**
 * Writes the key of a member, not escaped yet; its value follows.
 */
void bw_json_put_key(bw_json_writer *writer, bw_bytes key);

/**
 * Writes a string, which is escaped as needed.
 */
void bw_json_put_string(bw_json_writer *writer, bw_bytes string);

/**
 * Writes an integer.
 */
void bw_json_put_i64(bw_json_writer *writer, int64_t value);

/**
 * Writes an integer without sign.
 */
void bw_json_put_u64(bw_json_writer *writer, uint64_t value);

/**
 * Writes a number with the fewest digits that give it back exactly. Infinities and NaN are not in JSON:
 * BW_ERROR_OUT_OF_RANGE.
 */
void bw_json_put_double(bw_json_writer *writer, double value);

/**
 * Writes a truth value.
 */
void bw_json_put_bool(bw_json_writer *writer, bool value);

/**
 * Writes `null`.
 */
void bw_json_put_null(bw_json_writer *writer);

/**
 * Writes a value that is JSON already, such as one that a reader gave.
 */
void bw_json_put_json(bw_json_writer *writer, bw_bytes json);

/**
 * Writes bytes as a string of base64 (RFC 4648, section 4), as images and sounds travel.
 */
void bw_json_put_base64(bw_json_writer *writer, bw_bytes data);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/* ---- Texts ----------------------------------------------------------------------------------------------- */

/** The bytes of a string literal. */
#define BW_LITERAL(text) bw_text("" text, sizeof(text) - 1)

/** `length` bytes from `text` on. */
static inline bw_bytes bw_text(const char *text, size_t length)
{
    bw_bytes bytes;
    bytes.data = (const uint8_t *)text;
    bytes.length = length;
    return bytes;
}

/** The bytes of a string that ends with a NUL; nothing for NULL. */
static inline bw_bytes bw_string(const char *text)
{
    size_t length = 0;
    if (text != NULL)
        while (text[length] != '\0')
            ++length;
    return bw_text(text, length);
}

/** Nothing, where that is allowed. */
static inline bw_bytes bw_none(void)
{
    return bw_text(NULL, 0);
}

/** Whether there are bytes, possibly none of them: false for nothing. */
static inline bool bw_is_some(bw_bytes bytes)
{
    return bytes.data != NULL;
}

/** Whether two runs of bytes are equal. Nothing equals an empty text. */
static inline bool bw_equals(bw_bytes one, bw_bytes other)
{
    size_t at = 0;
    if (one.length != other.length)
        return false;
    while (at < one.length && one.data[at] == other.data[at])
        ++at;
    return at == one.length;
}

#endif  /* BAREWIRE_H */
