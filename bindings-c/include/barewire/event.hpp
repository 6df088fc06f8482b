/**
 * @file
 * What servers and clients tell their application. Part of barewire.hpp.
 *
 * Each event has the name that it has in the core, and `kind`, its number in `bw_kind`. What its members point to is
 * good until the next `poll_event`.
 */
#ifndef BAREWIRE_EVENT_HPP
#define BAREWIRE_EVENT_HPP

#include "context.hpp"

namespace barewire
{

/** An event of a library that is newer than these headers. */
struct UnknownEvent {
    /** The number that it has instead of one of `bw_kind`. */
    int kind;
    /** The event, for the functions of barewire.h. */
    const bw_event *event;
};

/** Any other notification, extensions included. */
struct NotificationReceived {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_NOTIFICATION_RECEIVED;
    /** The method. */
    std::string_view method;
    /** The parameters, a JSON object, if there are any. */
    json::View params;
    /** The session that it came in; for servers, where there is one. */
    std::optional<SessionHandle> session;

    /** What barewire.h tells. */
    explicit NotificationReceived(const bw_event *event) noexcept
        : method(detail::text_of<bw_event_method>(event)), params(detail::json_of<bw_event_params>(event)),
          session(detail::optional_number<SessionHandle>(bw_event_session(event)))
    {
    }
};

/** The peer deviated from the protocol in a way that did not matter. */
struct ViolationTolerated {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_VIOLATION_TOLERATED;
    /** What was wrong. */
    Violation violation;
    /** The request that it concerns, if any. */
    std::optional<RequestHandle> request;
    /** The bytes as they arrived, or their head up to the limit; not always UTF-8. */
    std::string_view bytes;

    /** What barewire.h tells. */
    explicit ViolationTolerated(const bw_event *event) noexcept
        : violation(event), request(detail::optional_number<RequestHandle>(bw_event_request(event))),
          bytes(detail::text_of<bw_event_bytes>(event))
    {
    }
};

/** The peer sent something unusable; the connection goes on. */
struct MessageDiscarded {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_MESSAGE_DISCARDED;
    /** What was wrong. */
    Violation violation;
    /** The bytes as they arrived, or their head up to the limit; not always UTF-8. */
    std::string_view bytes;

    /** What barewire.h tells. */
    explicit MessageDiscarded(const bw_event *event) noexcept
        : violation(event), bytes(detail::text_of<bw_event_bytes>(event))
    {
    }
};

/** The last event. */
struct Disconnected {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_DISCONNECTED;
    /** Why. */
    Failure failure;

    /** What barewire.h tells. */
    explicit Disconnected(const bw_event *event) noexcept : failure(event) {}
};

/** What servers tell. */
namespace server
{

using barewire::Disconnected;
using barewire::MessageDiscarded;
using barewire::NotificationReceived;
using barewire::UnknownEvent;
using barewire::ViolationTolerated;

/** A registered tool is called. To be answered once, as all requests that servers are told of. */
struct ToolCalled {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_TOOL_CALLED;
    /** The request. */
    RequestHandle request;
    /** The tool. */
    std::string_view name;
    /** The arguments, a JSON object, if there are any. They are not checked against the tool's schema. */
    json::View arguments;
    /** Who asks, and how. */
    RequestContext context;

    /** What barewire.h tells. */
    explicit ToolCalled(const bw_event *event) noexcept
        : request(detail::request_of(event)), name(detail::text_of<bw_event_name>(event)),
          arguments(detail::json_of<bw_event_arguments>(event)), context(event)
    {
    }
};

/** A resource is read: registered itself, or matched by a registered template. */
struct ResourceReadRequested {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_RESOURCE_READ_REQUESTED;
    /** The request. */
    RequestHandle request;
    /** The URI as the client wrote it. */
    std::string_view uri;
    /** The registered template that matched, if it was one. */
    std::optional<std::string_view> uri_template;
    /** The variables of the template. */
    Variables variables;
    /** Who asks, and how. */
    RequestContext context;

