/* The authorization machine and the judgement of protected servers. */
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW 1800000000000
#define URL "https://mcp.example/mcp"
#define ISSUER "https://as.example"
#define REDIRECT "http://127.0.0.1:7777/callback"
#define KEY "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"eA\",\"y\":\"eQ\"}"

static const char RESOURCE[] = "{\"resource\":\"" URL "\",\"authorization_servers\":[\"" ISSUER "\"]}";
static const char METADATA[] =
    "{\"issuer\":\"" ISSUER "\",\"authorization_endpoint\":\"" ISSUER "/a\",\"token_endpoint\":\"" ISSUER "/t\","
    "\"registration_endpoint\":\"" ISSUER "/r\",\"code_challenge_methods_supported\":[\"S256\"],"
    "\"token_endpoint_auth_methods_supported\":[\"none\",\"private_key_jwt\",\"client_secret_post\"],"
    "\"grant_types_supported\":[\"authorization_code\",\"refresh_token\",\"client_credentials\","
    "\"urn:ietf:params:oauth:grant-type:jwt-bearer\"],\"dpop_signing_alg_values_supported\":[\"ES256\"]}";
static const char TOKEN[] = "{\"access_token\":\"secret-token\",\"token_type\":\"Bearer\",\"expires_in\":3600}";

static bw_authorization_config *new_config(int32_t grant)
{
    bw_authorization_config *config;
    DOES(bw_authorization_config_new(loan(URL), grant, SEED, &config));
    return config;
}

static bw_authorization *opened(bw_authorization_config *config)
{
    bw_authorization *auth;
    DOES(bw_authorization_new(config, &auth));
    bw_authorization_config_free(config);
    return auth;
}

static bw_authorization_config *code_config(void)
{
    bw_authorization_config *config = new_config(BW_GRANT_AUTHORIZATION_CODE);
    DOES(bw_authorization_config_set_redirect_uri(config, loan(REDIRECT)));
    return config;
}

static void challenge(bw_authorization *auth, uint64_t waiter, uint16_t status, const char *value)
{
    bw_bytes values[1] = {loan(value)};
    bw_refusal refusal = {status, values, 1, bw_none(), 0, loan("tools/call x")};
    DOES(bw_authorization_challenge(auth, NOW, waiter, &refusal));
}

static const bw_action *asked(bw_authorization *auth, bw_action_type kind)
{
    const bw_action *action = bw_authorization_poll_action(auth);
    if (bw_action_kind(action) != kind)
        fprintf(stderr, "the action is %d, not %d\n", bw_action_kind(action), kind);
    CHECK(bw_action_kind(action) == kind && bw_action_handle(action) != 0);
    return action;
}

/* Answers the request that is asked for, which goes to `url`. */
static void serve(bw_authorization *auth, int32_t purpose, const char *url, uint16_t status, const char *body)
{
    const bw_action *action = asked(auth, BW_ACTION_SEND);
    bw_pair header = {BW_LITERAL("content-type"), BW_LITERAL("application/json")};
    bw_oauth_request request;
    CHECK(bw_action_request(action, &request));
    CHECK(request.purpose == purpose && request.header_count > 0 && request.response_bytes > 0);
    READS(url, request.url);
    READS("accept", request.headers[0].name);
    CHECK((request.body.length > 0) == bw_equals(request.method, BW_LITERAL("POST")));
    DOES(bw_authorization_receive_response(auth, NOW, bw_action_handle(action), status, &header, 1, loan(body)));
}

/* Begins a flow with a challenge, up to where both servers have told about themselves. */
static void discover(bw_authorization *auth)
{
    challenge(auth, 7, 401, "Bearer scope=\"files\"");
    DOES(bw_authorization_loaded(auth, NOW, bw_action_handle(asked(auth, BW_ACTION_LOAD)), NULL));
    serve(auth, BW_PURPOSE_RESOURCE_METADATA, "https://mcp.example/.well-known/oauth-protected-resource/mcp", 200,
          RESOURCE);
    serve(auth, BW_PURPOSE_SERVER_METADATA, ISSUER "/.well-known/oauth-authorization-server", 200, METADATA);
}

