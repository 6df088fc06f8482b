//! A session that moves from one process to another.

use super::*;
use crate::error::{ApiMisuse, Error};
use crate::machine::SessionHandle;
use crate::subscription::Change;

fn exported(bench: &mut Bench) -> String {
    bench.recv(r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"error"}}"#);
    bench.recv(r#"{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"file:///a"}}"#);
    assert_eq!(bench.sent().len(), 2);
    let session = match &bench.events()[..] {
        [Event::SubscriptionOpened { .. }] => bench.server.sessions.of_stream(),
        other => panic!("{other:?}"),
    };
    bench.server.export_session(session.unwrap()).unwrap()
}

#[test]
fn another_server_goes_on_where_the_first_one_was() {
    let mut first = Bench::session(Revision::V2025_06_18, r#"{"sampling":{}}"#);
    first.server.publish(&Change::Resource("file:///a".into()));
    let text = exported(&mut first);

    let mut second = Bench::new();
    let session = second.server.import_session(&text).unwrap();
    let events = second.events();
    let [
        Event::SubscriptionOpened { filter, .. },
        Event::SessionOpened { session: opened, revision, capabilities, client },
    ] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(
        (&*filter.resource_uris[0], *opened, *revision),
        ("file:///a", session, Revision::V2025_06_18)
    );
    assert!(capabilities.has(crate::revision::Capability::Sampling));
    assert!(client.is_some());

    second.recv(r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo"}}"#);
    let request = match &second.events()[..] {
        [Event::ToolCalled { request, context, .. }] => {
            assert_eq!((context.revision, context.session), (Revision::V2025_06_18, Some(session)));
            *request
        }
        other => panic!("{other:?}"),
    };
    second.server.respond(request, TEXT_RESULT).unwrap();
    second.server.publish(&Change::Resource("file:///a".into()));
    second.server.log(crate::logging::LogLevel::Warning, None, "1").unwrap();
    second.server.log(crate::logging::LogLevel::Error, None, "2").unwrap();
    let sent = second.sent();
    assert_eq!(sent.len(), 3, "{sent:?}");
    assert!(
        sent[0].contains("\"id\":3")
            && sent[1].contains("resources/updated")
            && sent[2].contains("\"data\":2")
    );
}

#[test]
fn what_does_not_fit_changes_nothing() {
    let mut first = Bench::session(Revision::V2025_11_25, "{}");
    let text = exported(&mut first);
    let misuse = |misuse: ApiMisuse| Err(Error::ApiMisuse(misuse));
    assert_eq!(first.server.import_session(&text), misuse(ApiMisuse::AlreadyRegistered));
    let unknown = first.server.export_session(SessionHandle::from_number(u64::MAX));
    assert_eq!(unknown, Err(Error::ApiMisuse(ApiMisuse::UnknownSession)));
    let mut second = Bench::new();
    assert_eq!(second.server.import_session("{}"), misuse(ApiMisuse::InvalidJson));
    let mut config = config();
    config.limits.watched_resources = 0;
    let mut third = Bench::with(config);
    assert!(matches!(third.server.import_session(&text), Err(Error::LimitExceeded(_))));
    for bench in [&mut second, &mut third] {
        assert!(bench.events().is_empty() && bench.server.sessions.len() == 0);
    }
}
