/**
 * @file
 * What comes with events: lists, failures, the context of a request. Part of barewire.hpp.
 */
#ifndef BAREWIRE_CONTEXT_HPP
#define BAREWIRE_CONTEXT_HPP

#include "json.hpp"

namespace barewire
{

/** A list that came with an event; its values are read when they are asked for. */
template <class T, std::size_t (*Count)(const bw_event *), T (*At)(const bw_event *, std::size_t)> class List
{
  public:
    /** Where a loop stands. */
    class Iterator
    {
      public:
        /** It goes forward. */
        using iterator_category = std::input_iterator_tag;
        /** What it leads to. */
        using value_type = T;
        /** How far two are from each other. */
        using difference_type = std::ptrdiff_t;
        /** There are no places. */
        using pointer = void;
        /** What it leads to, as a value. */
        using reference = T;

        /** The place of that index. */
        Iterator(const bw_event *event, std::size_t index) noexcept : event_(event), index_(index) {}

        /** The value. */
        T operator*() const noexcept { return At(event_, index_); }

        /** Goes on to the next one. */
        Iterator &operator++() noexcept { return ++index_, *this; }

        /** Goes on to the next one. */
        Iterator operator++(int) noexcept { return Iterator(event_, index_++); }

        /** Whether both are at the same place. */
        bool operator==(const Iterator &other) const noexcept { return index_ == other.index_; }

        /** Whether they are at different places. */
        bool operator!=(const Iterator &other) const noexcept { return index_ != other.index_; }

      private:
        const bw_event *event_;
        std::size_t index_;
    };

    /** That list of an event. */
    explicit List(const bw_event *event) noexcept : event_(event) {}

    /** How many values there are. */
    std::size_t size() const noexcept { return Count(event_); }

    /** Whether there are none. */
    bool empty() const noexcept { return size() == 0; }

    /** The value at an index; an empty one beyond the last. */
    T operator[](std::size_t index) const noexcept { return At(event_, index); }

    /** The first value. */
    Iterator begin() const noexcept { return Iterator(event_, 0); }

    /** Behind the last value. */
    Iterator end() const noexcept { return Iterator(event_, size()); }

  protected:
    /** Where it came with. */
    const bw_event *event_;
};

/** An error that a peer answered. */
struct RpcError {
    /** The code: a number of `bw_rpc_code`, or another one. */
    std::int64_t code;
    /** What was wrong, for people. */
    std::string_view message;
    /** What came with it, if anything. */
    json::View data;
};

/** An answer of a client to a question of this server: a result or an error. */
struct Answer {
    /** The key of the question. */
    std::string_view key;
    /** The result, a JSON object; nothing if the client refused, which only legacy clients do. */
    json::View result;
    /** Why there is no result. */
    std::optional<RpcError> error;
};

/** A question of the server to the client's user or model. */
struct Input {
    /** Names the question; an answer is given to it. */
    InputHandle input;
    /** What is asked for. */
    bw_input_kind kind;
    /** The parameters, a JSON object, if there are any. */
    json::View params;
    /** The server's own key for the question, where the revision has one. */
    std::optional<std::string_view> key;
};

/** How long a result may be reused (server/utilities/caching). */
struct Freshness {
    /** For how many milliseconds. */
    std::uint64_t ttl;
    /** Who may share it. */
    bw_cache_scope scope;
};

/** Why something has no result, or is over. */
struct Failure {
    /** A number of `bw_error`, or the code of the error that the peer answered. */
    std::int64_t code;
    /** Whether the peer answered with an error, so that the code is the peer's. */
    bool is_rpc_error;
    /** Why, for people. */
    std::string_view message;
    /** What the peer gave with its error, if anything. */
    json::View data;
    /** The status of HTTP, if the end came with one. */
    std::optional<std::uint16_t> http_status;