static void save(bw_authorization *auth, uint64_t expected)
{
    const bw_action *action = asked(auth, BW_ACTION_SAVE);
    bw_stored_record record;
    CHECK(bw_action_expected_generation(action) == expected);
    CHECK(bw_action_record(action, &record) && record.generation == expected + 1 && record.text.length > 0);
    DOES(bw_authorization_saved(auth, NOW, bw_action_handle(action)));
}

static bw_authorization_event settled(bw_authorization *auth, int32_t error)
{
    bw_authorization_event event;
    CHECK(bw_authorization_poll_event(auth, &event));
    if (event.error != error)
        fprintf(stderr, "the event has %s\n", bw_error_name(event.error));
    CHECK(event.waiter == 7 && event.error == error && bw_is_some(event.message) == (error != 0));
    return event;
}

static void refused(bw_authorization *auth, int32_t error)
{
    settled(auth, error);
    bw_authorization_free(auth);
}

/* Brings back what the user agent is sent to, with another state or the right one. */
static bw_status come_back(bw_authorization *auth, bw_bytes url, const char *answer)
{
    char query[600], state[128] = "";
    const char *text = strstr((const char *)url.data, "state=");
    CHECK(text != NULL && sscanf(text, "state=%127[^&]", state) == 1);
    snprintf(query, sizeof query, "/callback?state=%.*s&%s", (int)strcspn(state, "&"), state, answer);
    return bw_authorization_receive_callback(auth, NOW, loan(query));
}

/* The URL of the user agent with a NUL behind it. */
static bw_bytes visit(const bw_action *action, char *copy, size_t size)
{
    bw_bytes url = bw_action_url(action);
    CHECK(url.length < size);
    memcpy(copy, url.data, url.length);
    copy[url.length] = '\0';
    return bw_text(copy, url.length);
}

/* Signs what has to be signed with the key, as if. */
static void sign(bw_authorization *auth, int32_t key, const char *client)
{
    const bw_action *action = asked(auth, BW_ACTION_SIGN);
    bw_signing_request signing;
    CHECK(bw_action_signing(action, &signing) && signing.key == key && signing.input.length > 0);
    READS(client, signing.client_id);
    READS("ES256", signing.algorithm);
    DOES(bw_authorization_signed(auth, NOW, bw_action_handle(action), loan("signature")));
}

TEST(a_user_consents)
{
    bw_authorization_config *config = code_config();
    bw_bytes scopes[2] = {BW_LITERAL("files"), BW_LITERAL("notes")};
    char copy[2000], buffer[600];
    bw_credentials credentials;
    bw_bytes header;
    DOES(bw_authorization_config_set_dynamic_registration(config, loan("Example"), BW_APPLICATION_NATIVE));
    DOES(bw_authorization_config_set_scopes(config, scopes, 2));
    DOES(bw_authorization_config_set_wants_refresh(config, false));
    DOES(bw_authorization_config_set_dpop_key(config, loan("ES256"), loan(KEY), true));
    DOES(bw_authorization_config_set_legacy_endpoints(config, true));
    DOES(bw_authorization_config_set_callback_timeout(config, 1000));
    DOES(bw_authorization_config_set_renew_before(config, 10));
    DOES(bw_authorization_config_set_response_bytes(config, 4096));
    bw_authorization *auth = opened(config);
    CHECK(!bw_authorization_is_ready(auth, NOW) && !bw_authorization_awaits_callback(auth));
    CHECK(bw_authorization_poll_action(auth) == NULL && bw_authorization_poll_timeout(auth) == BW_NEVER);
    discover(auth);
    serve(auth, BW_PURPOSE_REGISTRATION, ISSUER "/r", 201,
          "{\"client_id\":\"c1\",\"redirect_uris\":[\"" REDIRECT "\"]}");
    save(auth, 0);
    const bw_action *action = asked(auth, BW_ACTION_OPEN_USER_AGENT);
    READS(REDIRECT, bw_action_redirect_uri(action));
    bw_bytes url = visit(action, copy, sizeof copy);
    CHECK(strstr(copy, "scope=files+notes") != NULL || strstr(copy, "scope=files%20notes") != NULL);
    CHECK(bw_authorization_poll_timeout(auth) == NOW + 1000);
    FAILS(BW_AUTHORIZATION_ERROR_STATE_MISMATCH,
          bw_authorization_receive_callback(auth, NOW, loan("/callback?state=x&code=y")));
    CHECK(bw_authorization_error_message(auth).length > 0 && bw_authorization_awaits_callback(auth));
    DOES(come_back(auth, url, "code=y"));
    sign(auth, BW_KEY_DPOP, NULL);
    serve(auth, BW_PURPOSE_TOKEN, ISSUER "/t", 200,
          "{\"access_token\":\"secret-token\",\"token_type\":\"DPoP\",\"expires_in\":3600}");
    save(auth, 1);
    settled(auth, 0);
    CHECK(bw_authorization_is_ready(auth, NOW));
    DOES(bw_authorization_note_nonce(auth, loan("nonce")));
    DOES(bw_authorization_credentials(auth, NOW, loan("POST"), loan(URL), &credentials));
    READS("DPoP secret-token", credentials.authorization);
    CHECK(credentials.generation == 1 && credentials.proof.key == BW_KEY_DPOP);
    FAILS(BW_ERROR_BUFFER_TOO_SMALL, bw_dpop_proof(credentials.proof.input, loan("xyz"), buffer, 4, &header));
    CHECK(!bw_is_some(header) && header.length == credentials.proof.input.length + 5);
    DOES(bw_dpop_proof(credentials.proof.input, loan("xyz"), buffer, sizeof buffer, &header));
    CHECK(memcmp(header.data + header.length - 5, ".eHl6", 5) == 0);
    DOES(bw_authorization_note_success(auth, credentials.generation));
    DOES(bw_authorization_credentials(auth, NOW, loan("POST"), loan("https://other.example/"), &credentials));
    CHECK(credentials.generation == 0 && credentials.proof.key == 0 && !bw_is_some(credentials.authorization));
    bw_authorization_free(auth);
}

