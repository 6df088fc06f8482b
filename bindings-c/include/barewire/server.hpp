/**
 * @file
 * Servers. Part of barewire.hpp.
 */
#ifndef BAREWIRE_SERVER_HPP
#define BAREWIRE_SERVER_HPP

#include "event.hpp"
#include "resource_server.hpp"

namespace barewire
{

/**
 * How a server is set up. Servers made of it keep nothing of it. Each setter says whether it could be done; if not, the
 * configuration is as before.
 */
class ServerConfig
{
  public:
    /** A configuration with an empty catalog, all revisions and default bounds; name and version are the server's. */
    static Result<ServerConfig> create(std::string_view name, std::string_view version, const Seed &seed)
    {
        bw_server_config *raw = nullptr;
        const bw_status status = bw_server_config_new(detail::bytes(name), detail::bytes(version), seed.data(), &raw);
        return detail::checked(status, ServerConfig(raw));
    }

    /** Sets the server's name for people. */
    Result<void> set_title(std::optional<std::string_view> title)
    {
        return detail::checked(bw_server_config_set_title(get(), detail::bytes(title)));
    }

    /** Sets what the server is. */
    Result<void> set_description(std::optional<std::string_view> description)
    {
        return detail::checked(bw_server_config_set_description(get(), detail::bytes(description)));
    }

    /** Sets a page about the server. */
    Result<void> set_website_url(std::optional<std::string_view> url)
    {
        return detail::checked(bw_server_config_set_website_url(get(), detail::bytes(url)));
    }

    /** Sets the server's icons, a JSON array. */
    Result<void> set_icons(std::optional<std::string_view> icons)
    {
        return detail::checked(bw_server_config_set_icons(get(), detail::bytes(icons)));
    }

    /** Sets guidance for the model. */
    Result<void> set_instructions(std::optional<std::string_view> instructions)
    {
        return detail::checked(bw_server_config_set_instructions(get(), detail::bytes(instructions)));
    }

    /** Sets the revisions to serve. Default all. */
    Result<void> set_revisions(Span<bw_revision> revisions)
    {
        const auto numbers = detail::numbers(revisions);
        return detail::checked(bw_server_config_set_revisions(get(), numbers.data(), numbers.size()));
    }

    /** Sets whether `logging` is offered. Default true. */
    Result<void> set_logging(bool offered) { return detail::checked(bw_server_config_set_logging(get(), offered)); }

    /** Sets whether `completions` are offered: turn it on when CompletionRequested is answered. Default false. */
    Result<void> set_completions(bool offered)
    {
        return detail::checked(bw_server_config_set_completions(get(), offered));
    }

    /** Sets the extensions to declare: a JSON object by extension id. */
    Result<void> set_extensions(std::optional<std::string_view> extensions)
    {
        return detail::checked(bw_server_config_set_extensions(get(), detail::bytes(extensions)));
    }

    /** Adds a method beyond the protocol's own that the application wants as RequestReceived. */
    Result<void> add_extension_method(std::string_view method)
    {
        return detail::checked(bw_server_config_add_extension_method(get(), detail::bytes(method)));
    }

    /** Sets how long list results, and reads whose answer does not say, may be reused: milliseconds, and by whom. */
    Result<void> set_freshness(Freshness freshness)
    {
        return detail::checked(bw_server_config_set_freshness(get(), freshness.ttl, freshness.scope));
    }

    /** Sets whether each modern result says which server it is from. Default true. */
    Result<void> set_identify_results(bool identified)
    {
        return detail::checked(bw_server_config_set_identify_results(get(), identified));
    }

    /** Adds a secret key for the state of requests that ask for input. The first one seals, all open. */
    Result<void> add_request_state_key(const Seed &key)
    {
        return detail::checked(bw_server_config_add_request_state_key(get(), key.data()));
    }