    /** What barewire.h tells. */
    explicit ResourceReadRequested(const bw_event *event) noexcept
        : request(detail::request_of(event)), uri(detail::text_of<bw_event_uri>(event)),
          uri_template(detail::optional_text_of<bw_event_template>(event)), variables(event), context(event)
    {
    }
};

/** A registered prompt is asked for. */
struct PromptRequested {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_PROMPT_REQUESTED;
    /** The request. */
    RequestHandle request;
    /** The prompt. */
    std::string_view name;
    /** The arguments, a JSON object, if there are any. */
    json::View arguments;
    /** Who asks, and how. */
    RequestContext context;

    /** What barewire.h tells. */
    explicit PromptRequested(const bw_event *event) noexcept
        : request(detail::request_of(event)), name(detail::text_of<bw_event_name>(event)),
          arguments(detail::json_of<bw_event_arguments>(event)), context(event)
    {
    }
};

/** Suggestions for an argument are asked for. */
struct CompletionRequested {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_COMPLETION_REQUESTED;
    /** The request. */
    RequestHandle request;
    /** The prompt that the argument belongs to, if it is one. */
    std::optional<std::string_view> name;
    /** The resource or template that it belongs to, if it is one. */
    std::optional<std::string_view> uri;
    /** The name of the argument. */
    std::string_view argument;
    /** What the user has typed so far. */
    std::string_view value;
    /** Arguments settled before, a JSON object, if there are any. */
    json::View arguments;
    /** Who asks, and how. */
    RequestContext context;

    /** What barewire.h tells. */
    explicit CompletionRequested(const bw_event *event) noexcept
        : request(detail::request_of(event)), name(detail::optional_text_of<bw_event_name>(event)),
          uri(detail::optional_text_of<bw_event_uri>(event)), argument(detail::text_of<bw_event_argument>(event)),
          value(detail::text_of<bw_event_value>(event)), arguments(detail::json_of<bw_event_arguments>(event)),
          context(event)
    {
    }
};

/** A method that the application asked to see. */
struct RequestReceived {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_REQUEST_RECEIVED;
    /** The request. */
    RequestHandle request;
    /** The method. */
    std::string_view method;
    /** The parameters, a JSON object, if there are any. */
    json::View params;
    /** Who asks, and how. */
    RequestContext context;

    /** What barewire.h tells. */
    explicit RequestReceived(const bw_event *event) noexcept
        : request(detail::request_of(event)), method(detail::text_of<bw_event_method>(event)),
          params(detail::json_of<bw_event_params>(event)), context(event)
    {
    }
};

/** The client no longer wants the answer. A late answer is accepted and sends nothing. */
struct RequestCancelled {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_REQUEST_CANCELLED;
    /** The request. */
    RequestHandle request;
    /** Why, if the client said so. */
    std::optional<std::string_view> reason;

    /** What barewire.h tells. */
    explicit RequestCancelled(const bw_event *event) noexcept
        : request(detail::request_of(event)), reason(detail::optional_text_of<bw_event_reason>(event))
    {
    }
};

/** A client watches something. */
struct SubscriptionOpened {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_SUBSCRIPTION_OPENED;
    /** The subscription. */
    SubscriptionHandle subscription;
    /** The lists that it watches. */
    Watches watches;
    /** The resources that it watches. */
    WatchedUris uris;

    /** What barewire.h tells. */
    explicit SubscriptionOpened(const bw_event *event) noexcept
        : subscription(detail::subscription_of(event)), watches(event), uris(event)
    {
    }
};

/** A client no longer watches. */
struct SubscriptionClosed {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_SUBSCRIPTION_CLOSED;
    /** The subscription. */
    SubscriptionHandle subscription;