/* An authorization that waits for its user, with the client that the host was asked for. */
static bw_authorization *waiting(bw_bytes *url, char *copy, size_t size)
{
    bw_authorization_config *config = code_config();
    bw_client_registration client = {0}, both = {0};
    DOES(bw_authorization_config_set_asks_for_client(config, true));
    bw_authorization *auth = opened(config);
    FAILS(BW_AUTHORIZATION_ERROR_UNEXPECTED_CALLBACK, bw_authorization_receive_callback(auth, NOW, loan("?code=x")));
    discover(auth);
    const bw_action *action = asked(auth, BW_ACTION_PROVIDE_CLIENT);
    READS(ISSUER, bw_action_issuer(action));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_client_provided(auth, NOW, bw_action_handle(action), &client));
    both.client_id = both.secret = both.algorithm = BW_LITERAL("x");
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_authorization_client_provided(auth, NOW, bw_action_handle(action), &both));
    client.client_id = loan("given");
    DOES(bw_authorization_client_provided(auth, NOW, bw_action_handle(action), &client));
    action = bw_authorization_poll_action(auth);
    if (bw_action_kind(action) == BW_ACTION_SAVE) {
        DOES(bw_authorization_saved(auth, NOW, bw_action_handle(action)));
        action = asked(auth, BW_ACTION_OPEN_USER_AGENT);
    }
    CHECK(bw_action_kind(action) == BW_ACTION_OPEN_USER_AGENT);
    *url = visit(action, copy, size);
    CHECK(strstr(copy, "client_id=given") != NULL);
    return auth;
}

TEST(the_user_refuses)
{
    char copy[2000];
    bw_bytes url;
    bw_authorization *auth = waiting(&url, copy, sizeof copy);
    FAILS(BW_AUTHORIZATION_ERROR_DENIED,
          come_back(auth, url, "error=access_denied&error_description=No&error_uri=https://as.example/no"));
    CHECK(!bw_authorization_awaits_callback(auth));
    bw_authorization_event event = settled(auth, BW_AUTHORIZATION_ERROR_DENIED);
    READS("access_denied", event.oauth_error);
    READS("No", event.oauth_description);
    READS("https://as.example/no", event.oauth_uri);
    CHECK(!event.is_retryable);
    /* It stays refused until it is forgotten. */
    challenge(auth, 7, 401, "Bearer");
    settled(auth, BW_AUTHORIZATION_ERROR_DENIED);
    DOES(bw_authorization_reset(auth));
    challenge(auth, 7, 401, "Bearer");
    CHECK(!bw_authorization_poll_event(auth, &event));
    bw_authorization_free(auth);
}