    /** Sets the wall-clock time at the instant 0, in milliseconds since 1970-01-01T00:00:00Z. Default 0. */
    Result<void> set_clock_origin(std::uint64_t unix_milliseconds)
    {
        return detail::checked(bw_server_config_set_clock_origin(get(), unix_milliseconds));
    }

    /** Sets a bound. */
    Result<void> set_limit(bw_limit limit, std::uint64_t value)
    {
        return detail::checked(bw_server_config_set_limit(get(), limit, value));
    }

    /** Sets all bounds to what fits a server on a byte stream with this many bytes for all it keeps, from 8 KiB on. */
    Result<void> set_memory(std::size_t bytes) { return detail::checked(bw_server_config_set_memory(get(), bytes)); }

    /** Sets a duration in milliseconds. */
    Result<void> set_timeout(bw_timeout timeout, std::uint64_t milliseconds)
    {
        return detail::checked(bw_server_config_set_timeout(get(), timeout, milliseconds));
    }

    /** Sets whether progress starts the time for a request to a client anew. Default true. */
    Result<void> set_progress_extends(bool extends)
    {
        return detail::checked(bw_server_config_set_progress_extends(get(), extends));
    }

    /** HTTP: allows requests from pages of an origin, such as "https://app.example"; "*" allows any. */
    Result<void> allow_origin(std::string_view origin)
    {
        return detail::checked(bw_server_config_allow_origin(get(), detail::bytes(origin)));
    }

    /** HTTP: allows requests to the server under a name, such as "mcp.example:8443"; "*" allows any. */
    Result<void> allow_host(std::string_view host)
    {
        return detail::checked(bw_server_config_allow_host(get(), detail::bytes(host)));
    }

    /** HTTP: sets how many bytes a request body may have. Default 4 MiB. */
    Result<void> set_body_bytes(std::size_t bytes)
    {
        return detail::checked(bw_server_config_set_body_bytes(get(), bytes));
    }

    /** HTTP: sets the milliseconds of silence on a stream before a comment is sent; 0 sends none. Default 15 000. */
    Result<void> set_keep_alive(std::uint64_t milliseconds)
    {
        return detail::checked(bw_server_config_set_keep_alive(get(), milliseconds));
    }

    /** HTTP: sets the milliseconds without an exchange after which a legacy session is ended. Default 1 800 000. */
    Result<void> set_session_idle(std::uint64_t milliseconds)
    {
        return detail::checked(bw_server_config_set_session_idle(get(), milliseconds));
    }

    /** HTTP: sets the milliseconds that a client is asked to wait before it reconnects to a stream. Default 1 000. */
    Result<void> set_retry(std::uint64_t milliseconds)
    {
        return detail::checked(bw_server_config_set_retry(get(), milliseconds));
    }

    /** HTTP: keeps events of legacy streams nowhere: a lost stream is lost. */
    Result<void> keep_no_events() { return detail::checked(bw_server_config_keep_no_events(get())); }

    /** HTTP: keeps in memory so many events of a stream, bytes of all streams, for `age` milliseconds. The default. */
    Result<void> keep_events_in_memory(std::size_t events, std::size_t bytes, std::uint64_t age)
    {
        return detail::checked(bw_server_config_keep_events_in_memory(get(), events, bytes, age));
    }

    /** HTTP: keeps events with the host: EventAppended, ReplayRequested and StreamsForgotten say what to do. */
    Result<void> keep_events_externally() { return detail::checked(bw_server_config_keep_events_externally(get())); }

    /** HTTP: sets whether an unknown session is asked for with SessionRequested before it is refused. Default false. */
    Result<void> set_external_sessions(bool external)
    {
        return detail::checked(bw_server_config_set_external_sessions(get(), external));
    }

    /** The configuration of barewire.h. It stays this object's. */
    bw_server_config *get() noexcept { return raw_.get(); }

    /** The configuration of barewire.h. It stays this object's. */
    const bw_server_config *get() const noexcept { return raw_.get(); }

  private:
    explicit ServerConfig(bw_server_config *raw) noexcept : raw_(raw) {}