    /** Why the request or connection of an event is over. */
    explicit Failure(const bw_event *event) noexcept
        : code(bw_event_code(event)), is_rpc_error(bw_event_is_rpc_error(event)),
          message(detail::view(bw_event_message(event))), data(detail::view(bw_event_data(event))),
          http_status(detail::optional_number<std::uint16_t>(bw_event_http_status(event)))
    {
    }
};

namespace detail
{

/** An answer as the library lends it. */
inline Answer answer(const bw_answer &raw) noexcept
{
    Answer answer = {view(raw.key), json::View(view(raw.result)), std::nullopt};
    if (!answer.result)
        answer.error = RpcError{raw.error_code, view(raw.error_message), json::View(view(raw.error_data))};
    return answer;
}

/** The answer at an index. */
inline Answer answer_at(const bw_event *event, std::size_t index) noexcept
{
    bw_answer raw = {};
    (void)bw_event_answer_at(event, index, &raw);
    return answer(raw);
}

/** The question at an index. */
inline Input input_at(const bw_event *event, std::size_t index) noexcept
{
    bw_input raw = {};
    (void)bw_event_input_at(event, index, &raw);
    return {InputHandle{raw.input}, static_cast<bw_input_kind>(raw.kind), json::View(view(raw.params)),
            optional(raw.key)};
}

/** The variable at an index. */
inline Pair variable_at(const bw_event *event, std::size_t index) noexcept
{
    bw_pair raw = {};
    (void)bw_event_variable_at(event, index, &raw);
    return pair(raw);
}

/** The URI at an index. */
inline std::string_view uri_at(const bw_event *event, std::size_t index) noexcept
{
    return view(bw_event_watched_uri(event, index));
}

/** The challenge at an index. */
inline std::string_view challenge_at(const bw_event *event, std::size_t index) noexcept
{
    return view(bw_event_challenge(event, index));
}

/** The abandoned request at an index. */
inline RequestHandle abandoned_at(const bw_event *event, std::size_t index) noexcept
{
    return RequestHandle{bw_event_abandoned(event, index)};
}

/** JSON that an accessor gives. */
template <bw_bytes (*Get)(const bw_event *)> json::View json_of(const bw_event *event) noexcept
{
    return json::View(view(Get(event)));
}

/** A text that an accessor gives. */
template <bw_bytes (*Get)(const bw_event *)> std::string_view text_of(const bw_event *event) noexcept
{
    return view(Get(event));
}

/** A text that an accessor may give. */
template <bw_bytes (*Get)(const bw_event *)>
std::optional<std::string_view> optional_text_of(const bw_event *event) noexcept
{
    return optional(Get(event));
}

/** The request of an event that has one. */
inline RequestHandle request_of(const bw_event *event) noexcept
{
    return RequestHandle{bw_event_request(event)};
}

/** The subscription of an event that has one. */
inline SubscriptionHandle subscription_of(const bw_event *event) noexcept
{
    return SubscriptionHandle{bw_event_subscription(event)};
}

/** The session of an event that has one. */
inline SessionHandle session_of(const bw_event *event) noexcept
{
    return SessionHandle{bw_event_session(event)};
}

/** The exchange of an event that has one. */
inline ExchangeHandle exchange_of(const bw_event *event) noexcept
{
    return ExchangeHandle{bw_event_exchange(event)};
}

/** How long a result may be reused, if the event says so. */
inline std::optional<Freshness> freshness_of(const bw_event *event) noexcept
{
    std::uint64_t ttl = 0;
    std::int32_t scope = 0;
    if (!bw_event_freshness(event, &ttl, &scope))
        return std::nullopt;
    return Freshness{ttl, static_cast<bw_cache_scope>(scope)};
}

/** How far a request will go, if the event says so. */
inline std::optional<double> total_of(const bw_event *event) noexcept
{
    double total = 0;
    return bw_event_total(event, &total) ? std::optional(total) : std::nullopt;
}

} // namespace detail

/** Answers of a client to questions of this server, from all rounds of a request. */
class Answers : public List<Answer, bw_event_answer_count, detail::answer_at>
{
  public:
    using List::List;

    /** The answer to the question of that key, if it came. */
    std::optional<Answer> find(std::string_view key) const noexcept
    {
        bw_answer raw = {};
        return bw_event_answer(event_, detail::bytes(key), &raw) ? std::optional(detail::answer(raw)) : std::nullopt;
    }
};

/** Variables of a URI template and their values, percent-decoded, in the order of the template. */
class Variables : public List<Pair, bw_event_variable_count, detail::variable_at>
{
  public:
    using List::List;

