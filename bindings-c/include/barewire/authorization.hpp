/**
 * @file
 * The OAuth client beside a client over HTTP. Part of barewire.hpp.
 */
#ifndef BAREWIRE_AUTHORIZATION_HPP
#define BAREWIRE_AUTHORIZATION_HPP

#include "event.hpp"

namespace barewire
{

/** Names something that an authorization asks for; the numbers mean nothing, and none is 0. */
enum class ActionHandle : std::uint64_t {};

/** A client as one authorization server knows it; with an id alone, a public one. */
struct ClientRegistration {
    /** Its id. */
    std::string_view client_id;
    /** The issuer identifier of the authorization server; nothing: the one that the MCP server names first. */
    std::optional<std::string_view> issuer = std::nullopt;
    /** Its secret, if it authenticates with one. */
    std::optional<std::string_view> secret = std::nullopt;
    /** How the secret is sent; nothing: as the authorization server likes it. */
    std::optional<bw_secret_method> secret_method = std::nullopt;
    /** The name of the signature's algorithm in JOSE, if it authenticates with a JWT. */
    std::optional<std::string_view> algorithm = std::nullopt;
    /** The id of the key for the header of the JWT. */
    std::optional<std::string_view> key_id = std::nullopt;
    /** Whom the JWT is for; nothing: the issuer identifier. */
    std::optional<bw_assertion_audience> audience = std::nullopt;
};

/** What is stored between processes and runs, by the URL of the MCP server and the principal. */
struct StoredRecord {
    /** One more with each change; the first is 1. */
    std::uint64_t generation;
    /** JSON that only the library reads. Secret. */
    std::string_view text;
};

/** Bytes to sign, which become a JWT with their signature (RFC 7515, section 5.1). */
struct SigningRequest {
    /** With which key. */
    bw_signing_key key;
    /** The client whose key it is; nothing for the key that tokens are bound to. */
    std::optional<std::string_view> client_id;
    /** The algorithm's name in JOSE, as configured; the signature has the form of RFC 7518. */
    std::string_view algorithm;
    /** What is signed, as ASCII. */
    std::string_view input;
};

/** What goes with one request to the MCP server, good until the next ones are asked for. Secret. */
struct Credentials {
    /** Names the token in a `Refusal`; 0: there is none. */
    std::uint64_t generation;
    /** The value of the header `Authorization`, if there is a token. */
    std::optional<std::string_view> authorization;
    /** What to sign for `dpop_proof`, if the token is bound to a key. */
    std::optional<SigningRequest> proof;
};

/** An HTTP request to carry out: without redirects, without cookies, with a time limit of the host's. */
struct OAuthRequest {
    /** What it is for. */
    bw_http_purpose purpose;
    /** The method: GET or POST. */
    std::string_view method;
    /** Where to. */
    std::string_view url;
    /** Headers with names in lower case, without those of the host's own. */
    Headers headers;
    /** The body; empty for GET. */
    std::string_view body;
    /** The body of the response may have no more bytes than this: else fail with BW_ACTION_TOO_LARGE. */
    std::size_t response_bytes;
};

/** A 401 or 403 of the MCP server. */
struct Refusal {
    /** Its status. */
    std::uint16_t status;
    /** The values of `WWW-Authenticate`, in order. */
    std::vector<std::string_view> challenges;
    /** The value of `DPoP-Nonce`, if one came. */
    std::optional<std::string_view> dpop_nonce;
    /** The generation of the credentials that went with the request. */
    std::uint64_t generation;
    /** What was tried, for counting. */
    std::string_view operation;

