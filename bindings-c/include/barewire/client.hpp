/**
 * @file
 * Clients, and the end of a child process. Part of barewire.hpp.
 */
#ifndef BAREWIRE_CLIENT_HPP
#define BAREWIRE_CLIENT_HPP

#include "event.hpp"

namespace barewire
{

/**
 * How a client is set up. Clients made of it keep nothing of it. Each setter says whether it could be done; if not, the
 * configuration is as before.
 */
class ClientConfig
{
  public:
    /** A configuration with no capabilities, all revisions and default bounds; name and version are the client's. */
    static Result<ClientConfig> create(std::string_view name, std::string_view version, const Seed &seed)
    {
        bw_client_config *raw = nullptr;
        const bw_status status = bw_client_config_new(detail::bytes(name), detail::bytes(version), seed.data(), &raw);
        return detail::checked(status, ClientConfig(raw));
    }

    /** Sets the client's name for people. */
    Result<void> set_title(std::optional<std::string_view> title)
    {
        return detail::checked(bw_client_config_set_title(get(), detail::bytes(title)));
    }

    /** Sets what the client is. */
    Result<void> set_description(std::optional<std::string_view> description)
    {
        return detail::checked(bw_client_config_set_description(get(), detail::bytes(description)));
    }

    /** Sets a page about the client. */
    Result<void> set_website_url(std::optional<std::string_view> url)
    {
        return detail::checked(bw_client_config_set_website_url(get(), detail::bytes(url)));
    }

    /** Sets the client's icons, a JSON array. */
    Result<void> set_icons(std::optional<std::string_view> icons)
    {
        return detail::checked(bw_client_config_set_icons(get(), detail::bytes(icons)));
    }

    /** Sets what the client can do: a JSON object (`ClientCapabilities` in the schema). */
    Result<void> set_capabilities(std::string_view capabilities)
    {
        return detail::checked(bw_client_config_set_capabilities(get(), detail::bytes(capabilities)));
    }

    /** Sets the revisions that the client is willing to speak. Default all. */
    Result<void> set_revisions(Span<bw_revision> revisions)
    {
        const auto numbers = detail::numbers(revisions);
        return detail::checked(bw_client_config_set_revisions(get(), numbers.data(), numbers.size()));
    }

    /** Sets the verdict of an earlier client on the era of the same server, so that the probe is skipped. */
    Result<void> set_era_verdict(std::optional<std::string_view> verdict)
    {
        return detail::checked(bw_client_config_set_era_verdict(get(), detail::bytes(verdict)));
    }

    /** Sets a bound. */
    Result<void> set_limit(bw_limit limit, std::uint64_t value)
    {
        return detail::checked(bw_client_config_set_limit(get(), limit, value));
    }

    /** Sets a duration in milliseconds. */
    Result<void> set_timeout(bw_timeout timeout, std::uint64_t milliseconds)
    {
        return detail::checked(bw_client_config_set_timeout(get(), timeout, milliseconds));
    }

    /** Sets whether progress starts the time for a request anew. Default true. */
    Result<void> set_progress_extends(bool extends)
    {
        return detail::checked(bw_client_config_set_progress_extends(get(), extends));
    }

    /** HTTP: sets whether to try HTTP+SSE (2024-11-05) where Streamable HTTP is refused. Default true. */
    Result<void> set_sse_fallback(bool tried)
    {
        return detail::checked(bw_client_config_set_sse_fallback(get(), tried));
    }

    /** HTTP: sets whether to open the stream of a legacy session that belongs to no request. Default true. */
    Result<void> set_opens_stream(bool opened)
    {
        return detail::checked(bw_client_config_set_opens_stream(get(), opened));
    }

    /** HTTP: sets whether the application answers AuthorizationRequired. Default false. */
    Result<void> set_authorizes(bool authorizes)
    {
        return detail::checked(bw_client_config_set_authorizes(get(), authorizes));
    }

    /** HTTP: sets the milliseconds after which an exchange that nobody authorizes fails. Default 900 000. */
    Result<void> set_authorization_timeout(std::uint64_t milliseconds)
    {
        return detail::checked(bw_client_config_set_authorization_timeout(get(), milliseconds));
    }

    /** HTTP: sets how many attempts in a row to resume the stream of a request may bring nothing. Default 5. */
    Result<void> set_resumptions(std::uint32_t resumptions)
    {
        return detail::checked(bw_client_config_set_resumptions(get(), resumptions));
    }