TEST(the_user_does_not_come)
{
    char copy[2000];
    bw_bytes url;
    bw_authorization *auth = waiting(&url, copy, sizeof copy);
    DOES(bw_authorization_handle_timeout(auth, NOW + 600000));
    refused(auth, BW_AUTHORIZATION_ERROR_TIMED_OUT);
    auth = waiting(&url, copy, sizeof copy);
    DOES(bw_authorization_cancel(auth, NOW));
    refused(auth, BW_AUTHORIZATION_ERROR_CANCELLED);
}

TEST(a_metadata_document_names_the_client)
{
    char copy[2000];
    bw_authorization_config *config = code_config();
    bw_client_registration client = {.client_id = BW_LITERAL("https://client.example/metadata.json")};
    DOES(bw_authorization_config_set_metadata_client(config, &client));
    bw_authorization *auth = opened(config);
    challenge(auth, 7, 401, "Bearer");
    DOES(bw_authorization_loaded(auth, NOW, bw_action_handle(asked(auth, BW_ACTION_LOAD)), NULL));
    serve(auth, BW_PURPOSE_RESOURCE_METADATA, "https://mcp.example/.well-known/oauth-protected-resource/mcp", 200,
          RESOURCE);
    serve(auth, BW_PURPOSE_SERVER_METADATA, ISSUER "/.well-known/oauth-authorization-server", 200,
          "{\"issuer\":\"" ISSUER "\",\"authorization_endpoint\":\"" ISSUER "/a\",\"token_endpoint\":\"" ISSUER "/t\","
          "\"response_types_supported\":[\"code\"],\"code_challenge_methods_supported\":[\"S256\"],"
          "\"client_id_metadata_document_supported\":true}");
    visit(asked(auth, BW_ACTION_OPEN_USER_AGENT), copy, sizeof copy);
    CHECK(strstr(copy, "metadata.json") != NULL);
    bw_authorization_free(auth);
}

/* A client that acts for itself, with a key. */
static bw_authorization *workload(int32_t grant)
{
    bw_authorization_config *config = new_config(grant);
    bw_client_registration client = {0};
    client.issuer = BW_LITERAL(ISSUER);
    client.client_id = BW_LITERAL("c2");
    if (grant == BW_GRANT_CLIENT_CREDENTIALS) {
        client.algorithm = BW_LITERAL("ES256");
        client.key_id = BW_LITERAL("k");
        client.audience = BW_AUDIENCE_TOKEN_ENDPOINT;
    }
    DOES(bw_authorization_config_add_client(config, &client));
    return opened(config);
}

TEST(a_client_acts_for_itself_and_renews)
{
    bw_credentials credentials;
    bw_authorization *auth = workload(BW_GRANT_CLIENT_CREDENTIALS);
    discover(auth);
    sign(auth, BW_KEY_CLIENT, "c2");
    serve(auth, BW_PURPOSE_TOKEN, ISSUER "/t", 200, TOKEN);
    /* Another process was faster, with a token that is as good. */
    const bw_action *action = asked(auth, BW_ACTION_SAVE);
    bw_stored_record record, copy;
    CHECK(bw_action_record(action, &record));
    char *text = calloc(record.text.length + 1, 1);
    memcpy(text, record.text.data, record.text.length);
    copy.generation = record.generation;
    copy.text = bw_string(text);
    DOES(bw_authorization_save_conflicted(auth, NOW, bw_action_handle(action), NULL));
    action = asked(auth, BW_ACTION_SAVE);
    DOES(bw_authorization_save_conflicted(auth, NOW, bw_action_handle(action), &copy));
    while ((action = bw_authorization_poll_action(auth)) != NULL)
        DOES(bw_authorization_saved(auth, NOW, bw_action_handle(action)));
    settled(auth, 0);
    DOES(bw_authorization_credentials(auth, NOW, loan("POST"), loan(URL), &credentials));
    READS("Bearer secret-token", credentials.authorization);
    CHECK(credentials.proof.key == 0 && !bw_is_some(credentials.proof.input));
    bw_authorization_free(auth);
    /* The next one finds it in the store. */
    auth = workload(BW_GRANT_CLIENT_CREDENTIALS);
    DOES(bw_authorization_acquire(auth, NOW, 7));
    DOES(bw_authorization_loaded(auth, NOW, bw_action_handle(asked(auth, BW_ACTION_LOAD)), &copy));
    settled(auth, 0);
    DOES(bw_authorization_credentials(auth, NOW, loan("POST"), loan(URL), &credentials));
    READS("Bearer secret-token", credentials.authorization);
    free(text);
    bw_authorization_free(auth);
}