    detail::Owned<bw_server_config, bw_server_config_free> raw_;
};

/** A question to a client. */
struct Question {
    /** A key of the application's choice, unique within the request; the answer comes back under it. */
    std::string_view key;
    /** What is asked for. */
    bw_input_kind kind;
    /** The parameters, a JSON object. */
    std::string_view params;
};

/** The head of a request of HTTP. */
struct RequestHead {
    /** The method, as it came. */
    std::string_view method;
    /** Which endpoint it is for. */
    bw_endpoint endpoint = BW_ENDPOINT_STREAMABLE;
    /** For HTTP+SSE (2024-11-05): the path of the endpoint that takes messages, or the query string. */
    std::optional<std::string_view> endpoint_detail = std::nullopt;
    /** Headers in the order of arrival, `Host` among them; values in UTF-8. */
    Span<Pair> headers = {};
    /** Who sends it, as far as the host knows. */
    std::optional<std::string_view> principal = std::nullopt;
};

/** What to send next in an exchange: the head, then data, then the end. Good until the next one is polled. */
struct ResponsePart {
    /** The status, in the first part. */
    std::optional<std::uint16_t> status;
    /** Headers with names in lower case, in the first part. */
    Headers headers;
    /** Bytes of the body; may be empty. */
    std::string_view data;
    /** Nothing follows: the exchange is over. */
    bool is_last;
    /** Close the connection without an orderly end of the body. */
    bool is_aborted;
};

/** A server: of one client on a byte stream (`create`), or of many over HTTP (`create_http`). */
class Server
{
  public:
    /** A server for one client on a byte stream: standard input and output, a socket, a serial line. */
    static Result<Server> create(const ServerConfig &config)
    {
        bw_server *raw = nullptr;
        const bw_status status = bw_server_new(config.get(), &raw);
        return detail::checked(status, Server(raw));
    }

    /** A server for any number of clients over HTTP, whose sockets, TLS and syntax are the host's. */
    static Result<Server> create_http(const ServerConfig &config)
    {
        bw_server *raw = nullptr;
        const bw_status status = bw_server_http_new(config.get(), &raw);
        return detail::checked(status, Server(raw));
    }

    /** The next thing that the application should know; poll until nothing after what takes something in. */
    std::optional<server::Event> poll_event() { return detail::polled<server::Event>(bw_server_poll_event(get())); }

    /** When to call `handle_timeout` at the latest, or `never`. */
    std::uint64_t poll_timeout() { return bw_server_poll_timeout(get()); }

    /** Lets time pass. */
    Result<void> handle_timeout(std::uint64_t now) { return checked(bw_server_handle_timeout(get(), now)); }

    /** Ends the connection. */
    Result<void> close() { return checked(bw_server_close(get())); }

    /** Byte stream: takes bytes that were read, cut anywhere. Its errors are fatal ends. */
    Result<void> receive_data(std::uint64_t now, std::string_view data)
    {
        return checked(bw_server_receive_data(get(), now, detail::bytes(data)));
    }

    /** Byte stream: the client closed its side. */
    Result<void> receive_eof(std::uint64_t now) { return checked(bw_server_receive_eof(get(), now)); }

    /** Byte stream: the transport broke. */
    Result<void> connection_lost(std::uint64_t now) { return checked(bw_server_connection_lost(get(), now)); }

    /** Byte stream: the bytes to send next, lent without a copy; `consume` what was written and ask again. */
    std::string_view data_to_send() { return detail::view(bw_server_data_to_send(get())); }

    /** Byte stream: marks the first bytes of `data_to_send` as sent. */
    void consume(std::size_t count) { (void)bw_server_consume(get(), count); }

    /** Whether the host should go on reading. */
    bool wants_input() { return bw_server_wants_input(get()); }

    /** Byte stream: whether everything is done and sent. */
    bool is_finished() { return bw_server_is_finished(get()); }

    /** Registers a tool: a JSON object with at least `name` and `inputSchema`. */
    Result<void> add_tool(std::string_view definition)
    {
        return checked(bw_server_add_tool(get(), detail::bytes(definition)));
    }