    /** HTTP: sets the milliseconds to wait before a stream is resumed if the server names no time. Default 1 000. */
    Result<void> set_retry(std::uint64_t milliseconds)
    {
        return detail::checked(bw_client_config_set_retry(get(), milliseconds));
    }

    /** The configuration of barewire.h. It stays this object's. */
    bw_client_config *get() noexcept { return raw_.get(); }

    /** The configuration of barewire.h. It stays this object's. */
    const bw_client_config *get() const noexcept { return raw_.get(); }

  private:
    explicit ClientConfig(bw_client_config *raw) noexcept : raw_(raw) {}

    detail::Owned<bw_client_config, bw_client_config_free> raw_;
};

/** How one request is made. */
struct RequestOptions {
    /** Ask for progress reports. */
    bool progress = false;
    /** Milliseconds to wait with nothing heard; 0: as configured. */
    std::uint64_t timeout = 0;
    /** Milliseconds over all rounds; 0: as configured. */
    std::uint64_t total_timeout = 0;
    /** The least severity of log messages wanted while it runs (from 2026-07-28); nothing: that of `set_log_level`. */
    std::optional<bw_log_level> log_level = std::nullopt;
    /** Members to add to `_meta`: a JSON object, or nothing. */
    std::optional<std::string_view> meta = std::nullopt;
};

/** What a subscription is about. */
struct SubscriptionFilter {
    /** Changes of the tool list. */
    bool tools = false;
    /** Changes of the resource and template lists. */
    bool resources = false;
    /** Changes of the prompt list. */
    bool prompts = false;
    /** Changes of these resources, by URI. */
    Span<std::string_view> uris = {};
};

/** One thing to do over HTTP. Good until the next one is polled. */
struct HttpTransmit {
    /** What to do. Without a request, what follows the exchange is empty. */
    bw_transmit_kind kind;
    /** Names the exchange in what the host reports; nothing if all is over. */
    std::optional<ExchangeHandle> exchange;
    /** The method: GET, POST or DELETE. */
    std::string_view method;
    /** Where to. */
    std::string_view url;
    /** Headers with names in lower case, without those of the host's own. */
    Headers headers;
    /** The body; empty for GET and DELETE. */
    std::string_view body;
    /** The response may stay silent for as long as it likes: no read timeout applies. */
    bool is_stream;
};

/** A client of one server: on a byte stream (`create`), or over HTTP (`create_http`). */
class Client
{
  public:
    /** A client on a byte stream: pipes of a child process, a socket, a serial line. It starts to connect at once. */
    static Result<Client> create(const ClientConfig &config, std::uint64_t now)
    {
        bw_client *raw = nullptr;
        const bw_status status = bw_client_new(config.get(), now, &raw);
        return detail::checked(status, Client(raw));
    }

    /** A client of the server at an http or https URL. The host owns sockets, TLS and the syntax of HTTP. */
    static Result<Client> create_http(const ClientConfig &config, std::string_view url, std::uint64_t now)
    {
        bw_client *raw = nullptr;
        const bw_status status = bw_client_http_new(config.get(), detail::bytes(url), now, &raw);
        return detail::checked(status, Client(raw));
    }

    /** The next thing that the application should know; poll until nothing after what takes something in. */
    std::optional<client::Event> poll_event() { return detail::polled<client::Event>(bw_client_poll_event(get())); }

    /** When to call `handle_timeout` at the latest, or `never`. */
    std::uint64_t poll_timeout() { return bw_client_poll_timeout(get()); }

    /** Lets time pass. Its errors are fatal ends. */
    Result<void> handle_timeout(std::uint64_t now) { return checked(bw_client_handle_timeout(get(), now)); }

    /** Ends the connection in order. */
    Result<void> close() { return checked(bw_client_close(get())); }

    /** Byte stream: takes bytes that were read, cut anywhere. Its errors are fatal ends. */
    Result<void> receive_data(std::uint64_t now, std::string_view data)
    {
        return checked(bw_client_receive_data(get(), now, detail::bytes(data)));
    }

    /** Byte stream: the server closed its side. */
    Result<void> receive_eof(std::uint64_t now) { return checked(bw_client_receive_eof(get(), now)); }

    /** Byte stream: the transport broke. */
    Result<void> connection_lost(std::uint64_t now) { return checked(bw_client_connection_lost(get(), now)); }