    /** What barewire.h tells. */
    explicit SubscriptionClosed(const bw_event *event) noexcept : subscription(detail::subscription_of(event)) {}
};

/** A legacy client has finished its handshake. */
struct SessionOpened {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_SESSION_OPENED;
    /** The session. */
    SessionHandle session;
    /** The revision in use. */
    bw_revision revision;
    /** The client's name and version object, if it gave one. It identifies nobody. */
    json::View peer;
    /** What the client declared. */
    Capabilities capabilities;

    /** What barewire.h tells. */
    explicit SessionOpened(const bw_event *event) noexcept
        : session(detail::session_of(event)), revision(static_cast<bw_revision>(bw_event_revision(event))),
          peer(detail::json_of<bw_event_peer>(event)), capabilities(event)
    {
    }
};

/** A legacy session is over. */
struct SessionClosed {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_SESSION_CLOSED;
    /** The session. */
    SessionHandle session;

    /** What barewire.h tells. */
    explicit SessionClosed(const bw_event *event) noexcept : session(detail::session_of(event)) {}
};

/** The end of input was reached, and every owed answer was given or the time for it passed. */
struct Drained {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_DRAINED;
    /** Requests that were never answered. */
    AbandonedRequests abandoned;

    /** What barewire.h tells. */
    explicit Drained(const bw_event *event) noexcept : abandoned(event) {}
};

/** A request to a legacy client ended. */
struct ResponseReceived {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_RESPONSE_RECEIVED;
    /** The request. */
    RequestHandle request;
    /** The session. */
    SessionHandle session;
    /** The result, a JSON object; nothing if there is none. */
    json::View result;
    /** Why there is no result. */
    std::optional<Failure> failure;

    /** What barewire.h tells. */
    explicit ResponseReceived(const bw_event *event) noexcept
        : request(detail::request_of(event)), session(detail::session_of(event)),
          result(detail::json_of<bw_event_result>(event)),
          failure(bw_event_code(event) != 0 ? std::optional(Failure(event)) : std::nullopt)
    {
    }
};

/** HTTP: a session id that is not known here. Load the session, import it and answer with `http_resolve_session`. */
struct SessionRequested {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_SESSION_REQUESTED;
    /** The exchange that waits. */
    ExchangeHandle exchange;
    /** The id, as the client wrote it. */
    std::string_view id;

    /** What barewire.h tells. */
    explicit SessionRequested(const bw_event *event) noexcept
        : exchange(detail::exchange_of(event)), id(detail::text_of<bw_event_id>(event))
    {
    }
};

/** HTTP: a session has got its id. */
struct SessionNamed {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_SESSION_NAMED;
    /** The session. */
    SessionHandle session;
    /** The id, which is a secret. */
    std::string_view id;

    /** What barewire.h tells. */
    explicit SessionNamed(const bw_event *event) noexcept
        : session(detail::session_of(event)), id(detail::text_of<bw_event_id>(event))
    {
    }
};

/** HTTP: keep this event of a stream. */
struct EventAppended {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_EVENT_APPENDED;
    /** The session. */
    SessionHandle session;
    /** The stream. */
    std::string_view stream;
    /** The id of the event. */
    std::string_view id;
    /** The message to keep; empty for the first event of a stream. */
    std::string_view data;

    /** What barewire.h tells. */
    explicit EventAppended(const bw_event *event) noexcept
        : session(detail::session_of(event)), stream(detail::text_of<bw_event_stream>(event)),
          id(detail::text_of<bw_event_id>(event)), data(detail::text_of<bw_event_data>(event))
    {
    }
};

/** HTTP: give the events after `after` with `http_replay`. */
struct ReplayRequested {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_REPLAY_REQUESTED;
    /** The exchange that waits. */
    ExchangeHandle exchange;
    /** The session. */
    SessionHandle session;
    /** The stream. */
    std::string_view stream;
    /** The id of the last event that the client got. */
    std::string_view after;