    /** Removes a tool by its name. */
    Result<void> remove_tool(std::string_view name)
    {
        return checked(bw_server_remove_tool(get(), detail::bytes(name)));
    }

    /** Registers a resource: a JSON object with at least `uri` and `name`. */
    Result<void> add_resource(std::string_view definition)
    {
        return checked(bw_server_add_resource(get(), detail::bytes(definition)));
    }

    /** Removes a resource by its URI. */
    Result<void> remove_resource(std::string_view uri)
    {
        return checked(bw_server_remove_resource(get(), detail::bytes(uri)));
    }

    /** Registers a resource template: a JSON object with at least `uriTemplate` (RFC 6570) and `name`. */
    Result<void> add_resource_template(std::string_view definition)
    {
        return checked(bw_server_add_resource_template(get(), detail::bytes(definition)));
    }

    /** Removes a resource template by its `uriTemplate`. */
    Result<void> remove_resource_template(std::string_view uri_template)
    {
        return checked(bw_server_remove_resource_template(get(), detail::bytes(uri_template)));
    }

    /** Registers a prompt: a JSON object with at least `name`. */
    Result<void> add_prompt(std::string_view definition)
    {
        return checked(bw_server_add_prompt(get(), detail::bytes(definition)));
    }

    /** Removes a prompt by its name. */
    Result<void> remove_prompt(std::string_view name)
    {
        return checked(bw_server_remove_prompt(get(), detail::bytes(name)));
    }

    /** Answers a request with its result, a JSON object written for the newest revision. */
    Result<void> respond(RequestHandle request, std::string_view result)
    {
        return checked(bw_server_respond(get(), detail::raw(request), detail::bytes(result)));
    }

    /** Answers a request with what a writer holds, without a copy; the writer is empty then. */
    Result<void> respond_written(RequestHandle request, json::Writer &result)
    {
        return checked(bw_server_respond_written(get(), detail::raw(request), result.get()));
    }

    /** Answers a request with an error: a number of `bw_rpc_code` or another one, a text, and JSON or nothing. */
    Result<void> respond_error(RequestHandle request, std::int64_t code, std::string_view message,
                               std::optional<std::string_view> data = std::nullopt)
    {
        return checked(
            bw_server_respond_error(get(), detail::raw(request), code, detail::bytes(message), detail::bytes(data)));
    }

    /** Answers a request that its client lacks capabilities for: the capabilities object that would do. */
    Result<void> respond_missing_capability(RequestHandle request, std::string_view required)
    {
        return checked(bw_server_respond_missing_capability(get(), detail::raw(request), detail::bytes(required)));
    }

    /** Refuses arguments that do not fit the tool. */
    Result<void> respond_invalid_arguments(RequestHandle request, std::string_view message)
    {
        return checked(bw_server_respond_invalid_arguments(get(), detail::raw(request), detail::bytes(message)));
    }

    /** Answers the call of a tool with one block of text. */
    Result<void> respond_text(RequestHandle request, std::string_view text)
    {
        return checked(bw_server_respond_text(get(), detail::raw(request), detail::bytes(text)));
    }

    /** Answers the call of a tool that failed with one block of text that tells the model why. */
    Result<void> respond_tool_error(RequestHandle request, std::string_view text)
    {
        return checked(bw_server_respond_tool_error(get(), detail::raw(request), detail::bytes(text)));
    }

    /** Answers the request for a prompt with one message of the user. */
    Result<void> respond_prompt_text(RequestHandle request, std::string_view text)
    {
        return checked(bw_server_respond_prompt_text(get(), detail::raw(request), detail::bytes(text)));
    }

    /** Answers the read of a resource with text. */
    Result<void> respond_resource_text(RequestHandle request, std::string_view uri,
                                       std::optional<std::string_view> mime_type, std::string_view text)
    {
        return checked(bw_server_respond_resource_text(get(), detail::raw(request), detail::bytes(uri),
                                                       detail::bytes(mime_type), detail::bytes(text)));
    }