    /** Byte stream: the server was started afresh, as RestartRequired asked. */
    Result<void> restart(std::uint64_t now) { return checked(bw_client_restart(get(), now)); }

    /** Byte stream: the bytes to send next, lent without a copy; `consume` what was written and ask again. */
    std::string_view data_to_send() { return detail::view(bw_client_data_to_send(get())); }

    /** Byte stream: marks the first bytes of `data_to_send` as sent. */
    void consume(std::size_t count) { (void)bw_client_consume(get(), count); }

    /** Whether the host should go on reading. Over HTTP, `http_wants_input` says it for one exchange. */
    bool wants_input() { return bw_client_wants_input(get()); }

    /** Whether everything is done and sent. */
    bool is_finished() { return bw_client_is_finished(get()); }

    /** The revision in use; nothing while it is not settled. */
    std::optional<bw_revision> revision() { return detail::optional_number<bw_revision>(bw_client_revision(get())); }

    /** Whether the server declared a capability; false while that is not known. */
    bool server_has_capability(bw_capability capability) { return bw_client_server_has_capability(get(), capability); }

    /** What to store so that the next client of this server skips the probe; nothing while it is not known. */
    std::optional<std::string> era_verdict()
    {
        const auto verdict = detail::optional(bw_client_era_verdict(get()));
        return verdict ? std::optional<std::string>(*verdict) : std::nullopt;
    }

    /** Sends a request, or queues it until the connection is ready; ResponseReceived or RequestFailed follows. */
    Result<RequestHandle> request(std::uint64_t now, std::string_view method,
                                  std::optional<std::string_view> params = std::nullopt,
                                  const RequestOptions &options = {})
    {
        std::uint64_t raw = 0;
        const bw_request_options raw_options = raw_of(options);
        const bw_status status =
            bw_client_request(get(), now, detail::bytes(method), detail::bytes(params), &raw_options, &raw);
        return checked(status, RequestHandle{raw});
    }

    /** Calls a tool with a JSON object of arguments, or none. As `request`. */
    Result<RequestHandle> call_tool(std::uint64_t now, std::string_view name,
                                    std::optional<std::string_view> arguments = std::nullopt,
                                    const RequestOptions &options = {})
    {
        std::uint64_t raw = 0;
        const bw_request_options raw_options = raw_of(options);
        const bw_status status =
            bw_client_call_tool(get(), now, detail::bytes(name), detail::bytes(arguments), &raw_options, &raw);
        return checked(status, RequestHandle{raw});
    }

    /** Asks for a page of a list: the first, or the one that a cursor leads to. As `request`. */
    Result<RequestHandle> list(std::uint64_t now, bw_listing listing,
                               std::optional<std::string_view> cursor = std::nullopt,
                               const RequestOptions &options = {})
    {
        std::uint64_t raw = 0;
        const bw_request_options raw_options = raw_of(options);
        const bw_status status = bw_client_list(get(), now, listing, detail::bytes(cursor), &raw_options, &raw);
        return checked(status, RequestHandle{raw});
    }

    /** Reads a resource. As `request`. */
    Result<RequestHandle> read_resource(std::uint64_t now, std::string_view uri, const RequestOptions &options = {})
    {
        std::uint64_t raw = 0;
        const bw_request_options raw_options = raw_of(options);
        const bw_status status = bw_client_read_resource(get(), now, detail::bytes(uri), &raw_options, &raw);
        return checked(status, RequestHandle{raw});
    }

    /** Asks for a prompt with a JSON object of strings, or none. As `request`. */
    Result<RequestHandle> get_prompt(std::uint64_t now, std::string_view name,
                                     std::optional<std::string_view> arguments = std::nullopt,
                                     const RequestOptions &options = {})
    {
        std::uint64_t raw = 0;
        const bw_request_options raw_options = raw_of(options);
        const bw_status status =
            bw_client_get_prompt(get(), now, detail::bytes(name), detail::bytes(arguments), &raw_options, &raw);
        return checked(status, RequestHandle{raw});
    }

    /**
     * Asks for suggestions for an argument of what `kind` and `reference` name. `value` is what the user has typed so
     * far; `arguments` are those settled before, a JSON object of strings. As `request`.
     */
    Result<RequestHandle> complete(std::uint64_t now, bw_completion_kind kind, std::string_view reference,
                                   std::string_view argument, std::string_view value,
                                   std::optional<std::string_view> arguments = std::nullopt,
                                   const RequestOptions &options = {})
    {
        std::uint64_t raw = 0;
        const bw_request_options raw_options = raw_of(options);
        const bw_status status = bw_client_complete(get(), now, kind, detail::bytes(reference), detail::bytes(argument),
                                                    detail::bytes(value), detail::bytes(arguments), &raw_options, &raw);
        return checked(status, RequestHandle{raw});
    }