    /** What an event tells of the request that went with credentials of that generation. */
    static Refusal of(const client::AuthorizationRequired &event, std::uint64_t generation)
    {
        const std::vector<std::string_view> challenges(event.challenges.begin(), event.challenges.end());
        return {event.http_status, challenges, event.dpop_nonce, generation, event.operation};
    }
};

namespace detail
{

/** What there is to sign, if there is something. */
inline std::optional<SigningRequest> signing(const bw_signing_request &raw) noexcept
{
    if (raw.key == 0)
        return std::nullopt;
    return SigningRequest{static_cast<bw_signing_key>(raw.key), optional(raw.client_id), view(raw.algorithm),
                          view(raw.input)};
}

/** A client for the library. */
inline bw_client_registration raw_client(const ClientRegistration &client) noexcept
{
    bw_client_registration raw = {};
    raw.issuer = bytes(client.issuer);
    raw.client_id = bytes(client.client_id);
    raw.secret = bytes(client.secret);
    raw.secret_method = client.secret_method ? *client.secret_method : 0;
    raw.algorithm = bytes(client.algorithm);
    raw.key_id = bytes(client.key_id);
    raw.audience = client.audience ? *client.audience : 0;
    return raw;
}

} // namespace detail

/** What an authorization asks its host to do, one thing at a time. */
namespace action
{

/** An action of a library that is newer than these headers. */
struct Unknown {
    /** The number that it has instead of one of `bw_action_type`. */
    int kind;
    /** Names it in `fail_action`. */
    ActionHandle action;
};

/** Read what is stored, as it is now; answer with `loaded`. */
struct Load {
    /** Its number. */
    static constexpr bw_action_type kind = BW_ACTION_LOAD;
    /** Names it in its answer. */
    ActionHandle action;

    /** What barewire.h tells. */
    explicit Load(const bw_action *raw) noexcept : action(ActionHandle{bw_action_handle(raw)}) {}
};

/** Store the record if the store has the generation that is expected; answer with `saved` or `save_conflicted`. */
struct Save {
    /** Its number. */
    static constexpr bw_action_type kind = BW_ACTION_SAVE;
    /** Names it in its answer. */
    ActionHandle action;
    /** The generation that the store must have, 0 if there must be nothing. */
    std::uint64_t expected_generation;
    /** What to store. */
    StoredRecord record;

    /** What barewire.h tells. */
    explicit Save(const bw_action *raw) noexcept
        : action(ActionHandle{bw_action_handle(raw)}), expected_generation(bw_action_expected_generation(raw)), record{}
    {
        bw_stored_record lent = {};
        (void)bw_action_record(raw, &lent);
        record = {lent.generation, detail::view(lent.text)};
    }
};

/** Carry out a request; answer with `receive_response`. */
struct Send {
    /** Its number. */
    static constexpr bw_action_type kind = BW_ACTION_SEND;
    /** Names it in its answer. */
    ActionHandle action;
    /** The request. */
    OAuthRequest request;

    /** What barewire.h tells. */
    explicit Send(const bw_action *raw) noexcept : action(ActionHandle{bw_action_handle(raw)}), request(request_of(raw))
    {
    }

  private:
    static OAuthRequest request_of(const bw_action *raw) noexcept
    {
        bw_oauth_request lent = {};
        (void)bw_action_request(raw, &lent);
        return {static_cast<bw_http_purpose>(lent.purpose), detail::view(lent.method), detail::view(lent.url),
                Headers(lent.headers, lent.header_count),   detail::view(lent.body),   lent.response_bytes};
    }
};

/** Listen at the redirect URI, then open the user's browser, never through a shell; answer with `receive_callback`. */
struct OpenUserAgent {
    /** Its number. */
    static constexpr bw_action_type kind = BW_ACTION_OPEN_USER_AGENT;
    /** Names it in `fail_action`. */
    ActionHandle action;
    /** The URL to open. */
    std::string_view url;
    /** Where the user agent comes back to. */
    std::string_view redirect_uri;

    /** What barewire.h tells. */
    explicit OpenUserAgent(const bw_action *raw) noexcept
        : action(ActionHandle{bw_action_handle(raw)}), url(detail::view(bw_action_url(raw))),
          redirect_uri(detail::view(bw_action_redirect_uri(raw)))
    {
    }
};

/** Sign; answer with `provide_signature`. */
struct Sign {
    /** Its number. */
    static constexpr bw_action_type kind = BW_ACTION_SIGN;
    /** Names it in its answer. */
    ActionHandle action;
    /** What to sign. */
    SigningRequest signing;