    /** Answers the read of a resource with bytes, which travel as base64. */
    Result<void> respond_resource_blob(RequestHandle request, std::string_view uri,
                                       std::optional<std::string_view> mime_type, std::string_view data)
    {
        return checked(bw_server_respond_resource_blob(get(), detail::raw(request), detail::bytes(uri),
                                                       detail::bytes(mime_type), detail::bytes(data)));
    }

    /** Answers a request for suggestions. Of more than 100 the rest is left out, and told by their number. */
    Result<void> respond_completion(RequestHandle request, Span<std::string_view> values)
    {
        const auto texts = detail::texts(values);
        return checked(bw_server_respond_completion(get(), detail::raw(request), texts.data(), texts.size()));
    }

    /**
     * Asks the client something before the request can be answered: its event comes again with the answers. `state`, a
     * JSON value, is given back with it.
     */
    Result<void> require_input(std::uint64_t now, RequestHandle request, Span<Question> questions,
                               std::optional<std::string_view> state = std::nullopt)
    {
        const auto raw = detail::converted(questions, [](const Question &question) {
            return bw_question{detail::bytes(question.key), question.kind, detail::bytes(question.params)};
        });
        return checked(
            bw_server_require_input(get(), now, detail::raw(request), raw.data(), raw.size(), detail::bytes(state)));
    }

    /** Reports progress of a request, and how far it will go if that is known. Gives whether it was sent. */
    Result<bool> notify_progress(RequestHandle request, double progress, std::optional<double> total = std::nullopt,
                                 std::optional<std::string_view> message = std::nullopt)
    {
        bool sent = false;
        const bw_status status = bw_server_notify_progress(get(), detail::raw(request), progress, total.value_or(-1),
                                                           detail::bytes(message), &sent);
        return checked(status, sent);
    }

    /** Logs a JSON value within a request, by a part of the server. Gives whether it was sent. */
    Result<bool> notify_log(RequestHandle request, bw_log_level level, std::optional<std::string_view> logger,
                            std::string_view data)
    {
        bool sent = false;
        const bw_status status =
            bw_server_notify_log(get(), detail::raw(request), level, detail::bytes(logger), detail::bytes(data), &sent);
        return checked(status, sent);
    }

    /** Sends a notification of an extension within a request. Gives whether it was sent. */
    Result<bool> notify(RequestHandle request, std::string_view method,
                        std::optional<std::string_view> params = std::nullopt)
    {
        bool sent = false;
        const bw_status status =
            bw_server_notify(get(), detail::raw(request), detail::bytes(method), detail::bytes(params), &sent);
        return checked(status, sent);
    }

    /** Logs a JSON value outside any request, to legacy sessions that want this severity. */
    Result<void> log(bw_log_level level, std::optional<std::string_view> logger, std::string_view data)
    {
        return checked(bw_server_log(get(), level, detail::bytes(logger), detail::bytes(data)));
    }

    /** Tells every client that watches it that a list has changed. Changes of the catalog are told by themselves. */
    Result<void> publish_list_changed(bw_list_kind list)
    {
        return checked(bw_server_publish_list_changed(get(), list));
    }

    /** Tells every client that watches it that a resource has changed. */
    Result<void> publish_resource_updated(std::string_view uri)
    {
        return checked(bw_server_publish_resource_updated(get(), detail::bytes(uri)));
    }

    /** Ends a client's subscription in order; SubscriptionClosed follows. */
    Result<void> end_subscription(SubscriptionHandle subscription)
    {
        return checked(bw_server_end_subscription(get(), detail::raw(subscription)));
    }

    /** Sends a request of the server's own to a legacy client; ResponseReceived follows. */
    Result<RequestHandle> request(std::uint64_t now, SessionHandle session, std::string_view method,
                                  std::optional<std::string_view> params = std::nullopt)
    {
        std::uint64_t raw = 0;
        const bw_status status =
            bw_server_request(get(), now, detail::raw(session), detail::bytes(method), detail::bytes(params), &raw);
        return checked(status, RequestHandle{raw});
    }

