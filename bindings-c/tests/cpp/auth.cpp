// Authorization: what a client asks its host for, and what a protected server makes of requests.
#include "pair.hpp"

namespace action = barewire::action;
using barewire::Authorization;
using barewire::AuthorizationConfig;
using barewire::ClientRegistration;
using barewire::Denial;
using barewire::Principal;
using barewire::ResourceServer;
using barewire::ResourceServerConfig;
using barewire::StoredRecord;

constexpr std::uint64_t time_of_day = 1'800'000'000'000;
constexpr const char *url = "https://mcp.example/mcp";
constexpr const char *issuer = "https://as.example";
constexpr const char *redirect_uri = "http://127.0.0.1:7777/callback";
constexpr const char *resource =
    R"({"resource":"https://mcp.example/mcp","authorization_servers":["https://as.example"]})";
constexpr const char *metadata =
    R"({"issuer":"https://as.example","authorization_endpoint":"https://as.example/a",
    "token_endpoint":"https://as.example/t","registration_endpoint":"https://as.example/r",
    "code_challenge_methods_supported":["S256"],"dpop_signing_alg_values_supported":["ES256"],
    "token_endpoint_auth_methods_supported":["none","private_key_jwt","client_secret_post"],
    "grant_types_supported":["authorization_code","client_credentials",
    "urn:ietf:params:oauth:grant-type:jwt-bearer"]})";

template <class Kind> static Kind asked(Authorization &it)
{
    const auto next = it.poll_action();
    CHECK(next && std::holds_alternative<Kind>(*next));
    return std::get<Kind>(*next);
}

static void serve(Authorization &it, bw_http_purpose purpose, std::uint16_t status, std::string_view body)
{
    const auto [handle, request] = asked<action::Send>(it);
    CHECK(request.purpose == purpose && !request.url.empty() && request.headers.size() > 0);
    CHECK((request.method == "POST") == !request.body.empty() && request.response_bytes > 0);
    must(it.receive_response(time_of_day, handle, status, {{"content-type", "application/json"}}, body));
}

// What an authorization is told of a 401, and what it finds out before it knows what to do.
static void discover(Authorization &it)
{
    must(it.challenge(time_of_day, 7, {401, {"Bearer scope=\"files\""}, std::nullopt, 0, "call x"}));
    must(it.loaded(time_of_day, asked<action::Load>(it).action, std::nullopt));
    serve(it, BW_PURPOSE_RESOURCE_METADATA, 200, resource);
    serve(it, BW_PURPOSE_SERVER_METADATA, 200, metadata);
}

static void save(Authorization &it, std::uint64_t expected)
{
    const auto asked_for = asked<action::Save>(it);
    CHECK(asked_for.expected_generation == expected && asked_for.record.generation == expected + 1);
    must(it.saved(time_of_day, asked_for.action));
}

static void sign(Authorization &it, bw_signing_key key, std::optional<std::string_view> client)
{
    const auto [handle, signing] = asked<action::Sign>(it);
    CHECK(signing.key == key && signing.client_id == client && signing.algorithm == "ES256" && !signing.input.empty());
    must(it.provide_signature(time_of_day, handle, "signature"));
}

static std::optional<barewire::AuthorizationFailure> settled(Authorization &it)
{
    const auto event = it.poll_event();
    CHECK(event && event->waiter == 7);
    return event->failure;
}

static AuthorizationConfig config_of(bw_grant grant)
{
    return must(AuthorizationConfig::create(url, grant, seed));
}