    /** What barewire.h tells. */
    explicit Sign(const bw_action *raw) noexcept : action(ActionHandle{bw_action_handle(raw)}), signing{}
    {
        bw_signing_request lent = {};
        (void)bw_action_signing(raw, &lent);
        signing = detail::signing(lent).value_or(SigningRequest{});
    }
};

/** Ask the user for a client that is registered at this authorization server; answer with `client_provided`. */
struct ProvideClient {
    /** Its number. */
    static constexpr bw_action_type kind = BW_ACTION_PROVIDE_CLIENT;
    /** Names it in its answer. */
    ActionHandle action;
    /** The issuer identifier of the authorization server. */
    std::string_view issuer;

    /** What barewire.h tells. */
    explicit ProvideClient(const bw_action *raw) noexcept
        : action(ActionHandle{bw_action_handle(raw)}), issuer(detail::view(bw_action_issuer(raw)))
    {
    }
};

/** Get an assertion that is valid now; answer with `assertion_provided`. */
struct ProvideAssertion {
    /** Its number. */
    static constexpr bw_action_type kind = BW_ACTION_PROVIDE_ASSERTION;
    /** Names it in its answer. */
    ActionHandle action;
    /** The issuer identifier of the authorization server, which the JWT of a workload must be for. */
    std::string_view issuer;
    /** The MCP server. */
    std::string_view resource;

    /** What barewire.h tells. */
    explicit ProvideAssertion(const bw_action *raw) noexcept
        : action(ActionHandle{bw_action_handle(raw)}), issuer(detail::view(bw_action_issuer(raw))),
          resource(detail::view(bw_action_resource(raw)))
    {
    }
};

} // namespace action

/** What an authorization asks for, to be visited. Good until the next `poll_action`; much of it is secret. */
using Action = std::variant<action::Load, action::Save, action::Send, action::OpenUserAgent, action::Sign,
                            action::ProvideClient, action::ProvideAssertion, action::Unknown>;

namespace detail
{

/** The action as the first type that has its number, from that index on. */
template <std::size_t Index = 0> Action action_of(const bw_action *raw, bw_action_type kind) noexcept
{
    using Type = std::variant_alternative_t<Index, Action>;
    if constexpr (std::is_same_v<Type, action::Unknown>)
        return Type{kind, ActionHandle{bw_action_handle(raw)}};
    else if (kind == Type::kind)
        return Action(std::in_place_index<Index>, raw);
    else
        return action_of<Index + 1>(raw, kind);
}

} // namespace detail

/** Why there are no credentials. */
struct AuthorizationFailure {
    /** The number. */
    bw_authorization_error code;
    /** Whether the same may work a little later. */
    bool is_retryable;
    /** The error in words, for people. It holds no secret. */
    std::string_view message;
    /** `error` of the OAuth response, where there was one: the peer's words. */
    std::optional<std::string_view> oauth_error;
    /** Its `error_description`. */
    std::optional<std::string_view> oauth_description;
    /** Its `error_uri`. */
    std::optional<std::string_view> oauth_uri;
};

/** What whoever waits for credentials is told, once. Good until the next one is polled. */
struct AuthorizationEvent {
    /** Who waited. */
    std::uint64_t waiter;
    /** Why there is nothing to try; nothing: `credentials` gives it. */
    std::optional<AuthorizationFailure> failure;
};

/**
 * How an authorization is set up. Authorizations made of it keep nothing of it. Each setter says whether it could be
 * done; if not, the configuration is as before.
 */
class AuthorizationConfig
{
  public:
    /** A configuration for the MCP server at a URL, which is as the user wrote it. */
    static Result<AuthorizationConfig> create(std::string_view server_url, bw_grant grant, const Seed &seed)
    {
        bw_authorization_config *raw = nullptr;
        const bw_status status = bw_authorization_config_new(detail::bytes(server_url), grant, seed.data(), &raw);
        return detail::checked(status, AuthorizationConfig(raw));
    }

    /** Authorization code: sets where the user agent comes back to. */
    Result<void> set_redirect_uri(std::string_view redirect_uri)
    {
        return detail::checked(bw_authorization_config_set_redirect_uri(get(), detail::bytes(redirect_uri)));
    }