    /** Asks a legacy client whether it is there; ResponseReceived follows. */
    Result<RequestHandle> ping(std::uint64_t now, SessionHandle session)
    {
        std::uint64_t raw = 0;
        const bw_status status = bw_server_ping(get(), now, detail::raw(session), &raw);
        return checked(status, RequestHandle{raw});
    }

    /** A legacy session as text that `import_session` takes in another process. Keep it where clients cannot write. */
    Result<std::string> export_session(SessionHandle session)
    {
        bw_bytes text = bw_none();
        const bw_status status = bw_server_export_session(get(), detail::raw(session), &text);
        return checked(status, std::string(detail::view(text)));
    }

    /** Goes on with a session that was exported. */
    Result<SessionHandle> import_session(std::string_view text)
    {
        std::uint64_t raw = 0;
        const bw_status status = bw_server_import_session(get(), detail::bytes(text), &raw);
        return checked(status, SessionHandle{raw});
    }

    /** Ends a legacy session of HTTP; SessionClosed follows. */
    Result<void> end_session(SessionHandle session)
    {
        return checked(bw_server_end_session(get(), detail::raw(session)));
    }

    /** HTTP: takes the head of a request and names its exchange. */
    Result<ExchangeHandle> http_receive_request(std::uint64_t now, const RequestHead &head)
    {
        std::uint64_t raw = 0;
        const auto headers = detail::converted(head.headers, detail::raw_pair);
        const bw_request_head raw_head = raw_of(head, headers);
        const bw_status status = bw_server_http_receive_request(get(), now, &raw_head, &raw);
        return checked(status, ExchangeHandle{raw});
    }

    /** HTTP: takes a piece of the body of a request. */
    Result<void> http_receive_body(std::uint64_t now, ExchangeHandle exchange, std::string_view data)
    {
        return checked(bw_server_http_receive_body(get(), now, detail::raw(exchange), detail::bytes(data)));
    }

    /** HTTP: the body of a request is complete. */
    Result<void> http_receive_end(std::uint64_t now, ExchangeHandle exchange)
    {
        return checked(bw_server_http_receive_end(get(), now, detail::raw(exchange)));
    }

    /** HTTP: takes a request whose body is at hand as a whole. */
    Result<ExchangeHandle> http_receive_whole(std::uint64_t now, const RequestHead &head,
                                              std::optional<std::string_view> body)
    {
        std::uint64_t raw = 0;
        const auto headers = detail::converted(head.headers, detail::raw_pair);
        const bw_request_head raw_head = raw_of(head, headers);
        const bw_status status = bw_server_http_receive_whole(get(), now, &raw_head, detail::bytes(body), &raw);
        return checked(status, ExchangeHandle{raw});
    }

    /** HTTP: takes the head of a request that the host does not let through; the answer is ready, the body ignored. */
    Result<ExchangeHandle> http_receive_denied(std::uint64_t now, const RequestHead &head, const Denial &denial)
    {
        std::uint64_t raw = 0;
        const auto headers = detail::converted(head.headers, detail::raw_pair);
        const bw_request_head raw_head = raw_of(head, headers);
        const bw_denial raw_denial = detail::raw_denial(denial);
        const bw_status status = bw_server_http_receive_denied(get(), now, &raw_head, &raw_denial, &raw);
        return checked(status, ExchangeHandle{raw});
    }

    /**
     * HTTP: does not let through what an exchange has brought after all; its request still has to be answered. Gives
     * whether that could be done: not if the response has begun.
     */
    Result<bool> http_deny(std::uint64_t now, ExchangeHandle exchange, const Denial &denial)
    {
        bool possible = false;
        const bw_denial raw_denial = detail::raw_denial(denial);
        const bw_status status = bw_server_http_deny(get(), now, detail::raw(exchange), &raw_denial, &possible);
        return checked(status, possible);
    }