    /** Asks whether the server is there. The legacy era only. As `request`. */
    Result<RequestHandle> ping(std::uint64_t now, const RequestOptions &options = {})
    {
        std::uint64_t raw = 0;
        const bw_request_options raw_options = raw_of(options);
        const bw_status status = bw_client_ping(get(), now, &raw_options, &raw);
        return checked(status, RequestHandle{raw});
    }

    /** Gives up a request: it fails at once, and a late answer is dropped. */
    Result<void> cancel(RequestHandle request, std::optional<std::string_view> reason = std::nullopt)
    {
        return checked(bw_client_cancel(get(), detail::raw(request), detail::bytes(reason)));
    }

    /** Answers a question of the server with a result, a JSON object written for the newest revision. */
    Result<void> provide_input(std::uint64_t now, InputHandle input, std::string_view result)
    {
        return checked(bw_client_provide_input(get(), now, detail::raw(input), detail::bytes(result)));
    }

    /** Refuses a question of the server with a code and a message. */
    Result<void> refuse_input(std::uint64_t now, InputHandle input, std::int64_t code, std::string_view message)
    {
        return checked(bw_client_refuse_input(get(), now, detail::raw(input), code, detail::bytes(message)));
    }

    /** Asks to be told of changes: SubscriptionAcknowledged, changes, SubscriptionEnded follow. */
    Result<SubscriptionHandle> subscribe(std::uint64_t now, const SubscriptionFilter &filter)
    {
        std::uint64_t raw = 0;
        const auto uris = detail::texts(filter.uris);
        const bw_subscription_filter raw_filter = {filter.tools, filter.resources, filter.prompts, uris.data(),
                                                   uris.size()};
        const bw_status status = bw_client_subscribe(get(), now, &raw_filter, &raw);
        return checked(status, SubscriptionHandle{raw});
    }

    /** Ends a subscription; SubscriptionEnded follows. */
    Result<void> unsubscribe(std::uint64_t now, SubscriptionHandle subscription)
    {
        return checked(bw_client_unsubscribe(get(), now, detail::raw(subscription)));
    }

    /** Sets the least severity of log messages wanted. ResponseReceived or RequestFailed follows. */
    Result<RequestHandle> set_log_level(std::uint64_t now, bw_log_level level)
    {
        std::uint64_t raw = 0;
        const bw_status status = bw_client_set_log_level(get(), now, level, &raw);
        return checked(status, RequestHandle{raw});
    }

    /** Sends a notification, or queues it until the connection is ready. */
    Result<void> notify(std::string_view method, std::optional<std::string_view> params = std::nullopt)
    {
        return checked(bw_client_notify(get(), detail::bytes(method), detail::bytes(params)));
    }

    /** Tells the server that the roots have changed. The legacy era only. */
    Result<void> notify_roots_changed() { return checked(bw_client_notify_roots_changed(get())); }

    /** HTTP: what to do next; nothing for now. Ask until nothing after each other function. */
    std::optional<HttpTransmit> http_poll_transmit(std::uint64_t now)
    {
        bw_http_transmit raw = {};
        if (!bw_client_http_poll_transmit(get(), now, &raw))
            return std::nullopt;
        return HttpTransmit{static_cast<bw_transmit_kind>(raw.kind),
                            detail::optional_number<ExchangeHandle>(raw.exchange),
                            detail::view(raw.method),
                            detail::view(raw.url),
                            Headers(raw.headers, raw.header_count),
                            detail::view(raw.body),
                            raw.is_stream};
    }

    /** HTTP: takes the head of a response. */
    Result<void> http_receive_head(std::uint64_t now, ExchangeHandle exchange, std::uint16_t status, Span<Pair> headers)
    {
        const auto raw = detail::converted(headers, detail::raw_pair);
        return checked(bw_client_http_receive_head(get(), now, detail::raw(exchange), status, raw.data(), raw.size()));
    }

    /** HTTP: takes a piece of the body of a response, after codings were undone. */
    Result<void> http_receive_body(std::uint64_t now, ExchangeHandle exchange, std::string_view data)
    {
        return checked(bw_client_http_receive_body(get(), now, detail::raw(exchange), detail::bytes(data)));
    }