    /** Authorization code: sets that dynamic registration is used, and the client's name for people there. */
    Result<void> set_dynamic_registration(std::string_view client_name,
                                          std::optional<bw_application_type> type = std::nullopt)
    {
        return detail::checked(
            bw_authorization_config_set_dynamic_registration(get(), detail::bytes(client_name), type ? *type : 0));
    }

    /** Authorization code: sets the client whose id is the https URL of its metadata document. */
    Result<void> set_metadata_client(const ClientRegistration &client)
    {
        const auto raw = detail::raw_client(client);
        return detail::checked(bw_authorization_config_set_metadata_client(get(), &raw));
    }

    /** Authorization code: sets whether the host can provide a client when nothing else is left. Default false. */
    Result<void> set_asks_for_client(bool asks)
    {
        return detail::checked(bw_authorization_config_set_asks_for_client(get(), asks));
    }

    /** Enterprise: sets where the identity provider exchanges tokens, the client there, and the kind of assertion. */
    Result<void> set_identity_provider(std::string_view token_endpoint, const ClientRegistration &client,
                                       bw_subject_token subject_token)
    {
        const auto raw = detail::raw_client(client);
        return detail::checked(
            bw_authorization_config_set_identity_provider(get(), detail::bytes(token_endpoint), &raw, subject_token));
    }

    /** Adds a client that was registered beforehand, with the authorization server that knows it. */
    Result<void> add_client(const ClientRegistration &client)
    {
        const auto raw = detail::raw_client(client);
        return detail::checked(bw_authorization_config_add_client(get(), &raw));
    }

    /** Sets the scopes to ask for at first, instead of those that the server names. */
    Result<void> set_scopes(Span<std::string_view> scopes)
    {
        const auto texts = detail::texts(scopes);
        return detail::checked(bw_authorization_config_set_scopes(get(), texts.data(), texts.size()));
    }

    /** Sets whether to ask for refresh tokens. Default true. */
    Result<void> set_wants_refresh(bool wanted)
    {
        return detail::checked(bw_authorization_config_set_wants_refresh(get(), wanted));
    }

    /** Sets the key that tokens are bound to (RFC 9449): its algorithm in JOSE, its public half as a JWK. */
    Result<void> set_dpop_key(std::string_view algorithm, std::string_view public_key, bool required)
    {
        return detail::checked(
            bw_authorization_config_set_dpop_key(get(), detail::bytes(algorithm), detail::bytes(public_key), required));
    }

    /** Sets whether to fall back to the endpoints of the oldest revision with authorization. Default false. */
    Result<void> set_legacy_endpoints(bool used)
    {
        return detail::checked(bw_authorization_config_set_legacy_endpoints(get(), used));
    }

    /** Sets the milliseconds to wait for the user to come back. Default 600 000. */
    Result<void> set_callback_timeout(std::uint64_t milliseconds)
    {
        return detail::checked(bw_authorization_config_set_callback_timeout(get(), milliseconds));
    }

    /** Sets the milliseconds before its expiry from which a token is renewed. Default 30 000. */
    Result<void> set_renew_before(std::uint64_t milliseconds)
    {
        return detail::checked(bw_authorization_config_set_renew_before(get(), milliseconds));
    }

    /** Sets the most bytes of the body of a response. Default 262 144. */
    Result<void> set_response_bytes(std::size_t bytes)
    {
        return detail::checked(bw_authorization_config_set_response_bytes(get(), bytes));
    }

    /** The configuration of barewire.h. It stays this object's. */
    bw_authorization_config *get() noexcept { return raw_.get(); }

    /** The configuration of barewire.h. It stays this object's. */
    const bw_authorization_config *get() const noexcept { return raw_.get(); }

  private:
    explicit AuthorizationConfig(bw_authorization_config *raw) noexcept : raw_(raw) {}