TEST(assertions_come_from_the_host)
{
    bw_authorization *auth = workload(BW_GRANT_WORKLOAD_IDENTITY);
    discover(auth);
    const bw_action *action = asked(auth, BW_ACTION_PROVIDE_ASSERTION);
    READS(ISSUER, bw_action_issuer(action));
    READS(URL, bw_action_resource(action));
    DOES(bw_authorization_assertion_provided(auth, NOW, bw_action_handle(action), loan("a.b.c")));
    serve(auth, BW_PURPOSE_TOKEN, ISSUER "/t", 400, "{\"error\":\"invalid_grant\"}");
    READS("invalid_grant", settled(auth, BW_AUTHORIZATION_ERROR_TOKEN_REQUEST_REJECTED).oauth_error);
    bw_authorization_free(auth);
}

TEST(an_identity_provider_vouches)
{
    bw_client_registration there = {0}, here = {0};
    bw_authorization_config *config = new_config(BW_GRANT_ENTERPRISE);
    there.issuer = BW_LITERAL("https://idp.example");
    here.client_id = there.client_id = here.secret = there.secret = BW_LITERAL("c");
    here.secret_method = BW_SECRET_POST;
    there.secret_method = BW_SECRET_BASIC;
    DOES(bw_authorization_config_add_client(config, &here));
    FAILS(BW_ERROR_INVALID_ARGUMENT,
          bw_authorization_config_set_identity_provider(config, loan("https://idp.example/t"), &there, 3));
    DOES(bw_authorization_config_set_identity_provider(config, loan("https://idp.example/t"), &there,
                                                       BW_SUBJECT_ID_TOKEN));
    bw_authorization *auth = opened(config);
    discover(auth);
    const bw_action *action = asked(auth, BW_ACTION_PROVIDE_ASSERTION);
    DOES(bw_authorization_assertion_provided(auth, NOW, bw_action_handle(action), loan("a.b.c")));
    serve(auth, BW_PURPOSE_IDENTITY_PROVIDER, "https://idp.example/t", 503, "");
    CHECK(settled(auth, BW_AUTHORIZATION_ERROR_UNAVAILABLE).is_retryable);
    bw_authorization_free(auth);
}

TEST(hosts_may_fail)
{
    static const struct {
        int32_t failure, error;
    } CASES[] = {
        {BW_ACTION_UNAVAILABLE, BW_AUTHORIZATION_ERROR_UNAVAILABLE},
        {BW_ACTION_TOO_LARGE, BW_AUTHORIZATION_ERROR_RESPONSE_TOO_LARGE},
        {BW_ACTION_FORBIDDEN, BW_AUTHORIZATION_ERROR_REQUEST_FORBIDDEN},
    };
    for (size_t at = 0; at < sizeof CASES / sizeof *CASES; ++at) {
        bw_authorization *auth = workload(BW_GRANT_CLIENT_CREDENTIALS);
        discover(auth);
        sign(auth, BW_KEY_CLIENT, "c2");
        uint64_t action = bw_action_handle(asked(auth, BW_ACTION_SEND));
        FAILS(BW_ERROR_INVALID_ARGUMENT, bw_authorization_fail_action(auth, NOW, action, 5));
        DOES(bw_authorization_fail_action(auth, NOW, action, CASES[at].failure));
        refused(auth, CASES[at].error);
    }
    bw_authorization *auth = workload(BW_GRANT_CLIENT_CREDENTIALS);
    discover(auth);
    uint64_t action = bw_action_handle(asked(auth, BW_ACTION_SIGN));
    DOES(bw_authorization_fail_action(auth, NOW, action, BW_ACTION_DECLINED));
    refused(auth, BW_AUTHORIZATION_ERROR_SIGNING_FAILED);
}