    /** HTTP: the response is complete. */
    Result<void> http_receive_end(std::uint64_t now, ExchangeHandle exchange)
    {
        return checked(bw_client_http_receive_end(get(), now, detail::raw(exchange)));
    }

    /** HTTP: the exchange has failed. */
    Result<void> http_receive_failure(std::uint64_t now, ExchangeHandle exchange, bw_exchange_failure failure)
    {
        return checked(bw_client_http_receive_failure(get(), now, detail::raw(exchange), failure));
    }

    /** HTTP: the exchange brought a redirect that must not be followed, with its status. */
    Result<void> http_receive_redirect(std::uint64_t now, ExchangeHandle exchange, std::uint16_t status)
    {
        return checked(bw_client_http_receive_redirect(get(), now, detail::raw(exchange), status));
    }

    /** HTTP: whether the host should read on in an exchange. */
    bool http_wants_input(ExchangeHandle exchange) { return bw_client_http_wants_input(get(), detail::raw(exchange)); }

    /** HTTP: answers AuthorizationRequired: there are new credentials, and what was refused is sent again. */
    Result<void> http_authorized(std::uint64_t now, ExchangeHandle exchange)
    {
        return checked(bw_client_http_authorized(get(), now, detail::raw(exchange)));
    }

    /** HTTP: answers AuthorizationRequired: there are no credentials, and what waits for the exchange fails. */
    Result<void> http_unauthorized(std::uint64_t now, ExchangeHandle exchange)
    {
        return checked(bw_client_http_unauthorized(get(), now, detail::raw(exchange)));
    }

    /** The client of barewire.h. It stays this object's. */
    bw_client *get() noexcept { return raw_.get(); }

  private:
    explicit Client(bw_client *raw) noexcept : raw_(raw) {}

    Error error(bw_status status) { return Error(status, detail::view(bw_client_error_message(get()))); }

    Result<void> checked(bw_status status) { return status == BW_OK ? Result<void>() : Result<void>(error(status)); }

    template <class T> Result<T> checked(bw_status status, T value)
    {
        return status == BW_OK ? Result<T>(std::move(value)) : Result<T>(error(status));
    }

    static bw_request_options raw_of(const RequestOptions &options) noexcept
    {
        return {options.progress, options.timeout, options.total_timeout, options.log_level.value_or(BW_LOG_LEVEL_NONE),
                detail::bytes(options.meta)};
    }

    detail::Owned<bw_client, bw_client_free> raw_;
};

/** Ends a child process step by step, the last of which no child can refuse (basic/transports/stdio, Shutdown). */
class ChildShutdown
{
  public:
    /** Watches over a child that runs, with the waits of the configuration. */
    static Result<ChildShutdown> create(const ClientConfig &config)
    {
        bw_child_shutdown *raw = nullptr;
        const bw_status status = bw_child_shutdown_new(config.get(), &raw);
        return detail::checked(status, ChildShutdown(raw));
    }

    /** Begins to end the child. Harmless when begun before. */
    Result<void> start() { return detail::checked(bw_child_shutdown_start(get())); }

    /** The child has exited: nothing more is due. */
    Result<void> exited() { return detail::checked(bw_child_shutdown_exited(get())); }

    /** The next action, each once; `now` is when it is carried out. BW_CHILD_NOTHING if there is none for now. */
    bw_child_action poll_action(std::uint64_t now) { return bw_child_shutdown_poll_action(get(), now); }

    /** When to call `handle_timeout` at the latest, or `never`. */
    std::uint64_t poll_timeout() const { return bw_child_shutdown_poll_timeout(raw_.get()); }

    /** Lets time pass. */
    Result<void> handle_timeout(std::uint64_t now)
    {
        return detail::checked(bw_child_shutdown_handle_timeout(get(), now));
    }

    /** Whether the child has exited. */
    bool is_finished() const { return bw_child_shutdown_is_finished(raw_.get()); }

    /** The steps of barewire.h. They stay this object's. */
    bw_child_shutdown *get() noexcept { return raw_.get(); }

  private:
    explicit ChildShutdown(bw_child_shutdown *raw) noexcept : raw_(raw) {}

    detail::Owned<bw_child_shutdown, bw_child_shutdown_free> raw_;
};

} // namespace barewire

#endif
