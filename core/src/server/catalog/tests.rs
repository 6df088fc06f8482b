use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};

use super::*;
use crate::error::ApiMisuse;
use crate::json::Json;

const SERVER_INFO: &[(&str, &str)] =
    &[("io.modelcontextprotocol/serverInfo", r#"{"name":"s","version":"1"}"#)];

fn members() -> ResultMembers<'static> {
    ResultMembers { meta: SERVER_INFO, ttl_ms: 5, cache_scope: "public" }
}

fn tool(name: &str) -> String {
    format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#)
}

fn catalog_of(names: &[&str]) -> Catalog {
    let mut catalog = Catalog::default();
    for name in names {
        catalog.add_tool(&tool(name)).unwrap();
    }
    catalog
}

fn page(
    catalog: &mut Catalog,
    method: Method,
    revision: Revision,
    cursor: Option<&str>,
    items: usize,
) -> Result<Json, RpcError> {
    let bounds = PageBounds { items, bytes: 1 << 20 };
    page_within(catalog, method, revision, cursor, bounds)
}

fn page_within(
    catalog: &mut Catalog,
    method: Method,
    revision: Revision,
    cursor: Option<&str>,
    bounds: PageBounds,
) -> Result<Json, RpcError> {
    let mut out = String::new();
    catalog.write_page(&mut out, method, revision, cursor, bounds, &members())?;
    Ok(Json::new(&out).expect(&out))
}

/// The tool names of a page and the cursor behind it.
fn names(page: &Json) -> (Vec<String>, Option<String>) {
    let tools: Vec<serde_json::Value> = page.member("tools").unwrap().parse().unwrap();
    let names = tools.iter().map(|tool| tool["name"].as_str().unwrap().into()).collect();
    (names, page.member("nextCursor").map(|cursor| cursor.as_str().into()))
}

fn text_of(catalog: &mut Catalog, method: Method, revision: Revision) -> String {
    page(catalog, method, revision, None, 100).unwrap().as_str().into()
}

#[test]
fn a_list_is_written_for_each_revision() {
    let mut catalog = Catalog::default();
    let full = r#"{"name":"t","title":"T","description":"d","inputSchema":{"type":"object"},"outputSchema":{"type":"array"},"annotations":{"readOnlyHint":true},"_meta":{"a":1},"icons":[],"execution":{"taskSupport":"optional"},"x-own":{"title":1}}"#;
    catalog.add_tool(full).unwrap();
    let head = r#"{"tools":[{"name":"t","#;
    let input = r#""inputSchema":{"type":"object"}"#;
    let own = r#""x-own":{"title":1}}]}"#;
    let cases = [
        (Revision::V2024_11_05, format!(r#"{head}"description":"d",{input},{own}"#)),
        (
            Revision::V2025_03_26,
            format!(r#"{head}"description":"d",{input},"annotations":{{"readOnlyHint":true}},{own}"#),
        ),
        (
            Revision::V2025_06_18,
            format!(
                r#"{head}"title":"T","description":"d",{input},"annotations":{{"readOnlyHint":true}},"_meta":{{"a":1}},{own}"#
            ),
        ),
        (
            Revision::V2025_11_25,
            format!(
                r#"{head}"title":"T","description":"d",{input},"annotations":{{"readOnlyHint":true}},"_meta":{{"a":1}},"icons":[],"execution":{{"taskSupport":"optional"}},{own}"#
            ),
        ),
        (
            Revision::V2026_07_28,
            format!(
                r#"{{"resultType":"complete","ttlMs":5,"cacheScope":"public","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"s","version":"1"}}}},"tools":[{{"name":"t","title":"T","description":"d",{input},"outputSchema":{{"type":"array"}},"annotations":{{"readOnlyHint":true}},"_meta":{{"a":1}},"icons":[],{own}"#
            ),
        ),
    ];
    for (revision, expected) in cases {
        assert_eq!(text_of(&mut catalog, Method::ToolsList, revision), expected);
        assert_eq!(text_of(&mut catalog, Method::ToolsList, revision), expected, "from the cache");
    }
}

#[test]
fn resources_templates_and_prompts_are_written_for_each_revision() {
    let mut catalog = Catalog::default();
    catalog
        .add_resource(r#"{"uri":"a:b","name":"r","title":null,"annotations":{"priority":1,"lastModified":"x"},"icons":[],"_meta":{}}"#)
        .unwrap();
    catalog.add_resource_template(r#"{"uriTemplate":"a:{b}","name":"u","title":"U"}"#).unwrap();
    catalog
        .add_prompt(r#"{"name":"p","title":"P","arguments":[{"name":"x","title":"X","required":true}]}"#)
        .unwrap();
    let cases = [
        (
            Method::ResourcesList,
            Revision::V2024_11_05,
            r#"{"resources":[{"uri":"a:b","name":"r","annotations":{"priority":1}}]}"#,
        ),
        (
            Method::ResourcesList,
            Revision::V2025_06_18,
            r#"{"resources":[{"uri":"a:b","name":"r","annotations":{"priority":1,"lastModified":"x"},"_meta":{}}]}"#,
        ),
        (
            Method::ResourcesList,
            Revision::V2025_11_25,
            r#"{"resources":[{"uri":"a:b","name":"r","annotations":{"priority":1,"lastModified":"x"},"icons":[],"_meta":{}}]}"#,
        ),
        (
            Method::ResourceTemplatesList,
            Revision::V2025_03_26,
            r#"{"resourceTemplates":[{"uriTemplate":"a:{b}","name":"u"}]}"#,
        ),
        (
            Method::ResourceTemplatesList,
            Revision::V2025_06_18,
            r#"{"resourceTemplates":[{"uriTemplate":"a:{b}","name":"u","title":"U"}]}"#,
        ),
        (
            Method::PromptsList,
            Revision::V2025_03_26,
            r#"{"prompts":[{"name":"p","arguments":[{"name":"x","required":true}]}]}"#,
        ),
        (
            Method::PromptsList,
            Revision::V2025_11_25,
            r#"{"prompts":[{"name":"p","title":"P","arguments":[{"name":"x","title":"X","required":true}]}]}"#,
        ),
    ];
    for (method, revision, expected) in cases {
        assert_eq!(text_of(&mut catalog, method, revision), expected);
    }
}

// proves: FEAT-009 FEAT-010 FEAT-139
#[test]
fn required_members_are_checked() {
    let mut catalog = Catalog::default();
    let json = Error::from(ApiMisuse::InvalidJson);
    let lacks = |member| Error::from(ApiMisuse::InvalidDefinition(member));
    let tools = [
        ("[]", json.clone()),
        ("{", json.clone()),
        ("{}", lacks("name")),
        (r#"{"name":1,"inputSchema":{"type":"object"}}"#, lacks("name")),
        (r#"{"name":"","inputSchema":{"type":"object"}}"#, lacks("name")),
        (r#"{"name":"a"}"#, lacks("inputSchema")),
        (r#"{"name":"a","inputSchema":null}"#, lacks("inputSchema")),
        (r#"{"name":"a","inputSchema":{}}"#, lacks("inputSchema")),
        (r#"{"name":"a","inputSchema":{"type":"array"}}"#, lacks("inputSchema")),
        (r#"{"name":"a","inputSchema":{"type":"object"},"outputSchema":true}"#, lacks("outputSchema")),
    ];
    for (definition, error) in tools {
        assert_eq!(catalog.add_tool(definition), Err(error), "{definition}");
    }
    assert_eq!(catalog.add_resource(r#"{"name":"a"}"#), Err(lacks("uri")));
    assert_eq!(catalog.add_resource(r#"{"uri":"a"}"#), Err(lacks("name")));
    assert_eq!(catalog.add_resource_template(r#"{"name":"a"}"#), Err(lacks("uriTemplate")));
    let broken = catalog.add_resource_template(r#"{"name":"a","uriTemplate":"a{"}"#);
    assert_eq!(broken, Err(ApiMisuse::InvalidTemplate.into()));
    for arguments in ["{}", "[1]", "[{}]", r#"[{"name":2}]"#] {
        let definition = format!(r#"{{"name":"a","arguments":{arguments}}}"#);
        assert_eq!(catalog.add_prompt(&definition), Err(lacks("arguments")), "{definition}");
    }
    for method in
        [Method::ToolsList, Method::ResourcesList, Method::ResourceTemplatesList, Method::PromptsList]
    {
        assert!(
            text_of(&mut catalog, method, Revision::V2025_11_25).ends_with(":[]}"),
            "nothing stays behind"
        );
    }
    for name in ["a b/c", "é", &"n".repeat(300)] {
        assert_eq!(catalog.add_tool(&tool(name)), Ok(()), "names are taken as they are");
        assert!(catalog.has_tool(name));
    }
    assert_eq!(catalog.add_prompt(r#"{"name":"a","arguments":null}"#), Ok(()));
}

#[test]
fn names_are_compared_decoded_and_taken_once() {
    let mut catalog = Catalog::default();
    catalog.add_tool(r#"{"name":"\u0061","inputSchema":{"type":"object"}}"#).unwrap();
    assert!(catalog.has_tool("a"));
    assert!(!catalog.has_tool("A"));
    assert_eq!(catalog.add_tool(&tool("a")), Err(ApiMisuse::AlreadyRegistered.into()));
    assert_eq!(catalog.remove_tool("b"), Err(ApiMisuse::NotRegistered.into()));
    assert_eq!(catalog.remove_tool("a"), Ok(()));
    assert!(!catalog.has_tool("a"));
    assert_eq!(catalog.add_tool(&tool("a")), Ok(()));
}

// proves: FEAT-206 FEAT-214
#[test]
fn all_four_lists_come_in_pages() {
    let mut catalog = catalog_of(&["a", "b", "c"]);
    for name in ["a", "b", "c"] {
        catalog.add_resource(&format!(r#"{{"uri":"r:{name}","name":"{name}"}}"#)).unwrap();
        catalog
            .add_resource_template(&format!(r#"{{"uriTemplate":"t:{name}/{{x}}","name":"{name}"}}"#))
            .unwrap();
        catalog.add_prompt(&format!(r#"{{"name":"{name}"}}"#)).unwrap();
    }
    let lists = [
        (Method::ToolsList, "tools"),
        (Method::ResourcesList, "resources"),
        (Method::ResourceTemplatesList, "resourceTemplates"),
        (Method::PromptsList, "prompts"),
    ];
    for revision in Revision::ALL {
        for (method, member) in lists {
            let (mut seen, mut cursor) = (Vec::new(), None);
            for _ in 0..3 {
                let page = page(&mut catalog, method, revision, cursor.as_deref(), 1).unwrap();
                let items: Vec<serde_json::Value> = page.member(member).unwrap().parse().unwrap();
                seen.extend(items.iter().map(|item| String::from(item["name"].as_str().unwrap())));
                cursor = page.member("nextCursor").map(|cursor| String::from(cursor.as_str()));
                let modern = revision >= Revision::V2026_07_28;
                assert_eq!(page.member("ttlMs").is_some(), modern);
                assert_eq!(page.member("cacheScope").is_some(), modern);
            }
            assert_eq!(
                (seen, cursor),
                (vec!["a".into(), "b".into(), "c".into()], None),
                "{revision} {member}"
            );
        }
    }
    let refused = page(&mut catalog, Method::ToolsCall, Revision::V2025_11_25, None, 1);
    assert_eq!(refused.map_err(|error| error.code), Err(RpcError::METHOD_NOT_FOUND));
}

// proves: FEAT-005 FEAT-207
#[test]
fn pages_follow_each_other_whatever_is_removed_in_between() {
    let revision = Revision::V2025_11_25;
    let all = ["a", "b", "c", "d", "e"];
    let mut catalog = catalog_of(&all);
    let (first, cursor) = names(&page(&mut catalog, Method::ToolsList, revision, None, 2).unwrap());
    assert_eq!(first, ["a", "b"]);
    // A replica takes the cursor, also when the last item given is gone there.
    let mut replica = catalog_of(&all);
    replica.remove_tool("b").unwrap();
    let (second, next) =
        names(&page(&mut replica, Method::ToolsList, revision, cursor.as_deref(), 2).unwrap());
    assert_eq!(second, ["c", "d"]);
    let (third, end) = names(&page(&mut catalog, Method::ToolsList, revision, next.as_deref(), 2).unwrap());
    assert_eq!((third, end), (vec!["e".into()], None));
    for name in ["c", "d", "e"] {
        catalog.remove_tool(name).unwrap();
    }
    let (rest, end) = names(&page(&mut catalog, Method::ToolsList, revision, cursor.as_deref(), 2).unwrap());
    assert_eq!((rest.len(), end), (0, None));
    let (exact, end) = names(&page(&mut catalog, Method::ToolsList, revision, None, 2).unwrap());
    assert_eq!((exact.len(), end), (2, None), "no cursor behind the last item");
}

// proves: FEAT-213
#[test]
fn what_is_no_cursor_is_refused() {
    let mut catalog = catalog_of(&["a", "b"]);
    catalog.add_prompt(r#"{"name":"a"}"#).unwrap();
    let revision = Revision::V2026_07_28;
    let (_, cursor) = names(&page(&mut catalog, Method::ToolsList, revision, None, 1).unwrap());
    let cursor = cursor.unwrap();
    let mut bad: Vec<String> =
        ["\"\"", "1", "{}", "\"AA\"", "\"zzz!\"", "true"].map(String::from).into_iter().collect();
    bad.push(format!("\"{}\"", "A".repeat(18)));
    bad.push(format!("\"{}\"", "A".repeat(10_000)));
    // Any change to a cursor makes it none.
    for at in 1..cursor.len() - 1 {
        let other = if &cursor[at..=at] == "B" { "C" } else { "B" };
        bad.push([&cursor[..at], other, &cursor[at + 1..]].concat());
    }
    for text in bad {
        let refused = page(&mut catalog, Method::ToolsList, revision, Some(&text), 1);
        assert_eq!(refused.map_err(|error| error.code), Err(RpcError::INVALID_PARAMS), "{text}");
    }
    let other_list = page(&mut catalog, Method::PromptsList, revision, Some(&cursor), 1);
    assert_eq!(other_list.map_err(|error| error.code), Err(RpcError::INVALID_PARAMS));
    let smaller = page(&mut catalog_of(&[]), Method::ToolsList, revision, Some(&cursor), 1);
    assert_eq!(smaller.map_err(|error| error.code), Err(RpcError::INVALID_PARAMS));
    let null = page(&mut catalog, Method::ToolsList, revision, Some("null"), 2).unwrap();
    assert_eq!(names(&null).0.len(), 2);
}

#[test]
fn resources_are_found_by_uri_then_by_the_most_specific_template() {
    let mut catalog = Catalog::default();
    for template in ["n://{user}/x{rest}", "n://{user}/{page}", "n://{other}/{page}", "n://{user}/x{+rest}"] {
        catalog.add_resource_template(&format!(r#"{{"uriTemplate":"{template}","name":"t"}}"#)).unwrap();
    }
    catalog.add_resource(r#"{"uri":"n://ann/xy","name":"r"}"#).unwrap();
    assert_eq!(catalog.find_resource("n://ann/xy"), Some(FoundResource { template: None }));
    let template = |uri: &str| catalog.find_resource(uri).and_then(|found| found.template);
    let found = template("n://bob/xz").unwrap();
    assert_eq!(&*found.template, "n://{user}/x{rest}", "the first of two as specific");
    assert_eq!(found.variables, [("user".into(), "bob".into()), ("rest".into(), "z".into())]);
    assert_eq!(&*template("n://bob/a%2Fb").unwrap().template, "n://{user}/{page}");
    assert_eq!(template("m://bob/a"), None);
    let target = |uri: &str| catalog.has_completion_target(&CompletionReference::Resource(uri.into()));
    assert!(target("n://{user}/{page}") && target("n://ann/xy") && target("n://bob/1") && !target("q:"));
    assert!(!catalog.has_completion_target(&CompletionReference::Prompt("p".into())));
    catalog.add_prompt(r#"{"name":"p"}"#).unwrap();
    assert!(catalog.has_completion_target(&CompletionReference::Prompt("p".into())));
    assert!(catalog.has_prompt("p") && !catalog.has_prompt("q"));
}

#[test]
fn definitions_take_one_line() {
    let mut catalog = Catalog::default();
    catalog
        .add_tool("\n{\r\n  \"name\": \"a\\nb\",\n\t\"inputSchema\": {\"type\": \"object\"}\n}\n")
        .unwrap();
    let written = text_of(&mut catalog, Method::ToolsList, Revision::V2024_11_05);
    assert_eq!(written, r#"{"tools":[{"name":"a\nb","inputSchema":{"type": "object"}}]}"#);
}

// proves: FEAT-206
#[test]
fn pages_respect_a_bound_on_bytes() {
    let names_of_all: Vec<String> =
        (0..40).map(|number| format!("{number}{}", "n".repeat(1 + number % 7))).collect();
    let all: Vec<&str> = names_of_all.iter().map(String::as_str).collect();
    let mut catalog = catalog_of(&all);
    for bytes in [0, 1, 60, 100, 101, 250, 1_000, 10_000] {
        for items in [1, 3, 100] {
            let bounds = PageBounds { items, bytes };
            let (mut cursor, mut seen) = (None, Vec::new());
            loop {
                let revision = Revision::V2025_11_25;
                let page = page_within(&mut catalog, Method::ToolsList, revision, cursor.as_deref(), bounds)
                    .unwrap();
                let text = page.member("tools").unwrap();
                let (names, next) = names(&page);
                // Brackets, but no comma behind the last.
                assert!(names.len() == 1 || text.as_str().len() - 1 <= bytes, "{text} of {bytes}");
                assert!(!names.is_empty() && names.len() <= items);
                // Nothing that had room is left for the next page.
                let next_tool = all.get(seen.len() + names.len()).map(|name| tool(name).len() + 1);
                let is_full = next_tool.is_some_and(|more| text.as_str().len() - 1 + more > bytes);
                assert!(next.is_none() || names.len() == items || is_full);
                seen.extend(names);
                cursor = next;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(seen, all);
        }
    }
}