    /** What barewire.h tells. */
    explicit ReplayRequested(const bw_event *event) noexcept
        : exchange(detail::exchange_of(event)), session(detail::session_of(event)),
          stream(detail::text_of<bw_event_stream>(event)), after(detail::text_of<bw_event_after>(event))
    {
    }
};

/** HTTP: nobody will ask for the streams of this session any more. */
struct StreamsForgotten {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_STREAMS_FORGOTTEN;
    /** The session. */
    SessionHandle session;

    /** What barewire.h tells. */
    explicit StreamsForgotten(const bw_event *event) noexcept : session(detail::session_of(event)) {}
};

/** What a server tells, to be visited. */
using Event =
    std::variant<ToolCalled, ResourceReadRequested, PromptRequested, CompletionRequested, RequestReceived,
                 RequestCancelled, SubscriptionOpened, SubscriptionClosed, SessionOpened, SessionClosed, Drained,
                 ResponseReceived, SessionRequested, SessionNamed, EventAppended, ReplayRequested, StreamsForgotten,
                 NotificationReceived, ViolationTolerated, MessageDiscarded, Disconnected, UnknownEvent>;

} // namespace server

/** What clients tell. */
namespace client
{

using barewire::Disconnected;
using barewire::MessageDiscarded;
using barewire::NotificationReceived;
using barewire::UnknownEvent;
using barewire::ViolationTolerated;

/** Era and revision are settled; queued requests go out. It comes once more if a stored verdict turns out wrong. */
struct Ready {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_READY;
    /** The revision in use. */
    bw_revision revision;
    /** The server's name and version object, if it gave one. It identifies nobody. */
    json::View peer;
    /** What the server declared. */
    Capabilities capabilities;
    /** Guidance for the model. */
    std::optional<std::string_view> instructions;

    /** What barewire.h tells. */
    explicit Ready(const bw_event *event) noexcept
        : revision(static_cast<bw_revision>(bw_event_revision(event))), peer(detail::json_of<bw_event_peer>(event)),
          capabilities(event), instructions(detail::optional_text_of<bw_event_instructions>(event))
    {
    }
};

/** HTTP: the server had lost the session, and a new one is there (up to 2025-11-25). */
struct SessionReplaced {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_SESSION_REPLACED;
    /** The revision in use. */
    bw_revision revision;
    /** The server's name and version object, if it gave one. It identifies nobody. */
    json::View peer;
    /** What the server declared. */
    Capabilities capabilities;
    /** Guidance for the model. */
    std::optional<std::string_view> instructions;

    /** What barewire.h tells. */
    explicit SessionReplaced(const bw_event *event) noexcept
        : revision(static_cast<bw_revision>(bw_event_revision(event))), peer(detail::json_of<bw_event_peer>(event)),
          capabilities(event), instructions(detail::optional_text_of<bw_event_instructions>(event))
    {
    }
};

/** The server ended on the probe. Start it afresh and call `restart`. It comes at most once. */
struct RestartRequired {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_RESTART_REQUIRED;

    /** What barewire.h tells. */
    explicit RestartRequired(const bw_event *) noexcept {}
};

/** A request ended well. */
struct ResponseReceived {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_RESPONSE_RECEIVED;
    /** The request. */
    RequestHandle request;
    /** The result object as the server wrote it. */
    json::View result;
    /** How long it may be reused, if that is known. */
    std::optional<Freshness> freshness;

    /** What barewire.h tells. */
    explicit ResponseReceived(const bw_event *event) noexcept
        : request(detail::request_of(event)), result(detail::json_of<bw_event_result>(event)),
          freshness(detail::freshness_of(event))
    {
    }
};

/** A request ended without a result. */
struct RequestFailed {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_REQUEST_FAILED;
    /** The request. */
    RequestHandle request;
    /** Why. */
    Failure failure;

