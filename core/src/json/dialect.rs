//! The dialects of JSON Schema that this library takes (basic/index, JSON Schema Usage).

use super::{JsonText, MAX_DEPTH, scan};

/// 2020-12 is what a schema without `$schema` is written in; draft-07 is what many tools still write.
const KNOWN: [&str; 2] =
    ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema"];

/// Whether the schema object `schema` names a known dialect, or none.
pub(crate) fn is_known(schema: &str) -> bool {
    let mut known = true;
    let _ = scan::object_members(schema, MAX_DEPTH, |key, value| {
        if &schema[key] == "$schema" && &schema[value.clone()] != "null" {
            let name = JsonText::trusted(&schema[value]).to_text().unwrap_or_default();
            known = KNOWN.contains(&name.trim_end_matches('#'));
        }
    });
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_dialects_or_none() {
        for schema in [
            "{}",
            "true",
            r#"{"$schema":null}"#,
            r#"{"$schema":"https:\/\/json-schema.org\/draft\/2020-12\/schema"}"#,
            r#"{"$schema":"http://json-schema.org/draft-07/schema#"}"#,
            r#"{"properties":{"$schema":{"type":"string"}}}"#,
        ] {
            assert!(is_known(schema), "{schema}");
        }
        for schema in [r#"{"$schema":"http://json-schema.org/draft-03/schema#"}"#, r#"{"$schema":7}"#] {
            assert!(!is_known(schema), "{schema}");
        }
    }
}
