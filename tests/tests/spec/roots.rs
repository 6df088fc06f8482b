//! client/roots

use super::*;

// proves: FEAT-286 FEAT-290
#[test]
fn a_root_is_a_file_uri_that_leads_nowhere_else() {
    for revision in Revision::ALL {
        let mut client = Opposite::client(revision);
        let input = client.assert_put(revision, "roots/list", "{}");
        let mut answer = |uri: &str| {
            let roots = format!(r#"{{"roots":[{{"uri":"file:///home/a"}},{{"uri":"{uri}"}}]}}"#);
            let response = InputResponse::Result(Json::new(&roots).unwrap());
            client.stdio.machine_mut().provide_input(Instant::ZERO, input, response)
        };
        for uri in [
            "https://example.com/",
            "/home/b",
            "file:/home/b",
            "file:///home/b c",
            "file:///home/../etc",
            "file:///home/%2e%2E/etc",
            "file:///home/..",
            "file:///home/..%2fetc",
        ] {
            assert_eq!(answer(uri), Err(invalid("roots")), "{revision} {uri}");
        }
        answer("file:///home/b..c/%20d").unwrap();
    }
}
