//! Headers that repeat parts of the message (basic/transports/streamable-http, 2026-07-28).

use barewire::server::Event;
use barewire_tests::site::{RESULT, Site};

use crate::{More, message, refusal};

const VERSION: (&str, &str) = ("MCP-Protocol-Version", "2026-07-28");
const METHOD: (&str, &str) = ("Mcp-Method", "tools/call");
const NAME: (&str, &str) = ("Mcp-Name", "echo");

fn call(revision: &str, name: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":{arguments},"_meta":{{"io.modelcontextprotocol/protocolVersion":"{revision}","io.modelcontextprotocol/clientInfo":{{"name":"probe","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    )
}

fn site() -> Site {
    let mut site = Site::new();
    for name in ["世界", "=?base64?literal?="] {
        let definition = format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
        site.server().add_tool(&definition).expect("a tool");
    }
    site
}

/// The tool that a call with these headers runs.
fn called(headers: &[(&str, &str)], name: &str) -> String {
    let mut site = site();
    let exchange = site.post(headers, &call("2026-07-28", name, r#"{"text":"hi"}"#));
    let (request, tool) = match &site.events[..] {
        [Event::ToolCalled { request, name, .. }] => (*request, name.to_string()),
        events => panic!("{events:?}"),
    };
    site.server().respond(request, RESULT).expect("an answer");
    let response = site.take(exchange);
    assert_eq!((response.status, message(&response)["id"].as_i64()), (200, Some(1)));
    tool
}

/// A case that operators of gateways have met often: headers and body disagree, or one of the headers is missing.
// proves: BASE-072 BASE-283 BASE-284 BASE-308 BASE-309 BASE-315 BASE-321 BASE-322 BASE-324 BASE-325 BASE-435 BASE-436
#[test]
fn headers_that_mirror_the_body_are_compared_with_it() {
    let sound: [(&[(&str, &str)], &str); 5] = [
        (&[VERSION, METHOD, NAME], "echo"),
        (&[VERSION, ("Mcp-Method", " \ttools/call \t"), NAME], "echo"),
        (
            &[("mcp-protocol-VERSION", "2026-07-28"), ("mcp-METHOD", "tools/call"), ("MCP-NAME", "echo")],
            "echo",
        ),
        (&[VERSION, METHOD, ("Mcp-Name", "=?base64?5LiW55WM?=")], "世界"),
        (&[VERSION, METHOD, ("Mcp-Name", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=")], "=?base64?literal?="),
    ];
    for (headers, name) in sound {
        assert_eq!(called(headers, name), name);
    }
    let faulty: [(&[(&str, &str)], &str); 9] = [
        (&[VERSION, NAME], "Mcp-Method"),
        (&[VERSION, METHOD], "Mcp-Name"),
        (&[METHOD, NAME], "MCP-Protocol-Version"),
        (&[VERSION, METHOD, ("Mcp-Name", "Echo")], "Mcp-Name"),
        (&[("MCP-Protocol-Version", "2025-11-25"), METHOD, NAME], "MCP-Protocol-Version"),
        (&[VERSION, METHOD, ("Mcp-Name", "=?base64?=")], "Mcp-Name"),
        (&[VERSION, METHOD, ("Mcp-Name", "=?base64?@@@?=")], "Mcp-Name"),
        (&[VERSION, METHOD, NAME, NAME], "Mcp-Name"),
        (&[VERSION, VERSION, METHOD, NAME], "MCP-Protocol-Version"),
    ];
    for (headers, named) in faulty {
        let mut site = site();
        let response = site.ask(headers, &call("2026-07-28", "echo", r#"{"text":"hi"}"#));
        assert_eq!(refusal(&response), (400, -32020), "{headers:?}");
        let message = message(&response);
        let text = message["error"]["message"].as_str().expect("a text").to_ascii_lowercase();
        assert!(text.contains(&named.to_ascii_lowercase()), "{text} does not name {named}");
        assert_eq!((message["id"].as_i64(), site.events.len()), (Some(1), 0), "{headers:?}");
    }
    let mut site = site();
    let headers = [("MCP-Protocol-Version", "2027-01-01"), METHOD, NAME];
    let response = site.ask(&headers, &call("2027-01-01", "echo", "{}"));
    assert_eq!(refusal(&response), (400, -32022));
    let data = &message(&response)["error"]["data"];
    assert_eq!(data["requested"], "2027-01-01");
    assert!(data["supported"].as_array().is_some_and(|list| list.iter().any(|name| name == "2026-07-28")));
    assert_eq!(site.events, []);
}

// proves: BASE-314 BASE-316 BASE-319 BASE-320 FEAT-090 FEAT-091 FEAT-092
#[test]
fn arguments_in_headers_are_compared_with_the_body() {
    let rows: [(&str, More<'_>, bool); 9] = [
        (r#"{"region":"us"}"#, &[("Mcp-Param-Region", "us")], true),
        (r#"{"region":"us"}"#, &[("mcp-param-REGION", " us ")], true),
        (r#"{"region":"ü"}"#, &[("Mcp-Param-Region", "=?base64?w7w=?=")], true),
        (r#"{"region":null}"#, &[], true),
        ("{}", &[], true),
        (r#"{"region":"us"}"#, &[("Mcp-Param-Region", "us"), ("Mcp-Param-Other", "x")], true),
        (r#"{"region":"us"}"#, &[], false),
        (r#"{"region":"us"}"#, &[("Mcp-Param-Region", "US")], false),
        (r#"{"region":"us"}"#, &[("Mcp-Param-Region", "=?base64?!?=")], false),
    ];
    for (arguments, params, is_sound) in rows {
        let mut site = site();
        let headers: Vec<_> =
            [VERSION, METHOD, ("Mcp-Name", "route")].iter().chain(params).copied().collect();
        let exchange = site.post(&headers, &call("2026-07-28", "route", arguments));
        if is_sound {
            assert!(matches!(site.events[..], [Event::ToolCalled { .. }]), "{arguments} {params:?}");
        } else {
            assert_eq!(refusal(&site.take(exchange)), (400, -32020), "{arguments} {params:?}");
            assert_eq!(site.events, []);
        }
    }
}
