/**
 * @file
 * Protected servers. Part of barewire.hpp.
 */
#ifndef BAREWIRE_RESOURCE_SERVER_HPP
#define BAREWIRE_RESOURCE_SERVER_HPP

#include "result.hpp"

namespace barewire
{

/**
 * A refusal, for `Server::http_receive_denied` or `http_deny`; good until the next call on the resource server that is
 * not const.
 */
struct Denial {
    /** Why; nothing for one of the host's own. */
    std::optional<bw_denial_reason> reason;
    /** The status to send: 400, 401 or 403; 503 where nothing can be said of a token now. */
    std::uint16_t status;
    /** The value of `WWW-Authenticate`, if there is one. */
    std::optional<std::string_view> challenge;
};

namespace detail
{

/** A refusal for the library. */
inline bw_denial raw_denial(const Denial &denial) noexcept
{
    bw_denial raw = {};
    raw.reason = denial.reason ? *denial.reason : 0;
    raw.status = denial.status;
    raw.challenge = bytes(denial.challenge);
    return raw;
}

} // namespace detail

/** Who a request comes from. It never changes: any thread may read it. */
class Principal
{
  public:
    /** The authorization server that vouches for the principal. */
    std::string_view issuer() const noexcept { return detail::view(bw_principal_issuer(get())); }

    /** Its identifier there: a user, or a client that acts for itself. */
    std::string_view subject() const noexcept { return detail::view(bw_principal_subject(get())); }

    /** The client through which it comes, if that is known. */
    std::optional<std::string_view> client() const noexcept { return detail::optional(bw_principal_client(get())); }

    /** The scopes that were granted. */
    std::vector<std::string_view> scopes() const
    {
        std::vector<std::string_view> all;
        while (const auto scope = detail::optional(bw_principal_scope(get(), all.size())))
            all.push_back(*scope);
        return all;
    }

    /** When the token expires, in milliseconds since 1970; `never` if that is not known. */
    std::uint64_t expires_at() const noexcept { return bw_principal_expires_at(get()); }

    /** What names it in `RequestHead::principal`: the same for the same issuer, subject and client, for no others. */
    std::string key() const
    {
        const auto key = detail::written([this](char *buffer, std::size_t size, bw_bytes *text) {
            return bw_principal_key(get(), buffer, size, text);
        });
        return key.value_or(std::string());
    }

    /** The principal of barewire.h. It stays this object's. */
    const bw_principal *get() const noexcept { return raw_.get(); }

  private:
    friend class ResourceServer;

    explicit Principal(bw_principal *raw) noexcept : raw_(raw) {}

    detail::Owned<bw_principal, bw_principal_free> raw_;
};

/** How a protected server is set up. Servers made of it keep nothing of it. */
class ResourceServerConfig
{
  public:
    /** A configuration for the URL of the MCP endpoint as clients know it, and authorization servers by issuer. */
    static Result<ResourceServerConfig> create(std::string_view resource, Span<std::string_view> authorization_servers)
    {
        bw_resource_server_config *raw = nullptr;
        const auto issuers = detail::texts(authorization_servers);
        const bw_status status =
            bw_resource_server_config_new(detail::bytes(resource), issuers.data(), issuers.size(), &raw);
        return detail::checked(status, ResourceServerConfig(raw));
    }

    /** Sets the scopes that suffice for basic use. Default none. */
    Result<void> set_scopes(Span<std::string_view> scopes)
    {
        const auto texts = detail::texts(scopes);
        return detail::checked(bw_resource_server_config_set_scopes(get(), texts.data(), texts.size()));
    }

    /** Sets what tokens may name as their audience beside the resource. Default none. */
    Result<void> set_audiences(Span<std::string_view> audiences)
    {
        const auto texts = detail::texts(audiences);
        return detail::checked(bw_resource_server_config_set_audiences(get(), texts.data(), texts.size()));
    }

    /** Sets a name for people. */
    Result<void> set_name(std::optional<std::string_view> name)
    {
        return detail::checked(bw_resource_server_config_set_name(get(), detail::bytes(name)));
    }

    /** Sets the URL of a page for developers. */
    Result<void> set_documentation(std::optional<std::string_view> url)
    {
        return detail::checked(bw_resource_server_config_set_documentation(get(), detail::bytes(url)));
    }

    /** Sets the milliseconds by which clocks may differ. Default 30 000. */
    Result<void> set_leeway(std::uint64_t milliseconds)
    {
        return detail::checked(bw_resource_server_config_set_leeway(get(), milliseconds));
    }

    /** The configuration of barewire.h. It stays this object's. */
    bw_resource_server_config *get() noexcept { return raw_.get(); }

    /** The configuration of barewire.h. It stays this object's. */
    const bw_resource_server_config *get() const noexcept { return raw_.get(); }

  private:
    explicit ResourceServerConfig(bw_resource_server_config *raw) noexcept : raw_(raw) {}

