//! Whole conversations through the functions that C calls.

use alloc::boxed::Box;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::mem::MaybeUninit;

use crate::*;

const SEED: [u8; 32] = [7; 32];
const NONE: bw_bytes = bw_bytes::NONE;

fn text(text: &str) -> bw_bytes {
    bw_bytes::text_of(text)
}

fn read(bytes: bw_bytes) -> String {
    bytes.text().expect("a text").to_string()
}

/// What a function gives at its last argument.
fn given<T>(call: impl FnOnce(Option<&mut MaybeUninit<T>>) -> bw_status) -> T {
    let mut place = MaybeUninit::uninit();
    assert_eq!(call(Some(&mut place)), 0);
    // SAFETY: the call went well, so that it wrote the place.
    unsafe { place.assume_init() }
}

/// What a function gives at its last argument where it says so.
fn given_if<T>(call: impl FnOnce(Option<&mut MaybeUninit<T>>) -> bool) -> Option<T> {
    let mut place = MaybeUninit::uninit();
    // SAFETY: a function that says so wrote the place.
    call(Some(&mut place)).then(|| unsafe { place.assume_init() })
}

fn server(http: bool) -> Box<bw_server> {
    let mut config = given(|config| bw_server_config_new(text("s"), text("1"), SEED.as_ptr(), config));
    assert_eq!(bw_server_config_set_completions(config.as_deref_mut(), true), 0);
    let server = given(|server| match http {
        #[cfg(feature = "http")]
        true => bw_server_http_new(config.as_deref(), server),
        _ => bw_server_new(config.as_deref(), server),
    });
    bw_server_config_free(config);
    let mut server = server.expect("a server");
    let tool = text(r#"{"name":"ask","inputSchema":{"type":"object"}}"#);
    assert_eq!(bw_server_add_tool(Some(&mut server), tool), 0);
    assert_eq!(bw_server_add_tool(Some(&mut server), tool), bw_error::BW_ERROR_ALREADY_REGISTERED as i32);
    server
}

fn client(revision: i32, http: bool) -> Box<bw_client> {
    let mut config = given(|config| bw_client_config_new(text("c"), text("1"), SEED.as_ptr(), config));
    assert_eq!(bw_client_config_set_capabilities(config.as_deref_mut(), text(r#"{"elicitation":{}}"#)), 0);
    assert_eq!(bw_client_config_set_revisions(config.as_deref_mut(), &raw const revision, 1), 0);
    let client = given(|client| match http {
        #[cfg(feature = "http")]
        true => bw_client_http_new(config.as_deref(), text("http://localhost/mcp"), 0, client),
        _ => bw_client_new(config.as_deref(), 0, client),
    });
    bw_client_config_free(config);
    client.expect("a client")
}

/// Polls an event; `None` if there is none.
fn event<'a>(polled: *const bw_event) -> Option<&'a bw_event> {
    // SAFETY: events are NULL or good until the next poll, before which nobody here keeps one.
    unsafe { polled.as_ref() }
}

const FORM: &str =
    r#"{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}"#;

/// Answers what the server is asked: by a question first, and then with its answer.
fn serve(server: &mut bw_server) {
    while let Some(event) = event(bw_server_poll_event(Some(&mut *server))) {
        if bw_event_kind(Some(event)) != bw_kind::BW_EVENT_TOOL_CALLED {
            continue;
        }
        let request = bw_event_request(Some(event));
        let answer = given_if(|answer| bw_event_answer(Some(event), text("who"), answer));
        if let Some(answer) = answer {
            assert_eq!(read(bw_event_state(Some(event))), "[1]");
            let name = given(|name| {
                bw_json_get_string(answer.result, c"/content/name".as_ptr(), core::ptr::null_mut(), 0, name)
            });
            assert_eq!(bw_server_respond_text(Some(&mut *server), request, name), 0);
        } else {
            let kind = bw_input_kind::BW_INPUT_ELICITATION as i32;
            let question = bw_question { key: text("who"), kind, params: text(FORM) };
            let asked = &raw const question;
            assert_eq!(bw_server_require_input(Some(&mut *server), 0, request, asked, 1, text("[1]")), 0);
        }
    }
}

/// Answers what the client is asked; the text of the result that came, if it did.
fn attend(client: &mut bw_client) -> Option<String> {
    let mut result = None;
    while let Some(event) = event(bw_client_poll_event(Some(&mut *client))) {
        match bw_event_kind(Some(event)) {
            bw_kind::BW_EVENT_INPUT_REQUIRED => {
                assert_eq!(bw_event_input_count(Some(event)), 1);
                let input = given_if(|input| bw_event_input_at(Some(event), 0, input)).expect("a question");
                assert_eq!(input.kind, bw_input_kind::BW_INPUT_ELICITATION as i32);
                let answer = text(r#"{"action":"accept","content":{"name":"Ada"}}"#);
                assert_eq!(bw_client_provide_input(Some(&mut *client), 0, input.input, answer), 0);
            }
            bw_kind::BW_EVENT_RESPONSE_RECEIVED => {
                let value = given(|value| {
                    bw_json_get(bw_event_result(Some(event)), c"/content/0/text".as_ptr(), value)
                });
                result = Some(read(value));
            }
            bw_kind::BW_EVENT_READY => {
                assert_eq!(bw_event_revision(Some(event)), bw_client_revision(Some(&mut *client)));
            }
            kind => panic!("{kind:?}: {:?}", bw_event_message(Some(event)).text().ok()),
        }
    }
    result
}

/// Calls the tool and goes on with `carry` until its result is there.
fn converse(revision: i32, http: bool, mut carry: impl FnMut(&mut bw_client, &mut bw_server)) {
    let (mut client, mut server) = (client(revision, http), server(http));
    let request =
        given(|request| bw_client_call_tool(Some(&mut client), 0, text("ask"), NONE, None, request));
    assert_ne!(request, 0);
    for _ in 0..20 {
        carry(&mut client, &mut server);
        serve(&mut server);
        if let Some(result) = attend(&mut client) {
            assert_eq!(result, r#""Ada""#);
            assert_eq!(read(bw_client_era_verdict(Some(&mut client))), read(bw_revision_name(revision)));
            bw_client_free(Some(client));
            bw_server_free(Some(server));
            return;
        }
    }
    panic!("no result in revision {revision}");
}

fn asking_revisions() -> Vec<i32> {
    // The first ones have no elicitation.
    (bw_revision::BW_REVISION_2025_06_18 as i32..=bw_revision_at(0)).collect()
}

#[test]
fn a_question_is_asked_and_answered_on_a_byte_stream() {
    for revision in asking_revisions() {
        converse(revision, false, |client, server| {
            let data = bw_client_data_to_send(Some(&mut *client));
            assert_eq!(bw_server_receive_data(Some(&mut *server), 0, data), 0);
            bw_client_consume(Some(&mut *client), usize::MAX);
            serve(server);
            let data = bw_server_data_to_send(Some(&mut *server));
            assert_eq!(bw_client_receive_data(Some(&mut *client), 0, data), 0);
            bw_server_consume(Some(&mut *server), usize::MAX);
        });
    }
}

#[cfg(feature = "http")]
#[test]
fn a_question_is_asked_and_answered_over_http() {
    use alloc::collections::BTreeMap;

    for revision in asking_revisions() {
        // Exchanges of the client by those of the server.
        let mut exchanges = BTreeMap::new();
        converse(revision, true, |client, server| {
            while let Some(told) = given_if(|told| bw_client_http_poll_transmit(Some(&mut *client), 0, told))
            {
                if told.kind != bw_transmit_kind::BW_TRANSMIT_REQUEST as i32 {
                    continue;
                }
                let mut headers = Vec::from([bw_pair { name: text("host"), value: text("localhost") }]);
                headers.extend_from_slice(
                    crate::bytes::array_or_empty(told.headers, told.header_count).unwrap(),
                );
                let head = bw_request_head {
                    method: told.method,
                    endpoint: bw_endpoint::BW_ENDPOINT_STREAMABLE as i32,
                    endpoint_detail: NONE,
                    headers: headers.as_ptr(),
                    header_count: headers.len(),
                    principal: NONE,
                };
                let exchange = given(|exchange| {
                    bw_server_http_receive_whole(Some(&mut *server), 0, Some(&head), told.body, exchange)
                });
                exchanges.insert(exchange, told.exchange);
            }
            serve(server);
            loop {
                let exchange = bw_server_http_poll_ready(Some(&mut *server));
                let Some(&back) = exchanges.get(&exchange) else { break };
                while let Some(part) =
                    given_if(|part| bw_server_http_poll_response(Some(&mut *server), exchange, part))
                {
                    if part.status != 0 {
                        let (status, first, count) = (part.status, part.headers, part.header_count);
                        assert_eq!(
                            bw_client_http_receive_head(Some(&mut *client), 0, back, status, first, count),
                            0
                        );
                    }
                    assert_eq!(bw_client_http_receive_body(Some(&mut *client), 0, back, part.data), 0);
                    if part.is_last {
                        assert_eq!(bw_client_http_receive_end(Some(&mut *client), 0, back), 0);
                        break;
                    }
                }
            }
        });
    }
}

#[test]
fn a_result_that_was_written_becomes_the_message() {
    let mut writer = given(|writer| bw_json_writer_init(writer, core::ptr::null_mut(), 0));
    let mut server = server(false);
    bw_json_begin_object(Some(&mut writer));
    assert_eq!(
        bw_server_respond_written(Some(&mut server), 1, Some(&mut writer)),
        bw_error::BW_ERROR_WRITER_MISUSED as i32
    );
    bw_json_begin_object(Some(&mut writer));
    bw_json_end_object(Some(&mut writer));
    assert_eq!(
        bw_server_respond_written(Some(&mut server), 1, Some(&mut writer)),
        bw_error::BW_ERROR_UNKNOWN_REQUEST as i32
    );
    bw_json_writer_free(Some(&mut writer));
}

#[test]
fn a_writer_takes_what_can_stand_there() {
    let write = |steps: &dyn Fn(&mut bw_json_writer)| {
        let mut writer = given(|writer| bw_json_writer_init(writer, core::ptr::null_mut(), 0));
        steps(&mut writer);
        let mut place = MaybeUninit::uninit();
        let status = bw_json_finish(Some(&mut writer), Some(&mut place));
        // SAFETY: the call went well, so that it wrote the place.
        let outcome = if status == 0 { Ok(read(unsafe { place.assume_init() })) } else { Err(status) };
        bw_json_writer_free(Some(&mut writer));
        outcome
    };
    let key = |writer: &mut bw_json_writer, name: &str| bw_json_put_key(Some(writer), text(name));
    let whole = write(&|writer| {
        bw_json_begin_object(Some(writer));
        key(writer, "a\"\u{1}");
        bw_json_begin_array(Some(writer));
        bw_json_put_i64(Some(writer), i64::MIN);
        bw_json_put_u64(Some(writer), u64::MAX);
        for value in [0.1, -2.5, 1e300, 5e-324, 0.0, 1e16] {
            bw_json_put_double(Some(writer), value);
        }
        bw_json_put_bool(Some(writer), false);
        bw_json_put_null(Some(writer));
        bw_json_put_base64(Some(writer), text("fooba"));
        bw_json_end_array(Some(writer));
        key(writer, "b");
        bw_json_put_json(Some(writer), text(" {\"x\": 1} "));
        bw_json_end_object(Some(writer));
    });
    let expected = concat!(
        r#"{"a\"\u0001":[-9223372036854775808,18446744073709551615,0.1,-2.5,1e300,5e-324,0,10000000000000000,"#,
        r#"false,null,"Zm9vYmE="],"b":{"x": 1}}"#
    );
    assert_eq!(whole.as_deref(), Ok(expected));
    let misused = Err(bw_error::BW_ERROR_WRITER_MISUSED as i32);
    assert_eq!(write(&|_| {}), misused);
    assert_eq!(write(&|writer| bw_json_begin_array(Some(writer))), misused);
    assert_eq!(write(&|writer| bw_json_end_array(Some(writer))), misused);
    assert_eq!(write(&|writer| key(writer, "a")), misused);
    let two = |writer: &mut bw_json_writer| {
        bw_json_put_null(Some(writer));
        bw_json_put_null(Some(writer));
    };
    assert_eq!(write(&two), misused);
    let keyless = |writer: &mut bw_json_writer| {
        bw_json_begin_object(Some(writer));
        bw_json_put_null(Some(writer));
        bw_json_end_object(Some(writer));
    };
    assert_eq!(write(&keyless), misused);
    let valueless = |writer: &mut bw_json_writer| {
        bw_json_begin_object(Some(writer));
        key(writer, "a");
        bw_json_end_object(Some(writer));
    };
    assert_eq!(write(&valueless), misused);
    let deep = |writer: &mut bw_json_writer| (0..65).for_each(|_| bw_json_begin_array(Some(&mut *writer)));
    assert_eq!(write(&deep), misused);
    let infinite = write(&|writer| bw_json_put_double(Some(writer), f64::INFINITY));
    assert_eq!(infinite, Err(bw_error::BW_ERROR_OUT_OF_RANGE as i32));
    let no_json = write(&|writer| bw_json_put_json(Some(writer), text("{} {}")));
    assert_eq!(no_json, Err(bw_error::BW_ERROR_INVALID_JSON as i32));
}

#[test]
fn a_buffer_that_is_too_small_tells_what_is_needed() {
    let mut memory = [0_u8; 8];
    let mut writer = given(|writer| bw_json_writer_init(writer, memory.as_mut_ptr().cast(), memory.len()));
    bw_json_put_string(Some(&mut writer), text("sixsix"));
    assert_eq!(read(given(|json| bw_json_finish(Some(&mut writer), json))), r#""sixsix""#);
    bw_json_writer_free(Some(&mut writer));
    bw_json_put_string(Some(&mut writer), text("seven--"));
    let mut json = MaybeUninit::uninit();
    let status = bw_json_finish(Some(&mut writer), Some(&mut json));
    assert_eq!(status, bw_error::BW_ERROR_BUFFER_TOO_SMALL as i32);
    let json = text(r#"{"a":"x\n\u00e9"}"#);
    let mut place = MaybeUninit::uninit();
    let get = |size, place: &mut MaybeUninit<bw_bytes>, memory: &mut [u8; 8]| {
        bw_json_get_string(json, c"/a".as_ptr(), memory.as_mut_ptr().cast(), size, Some(place))
    };
    assert_eq!(get(3, &mut place, &mut memory), bw_error::BW_ERROR_BUFFER_TOO_SMALL as i32);
    assert_eq!(get(4, &mut place, &mut memory), 0);
    // SAFETY: the call went well, so that it wrote the place.
    assert_eq!(read(unsafe { place.assume_init() }), "x\né");
}