static void consent()
{
    auto config = config_of(BW_GRANT_AUTHORIZATION_CODE);
    must(config.set_redirect_uri(redirect_uri));
    must(config.set_dynamic_registration("Example", BW_APPLICATION_NATIVE));
    must(config.set_scopes({"files", "notes"}));
    must(config.set_wants_refresh(false));
    must(config.set_dpop_key("ES256", R"({"kty":"EC","crv":"P-256","x":"eA","y":"eQ"})", true));
    must(config.set_legacy_endpoints(true));
    must(config.set_callback_timeout(1000));
    must(config.set_renew_before(10));
    must(config.set_response_bytes(4096));
    auto it = must(Authorization::create(config));
    CHECK(!it.is_ready(time_of_day) && !it.poll_action() && !it.poll_event() && it.poll_timeout() == barewire::never);
    discover(it);
    serve(it, BW_PURPOSE_REGISTRATION, 201, R"({"client_id":"c1","redirect_uris":["http://127.0.0.1:7777/callback"]})");
    save(it, 0);
    const auto visit = asked<action::OpenUserAgent>(it);
    CHECK(visit.redirect_uri == redirect_uri && it.awaits_callback() && it.poll_timeout() == time_of_day + 1000);
    CHECK(fails(BW_AUTHORIZATION_ERROR_STATE_MISMATCH, it.receive_callback(time_of_day, "/callback?state=x&code=y")));
    const std::string link(visit.url);
    const auto from = link.find("state=");
    must(it.receive_callback(time_of_day, "?code=y&" + link.substr(from, link.find('&', from) - from)));
    sign(it, BW_KEY_DPOP, std::nullopt);
    serve(it, BW_PURPOSE_TOKEN, 200, R"({"access_token":"secret","token_type":"DPoP","expires_in":3600})");
    save(it, 1);
    CHECK(!settled(it) && it.is_ready(time_of_day));
    must(it.note_nonce("nonce"));
    const auto credentials = must(it.credentials(time_of_day, "POST", url));
    CHECK(credentials.authorization == "DPoP secret" && credentials.proof && credentials.proof->key == BW_KEY_DPOP);
    CHECK(*barewire::dpop_proof(credentials.proof->input, "xyz") == std::string(credentials.proof->input) + ".eHl6");
    must(it.note_success(credentials.generation));
    const auto elsewhere = must(it.credentials(time_of_day, "POST", "https://other.example/"));
    CHECK(elsewhere.generation == 0 && !elsewhere.authorization && !elsewhere.proof);
}

// The client is asked for, and the user does not consent.
static void refusal()
{
    auto config = config_of(BW_GRANT_AUTHORIZATION_CODE);
    must(config.set_redirect_uri(redirect_uri));
    must(config.set_asks_for_client(true));
    auto it = must(Authorization::create(config));
    discover(it);
    const auto wanted = asked<action::ProvideClient>(it);
    CHECK(wanted.issuer == issuer);
    CHECK(fails(BW_ERROR_INVALID_ARGUMENT,
                it.client_provided(time_of_day, wanted.action, {"x", std::nullopt, "x", std::nullopt, "x"})));
    CHECK(!must(Authorization::create(config)).poll_action());
    must(it.client_provided(time_of_day, wanted.action, {"given"}));
    must(it.handle_timeout(time_of_day));
    const auto next = it.poll_action();
    CHECK(next);
    if (const auto *stored = std::get_if<action::Save>(&*next))
        must(it.saved(time_of_day, stored->action));
    CHECK(asked<action::OpenUserAgent>(it).url.find("client_id=given") != std::string::npos);
    must(it.cancel(time_of_day));
    const auto failure = settled(it);
    CHECK(failure && failure->code == BW_AUTHORIZATION_ERROR_CANCELLED && !failure->message.empty());
    must(it.reset());
    must(it.acquire(time_of_day, 7));
}

static Authorization workload(bw_grant grant)
{
    auto config = config_of(grant);
    ClientRegistration client = {"c2", issuer};
    if (grant == BW_GRANT_CLIENT_CREDENTIALS) {
        client.algorithm = "ES256";
        client.key_id = "k";
        client.audience = BW_AUDIENCE_TOKEN_ENDPOINT;
    }
    must(config.add_client(client));
    return must(Authorization::create(config));
}

// A client acts for itself; other processes were faster to store a token.
static void store()
{
    auto it = workload(BW_GRANT_CLIENT_CREDENTIALS);
    discover(it);
    sign(it, BW_KEY_CLIENT, "c2");
    serve(it, BW_PURPOSE_TOKEN, 200, R"({"access_token":"secret","token_type":"Bearer","expires_in":3600})");
    auto asked_for = asked<action::Save>(it);
    const std::string text(asked_for.record.text);
    const StoredRecord record = {asked_for.record.generation, text};
    must(it.save_conflicted(time_of_day, asked_for.action, std::nullopt));
    asked_for = asked<action::Save>(it);
    must(it.save_conflicted(time_of_day, asked_for.action, record));
    while (const auto next = it.poll_action())
        must(it.saved(time_of_day, std::get<action::Save>(*next).action));
    CHECK(!settled(it));
    it = workload(BW_GRANT_CLIENT_CREDENTIALS);
    must(it.acquire(time_of_day, 7));
    must(it.loaded(time_of_day, asked<action::Load>(it).action, record));
    CHECK(!settled(it) && must(it.credentials(time_of_day, "POST", url)).authorization == "Bearer secret");
}

static void assertions()
{
    auto it = workload(BW_GRANT_WORKLOAD_IDENTITY);
    discover(it);
    const auto wanted = asked<action::ProvideAssertion>(it);
    CHECK(wanted.issuer == issuer && wanted.resource == url);
    must(it.assertion_provided(time_of_day, wanted.action, "a.b.c"));
    serve(it, BW_PURPOSE_TOKEN, 400, R"({"error":"invalid_grant","error_description":"No","error_uri":"https://no"})");
    const auto failure = settled(it);
    CHECK(failure && failure->code == BW_AUTHORIZATION_ERROR_TOKEN_REQUEST_REJECTED && !failure->is_retryable);
    CHECK(failure->oauth_error == "invalid_grant" && failure->oauth_description == "No" && failure->oauth_uri);
    auto other = workload(BW_GRANT_CLIENT_CREDENTIALS);
    discover(other);
    must(other.fail_action(time_of_day, asked<action::Sign>(other).action, BW_ACTION_DECLINED));
    CHECK(settled(other)->code == BW_AUTHORIZATION_ERROR_SIGNING_FAILED);
}

static void configurations()
{
    auto config = config_of(BW_GRANT_ENTERPRISE);
    must(config.add_client({"c", std::nullopt, "c", BW_SECRET_POST}));
    must(config.set_identity_provider("https://idp.example/t", {"c", "https://idp.example", "c"}, BW_SUBJECT_ID_TOKEN));
    must(Authorization::create(config));
    auto code = config_of(BW_GRANT_AUTHORIZATION_CODE);
    must(code.set_metadata_client({"https://client.example/metadata.json"}));
    CHECK(fails(BW_ERROR_INVALID_DEFINITION, Authorization::create(code)) && code.get() != nullptr);
    CHECK(fails(BW_ERROR_INVALID_JSON, code.set_dpop_key("ES256", "{", false)));
}

static ResourceServer protected_server()
{
    auto config = must(ResourceServerConfig::create(url, {issuer}));
    must(config.set_scopes({"files"}));
    must(config.set_audiences({"api://files"}));
    must(config.set_name("Files"));
    must(config.set_documentation("https://mcp.example/doc"));
    must(config.set_leeway(0));
    return must(ResourceServer::create(config));
}

static void tokens()
{
    auto server = protected_server();
    CHECK(*barewire::json::View(server.metadata()).get_string("/resource_name") == "Files");
    CHECK(server.metadata_paths().size() == 2 &&
          server.metadata_url() == std::string("https://mcp.example") + std::string(server.metadata_paths()[0]));
    const auto found = must(server.bearer({{"Authorization", "Bearer e"}}));
    CHECK(std::get<std::string_view>(found) == "e");
    const auto none = must(server.bearer({}));
    CHECK(std::get<Denial>(none).reason == BW_DENIAL_NO_TOKEN && std::get<Denial>(none).status == 401);
    const auto malformed = must(server.bearer({{"authorization", "Bearer e"}}, "access_token=x"));
    CHECK(std::get<Denial>(malformed).status == 400);
    CHECK(must(server.deny(BW_DENIAL_INSUFFICIENT_SCOPE, {"notes"})).challenge->find("notes") != std::string::npos);
    CHECK(must(server.deny_unknown(BW_DENIAL_INVALID_TOKEN)).status == 401 && server.get() != nullptr);
    CHECK(*barewire::server_metadata_url(issuer, 0) == std::string(issuer) + "/.well-known/oauth-authorization-server");
    CHECK(fails(BW_ERROR_NOT_FOUND, barewire::server_metadata_url(issuer, 2)));
    const auto without = must(ResourceServerConfig::create(url, {}));
    CHECK(fails(BW_ERROR_INVALID_DEFINITION, ResourceServer::create(without)));
}

static void principals()
{
    constexpr const char *claims = R"({"iss":"https://as.example","sub":"user","aud":"api://files","client_id":"app",
        "exp":1800000001,"scope":"files admin"})";
    auto server = protected_server();
    auto judged = must(server.principal(time_of_day, claims));
    CHECK(std::holds_alternative<Principal>(judged));
    const Principal principal = std::get<Principal>(std::move(judged));
    CHECK(principal.issuer() == issuer && principal.subject() == "user" && principal.client() == "app");
    CHECK(principal.scopes().size() == 2 && principal.scopes()[1] == "admin" && principal.key().size() == 43);
    CHECK(principal.expires_at() == time_of_day + 1000);
    CHECK(!must(server.authorize(principal, {"files"})));
    CHECK(must(server.authorize(principal, {"files", "notes"}))->reason == BW_DENIAL_INSUFFICIENT_SCOPE);
    const std::string all = "admin";
    CHECK(!must(server.authorize(principal, {"files", "notes"},
                                 [&](std::string_view granted, std::string_view) { return granted == all; })));
    const auto expired = must(server.principal(time_of_day + 1000, claims));
    CHECK(std::get<Denial>(expired).reason == BW_DENIAL_EXPIRED);
    CHECK(fails(BW_ERROR_INVALID_JSON, server.principal(time_of_day, "{")));
}