    detail::Owned<bw_resource_server_config, bw_resource_server_config_free> raw_;
};

/** What was found, or the refusal of a request that does not have it. */
template <class T> using OrDenial = std::variant<T, Denial>;

/** A protected MCP server as an OAuth 2.1 resource server: its metadata, and its judgement of requests. */
class ResourceServer
{
  public:
    /** A protected server. */
    static Result<ResourceServer> create(const ResourceServerConfig &config)
    {
        bw_resource_server *raw = nullptr;
        const bw_status status = bw_resource_server_new(config.get(), &raw);
        return detail::checked(status, ResourceServer(raw));
    }

    /** The protected resource metadata, as JSON, for anybody. Good for as long as this object. */
    std::string_view metadata() const noexcept { return detail::view(bw_resource_server_metadata(raw_.get())); }

    /** The paths at which to serve it. Good for as long as this object. */
    std::vector<std::string_view> metadata_paths() const
    {
        std::vector<std::string_view> all;
        while (const auto path = detail::optional(bw_resource_server_metadata_path(raw_.get(), all.size())))
            all.push_back(*path);
        return all;
    }

    /** Where challenges say that it is. Good for as long as this object. */
    std::string_view metadata_url() const noexcept { return detail::view(bw_resource_server_metadata_url(raw_.get())); }

    /** The token of a request, a part of its header's value. `query` is what stands behind the question mark. */
    Result<OrDenial<std::string_view>> bearer(Span<Pair> headers, std::optional<std::string_view> query = std::nullopt)
    {
        bw_bytes token = bw_none();
        bw_denial denial = {};
        const auto raw = detail::converted(headers, detail::raw_pair);
        const bw_status status =
            bw_resource_server_bearer(get(), raw.data(), raw.size(), detail::bytes(query), &token, &denial);
        return judged(status, detail::view(token), denial);
    }

    /** Judges the claims of a token that was found genuine, a JSON object. `now` is in milliseconds since 1970. */
    Result<OrDenial<Principal>> principal(std::uint64_t now, std::string_view claims)
    {
        bw_principal *raw = nullptr;
        bw_denial denial = {};
        const bw_status status = bw_principal_new(get(), now, detail::bytes(claims), &raw, &denial);
        return judged(status, Principal(raw), denial);
    }

    /** Whether a principal may do what needs these scopes: the refusal if not. A scope stands for itself only. */
    Result<std::optional<Denial>> authorize(const Principal &principal, Span<std::string_view> needed)
    {
        return authorize_raw(principal, needed, nullptr, nullptr);
    }

    /** As the other one; `implies(granted, needed)` says whether a scope stands for another one. It must not throw. */
    template <class Implies>
    Result<std::optional<Denial>> authorize(const Principal &principal, Span<std::string_view> needed, Implies implies)
    {
        const auto call = [](void *context, bw_bytes granted, bw_bytes wanted) noexcept -> bool {
            return (*static_cast<Implies *>(context))(detail::view(granted), detail::view(wanted));
        };
        return authorize_raw(principal, needed, call, &implies);
    }

    /** A refusal for a reason that names the scopes which the operation needs, or which suffice for a start. */
    Result<Denial> deny(bw_denial_reason reason, Span<std::string_view> scopes = {})
    {
        bw_denial denial = {};
        const auto texts = detail::texts(scopes);
        const bw_status status = bw_resource_server_deny(get(), reason, texts.data(), texts.size(), &denial);
        return detail::checked(status, denial_of(denial));
    }

    /** A refusal that names the scopes of the configuration, before it is known what a request wants. */
    Result<Denial> deny_unknown(bw_denial_reason reason)
    {
        bw_denial denial = {};
        const bw_status status = bw_resource_server_deny_unknown(get(), reason, &denial);
        return detail::checked(status, denial_of(denial));
    }

    /** The protected server of barewire.h. It stays this object's. */
    bw_resource_server *get() noexcept { return raw_.get(); }

  private:
    explicit ResourceServer(bw_resource_server *raw) noexcept : raw_(raw) {}

    static Denial denial_of(const bw_denial &raw) noexcept
    {
        return {detail::optional_number<bw_denial_reason>(raw.reason), raw.status, detail::optional(raw.challenge)};
    }

    template <class T> static Result<OrDenial<T>> judged(bw_status status, T value, const bw_denial &denial)
    {
        if (status == BW_ERROR_DENIED)
            return OrDenial<T>(denial_of(denial));
        return detail::checked(status, OrDenial<T>(std::move(value)));
    }

    Result<std::optional<Denial>> authorize_raw(const Principal &principal, Span<std::string_view> needed,
                                                bw_scope_implies implies, void *context)
    {
        bw_denial denial = {};
        const auto texts = detail::texts(needed);
        const bw_status status =
            bw_resource_server_authorize(get(), principal.get(), texts.data(), texts.size(), implies, context, &denial);
        if (status == BW_ERROR_DENIED)
            return std::optional<Denial>(denial_of(denial));
        return detail::checked(status, std::optional<Denial>());
    }

    detail::Owned<bw_resource_server, bw_resource_server_free> raw_;
};

/** A URL at which the metadata of an authorization server may be, in the order in which it is looked for there. */
inline Result<std::string> server_metadata_url(std::string_view issuer, std::size_t index)
{
    return detail::written([=](char *buffer, std::size_t size, bw_bytes *url) {
        return bw_server_metadata_url(detail::bytes(issuer), index, buffer, size, url);
    });
}

} // namespace barewire

#endif