    /** What barewire.h tells. */
    explicit RequestFailed(const bw_event *event) noexcept : request(detail::request_of(event)), failure(event) {}
};

/** The server asks something; answer each question. */
struct InputRequired {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_INPUT_REQUIRED;
    /** The request that it asks for; nothing where the revision does not say. */
    std::optional<RequestHandle> request;
    /** The questions. */
    Inputs inputs;
    /** How many times this request has asked, from 1. */
    std::uint32_t round;

    /** What barewire.h tells. */
    explicit InputRequired(const bw_event *event) noexcept
        : request(detail::optional_number<RequestHandle>(bw_event_request(event))), inputs(event),
          round(bw_event_round(event))
    {
    }
};

/** A question no longer stands. */
struct InputWithdrawn {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_INPUT_WITHDRAWN;
    /** The question. */
    InputHandle input;

    /** What barewire.h tells. */
    explicit InputWithdrawn(const bw_event *event) noexcept : input(InputHandle{bw_event_input(event)}) {}
};

/** HTTP: a tool was left out of a list that a request asked for (from 2026-07-28). */
struct ToolOmitted {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_TOOL_OMITTED;
    /** The request. */
    RequestHandle request;
    /** Its place in the list as the server sent it, from 0. */
    std::size_t index;
    /** Its name, if it has one. */
    std::optional<std::string_view> name;
    /** The member of the definition that is wrong. */
    std::string_view path;
    /** What is wrong with it. */
    std::string_view reason;

    /** What barewire.h tells. */
    explicit ToolOmitted(const bw_event *event) noexcept
        : request(detail::request_of(event)), index(bw_event_index(event)),
          name(detail::optional_text_of<bw_event_name>(event)), path(detail::text_of<bw_event_path>(event)),
          reason(detail::text_of<bw_event_reason>(event))
    {
    }
};

/** A request reports progress. */
struct ProgressReceived {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_PROGRESS_RECEIVED;
    /** The request. */
    RequestHandle request;
    /** How far it is. */
    double progress;
    /** How far it will go, if that is known. */
    std::optional<double> total;
    /** What it is doing. */
    std::optional<std::string_view> message;
    /** Whether it is more than the last time, as the protocol wants it. */
    bool increasing;

    /** What barewire.h tells. */
    explicit ProgressReceived(const bw_event *event) noexcept
        : request(detail::request_of(event)), progress(bw_event_progress(event)), total(detail::total_of(event)),
          message(detail::optional_text_of<bw_event_message>(event)), increasing(bw_event_is_increasing(event))
    {
    }
};

/** The server logs something. */
struct LogReceived {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_LOG_RECEIVED;
    /** The request that it belongs to, if that is certain. */
    std::optional<RequestHandle> request;
    /** Its severity; nothing for an unknown one. */
    std::optional<bw_log_level> log_level;
    /** Which part of the server speaks. */
    std::optional<std::string_view> logger;
    /** Any JSON value. */
    json::View data;

    /** What barewire.h tells. */
    explicit LogReceived(const bw_event *event) noexcept
        : request(detail::optional_number<RequestHandle>(bw_event_request(event))),
          log_level(detail::optional_number<bw_log_level>(bw_event_log_level(event))),
          logger(detail::optional_text_of<bw_event_logger>(event)), data(detail::json_of<bw_event_data>(event))
    {
    }
};

/** A subscription is in force. */
struct SubscriptionAcknowledged {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_SUBSCRIPTION_ACKNOWLEDGED;
    /** The subscription. */
    SubscriptionHandle subscription;
    /** The lists that the server agreed to. */
    Watches watches;
    /** The resources that the server agreed to. */
    WatchedUris uris;

    /** What barewire.h tells. */
    explicit SubscriptionAcknowledged(const bw_event *event) noexcept
        : subscription(detail::subscription_of(event)), watches(event), uris(event)
    {
    }
};

/** A subscription is over. */
struct SubscriptionEnded {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_SUBSCRIPTION_ENDED;
    /** The subscription. */
    SubscriptionHandle subscription;
    /** Whether it ended in order; if not, changes may have been missed. */
    bool graceful;

