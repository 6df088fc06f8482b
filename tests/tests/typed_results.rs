//! Typed reading of the results that the vectors pass on as they are.

use barewire::Json;
use barewire::model::{CallToolResult, ContentBlock, SchemaFault, Tool, Value as _, read_list};
use barewire_tests::vectors;
use serde_json::Value;

/// The result that the vector of that name hands to the application.
fn result_of(name: &str) -> Json {
    let vectors = vectors::lines().into_iter().map(|(_, line)| serde_json::from_str::<Value>(&line).unwrap());
    let vector = vectors.into_iter().find(|vector| vector["name"] == name).unwrap();
    let mut events = vector["steps"].as_array().unwrap().iter().filter_map(|step| step["events"].as_array());
    let text = events.find_map(|events| events.first()?["result"]["$text"].as_str()).unwrap();
    Json::new(text).unwrap()
}

#[test]
fn an_unknown_block_stays_as_written_between_its_neighbours() {
    let result = result_of("block-12/a result reaches the application as it was written (2025-11-25)");
    let read = CallToolResult::read(&result).unwrap();
    assert!(read.rejected.is_empty());
    let [ContentBlock::Text(before), ContentBlock::Other(unknown), ContentBlock::Text(after)] =
        &read.content[..]
    else {
        panic!("{:?}", read.content)
    };
    assert_eq!((before.text.as_str(), after.text.as_str()), ("before", "after"));
    assert_eq!(unknown.as_str(), r#"{"type":"hologram","uri":"h://1","depth":3}"#);
    assert_eq!(after.extra, [("future".into(), Json::new(r#"{"k":[1]}"#).unwrap())]);
    // The result's own unknown members are reachable, and blocks are written as they were read.
    assert_eq!(result.member("newMember").unwrap().as_str(), "true");
    assert_eq!(read.content.to_json(), result.member("content").unwrap());
}

#[test]
fn one_odd_tool_does_not_cost_the_list() {
    let result = result_of("one-bad-13/one odd item does not cost the list");
    let page = read_list::<Tool>(&result, "tools").unwrap();
    let names: Vec<_> = page.items.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["good1", "odd", "good2"]);
    assert_eq!(page.items[1].output_schema_fault(), Some(SchemaFault::UnknownType));
    let faults: Vec<_> = page.rejected.iter().map(|item| (item.index, item.fault.to_string())).collect();
    let expected = [
        (1, "the value is not an object"),
        (2, "inputSchema is missing"),
        (3, "name is not a string"),
        (4, "inputSchema is missing"),
    ];
    assert_eq!(faults, expected.map(|(index, fault)| (index, fault.to_string())));
    assert_eq!(page.strict().unwrap_err().len(), 4);
}

#[test]
fn a_result_is_written_as_it_is_read() {
    let mut result = CallToolResult::new([ContentBlock::text("\"hi\"")]);
    assert_eq!(result.to_json().as_str(), r#"{"content":[{"type":"text","text":"\"hi\""}]}"#);
    assert_eq!(CallToolResult::read(&result.to_json()), Ok(result.clone()));
    result.is_error = true;
    result.structured_content = Some(Json::new("[1.10]").unwrap());
    let text = r#"{"content":[{"type":"text","text":"\"hi\""}],"structuredContent":[1.10],"isError":true}"#;
    assert_eq!(result.to_json().as_str(), text);
    assert_eq!(CallToolResult::read(&result.to_json()), Ok(result));
}

#[test]
fn what_is_no_json_is_an_error_like_others() {
    let fault: Box<dyn std::error::Error> = Json::new("{\"a\":}").unwrap_err().into();
    assert_eq!(fault.to_string(), "not JSON at byte 5");
    let fault = Json::new(&"[".repeat(2000)).unwrap_err();
    assert_eq!(fault.to_string(), "nested too deeply at byte 1024");
}