TEST(refusals_without_help_are_final)
{
    bw_authorization *auth = workload(BW_GRANT_CLIENT_CREDENTIALS);
    bw_refusal refusal = {0};
    refusal.challenge_count = 1;
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_challenge(auth, NOW, 7, &refusal));
    challenge(auth, 7, 403, "Bearer");
    refused(auth, BW_AUTHORIZATION_ERROR_FORBIDDEN);
}

TEST(configurations_of_authorizations_are_checked)
{
    bw_authorization *auth;
    bw_client_registration client = {.client_id = BW_LITERAL("x"), .secret = BW_LITERAL("x"), .secret_method = 3};
    bw_authorization_config *config = new_config(BW_GRANT_AUTHORIZATION_CODE);
    FAILS(BW_ERROR_INVALID_DEFINITION, bw_authorization_new(config, &auth));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_authorization_config_set_dynamic_registration(config, loan("x"), 3));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_authorization_config_add_client(config, &client));
    client.secret = bw_none();
    client.algorithm = BW_LITERAL("ES256");
    client.audience = 3;
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_authorization_config_add_client(config, &client));
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_authorization_config_set_identity_provider(config, loan("x"), &client, 1));
    FAILS(BW_ERROR_INVALID_JSON, bw_authorization_config_set_dpop_key(config, loan("ES256"), loan("{"), false));
    bw_authorization_config_free(config);
    config = new_config(BW_GRANT_CLIENT_CREDENTIALS);
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_authorization_config_set_redirect_uri(config, loan(REDIRECT)));
    bw_authorization_config_free(config);
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_authorization_config_new(loan(URL), 5, SEED, &config));
    READS("BW_AUTHORIZATION_ERROR_STORE_UNAVAILABLE",
          bw_string(bw_error_name(BW_AUTHORIZATION_ERROR_STORE_UNAVAILABLE)));
    READS("BW_ERROR_UNKNOWN", bw_string(bw_error_name(799)));
}

/* ---- Protected servers ---- */

static bw_resource_server *protected_server(void)
{
    bw_resource_server_config *config;
    bw_resource_server *server;
    bw_bytes issuer = BW_LITERAL(ISSUER), scope = BW_LITERAL("files"), audience = BW_LITERAL("api://files");
    DOES(bw_resource_server_config_new(loan(URL), &issuer, 1, &config));
    DOES(bw_resource_server_config_set_scopes(config, &scope, 1));
    DOES(bw_resource_server_config_set_audiences(config, &audience, 1));
    DOES(bw_resource_server_config_set_name(config, loan("Files")));
    DOES(bw_resource_server_config_set_documentation(config, loan("https://mcp.example/doc")));
    DOES(bw_resource_server_config_set_leeway(config, 0));
    DOES(bw_resource_server_new(config, &server));
    bw_resource_server_config_free(config);
    return server;
}

TEST(protected_servers_tell_of_themselves)
{
    bw_resource_server *server = protected_server();
    bw_resource_server_config *config;
    char buffer[100];
    bw_bytes name, url;
    DOES(bw_json_get(bw_resource_server_metadata(server), "/resource_name", &name));
    READS("\"Files\"", name);
    READS("/.well-known/oauth-protected-resource/mcp", bw_resource_server_metadata_path(server, 0));
    READS("/.well-known/oauth-protected-resource", bw_resource_server_metadata_path(server, 1));
    READS(NULL, bw_resource_server_metadata_path(server, 2));
    READS("https://mcp.example/.well-known/oauth-protected-resource/mcp", bw_resource_server_metadata_url(server));
    bw_resource_server_free(server);
    DOES(bw_resource_server_config_new(loan(URL), NULL, 0, &config));
    FAILS(BW_ERROR_INVALID_DEFINITION, bw_resource_server_new(config, &server));
    bw_resource_server_config_free(config);
    DOES(bw_server_metadata_url(loan(ISSUER), 0, buffer, sizeof buffer, &url));
    READS(ISSUER "/.well-known/oauth-authorization-server", url);
    FAILS(BW_ERROR_BUFFER_TOO_SMALL, bw_server_metadata_url(loan(ISSUER), 1, NULL, 0, &url));
    FAILS(BW_ERROR_NOT_FOUND, bw_server_metadata_url(loan(ISSUER), 2, buffer, sizeof buffer, &url));
}