    /** HTTP: the client has gone, or nothing can be sent to it any more. */
    Result<void> http_receive_abort(std::uint64_t now, ExchangeHandle exchange)
    {
        return checked(bw_server_http_receive_abort(get(), now, detail::raw(exchange)));
    }

    /** HTTP: an exchange that has something to send; ask until nothing. */
    std::optional<ExchangeHandle> http_poll_ready()
    {
        return detail::optional_number<ExchangeHandle>(bw_server_http_poll_ready(get()));
    }

    /** HTTP: what to send next in an exchange; nothing for now. */
    std::optional<ResponsePart> http_poll_response(ExchangeHandle exchange)
    {
        bw_response_part part = {};
        if (!bw_server_http_poll_response(get(), detail::raw(exchange), &part))
            return std::nullopt;
        return ResponsePart{detail::optional_number<std::uint16_t>(part.status),
                            Headers(part.headers, part.header_count), detail::view(part.data), part.is_last,
                            part.is_aborted};
    }

    /** HTTP: bytes that wait to be taken by an exchange. */
    std::size_t http_backlog(ExchangeHandle exchange) { return bw_server_http_backlog(get(), detail::raw(exchange)); }

    /** HTTP: answers SessionRequested: the session as it was imported, or nothing if there is none. */
    Result<void> http_resolve_session(std::uint64_t now, ExchangeHandle exchange, std::optional<SessionHandle> session)
    {
        return checked(bw_server_http_resolve_session(get(), now, detail::raw(exchange), detail::raw(session)));
    }

    /** HTTP: answers ReplayRequested: ids and data of what followed, or nothing if there is no such stream. */
    Result<void> http_replay(std::uint64_t now, ExchangeHandle exchange, std::optional<Span<Pair>> events)
    {
        const auto raw = detail::converted(events.value_or(Span<Pair>()), detail::raw_pair);
        const bw_pair none = {};
        const bw_pair *first = !events ? nullptr : raw.empty() ? &none : raw.data();
        return checked(bw_server_http_replay(get(), now, detail::raw(exchange), first, raw.size()));
    }

    /**
     * HTTP: ends the response of a legacy request for now; the client reconnects after `retry` milliseconds, or those
     * of the configuration. Gives whether that could be done.
     */
    Result<bool> http_close_stream(std::uint64_t now, ExchangeHandle exchange,
                                   std::optional<std::uint64_t> retry = std::nullopt)
    {
        bool possible = false;
        const bw_status status =
            bw_server_http_close_stream(get(), now, detail::raw(exchange), retry.value_or(never), &possible);
        return checked(status, possible);
    }

    /** HTTP: takes no more requests; what is in flight goes on. */
    Result<void> http_shut_down(std::uint64_t now) { return checked(bw_server_http_shut_down(get(), now)); }

    /** HTTP: whether no exchange is open. */
    bool http_is_idle() { return bw_server_http_is_idle(get()); }

    /** The server of barewire.h. It stays this object's. */
    bw_server *get() noexcept { return raw_.get(); }

  private:
    explicit Server(bw_server *raw) noexcept : raw_(raw) {}

    Error error(bw_status status) { return Error(status, detail::view(bw_server_error_message(get()))); }

    Result<void> checked(bw_status status) { return status == BW_OK ? Result<void>() : Result<void>(error(status)); }

    template <class T> Result<T> checked(bw_status status, T value)
    {
        return status == BW_OK ? Result<T>(std::move(value)) : Result<T>(error(status));
    }

    static bw_request_head raw_of(const RequestHead &head, const std::vector<bw_pair> &headers) noexcept
    {
        return {detail::bytes(head.method),
                head.endpoint,
                detail::bytes(head.endpoint_detail),
                headers.data(),
                headers.size(),
                detail::bytes(head.principal)};
    }

    detail::Owned<bw_server, bw_server_free> raw_;
};

} // namespace barewire

#endif
