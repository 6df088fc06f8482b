/* Every function tolerates NULL wherever it may be given. */
#include "pair.h"

TEST(values_tolerate_null)
{
    CHECK(bw_revision_from_name(bw_none()) == 0);
    CHECK(bw_log_level_from_name(bw_none()) == 0);
}

TEST(servers_tolerate_null)
{
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_new(NULL, NULL));
    bw_server_free(NULL);
    READS(NULL, bw_server_error_message(NULL));
    CHECK(bw_server_poll_event(NULL) == NULL);
    CHECK(bw_server_poll_timeout(NULL) == BW_NEVER);
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_handle_timeout(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_close(NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_receive_data(NULL, 0, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_receive_eof(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_connection_lost(NULL, 0));
    READS(NULL, bw_server_data_to_send(NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_consume(NULL, 0));
    CHECK(!bw_server_wants_input(NULL));
    CHECK(bw_server_is_finished(NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_add_tool(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_remove_tool(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_add_resource(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_remove_resource(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_add_resource_template(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_remove_resource_template(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_add_prompt(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_remove_prompt(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_respond(NULL, 0, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_respond_error(NULL, 0, 0, bw_none(), bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_respond_missing_capability(NULL, 0, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_respond_invalid_arguments(NULL, 0, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_require_input(NULL, 0, 0, NULL, 0, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_notify_progress(NULL, 0, 0, 0, bw_none(), NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_notify_log(NULL, 0, 0, bw_none(), bw_none(), NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_notify(NULL, 0, bw_none(), bw_none(), NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_log(NULL, 0, bw_none(), bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_publish_list_changed(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_publish_resource_updated(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_end_subscription(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_request(NULL, 0, 0, bw_none(), bw_none(), NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_ping(NULL, 0, 0, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_export_session(NULL, 0, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_import_session(NULL, bw_none(), NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_end_session(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_respond_text(NULL, 0, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_respond_tool_error(NULL, 0, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_respond_prompt_text(NULL, 0, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_respond_resource_text(NULL, 0, bw_none(), bw_none(), bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_respond_resource_blob(NULL, 0, bw_none(), bw_none(), bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_respond_completion(NULL, 0, NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_respond_written(NULL, 0, NULL));
}

TEST(configurations_of_servers_tolerate_null)
{
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_new(bw_none(), bw_none(), NULL, NULL));
    bw_server_config_free(NULL);
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_title(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_description(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_website_url(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_icons(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_instructions(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_revisions(NULL, NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_logging(NULL, false));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_completions(NULL, false));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_extensions(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_add_extension_method(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_freshness(NULL, 0, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_identify_results(NULL, false));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_add_request_state_key(NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_clock_origin(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_limit(NULL, 0, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_memory(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_timeout(NULL, 0, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_progress_extends(NULL, false));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_allow_origin(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_allow_host(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_body_bytes(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_keep_alive(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_session_idle(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_retry(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_keep_no_events(NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_keep_events_in_memory(NULL, 0, 0, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_keep_events_externally(NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_external_sessions(NULL, false));
}

TEST(servers_over_http_tolerate_null)
{
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_http_new(NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_http_receive_request(NULL, 0, NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_http_receive_body(NULL, 0, 0, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_http_receive_end(NULL, 0, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_http_receive_whole(NULL, 0, NULL, bw_none(), NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_http_receive_denied(NULL, 0, NULL, NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_http_deny(NULL, 0, 0, NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_http_receive_abort(NULL, 0, 0));
    CHECK(bw_server_http_poll_ready(NULL) == 0);
    CHECK(!bw_server_http_poll_response(NULL, 0, NULL));
    CHECK(bw_server_http_backlog(NULL, 0) == 0);
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_http_resolve_session(NULL, 0, 0, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_http_replay(NULL, 0, 0, NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_http_close_stream(NULL, 0, 0, 0, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_http_shut_down(NULL, 0));
    CHECK(bw_server_http_is_idle(NULL));
}

TEST(events_tolerate_null)
{
    CHECK(bw_event_kind(NULL) == 0);
    CHECK(bw_event_request(NULL) == 0);
    CHECK(bw_event_subscription(NULL) == 0);
    CHECK(bw_event_session(NULL) == 0);
    CHECK(bw_event_exchange(NULL) == 0);
    CHECK(bw_event_input(NULL) == 0);
    READS(NULL, bw_event_name(NULL));
    READS(NULL, bw_event_uri(NULL));
    READS(NULL, bw_event_template(NULL));
    READS(NULL, bw_event_method(NULL));
    READS(NULL, bw_event_params(NULL));
    READS(NULL, bw_event_arguments(NULL));
    READS(NULL, bw_event_argument(NULL));
    READS(NULL, bw_event_value(NULL));
    READS(NULL, bw_event_result(NULL));
    CHECK(!bw_event_freshness(NULL, NULL, NULL));
    CHECK(bw_event_code(NULL) == 0);
    CHECK(!bw_event_is_rpc_error(NULL));
    READS(NULL, bw_event_message(NULL));
    READS(NULL, bw_event_data(NULL));
    CHECK(bw_event_http_status(NULL) == 0);
    READS(NULL, bw_event_dpop_nonce(NULL));
    READS(NULL, bw_event_operation(NULL));
    READS(NULL, bw_event_reason(NULL));
    READS(NULL, bw_event_instructions(NULL));
    CHECK(bw_event_violation(NULL) == 0);
    READS(NULL, bw_event_violation_text(NULL));
    READS(NULL, bw_event_bytes(NULL));
    CHECK(bw_event_round(NULL) == 0);
    CHECK(bw_event_index(NULL) == 0);
    READS(NULL, bw_event_path(NULL));
    CHECK(bw_event_progress(NULL) <= 0);
    CHECK(!bw_event_total(NULL, NULL));
    CHECK(!bw_event_is_increasing(NULL));
    CHECK(bw_event_log_level(NULL) == 0);
    READS(NULL, bw_event_logger(NULL));
    CHECK(!bw_event_is_graceful(NULL));
    CHECK(bw_event_list(NULL) == 0);
    READS(NULL, bw_event_id(NULL));
    READS(NULL, bw_event_stream(NULL));
    READS(NULL, bw_event_after(NULL));
    CHECK(bw_event_revision(NULL) == 0);
    READS(NULL, bw_event_peer(NULL));
    READS(NULL, bw_event_capabilities(NULL));
    CHECK(!bw_event_has_capability(NULL, 0));
    READS(NULL, bw_event_progress_token(NULL));
    READS(NULL, bw_event_meta(NULL));
    READS(NULL, bw_event_principal(NULL));
    READS(NULL, bw_event_state(NULL));
    CHECK(!bw_event_watches(NULL, 0));
    CHECK(bw_event_watched_uri_count(NULL) == 0);
    READS(NULL, bw_event_watched_uri(NULL, 0));
    CHECK(bw_event_variable_count(NULL) == 0);
    CHECK(!bw_event_variable_at(NULL, 0, NULL));
    READS(NULL, bw_event_variable(NULL, bw_none()));
    CHECK(bw_event_input_count(NULL) == 0);
    CHECK(!bw_event_input_at(NULL, 0, NULL));
    CHECK(bw_event_answer_count(NULL) == 0);
    CHECK(!bw_event_answer_at(NULL, 0, NULL));
    CHECK(!bw_event_answer(NULL, bw_none(), NULL));
    CHECK(bw_event_abandoned_count(NULL) == 0);
    CHECK(bw_event_abandoned(NULL, 0) == 0);
    CHECK(bw_event_challenge_count(NULL) == 0);
    READS(NULL, bw_event_challenge(NULL, 0));
}

TEST(clients_tolerate_null)
{
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_new(NULL, 0, NULL));
    bw_client_free(NULL);
    READS(NULL, bw_client_error_message(NULL));
    CHECK(bw_client_poll_event(NULL) == NULL);
    CHECK(bw_client_poll_timeout(NULL) == BW_NEVER);
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_handle_timeout(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_close(NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_receive_data(NULL, 0, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_receive_eof(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_connection_lost(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_restart(NULL, 0));
    READS(NULL, bw_client_data_to_send(NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_consume(NULL, 0));
    CHECK(!bw_client_wants_input(NULL));
    CHECK(bw_client_is_finished(NULL));
    CHECK(bw_client_revision(NULL) == 0);
    CHECK(!bw_client_server_has_capability(NULL, 0));
    READS(NULL, bw_client_era_verdict(NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_request(NULL, 0, bw_none(), bw_none(), NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_call_tool(NULL, 0, bw_none(), bw_none(), NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_list(NULL, 0, 0, bw_none(), NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_read_resource(NULL, 0, bw_none(), NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_get_prompt(NULL, 0, bw_none(), bw_none(), NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT,
          bw_client_complete(NULL, 0, 0, bw_none(), bw_none(), bw_none(), bw_none(), NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_ping(NULL, 0, NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_cancel(NULL, 0, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_provide_input(NULL, 0, 0, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_refuse_input(NULL, 0, 0, 0, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_subscribe(NULL, 0, NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_unsubscribe(NULL, 0, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_set_log_level(NULL, 0, 0, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_notify(NULL, bw_none(), bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_notify_roots_changed(NULL));
}

TEST(configurations_of_clients_tolerate_null)
{
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_config_new(bw_none(), bw_none(), NULL, NULL));
    bw_client_config_free(NULL);
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_config_set_title(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_config_set_description(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_config_set_website_url(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_config_set_icons(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_config_set_capabilities(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_config_set_revisions(NULL, NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_config_set_era_verdict(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_config_set_limit(NULL, 0, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_config_set_timeout(NULL, 0, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_config_set_progress_extends(NULL, false));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_config_set_sse_fallback(NULL, false));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_config_set_opens_stream(NULL, false));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_config_set_authorizes(NULL, false));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_config_set_authorization_timeout(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_config_set_resumptions(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_config_set_retry(NULL, 0));
}

TEST(clients_over_http_tolerate_null)
{
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_http_new(NULL, bw_none(), 0, NULL));
    CHECK(!bw_client_http_poll_transmit(NULL, 0, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_http_receive_head(NULL, 0, 0, 0, NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_http_receive_body(NULL, 0, 0, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_http_receive_end(NULL, 0, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_http_receive_failure(NULL, 0, 0, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_http_receive_redirect(NULL, 0, 0, 0));
    CHECK(!bw_client_http_wants_input(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_http_authorized(NULL, 0, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_http_unauthorized(NULL, 0, 0));
}

TEST(authorizations_tolerate_null)
{
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_new(NULL, NULL));
    bw_authorization_free(NULL);
    READS(NULL, bw_authorization_error_message(NULL));
    CHECK(!bw_authorization_is_ready(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_acquire(NULL, 0, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_credentials(NULL, 0, bw_none(), bw_none(), NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_dpop_proof(bw_none(), bw_none(), NULL, 0, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_challenge(NULL, 0, 0, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_note_success(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_note_nonce(NULL, bw_none()));
    CHECK(bw_authorization_poll_action(NULL) == NULL);
    CHECK(!bw_authorization_poll_event(NULL, NULL));
    CHECK(bw_authorization_poll_timeout(NULL) == BW_NEVER);
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_handle_timeout(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_loaded(NULL, 0, 0, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_saved(NULL, 0, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_save_conflicted(NULL, 0, 0, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_receive_response(NULL, 0, 0, 0, NULL, 0, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_receive_callback(NULL, 0, bw_none()));
    CHECK(!bw_authorization_awaits_callback(NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_signed(NULL, 0, 0, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_client_provided(NULL, 0, 0, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_assertion_provided(NULL, 0, 0, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_fail_action(NULL, 0, 0, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_cancel(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_reset(NULL));
    CHECK(bw_action_kind(NULL) == 0);
    CHECK(bw_action_handle(NULL) == 0);
    CHECK(bw_action_expected_generation(NULL) == 0);
    CHECK(!bw_action_record(NULL, NULL));
    CHECK(!bw_action_request(NULL, NULL));
    CHECK(!bw_action_signing(NULL, NULL));
    READS(NULL, bw_action_url(NULL));
    READS(NULL, bw_action_redirect_uri(NULL));
    READS(NULL, bw_action_issuer(NULL));
    READS(NULL, bw_action_resource(NULL));
}

TEST(configurations_of_authorizations_tolerate_null)
{
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_config_new(bw_none(), 0, NULL, NULL));
    bw_authorization_config_free(NULL);
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_config_set_redirect_uri(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_config_set_dynamic_registration(NULL, bw_none(), 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_config_set_metadata_client(NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_config_set_asks_for_client(NULL, false));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_config_set_identity_provider(NULL, bw_none(), NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_config_add_client(NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_config_set_scopes(NULL, NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_config_set_wants_refresh(NULL, false));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_config_set_dpop_key(NULL, bw_none(), bw_none(), false));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_config_set_legacy_endpoints(NULL, false));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_config_set_callback_timeout(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_config_set_renew_before(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_authorization_config_set_response_bytes(NULL, 0));
}

TEST(protected_servers_tolerate_null)
{
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_resource_server_config_new(bw_none(), NULL, 0, NULL));
    bw_resource_server_config_free(NULL);
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_resource_server_config_set_scopes(NULL, NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_resource_server_config_set_audiences(NULL, NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_resource_server_config_set_name(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_resource_server_config_set_documentation(NULL, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_resource_server_config_set_leeway(NULL, 0));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_resource_server_new(NULL, NULL));
    bw_resource_server_free(NULL);
    READS(NULL, bw_resource_server_metadata(NULL));
    READS(NULL, bw_resource_server_metadata_path(NULL, 0));
    READS(NULL, bw_resource_server_metadata_url(NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_resource_server_bearer(NULL, NULL, 0, bw_none(), NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_principal_new(NULL, 0, bw_none(), NULL, NULL));
    bw_principal_free(NULL);
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_resource_server_authorize(NULL, NULL, NULL, 0, NULL, NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_resource_server_deny(NULL, 0, NULL, 0, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_resource_server_deny_unknown(NULL, 0, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_metadata_url(bw_none(), 0, NULL, 0, NULL));
    READS(NULL, bw_principal_issuer(NULL));
    READS(NULL, bw_principal_subject(NULL));
    READS(NULL, bw_principal_client(NULL));
    READS(NULL, bw_principal_scope(NULL, 0));
    CHECK(bw_principal_expires_at(NULL) == BW_NEVER);
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_principal_key(NULL, NULL, 0, NULL));
}

TEST(children_tolerate_null)
{
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_child_shutdown_new(NULL, NULL));
    bw_child_shutdown_free(NULL);
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_child_shutdown_start(NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_child_shutdown_exited(NULL));
    CHECK(bw_child_shutdown_poll_action(NULL, 0) == 0);
    CHECK(bw_child_shutdown_poll_timeout(NULL) == BW_NEVER);
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_child_shutdown_handle_timeout(NULL, 0));
    CHECK(bw_child_shutdown_is_finished(NULL));
}

TEST(json_tolerate_null)
{
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_json_check(bw_none()));
    CHECK(bw_json_get_type(bw_none(), NULL) == 0);
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_json_get(bw_none(), NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_json_get_string(bw_none(), NULL, NULL, 0, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_json_unescape(bw_none(), NULL, 0, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_json_get_i64(bw_none(), NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_json_get_u64(bw_none(), NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_json_get_double(bw_none(), NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_json_get_bool(bw_none(), NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_json_get_length(bw_none(), NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_json_iterate(bw_none(), NULL, NULL));
    CHECK(!bw_json_next(NULL, NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_json_writer_init(NULL, NULL, 0));
    bw_json_writer_free(NULL);
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_json_finish(NULL, NULL));
    bw_json_begin_object(NULL);
    bw_json_end_object(NULL);
    bw_json_begin_array(NULL);
    bw_json_end_array(NULL);
    bw_json_put_key(NULL, bw_none());
    bw_json_put_string(NULL, bw_none());
    bw_json_put_i64(NULL, 0);
    bw_json_put_u64(NULL, 0);
    bw_json_put_double(NULL, 0);
    bw_json_put_bool(NULL, false);
    bw_json_put_null(NULL);
    bw_json_put_json(NULL, bw_none());
    bw_json_put_base64(NULL, bw_none());
}

TEST_EVERYWHERE(places_and_texts_may_be_missing)
{
    bw_server *server = NULL;
    uint64_t session = 0;
    bw_bytes text = BW_LITERAL("{}");
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_new(pair->server_config, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_http_new(pair->server_config, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_new(pair->client_config, 0, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_http_new(pair->client_config, bw_none(), 0, &pair->client));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_child_shutdown_new(pair->client_config, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_new(text, text, NULL, &pair->server_config));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_new(text, text, SEED, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_set_revisions(pair->server_config, NULL, 1));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_add_request_state_key(pair->server_config, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_config_allow_host(pair->server_config, bw_none()));
    DOES(bw_server_config_set_title(pair->server_config, bw_none()));
    CHECK(server == NULL);
    join_pair(pair);
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_request(pair->client, 0, bw_none(), bw_none(), NULL, &session));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_request(pair->client, 0, loan("a/b"), bw_none(), NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_call_tool(pair->client, 0, loan("tool"), text, NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_list(pair->client, 0, BW_LISTING_TOOLS, bw_none(), NULL, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_subscribe(pair->client, 0, NULL, &session));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_add_tool(pair->server, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_respond(pair->server, 1, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_respond_completion(pair->server, 1, NULL, 1));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_require_input(pair->server, 0, 1, NULL, 1, bw_none()));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_respond_written(pair->server, 1, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_export_session(pair->server, 1, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_import_session(pair->server, text, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_ping(pair->server, 0, 1, NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_json_get(text, "", NULL));
    FAILS(BW_ERROR_NULL_ARGUMENT, bw_json_get_i64(text, "", NULL));
    CHECK(bw_json_get_type(text, NULL) == BW_JSON_NONE);
    if (pair->is_http) {
        bw_request_head head = {BW_LITERAL("GET"), 0, {NULL, 0}, NULL, 1, {NULL, 0}};
        FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_http_receive_request(pair->server, 0, &head, &session));
        FAILS(BW_ERROR_NULL_ARGUMENT, bw_server_http_receive_request(pair->server, 0, NULL, &session));
        FAILS(BW_ERROR_NULL_ARGUMENT, bw_client_http_receive_head(pair->client, 0, 1, 200, NULL, 1));
        CHECK(!bw_server_http_poll_response(pair->server, 1, NULL));
        CHECK(!bw_client_http_poll_transmit(pair->client, 0, NULL));
    }
    nothing_is_told(pair);
}