TEST(tokens_are_found_in_one_place)
{
    bw_resource_server *server = protected_server();
    bw_pair header = {BW_LITERAL("Authorization"), BW_LITERAL("Bearer e")};
    bw_bytes token;
    bw_denial denial;
    DOES(bw_resource_server_bearer(server, &header, 1, bw_none(), &token, &denial));
    READS("e", token);
    FAILS(BW_ERROR_DENIED, bw_resource_server_bearer(server, NULL, 0, bw_none(), &token, &denial));
    CHECK(denial.reason == BW_DENIAL_NO_TOKEN && denial.status == 401);
    READS("Bearer scope=\"files\", "
          "resource_metadata=\"https://mcp.example/.well-known/oauth-protected-resource/mcp\"",
          denial.challenge);
    FAILS(BW_ERROR_DENIED, bw_resource_server_bearer(server, &header, 1, loan("access_token=x"), &token, &denial));
    CHECK(denial.reason == BW_DENIAL_MALFORMED && denial.status == 400);
    DOES(bw_resource_server_deny_unknown(server, BW_DENIAL_INVALID_TOKEN, &denial));
    CHECK(denial.reason == BW_DENIAL_INVALID_TOKEN && denial.status == 401);
    FAILS(BW_ERROR_INVALID_ARGUMENT, bw_resource_server_deny_unknown(server, 10, &denial));
    DOES(bw_resource_server_deny(server, BW_DENIAL_INSUFFICIENT_SCOPE, NULL, 0, &denial));
    CHECK(denial.status == 403);
    bw_resource_server_free(server);
}

/* `context` is a scope that stands for all others. */
static bool stands_for(void *context, bw_bytes granted, bw_bytes needed)
{
    return bw_equals(granted, bw_string(context)) && needed.length > 0;
}

TEST(principals_may_do_what_was_granted)
{
    static const char CLAIMS[] =
        "{\"iss\":\"" ISSUER "\",\"sub\":\"user\",\"aud\":\"api://files\",\"client_id\":\"app\","
        "\"exp\":1800000001,\"scope\":\"files admin\"}";
    bw_resource_server *server = protected_server();
    bw_bytes needed[2] = {BW_LITERAL("files"), BW_LITERAL("notes")}, key;
    bw_principal *principal;
    bw_denial denial;
    char admin[] = "admin", buffer[64];
    DOES(bw_principal_new(server, NOW, loan(CLAIMS), &principal, &denial));
    READS(ISSUER, bw_principal_issuer(principal));
    READS("user", bw_principal_subject(principal));
    READS("app", bw_principal_client(principal));
    READS("admin", bw_principal_scope(principal, 1));
    READS(NULL, bw_principal_scope(principal, 2));
    CHECK(bw_principal_expires_at(principal) == NOW + 1000);
    DOES(bw_principal_key(principal, buffer, sizeof buffer, &key));
    CHECK(key.length == 43);
    DOES(bw_resource_server_authorize(server, principal, needed, 1, NULL, NULL, &denial));
    FAILS(BW_ERROR_DENIED, bw_resource_server_authorize(server, principal, needed, 2, NULL, NULL, &denial));
    CHECK(denial.reason == BW_DENIAL_INSUFFICIENT_SCOPE && denial.status == 403);
    DOES(bw_resource_server_authorize(server, principal, needed, 2, stands_for, admin, &denial));
    bw_principal_free(principal);
    FAILS(BW_ERROR_INVALID_JSON, bw_principal_new(server, NOW, loan("{"), &principal, &denial));
    FAILS(BW_ERROR_DENIED, bw_principal_new(server, NOW + 1000, loan(CLAIMS), &principal, &denial));
    CHECK(denial.reason == BW_DENIAL_EXPIRED);
    bw_resource_server_free(server);
}