    detail::Owned<bw_authorization_config, bw_authorization_config_free> raw_;
};

/**
 * The authorization of one principal at one MCP server. It does no I/O and signs nothing. Times are milliseconds since
 * 1970.
 *
 * Before each request: `is_ready`, and if not, `acquire` and wait for the event; then `credentials`. After a client's
 * AuthorizationRequired: `challenge`, wait for the event, then `http_authorized` or `http_unauthorized` of the client.
 * After each function: carry out what `poll_action` gives, and poll the events.
 */
class Authorization
{
  public:
    /** One that has not read its store yet. */
    static Result<Authorization> create(const AuthorizationConfig &config)
    {
        bw_authorization *raw = nullptr;
        const bw_status status = bw_authorization_new(config.get(), &raw);
        return detail::checked(status, Authorization(raw));
    }

    /** Whether `credentials` gives the best there is. */
    bool is_ready(std::uint64_t now) { return bw_authorization_is_ready(get(), now); }

    /** Waits until there are credentials, or none without a challenge; one event follows for `waiter`. */
    Result<void> acquire(std::uint64_t now, std::uint64_t waiter)
    {
        return checked(bw_authorization_acquire(get(), now, waiter));
    }

    /** What goes with a request to the MCP server: ask anew for each, also for one that is sent again. */
    Result<Credentials> credentials(std::uint64_t now, std::string_view method, std::string_view url)
    {
        bw_credentials raw = {};
        const bw_status status =
            bw_authorization_credentials(get(), now, detail::bytes(method), detail::bytes(url), &raw);
        return checked(status,
                       Credentials{raw.generation, detail::optional(raw.authorization), detail::signing(raw.proof)});
    }

    /** The MCP server refused a request. One event follows for `waiter`. */
    Result<void> challenge(std::uint64_t now, std::uint64_t waiter, const Refusal &refusal)
    {
        const auto challenges = detail::texts(refusal.challenges);
        const bw_refusal raw = {refusal.status,     challenges.data(),
                                challenges.size(),  detail::bytes(refusal.dpop_nonce),
                                refusal.generation, detail::bytes(refusal.operation)};
        return checked(bw_authorization_challenge(get(), now, waiter, &raw));
    }

    /** The MCP server took the token of this generation: for each response that is not a 401. */
    Result<void> note_success(std::uint64_t generation)
    {
        return checked(bw_authorization_note_success(get(), generation));
    }

    /** The MCP server gave a nonce with a response that was none of 401 and 403. */
    Result<void> note_nonce(std::string_view nonce)
    {
        return checked(bw_authorization_note_nonce(get(), detail::bytes(nonce)));
    }

    /** The next thing to do; nothing for now. One is open at a time. */
    std::optional<Action> poll_action()
    {
        const bw_action *raw = bw_authorization_poll_action(get());
        return raw ? std::optional<Action>(detail::action_of(raw, bw_action_kind(raw))) : std::nullopt;
    }

    /** What there is to tell whoever waits; nothing for now. */
    std::optional<AuthorizationEvent> poll_event()
    {
        bw_authorization_event raw = {};
        if (!bw_authorization_poll_event(get(), &raw))
            return std::nullopt;
        if (raw.error == 0)
            return AuthorizationEvent{raw.waiter, std::nullopt};
        return AuthorizationEvent{
            raw.waiter, AuthorizationFailure{static_cast<bw_authorization_error>(raw.error), raw.is_retryable,
                                             detail::view(raw.message), detail::optional(raw.oauth_error),
                                             detail::optional(raw.oauth_description), detail::optional(raw.oauth_uri)}};
    }

    /** When to call `handle_timeout` at the latest, or `never`. */
    std::uint64_t poll_timeout() { return bw_authorization_poll_timeout(get()); }

    /** Lets time pass. */
    Result<void> handle_timeout(std::uint64_t now) { return checked(bw_authorization_handle_timeout(get(), now)); }

    /** Answers Load: what the store holds, if anything. */
    Result<void> loaded(std::uint64_t now, ActionHandle action, std::optional<StoredRecord> record)
    {
        const bw_stored_record raw = raw_of(record);
        return checked(bw_authorization_loaded(get(), now, detail::raw(action), record ? &raw : nullptr));
    }

    /** Answers Save: it is stored. */
    Result<void> saved(std::uint64_t now, ActionHandle action)
    {
        return checked(bw_authorization_saved(get(), now, detail::raw(action)));
    }

