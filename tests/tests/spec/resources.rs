//! server/resources

use barewire::model::{Resource, read_list};

use super::*;

fn read(pair: &mut Pair, uri: &str) -> bool {
    let now = pair.now();
    pair.client.machine_mut().read_resource(now, uri, Default::default()).unwrap();
    pair.drive().unwrap();
    let events = pair.take_client_events();
    let asked = pair.take_server_events();
    match (&events[..], &asked[..]) {
        ([], [server::Event::ResourceReadRequested { request, .. }]) => {
            pair.server.machine_mut().respond(*request, r#"{"contents":[]}"#).unwrap();
            pair.drive().unwrap();
            pair.take_client_events();
            true
        }
        ([client::Event::RequestFailed { reason: client::FailureReason::Rpc(error), .. }], []) => {
            assert!(error.is_resource_not_found(uri), "{error:?}");
            false
        }
        other => panic!("{other:?}"),
    }
}

fn pair_with(revision: Revision, templates: &[&str]) -> Pair {
    let mut config = client_config();
    config.revisions = Revisions::of(&[revision]);
    let mut pair = Pair::new(config, server_config(), Link::Whole, Random::new(1));
    for template in templates {
        let definition = format!(r#"{{"uriTemplate":"{template}","name":"n"}}"#);
        pair.server.machine_mut().add_resource_template(&definition).unwrap();
    }
    pair.drive().unwrap();
    pair.take_client_events();
    pair.take_server_events();
    pair
}

// proves: FEAT-126
#[test]
fn the_uri_of_a_resource_is_one() {
    let mut pair = pair(Revision::V2026_07_28);
    let mut add =
        |uri: &str| pair.server.machine_mut().add_resource(&format!(r#"{{"uri":"{uri}","name":"n"}}"#));
    for uri in ["", "x", "/x", "1db:x", "d b:x", "d_b:x", "db:", "db:a b", "db:<a>", "db:%2"] {
        assert_eq!(add(uri), Err(invalid("uri")), "{uri}");
    }
    for uri in ["db:x", "git+ssh://h/x", "a.b-c:x", "note://a%20b"] {
        add(uri).unwrap();
    }
}

// proves: FEAT-143
#[test]
fn hints_on_a_resource_are_in_range() {
    let mut pair = pair(Revision::V2026_07_28);
    let server = pair.server.machine_mut();
    let mut add = |annotations: &str| {
        let of = |member: &str| format!(r#"{{"{member}":"a:b","name":"n","annotations":{annotations}}}"#);
        let added = server.add_resource(&of("uri"));
        assert_eq!(server.add_resource_template(&of("uriTemplate")), added, "{annotations}");
        added
    };
    for annotations in [
        r#"{"audience":["system"]}"#,
        r#"{"audience":["user","User"]}"#,
        r#"{"audience":"user"}"#,
        r#"{"priority":1.01}"#,
        r#"{"priority":-0.1}"#,
        r#"{"priority":"1"}"#,
        "[]",
    ] {
        assert_eq!(add(annotations), Err(invalid("annotations")), "{annotations}");
    }
    add(r#"{"audience":["user","assistant"],"priority":1,"lastModified":"2025-01-12T15:00:58Z"}"#).unwrap();
}

// proves: FEAT-130
#[test]
fn the_older_code_of_a_missing_resource_is_understood() {
    for revision in Revision::ALL {
        let mut client = Opposite::client(revision);
        let (_, line) = client.request("resources/read", r#"{"uri":"a:b"}"#);
        client.hear(&format!(
            r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":-32002,"message":"Resource not found"}}}}"#,
            line["id"]
        ));
        let events = client.events();
        let [client::Event::RequestFailed { reason: client::FailureReason::Rpc(error), .. }] = &events[..]
        else {
            panic!("{events:?}")
        };
        assert!(error.is_resource_not_found("a:b"));
    }
}

// proves: FEAT-142
#[test]
fn a_size_is_passed_on_exactly() {
    let definition = r#"{"uri":"a:b","name":"n","size":9007199254740993}"#;
    for revision in Revision::ALL {
        let mut config = client_config();
        config.revisions = Revisions::of(&[revision]);
        let mut pair = Pair::new(config, server_config(), Link::Whole, Random::new(1));
        pair.server.machine_mut().add_resource(definition).unwrap();
        pair.drive().unwrap();
        let now = pair.now();
        let machine = pair.client.machine_mut();
        machine.list(now, client::Listing::Resources, None, Default::default()).unwrap();
        pair.drive().unwrap();
        let events = pair.take_client_events();
        let Some(client::Event::ResponseReceived { result, .. }) = events.last() else {
            panic!("{events:?}")
        };
        let listing = read_list::<Resource>(result, "resources").unwrap();
        assert_eq!(listing.items[0].size, Some(9_007_199_254_740_993));
    }
}

// proves: FEAT-134
#[test]
fn what_is_no_uri_reaches_no_handler() {
    for revision in Revision::ALL {
        let mut pair = pair_with(revision, &["note://{+path}"]);
        for uri in ["note://a b", "note://a<b", "note://%zz", "note://a\\\\b", "note://"] {
            assert!(!read(&mut pair, uri), "{revision} {uri}");
        }
        assert!(read(&mut pair, "note://a/b%20c"));
    }
}

// proves: FEAT-138
#[test]
fn a_path_that_leads_upwards_reaches_no_handler() {
    for revision in Revision::ALL {
        let mut pair = pair_with(revision, &["file:///home/{name}", "file:///srv/{+path}"]);
        for uri in [
            "file:///srv/../etc/passwd",
            "file:///srv/a/../../etc/passwd",
            "file:///srv/%2e%2e/etc/passwd",
            "file:///srv/.%2E/etc",
            "file:///srv/..",
            "FILE:///srv/..",
            "file:///home/..",
            "file:///home/..%2fetc%2fpasswd",
            "file:///home/%2e%2e%5cetc",
        ] {
            assert!(!read(&mut pair, uri), "{revision} {uri}");
        }
        for uri in ["file:///srv/a..b/c...d", "file:///home/..a"] {
            assert!(read(&mut pair, uri), "{revision} {uri}");
        }
    }
}