    /** What barewire.h tells. */
    explicit SubscriptionEnded(const bw_event *event) noexcept
        : subscription(detail::subscription_of(event)), graceful(bw_event_is_graceful(event))
    {
    }
};

/** A list of the server changed: fetch it again. */
struct ListChanged {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_LIST_CHANGED;
    /** Which list. */
    bw_list_kind list;
    /** The subscription that asked for it, where there is one. */
    std::optional<SubscriptionHandle> subscription;

    /** What barewire.h tells. */
    explicit ListChanged(const bw_event *event) noexcept
        : list(static_cast<bw_list_kind>(bw_event_list(event))),
          subscription(detail::optional_number<SubscriptionHandle>(bw_event_subscription(event)))
    {
    }
};

/** A resource changed: read it again. */
struct ResourceUpdated {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_RESOURCE_UPDATED;
    /** The resource, possibly one below the URI that was subscribed to. */
    std::string_view uri;
    /** The subscription that asked for it, where there is one. */
    std::optional<SubscriptionHandle> subscription;

    /** What barewire.h tells. */
    explicit ResourceUpdated(const bw_event *event) noexcept
        : uri(detail::text_of<bw_event_uri>(event)),
          subscription(detail::optional_number<SubscriptionHandle>(bw_event_subscription(event)))
    {
    }
};

/** HTTP: the server wants authorization. Answer with `http_authorized` or `http_unauthorized`. */
struct AuthorizationRequired {
    /** Its number. */
    static constexpr bw_kind kind = BW_EVENT_AUTHORIZATION_REQUIRED;
    /** The exchange that waits. */
    ExchangeHandle exchange;
    /** The status: 401 or 403. */
    std::uint16_t http_status;
    /** The challenges of the server. */
    Challenges challenges;
    /** The value of `DPoP-Nonce`, if one came (RFC 9449, section 9). */
    std::optional<std::string_view> dpop_nonce;
    /** What was tried, for `bw_refusal`. */
    std::string_view operation;

    /** What barewire.h tells. */
    explicit AuthorizationRequired(const bw_event *event) noexcept
        : exchange(detail::exchange_of(event)), http_status(bw_event_http_status(event)), challenges(event),
          dpop_nonce(detail::optional_text_of<bw_event_dpop_nonce>(event)),
          operation(detail::text_of<bw_event_operation>(event))
    {
    }
};

/** What a client tells, to be visited. */
using Event = std::variant<Ready, SessionReplaced, RestartRequired, ResponseReceived, RequestFailed, InputRequired,
                           InputWithdrawn, ToolOmitted, ProgressReceived, LogReceived, SubscriptionAcknowledged,
                           SubscriptionEnded, ListChanged, ResourceUpdated, AuthorizationRequired, NotificationReceived,
                           ViolationTolerated, MessageDiscarded, Disconnected, UnknownEvent>;

} // namespace client

namespace detail
{

/** The event as the first type that has its number, from that index on. */
template <class Event, std::size_t Index = 0> Event event_of(const bw_event *event, bw_kind kind) noexcept
{
    using Type = std::variant_alternative_t<Index, Event>;
    if constexpr (std::is_same_v<Type, UnknownEvent>)
        return UnknownEvent{kind, event};
    else if (kind == Type::kind)
        return Event(std::in_place_index<Index>, event);
    else
        return event_of<Event, Index + 1>(event, kind);
}

/** The event, if there is one. */
template <class Event> std::optional<Event> polled(const bw_event *event) noexcept
{
    return event ? std::optional<Event>(event_of<Event>(event, bw_event_kind(event))) : std::nullopt;
}

} // namespace detail
} // namespace barewire

#endif
