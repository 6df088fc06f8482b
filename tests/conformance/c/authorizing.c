#include "authorizing.h"

#include "signing.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The document that the suite takes for ours; nothing is there. */
#define CLIENT_METADATA "https://conformance-test.local/client-metadata.json"
#define REDIRECT_URI "http://127.0.0.1:53123/callback"
/* Room for what the suite tells of a scenario; keys and JWTs are the longest. */
#define CONTEXT_BYTES 8192

/* What the suite tells, as texts with a NUL behind them. */
static char texts[8][CONTEXT_BYTES];
static size_t text_count;

/* A member of what the suite tells; nothing if it does not. */
static bw_bytes told(const char *pointer)
{
    bw_bytes text = bw_none();
    char *buffer = texts[text_count];
    const char *context = getenv("MCP_CONFORMANCE_CONTEXT");
    if (context == NULL || text_count == sizeof texts / sizeof *texts ||
        bw_json_get_string(bw_string(context), pointer, buffer, CONTEXT_BYTES - 1, &text) != BW_OK)
        return bw_none();
    memmove(buffer, text.data, text.length);
    buffer[text.length] = '\0';
    text_count++;
    return bw_text(buffer, text.length);
}

static size_t discard(char *data, size_t unit, size_t length, void *context)
{
    (void)data, (void)context;
    return unit * length;
}

/* A user who consents to everything: the servers of the suite send whoever comes back at once. */
static void visit(bw_authorization *machine, bw_bytes url, bw_bytes redirect_uri)
{
    CURL *browser = curl_easy_init();
    char *page = strndup((const char *)url.data, url.length), *place = NULL;
    (void)redirect_uri;
    if (browser == NULL || page == NULL)
        abort();
    curl_easy_setopt(browser, CURLOPT_URL, page);
    curl_easy_setopt(browser, CURLOPT_WRITEFUNCTION, discard);
    curl_easy_setopt(browser, CURLOPT_NOSIGNAL, 1L);
    if (curl_easy_perform(browser) == CURLE_OK)
        curl_easy_getinfo(browser, CURLINFO_REDIRECT_URL, &place);
    if (place != NULL)
        bw_authorization_receive_callback(machine, (uint64_t)time(NULL) * 1000, bw_string(place));
    curl_easy_cleanup(browser);
    free(page);
}

/* The client that the suite has registered. Whether it has. */
static bool read_client(bw_client_registration *client)
{
    bw_bytes pem = told("/private_key_pem");
    client->client_id = told("/client_id");
    client->issuer = told("/issuer");
    client->secret = told("/client_secret");
    if (bw_is_some(pem)) {
        signing_begin((const char *)pem.data, pem.length);
        client->algorithm = told("/signing_algorithm");
    }
    return bw_is_some(client->client_id);
}

static void set_consent(bw_authorization_config *config, const char *scenario)
{
    bw_client_registration document = {0};
    char jwk[SIGNING_JWK_BYTES];
    document.client_id = BW_LITERAL(CLIENT_METADATA);
    host_must(bw_authorization_config_set_redirect_uri(config, BW_LITERAL(REDIRECT_URI)));
    host_must(bw_authorization_config_set_dynamic_registration(config, BW_LITERAL("barewire"), 0));
    host_must(bw_authorization_config_set_metadata_client(config, &document));
    host_must(bw_authorization_config_set_legacy_endpoints(config, strstr(scenario, "2025-03-26") != NULL));
    if (strstr(scenario, "dpop") != NULL) {
        signing_begin(NULL, 0);
        host_must(bw_authorization_config_set_dpop_key(config, BW_LITERAL("ES256"), signing_public_key(jwk), true));
    }
}

static void set_provider(bw_authorization_config *config)
{
    bw_client_registration there = {0};
    there.client_id = told("/idp_client_id");
    there.issuer = told("/idp_issuer");
    host_must(bw_authorization_config_set_identity_provider(config, told("/idp_token_endpoint"), &there,
                                                            BW_SUBJECT_ID_TOKEN));
}

static int32_t grant_of(const char *scenario)
{
    if (strstr(scenario, "client-credentials") != NULL)
        return BW_GRANT_CLIENT_CREDENTIALS;
    if (strstr(scenario, "enterprise") != NULL || strstr(scenario, "cross-app") != NULL)
        return BW_GRANT_ENTERPRISE;
    return strstr(scenario, "wif") != NULL ? BW_GRANT_WORKLOAD_IDENTITY : BW_GRANT_AUTHORIZATION_CODE;
}

authorization *authorization_for(const char *scenario, const char *url)
{
    authorization_settings settings = {visit, signing_sign, NULL, NULL};
    bw_client_registration client = {0};
    bw_authorization_config *config;
    authorization *made;
    uint8_t seed[BW_SEED_BYTES];
    int32_t grant;
    if (scenario == NULL || strncmp(scenario, "auth/", 5) != 0)
        return NULL;
    grant = grant_of(scenario);
    host_seed(seed);
    host_must(bw_authorization_config_new(bw_string(url), grant, seed, &config));
    if (read_client(&client))
        host_must(bw_authorization_config_add_client(config, &client));
    if (grant == BW_GRANT_AUTHORIZATION_CODE)
        set_consent(config, scenario);
    if (grant == BW_GRANT_ENTERPRISE) {
        set_provider(config);
        settings.assertion = (const char *)told("/idp_id_token").data;
    }
    if (grant == BW_GRANT_WORKLOAD_IDENTITY)
        settings.assertion = (const char *)told("/valid_jwt").data;
    made = authorization_new(config, &settings);
    bw_authorization_config_free(config);
    if (made == NULL)
        abort();
    return made;
}
