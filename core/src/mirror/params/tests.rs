use alloc::format;
use alloc::string::String;
use alloc::vec;

use super::*;
use crate::mirror::encode;

const REGION: &str = r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"query":{"type":"string"}}}"#;

fn property(schema: &str) -> Result<ParamHeaders, Unmirrored> {
    ParamHeaders::read(&format!(r#"{{"type":"object","properties":{{"a":{schema}}}}}"#))
}

/// The name of each header and the path to its argument.
fn rows(schema: &str) -> Vec<(String, String)> {
    fn collect(found: &ParamHeaders, place: usize, path: &str, rows: &mut Vec<(String, String)>) {
        let node = &found.nodes[place];
        rows.extend(node.header.as_deref().map(|header| row(header, path.trim_start_matches('/'))));
        for (name, member) in &node.members {
            collect(found, *member, &format!("{path}/{name}"), rows);
        }
    }
    let found = ParamHeaders::read(schema).unwrap();
    let mut rows = Vec::new();
    if !found.is_empty() {
        collect(&found, 0, "", &mut rows);
    }
    rows
}

fn row(name: &str, path: &str) -> (String, String) {
    (name.to_owned(), path.to_owned())
}

// proves: FEAT-073 BASE-291
#[test]
fn annotated_properties_are_found() {
    assert_eq!(rows(REGION), [row("Region", "region")]);
    let nested = r#"{"properties":{"a":{"type":"object","properties":{"b c":{"x-mcp-header":"B","type":"integer"},
        "x-mcp-header":{"type":"boolean","x-mcp-header":"Odd"}}},"properties":{"type":"string","x-mcp-header":"P"}}}"#;
    assert_eq!(rows(nested), [row("B", "a/b c"), row("Odd", "a/x-mcp-header"), row("P", "properties")]);
    let escaped = r#"{"propertie\u0073":{"\u00e4":{"x-mcp-heade\u0072":"Ae","type":"string"}}}"#;
    assert_eq!(rows(escaped), [row("Ae", "ä")]);
    for plain in
        [r#"{"type":"object"}"#, "{}", r#"{"properties":{"a":{"type":"string","description":"\u00e4"}}}"#]
    {
        assert!(ParamHeaders::read(plain).unwrap().is_empty());
    }
}

