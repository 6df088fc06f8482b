//! Sessions as clients have them, each line with its end.

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"example-client","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}"#;

/// Handshake, lists, a call with progress, a read, a ping.
pub fn legacy() -> Vec<String> {
    [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"roots":{"listChanged":true},"sampling":{}},"clientInfo":{"name":"example-client","version":"1.0.0"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"measure","arguments":{"sensor":"temperature","count":3},"_meta":{"progressToken":2}}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"resources/list"}"#,
        r#"{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"device://log"}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#,
    ]
    .map(|line| line.to_owned() + "\n")
    .into()
}

fn request(id: usize, method: &str, params: &str, meta: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{{{params}{META}{meta}}}}}}}\n"
    )
}

/// Discovery, lists, a call with progress, a read.
pub fn modern() -> Vec<String> {
    let call = r#""name":"measure","arguments":{"sensor":"temperature","count":3},"#;
    vec![
        request(0, "server/discover", "", ""),
        request(1, "tools/list", "", ""),
        request(2, "tools/call", call, r#","progressToken":2"#),
        request(3, "resources/list", "", ""),
        request(4, "resources/read", r#""uri":"device://log","#, ""),
    ]
}

/// Messages that are long, many, or odd.
pub fn strange() -> Vec<String> {
    let long = "x".repeat(900);
    let escapes = "\\u0041".repeat(120);
    let many: Vec<_> =
        (0..40).map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)).collect();
    let few: Vec<_> = (0..4)
        .map(|id| {
            format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"tools/call","params":{{"name":"switch"}}}}"#)
        })
        .collect();
    let keys: Vec<_> = (0..60).map(|key| format!(r#""\\u{key:04x}":1"#)).collect();
    let uris: Vec<_> = (0..30).map(|at| format!(r#""a://{at}""#)).collect();
    let mut lines = vec![
        format!(r#"{{"jsonrpc":"2.0","id":"{long}","method":"tools/list"}}"#),
        format!(
            r#"{{"jsonrpc":"2.0","id":"{escapes}","method":"tools/call","params":{{"name":"{escapes}"}}}}"#
        ),
        format!(r#"{{"jsonrpc":"2.0","id":"{escapes}","method":"{escapes}"}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{long}"}}"#),
        format!(
            r#"{{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{{"name":"measure","arguments":{{"a":"{long}"}}}}}}"#
        ),
        format!(
            r#"{{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{{"uri":"device://temperature/{}"}}}}"#,
            "a/".repeat(300)
        ),
        format!(
            r#"{{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{{"uri":"device://temperature/{}"}}}}"#,
            "%41".repeat(300)
        ),
        format!(
            r#"{{"jsonrpc":"2.0","id":10,"method":"resources/subscribe","params":{{"uri":"device://{long}"}}}}"#
        ),
        format!(
            r#"{{"jsonrpc":"2.0","id":11,"method":"completion/complete","params":{{"ref":{{"type":"ref/resource","uri":"device://{{sensor}}/{{+path}}{{?from,to}}"}},"argument":{{"name":"sensor","value":"{escapes}"}}}}}}"#
        ),
        format!(r#"{{"jsonrpc":"2.0","id":12,"method":"tools/list","params":{{"cursor":"{long}"}}}}"#),
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":2,"reason":"{long}"}}}}"#
        ),
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{{"a":"{long}"}}}}"#),
        format!(r#"{{{},"id":3,"jsonrpc":"2.0","method":"ping"}}"#, keys.join(",")),
        format!("[{}]", many.join(",")),
        format!("[{}]", few.join(",")),
        "[".repeat(900),
        "[1]".repeat(200),
        long.clone() + &long + &long + &long,
        format!(r#"{{"jsonrpc":"2.0","id":13,"result":{{"a":"{long}"}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":"{long}","error":{{"code":1,"message":"{escapes}"}}}}"#),
        format!(
            r#"{{"jsonrpc":"2.0","id":14,"method":"initialize","params":{{"protocolVersion":"{long}","capabilities":{{}}}}}}"#
        ),
    ];
    for line in &mut lines {
        line.push('\n');
    }
    let filter = format!(
        r#""notifications":{{"toolsListChanged":true,"resourceSubscriptions":[{}]}},"#,
        uris[..2].join(",")
    );
    let greedy = format!(
        r#""notifications":{{"toolsListChanged":true,"resourceSubscriptions":[{}]}},"#,
        uris.join(",")
    );
    lines.push(request(20, "subscriptions/listen", &filter, ""));
    lines.push(request(21, "subscriptions/listen", &greedy, ""));
    lines.push(request(
        22,
        "tools/call",
        &format!(r#""name":"{escapes}","#),
        &format!(r#","progressToken":"{escapes}""#),
    ));
    lines.push(request(23, "tools/list", "", &format!(r#","io.modelcontextprotocol/logLevel":"{escapes}""#)));
    lines.push(request(24, "tools/call", &format!(r#""name":"measure","requestState":"{long}","#), ""));
    lines.push(request(
        25,
        "tools/call",
        &format!(r#""name":"measure","inputResponses":{{"{long}":{{"action":"accept"}}}},"#),
        "",
    ));
    lines
}