    /** Answers Save: the store had another generation, and nothing was written. What it holds, if anything. */
    Result<void> save_conflicted(std::uint64_t now, ActionHandle action, std::optional<StoredRecord> record)
    {
        const bw_stored_record raw = raw_of(record);
        return checked(bw_authorization_save_conflicted(get(), now, detail::raw(action), record ? &raw : nullptr));
    }

    /** Answers Send: the response, whole, whatever its status. */
    Result<void> receive_response(std::uint64_t now, ActionHandle action, std::uint16_t status, Span<Pair> headers,
                                  std::string_view body)
    {
        const auto raw = detail::converted(headers, detail::raw_pair);
        return checked(bw_authorization_receive_response(get(), now, detail::raw(action), status, raw.data(),
                                                         raw.size(), detail::bytes(body)));
    }

    /**
     * Answers OpenUserAgent: what the user agent brought back, the query of the request, or its whole target or URL. If
     * it fails while `awaits_callback` is true, it was none of ours and the right one may still come.
     */
    Result<void> receive_callback(std::uint64_t now, std::string_view query)
    {
        return checked(bw_authorization_receive_callback(get(), now, detail::bytes(query)));
    }

    /** Whether the user is to come back. */
    bool awaits_callback() { return bw_authorization_awaits_callback(get()); }

    /** Answers Sign: the signature over its `input`. (`signed` is a word of C++.) */
    Result<void> provide_signature(std::uint64_t now, ActionHandle action, std::string_view signature)
    {
        return checked(bw_authorization_signed(get(), now, detail::raw(action), detail::bytes(signature)));
    }

    /** Answers ProvideClient. */
    Result<void> client_provided(std::uint64_t now, ActionHandle action, const ClientRegistration &client)
    {
        const auto raw = detail::raw_client(client);
        return checked(bw_authorization_client_provided(get(), now, detail::raw(action), &raw));
    }

    /** Answers ProvideAssertion. */
    Result<void> assertion_provided(std::uint64_t now, ActionHandle action, std::string_view assertion)
    {
        return checked(bw_authorization_assertion_provided(get(), now, detail::raw(action), detail::bytes(assertion)));
    }

    /** An action of any kind was not carried out. */
    Result<void> fail_action(std::uint64_t now, ActionHandle action, bw_action_failure failure)
    {
        return checked(bw_authorization_fail_action(get(), now, detail::raw(action), failure));
    }

    /** Gives up what is under way, and refuses whoever comes until `reset`. */
    Result<void> cancel(std::uint64_t now) { return checked(bw_authorization_cancel(get(), now)); }

    /** Forgets that it failed: the next challenge begins anew. */
    Result<void> reset() { return checked(bw_authorization_reset(get())); }

    /** The authorization of barewire.h. It stays this object's. */
    bw_authorization *get() noexcept { return raw_.get(); }

  private:
    explicit Authorization(bw_authorization *raw) noexcept : raw_(raw) {}

    Error error(bw_status status) { return Error(status, detail::view(bw_authorization_error_message(get()))); }

    Result<void> checked(bw_status status) { return status == BW_OK ? Result<void>() : Result<void>(error(status)); }

    template <class T> Result<T> checked(bw_status status, T value)
    {
        return status == BW_OK ? Result<T>(std::move(value)) : Result<T>(error(status));
    }

    static bw_stored_record raw_of(const std::optional<StoredRecord> &record) noexcept
    {
        return record ? bw_stored_record{record->generation, detail::bytes(record->text)} : bw_stored_record{};
    }

    detail::Owned<bw_authorization, bw_authorization_free> raw_;
};

/** The value of the header `DPoP`: the `input` of a proof to sign, and its signature (RFC 9449, section 4.2). */
inline Result<std::string> dpop_proof(std::string_view input, std::string_view signature)
{
    return detail::written([=](char *buffer, std::size_t size, bw_bytes *header) {
        return bw_dpop_proof(detail::bytes(input), detail::bytes(signature), buffer, size, header);
    });
}

} // namespace barewire

#endif