// What a client over HTTP is told of a 401 is what an authorization takes.
static void challenges()
{
    auto config = must(barewire::ClientConfig::create("c", "1", seed));
    must(config.set_authorizes(true));
    auto client = must(barewire::Client::create_http(config, url, 0));
    const auto transmit = client.http_poll_transmit(0);
    CHECK(transmit && transmit->exchange);
    const auto exchange = transmit->exchange;
    must(client.http_receive_head(
        0, *exchange, 401, {{"www-authenticate", "Bearer"}, {"www-authenticate", "Other"}, {"dpop-nonce", "n"}}));
    must(client.http_receive_end(0, *exchange));
    const auto event = client.poll_event();
    CHECK(event);
    const auto refused = barewire::Refusal::of(std::get<barewire::client::AuthorizationRequired>(*event), 3);
    CHECK(refused.status == 401 && refused.challenges.size() == 2 && refused.challenges[1] == "Other");
    CHECK(refused.dpop_nonce == "n" && refused.generation == 3);
    auto it = workload(BW_GRANT_CLIENT_CREDENTIALS);
    must(it.challenge(time_of_day, 7, refused));
    CHECK(fails(BW_ERROR_HANDSHAKE_FAILED, client.http_unauthorized(0, *exchange)));
}

// A host refuses what its protected server refuses.
static void denials()
{
    auto guard = protected_server();
    auto server = must(barewire::Server::create_http(must(barewire::ServerConfig::create("s", "1", seed))));
    const std::vector<barewire::Pair> headers = {
        {"host", "localhost"}, {"accept", "application/json, text/event-stream"}, {"content-type", "application/json"}};
    barewire::RequestHead head;
    head.method = "POST";
    head.headers = headers;
    const auto judged = must(guard.bearer(headers));
    const auto exchange = must(server.http_receive_denied(0, head, std::get<Denial>(judged)));
    CHECK(server.http_poll_response(exchange)->status == 401);
    const auto other = must(server.http_receive_denied(0, head, {std::nullopt, 503, std::nullopt}));
    CHECK(!must(server.http_deny(0, exchange, std::get<Denial>(judged))));
    CHECK(server.http_poll_response(other)->status == 503);
}

void test_auth()
{
    consent();
    refusal();
    store();
    assertions();
    configurations();
    tokens();
    principals();
    challenges();
    denials();
}