    /** The value of the variable of that name, if the URI gave it one. */
    std::optional<std::string_view> find(std::string_view name) const noexcept
    {
        return detail::optional(bw_event_variable(event_, detail::bytes(name)));
    }
};

/** URIs of resources that a subscription watches. */
using WatchedUris = List<std::string_view, bw_event_watched_uri_count, detail::uri_at>;

/** The values of `WWW-Authenticate`, in order. */
using Challenges = List<std::string_view, bw_event_challenge_count, detail::challenge_at>;

/** Questions of a server. */
using Inputs = List<Input, bw_event_input_count, detail::input_at>;

/** Requests that were never answered. */
using AbandonedRequests = List<RequestHandle, bw_event_abandoned_count, detail::abandoned_at>;

/** What a peer declared. */
class Capabilities
{
  public:
    /** What the peer of an event declared. */
    explicit Capabilities(const bw_event *event) noexcept : event_(event) {}

    /** The object as the peer wrote it, if it is known. */
    json::View json() const noexcept { return detail::json_of<bw_event_capabilities>(event_); }

    /** Whether the peer declared it. */
    bool has(bw_capability capability) const noexcept { return bw_event_has_capability(event_, capability); }

  private:
    const bw_event *event_;
};

/** Who sent a request, and what came with it; read when it is asked for. */
class RequestContext
{
  public:
    /** That of an event. */
    explicit RequestContext(const bw_event *event) noexcept : event_(event) {}

    /** The revision that governs the request. */
    bw_revision revision() const noexcept { return static_cast<bw_revision>(bw_event_revision(event_)); }

    /** The client's name and version object, if it gave one. It identifies nobody. */
    json::View peer() const noexcept { return detail::json_of<bw_event_peer>(event_); }

    /** What the client declared. */
    Capabilities capabilities() const noexcept { return Capabilities(event_); }

    /** The least severity of log messages that the client wants; nothing: no log messages. */
    std::optional<bw_log_level> log_level() const noexcept
    {
        return detail::optional_number<bw_log_level>(bw_event_log_level(event_));
    }

    /** The token to report progress under; nothing: no progress is wanted. Reports need not name it. */
    json::View progress_token() const noexcept { return detail::json_of<bw_event_progress_token>(event_); }

    /** The `_meta` object, if there is one: trace context, extensions. */
    json::View meta() const noexcept { return detail::json_of<bw_event_meta>(event_); }

    /** The session, in the legacy era. */
    std::optional<SessionHandle> session() const noexcept
    {
        return detail::optional_number<SessionHandle>(bw_event_session(event_));
    }

    /** The exchange that carries the request over HTTP. */
    std::optional<ExchangeHandle> exchange() const noexcept
    {
        return detail::optional_number<ExchangeHandle>(bw_event_exchange(event_));
    }

    /** Who the host said the client is, if it did. */
    std::optional<std::string_view> principal() const noexcept { return detail::optional(bw_event_principal(event_)); }

    /** Answers to questions of this request. */
    Answers answers() const noexcept { return Answers(event_); }

    /** What the application kept with its last question, if anything. */
    json::View state() const noexcept { return detail::json_of<bw_event_state>(event_); }

    /** How many times this request has asked before. */
    std::uint32_t round() const noexcept { return bw_event_round(event_); }

  private:
    const bw_event *event_;
};

/** The lists that a subscription watches. */
struct Watches {
    /** Whether it watches the tools. */
    bool tools;
    /** Whether it watches the resources and resource templates. */
    bool resources;
    /** Whether it watches the prompts. */
    bool prompts;

    /** Those of the subscription of an event. */
    explicit Watches(const bw_event *event) noexcept
        : tools(bw_event_watches(event, BW_LIST_TOOLS)), resources(bw_event_watches(event, BW_LIST_RESOURCES)),
          prompts(bw_event_watches(event, BW_LIST_PROMPTS))
    {
    }
};

/** Something in a message that the protocol does not allow. */
struct Violation {
    /** What it is. */
    bw_violation number;
    /** What it is, in a few words. */
    std::string_view text;

    /** That of an event. */
    explicit Violation(const bw_event *event) noexcept
        : number(static_cast<bw_violation>(bw_event_violation(event))),
          text(detail::view(bw_event_violation_text(event)))
    {
    }
};

} // namespace barewire

#endif