#[test]
fn what_is_data_is_no_annotation() {
    let data = r#"{"properties":{"a":{"type":"object","default":{"x-mcp-header":""},"examples":[{"x-mcp-header":1}],
        "const":{"x-mcp-header":""},"enum":[{"x-mcp-header":""}]}}}"#;
    assert_eq!(rows(data), []);
    // A property of that name has a schema like any other.
    assert_eq!(rows(r#"{"properties":{"x-mcp-header":{"type":"string"}}}"#), []);
    assert_eq!(
        rows(r#"{"properties":{"a":{"description":"x-mcp-header","required":["x-mcp-header"]}}}"#),
        []
    );
}

// proves: BASE-293 BASE-294 BASE-295 BASE-296 BASE-297 FEAT-075 FEAT-076 FEAT-077 FEAT-078
#[test]
fn annotations_that_break_a_rule_make_the_tool_unusable() {
    let name = |token: &str| property(&format!(r#"{{"type":"string","x-mcp-header":{token}}}"#));
    assert_eq!(name("\"\""), Err(Unmirrored::EmptyName));
    for token in [
        "\"a b\"",
        "\"a:b\"",
        "\"\u{e4}\"",
        "\"a\\r\\nb\"",
        "\"a\\u0001\"",
        "\"a\\t\"",
        "1",
        "true",
        "null",
        "{}",
        "[]",
    ] {
        assert_eq!(name(token), Err(Unmirrored::InvalidName(token.into())), "{token}");
    }
    for kind in [
        "\"object\"",
        "\"array\"",
        "\"null\"",
        "\"number\"",
        "[\"string\",\"null\"]",
        "[\"string\"]",
        "1",
        "\"String\"",
    ] {
        let outcome = property(&format!(r#"{{"type":{kind},"x-mcp-header":"A"}}"#));
        assert_eq!(outcome, Err(Unmirrored::InvalidType("A".into())), "{kind}");
    }
    assert_eq!(property(r#"{"x-mcp-header":"A"}"#), Err(Unmirrored::InvalidType("A".into())));
    for second in ["Region", "REGION"] {
        let schema = format!(
            r#"{{"properties":{{"a":{{"type":"string","x-mcp-header":"Region"}},
            "b":{{"type":"object","properties":{{"c":{{"type":"string","x-mcp-header":"{second}"}}}}}}}}}}"#
        );
        assert_eq!(ParamHeaders::read(&schema), Err(Unmirrored::DuplicateName(second.into())));
    }
}

// proves: BASE-299 FEAT-080
#[test]
fn annotations_that_properties_alone_do_not_lead_to_make_the_tool_unusable() {
    const LEAF: &str = r#"{"type":"string","x-mcp-header":"A"}"#;
    const INSIDE: &str = r#"{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}"#;
    for around in [
        r#"{"properties":{"a":{"type":"array","items":LEAF}}}"#,
        r#"{"properties":{"a":{"prefixItems":[LEAF]}}}"#,
        r#"{"allOf":[INSIDE]}"#,
        r#"{"anyOf":[{"oneOf":[INSIDE]}]}"#,
        r#"{"not":INSIDE}"#,
        r#"{"if":INSIDE}"#,
        r#"{"properties":{"a":{"then":INSIDE}}}"#,
        r#"{"$defs":{"d":LEAF}}"#,
        r#"{"definitions":{"properties":{"properties":{"b":LEAF}}}}"#,
        r#"{"patternProperties":{"^x":LEAF}}"#,
        r#"{"additionalProperties":LEAF}"#,
        r#"{"dependentSchemas":{"a":INSIDE}}"#,
        r#"{"x-other":{"deep":[[LEAF]]}}"#,
        "LEAF",
    ] {
        let schema = around.replace("LEAF", LEAF).replace("INSIDE", INSIDE);
        assert_eq!(ParamHeaders::read(&schema), Err(Unmirrored::Unreachable("A".into())), "{schema}");
    }
}

#[test]
fn schemas_that_cannot_be_walked_are_refused() {
    let deep = |levels: usize| {
        let open = r#"{"properties":{"a":"#.repeat(levels);
        format!("{open}{{\"type\":\"string\",\"x-mcp-header\":\"A\"}}{}", "}}".repeat(levels))
    };
    assert_eq!(rows(&deep(63)).len(), 1);
    assert_eq!(ParamHeaders::read(&deep(64)), Err(Unmirrored::InvalidSchema));
    for text in ["[\"x-mcp-header\"]", "\"x-mcp-header\"", r#"{"x-mcp-header":"a""#] {
        assert_eq!(ParamHeaders::read(text), Err(Unmirrored::InvalidSchema), "{text}");
    }
}

const MANY: &str = r#"{"type":"object","properties":{
    "region":{"type":"string","x-mcp-header":"Region"},"priority":{"type":"integer","x-mcp-header":"Priority"},
    "verbose":{"type":"boolean","x-mcp-header":"Verbose"},"debug":{"type":"boolean","x-mcp-header":"Debug"},
    "empty_val":{"type":"string","x-mcp-header":"EmptyVal"},"float_val":{"type":"number"},
    "non_ascii_val":{"type":"string","x-mcp-header":"NonAscii"},"crlf_val":{"type":"string","x-mcp-header":"CrLf"},
    "where":{"type":"object","properties":{"zone":{"type":"string","x-mcp-header":"Zone"},
        "rack":{"type":"integer","x-mcp-header":"Rack"}}},
    "query":{"type":"string"}}}"#;

fn values(arguments: &str) -> Vec<(String, String)> {
    let many = ParamHeaders::read(MANY).unwrap();
    let found = many.values(Some(arguments)).unwrap();
    found.into_iter().map(|(name, value)| (name.into(), encode(&value).into_owned())).collect()
}

// proves: BASE-292 BASE-300 BASE-305 BASE-317 FEAT-074 FEAT-084 FEAT-085
#[test]
fn arguments_become_headers() {
    let arguments = r#"{"query":"SELECT * FROM users","region":"us-west1","priority":42,"verbose":false,"debug":true,
        "empty_val":"","float_val":3.14159,"non_ascii_val":"Hello, 世界","crlf_val":"line1\r\nline2",
        "where":{"zone":"a","zones":["b"],"rack":-7}}"#;
    let expected = [
        row("Region", "us-west1"),
        row("Priority", "42"),
        row("Verbose", "false"),
        row("Debug", "true"),
        row("EmptyVal", ""),
        row("NonAscii", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        row("CrLf", "=?base64?bGluZTENCmxpbmUy?="),
        row("Zone", "a"),
        row("Rack", "-7"),
    ];
    assert_eq!(values(arguments), expected);
}

// proves: BASE-318
#[test]
fn what_is_absent_or_null_has_no_header() {
    let arguments = r#"{"region":"us-east1","priority":1,"verbose":null,"query":"SELECT 1"}"#;
    assert_eq!(values(arguments), [row("Region", "us-east1"), row("Priority", "1")]);
    assert_eq!(values("{}"), []);
    assert_eq!(values(r#"{"where":{"zone":null}}"#), []);
    assert_eq!(values(r#"{"where":"zone","zone":"x"}"#), []);
    assert_eq!(values("[]"), []);
    assert_eq!(ParamHeaders::read(MANY).unwrap().values(None), Ok(vec![]));
}

#[test]
fn of_members_that_stand_twice_the_last_counts() {
    assert_eq!(values(r#"{"region":"a","region":"b"}"#), [row("Region", "b")]);
    assert_eq!(values(r#"{"region":"a","regio\u006e":null}"#), []);
    assert_eq!(values(r#"{"where":{"zone":"a","rack":1},"where":{"zone":"b"}}"#), [row("Zone", "b")]);
    assert_eq!(values(r#"{"where":{"zone":"a"},"where":1}"#), []);
    // In a schema too.
    let twice = r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},"a":{"type":"string","x-mcp-header":"B"}}}"#;
    assert_eq!(rows(twice), [row("B", "a")]);
}

// proves: BASE-298 FEAT-079
#[test]
fn integers_are_written_in_decimal_if_every_receiver_can_read_them() {
    let cases = [
        ("42", Some("42")),
        ("42.0", Some("42")),
        ("4.2e1", Some("42")),
        ("420E-1", Some("42")),
        ("-7", Some("-7")),
        ("-0", Some("0")),
        ("0e99999999999999999999", Some("0")),
        ("0.000", Some("0")),
        ("1e15", Some("1000000000000000")),
        ("9007199254740991", Some("9007199254740991")),
        ("-9007199254740991", Some("-9007199254740991")),
        ("9007199254740992", None),
        ("-9007199254740992", None),
        ("1e16", None),
        ("1e999999999999999999999999", None),
        ("1e-999999999999999999999999", None),
        ("123456789012345678901234567890", None),
        ("3.5", None),
        ("1e-1", None),
        ("{}", None),
        ("[1]", None),
    ];
    let many = ParamHeaders::read(MANY).unwrap();
    for (token, expected) in cases {
        let arguments = format!(r#"{{"priority":{token}}}"#);
        let outcome = many.values(Some(&arguments));
        match expected {
            Some(value) => assert_eq!(outcome, Ok(vec![("Priority".into(), value.into())]), "{token}"),
            None => assert_eq!(outcome.unwrap_err().kind, MismatchKind::NotMirrorable, "{token}"),
        }
    }
}

#[track_caller]
fn checks(arguments: &str, received: &[(&str, &str)]) -> Result<(), MismatchKind> {
    let many = ParamHeaders::read(MANY).unwrap();
    many.check(Some(arguments), received).map_err(|mismatch| mismatch.kind)
}

// proves: BASE-309 BASE-315 BASE-319 BASE-320 BASE-322 BASE-436 FEAT-089
#[test]
fn headers_say_what_the_arguments_say() {
    use MismatchKind::{Different, Duplicate, Missing, Unexpected};
    let hello = r#"{"region":"Hello"}"#;
    assert_eq!(checks(hello, &[("region", "Hello")]), Ok(()));
    assert_eq!(checks(hello, &[("REGION", "=?base64?SGVsbG8=?=")]), Ok(()));
    assert_eq!(checks(hello, &[("Region", "hello")]), Err(Different));
    assert_eq!(checks(hello, &[("Region", "SGVsbG8=")]), Err(Different));
    assert_eq!(checks(hello, &[]), Err(Missing));
    assert_eq!(checks(hello, &[("Region", "Hello"), ("region", "Hello")]), Err(Duplicate));
    for (value, reason) in [
        ("=?base64?SGVsbG8?=", Undecodable::InvalidBase64),
        ("=?base64?SGVs!!!bG8=?=", Undecodable::InvalidBase64),
        ("=?base64?/w==?=", Undecodable::NotUtf8),
    ] {
        assert_eq!(checks(hello, &[("Region", value)]), Err(MismatchKind::Undecodable(reason)), "{value}");
    }
    let literal = r#"{"region":"=?base64?SGVsbG8="}"#;
    assert_eq!(checks(literal, &[("Region", "=?base64?SGVsbG8=")]), Ok(()));
    assert_eq!(checks(r#"{"region":"SGVsbG8=?="}"#, &[("Region", "SGVsbG8=?=")]), Ok(()));
    for absent in ["{}", r#"{"region":null}"#, "[]"] {
        assert_eq!(checks(absent, &[]), Ok(()), "{absent}");
        assert_eq!(checks(absent, &[("Region", "")]), Err(Unexpected), "{absent}");
    }
    assert_eq!(checks(r#"{"empty_val":""}"#, &[("emptyval", "")]), Ok(()));
    assert_eq!(checks(r#"{"region":{}}"#, &[("Region", "{}")]), Err(MismatchKind::NotMirrorable));
    assert_eq!(checks(r#"{"where":{"zone":"a"}}"#, &[("Zone", "a")]), Ok(()));
    assert_eq!(checks(r#"{"where":{"zone":"a"}}"#, &[]), Err(Missing));
    // Names that the tool does not have mean nothing to it.
    assert_eq!(checks("{}", &[("Other", "x"), ("Query", "y"), ("", "z")]), Ok(()));
}

// proves: BASE-314
#[test]
fn headers_with_characters_that_none_may_hold_are_refused() {
    for value in ["\u{e4}", "a\u{0}", "a\nb", "\u{7f}"] {
        let arguments = format!(r#"{{"region":{}}}"#, serde_json::to_string(value).unwrap());
        let expected = MismatchKind::Undecodable(Undecodable::InvalidCharacter);
        assert_eq!(checks(&arguments, &[("Region", value)]), Err(expected), "{value:?}");
    }
}

// proves: BASE-323
#[test]
fn integers_compare_as_numbers_and_booleans_as_words() {
    for header in ["42", "42.0", "4.2e1", "=?base64?NDI=?="] {
        for token in ["42", "42.0", "420e-1"] {
            assert_eq!(
                checks(&format!(r#"{{"priority":{token}}}"#), &[("Priority", header)]),
                Ok(()),
                "{header}"
            );
        }
    }
    for header in ["43", "042", "+42", "42.5", "0x2a", "42 ", "4 2", "", "\"42\"", "-42", "true"] {
        assert_eq!(
            checks(r#"{"priority":42}"#, &[("Priority", header)]),
            Err(MismatchKind::Different),
            "{header}"
        );
    }
    let beyond = checks(r#"{"priority":9007199254740993}"#, &[("Priority", "9007199254740993")]);
    assert_eq!(beyond, Err(MismatchKind::NotMirrorable));
    assert_eq!(checks(r#"{"verbose":true}"#, &[("Verbose", "true")]), Ok(()));
    for header in ["True", "1", "false", ""] {
        assert_eq!(
            checks(r#"{"verbose":true}"#, &[("Verbose", header)]),
            Err(MismatchKind::Different),
            "{header}"
        );
    }
    assert_eq!(checks(r#"{"verbose":false}"#, &[("Verbose", "false")]), Ok(()));
    // A string of digits is no number.
    assert_eq!(checks(r#"{"region":"42"}"#, &[("Region", "42.0")]), Err(MismatchKind::Different));
}

#[test]
fn a_schema_with_many_annotations_costs_no_more_than_its_length() {
    let name = "x".repeat(1000);
    let leaves: Vec<String> =
        (0..20_000).map(|at| format!(r#""{at}":{{"type":"string","x-mcp-header":"H{at}"}}"#)).collect();
    let open = format!(r#"{{"properties":{{"{name}":"#).repeat(60);
    let schema = format!(r#"{open}{{"properties":{{{}}}}}{}"#, leaves.join(","), "}}".repeat(60));
    let found = ParamHeaders::read(&schema).unwrap();
    assert_eq!(found.nodes.len(), 1 + 60 + 20_000);
}

#[test]
fn faults_say_which_header_it_is() {
    let region = ParamHeaders::read(REGION).unwrap();
    let fault = region.check(Some(r#"{"region":"a"}"#), &[]).unwrap_err();
    assert_eq!(fault.to_string(), "the header for Region is missing");
    let fault = property(r#"{"type":"number","x-mcp-header":"A"}"#).unwrap_err();
    assert_eq!(fault.to_string(), "x-mcp-header \"A\" is not at a string, an integer or a boolean");
}
