//! Capabilities objects, written for each revision.

use alloc::string::String;

use super::shape::{self, Member, Rule, always, only, since};
use super::text::{self, ObjectWriter};
use super::{Capabilities, Capability, Revision, Revisions};

/// `ClientCapabilities`. Members no table names (and `extensions`, which the older schemas leave open) pass.
const CLIENT: &[Member] = &[
    always("roots", Rule::Object(&[only("listChanged", Revisions::LEGACY)])),
    always(
        "sampling",
        Rule::Object(&[since("context", Revision::V2025_11_25), since("tools", Revision::V2025_11_25)]),
    ),
    Member {
        name: "elicitation",
        revisions: Revisions::since(Revision::V2025_06_18),
        rule: Rule::ObjectIf(
            elicitation_fits,
            &[since("form", Revision::V2025_11_25), since("url", Revision::V2025_11_25)],
        ),
    },
    only("tasks", Revisions::of(&[Revision::V2025_11_25])),
    always("experimental", Rule::Keep),
    always("extensions", Rule::Keep),
];

/// `ServerCapabilities`.
const SERVER: &[Member] = &[since("completions", Revision::V2025_03_26)];

/// Where there are no modes, declaring elicitation promises forms.
fn elicitation_fits(declared: &str, revision: Revision) -> bool {
    revision >= Revision::V2025_11_25
        || text::member(declared, "url").is_none()
        || text::member(declared, "form").is_some()
}

/// The `ClientCapabilities` object for `revision`, on one line: as written by the application but for what the
/// revision lacks, or made of the declared abilities if it wrote none.
pub(crate) fn write_client_capabilities(revision: Revision, capabilities: &Capabilities) -> String {
    let mut out = String::new();
    match capabilities.raw() {
        Some(raw) => shape::write_object(&mut out, &text::one_line(raw.as_str()), CLIENT, revision),
        None => shape::write_object(&mut out, &declared_object(capabilities), CLIENT, revision),
    }
    out
}

/// The `ServerCapabilities` object for `revision`: the abilities declared in `capabilities`, and `extensions`,
/// the text of an object by extension id.
pub(crate) fn write_server_capabilities(
    revision: Revision,
    capabilities: &Capabilities,
    extensions: Option<&str>,
) -> String {
    let mut declared = declared_object(capabilities);
    if let Some(extensions) = extensions {
        declared.pop();
        let mut object = if declared.len() > 1 {
            ObjectWriter::after(&mut declared)
        } else {
            ObjectWriter::inside(&mut declared)
        };
        object.member("extensions", &text::one_line(extensions));
        object.close();
    }
    let mut out = String::with_capacity(declared.len());
    shape::write_object(&mut out, &declared, SERVER, revision);
    out
}

/// A capabilities object with nothing but the declared abilities.
pub(super) fn declared_object(capabilities: &Capabilities) -> String {
    let mut out = String::new();
    let mut object = ObjectWriter::open(&mut out);
    for outer in Capability::ALL.into_iter().filter(|outer| !outer.path().contains('.')) {
        let inner = || {
            let of_outer = |capability: Capability| {
                let (parent, member) = capability.path().split_once('.')?;
                (parent == outer.path() && capabilities.has(capability)).then_some((capability, member))
            };
            Capability::ALL.into_iter().filter_map(of_outer)
        };
        if !capabilities.has(outer) && inner().next().is_none() {
            continue;
        }
        let mut settings = ObjectWriter::open(object.key(outer.path()));
        // Once a mode is named, those not named are not offered (client/elicitation).
        if outer == Capability::Elicitation && capabilities.has(outer) && inner().next().is_some() {
            settings.member("form", "{}");
        }
        for (capability, member) in inner() {
            settings.member(member, if is_flag(capability) { "true" } else { "{}" });
        }
        settings.close();
    }
    object.close();
    out
}

/// Whether it is declared by `true` and not by an object.
const fn is_flag(capability: Capability) -> bool {
    matches!(
        capability,
        Capability::ToolsListChanged
            | Capability::ResourcesListChanged
            | Capability::ResourcesSubscribe
            | Capability::PromptsListChanged
            | Capability::RootsListChanged
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;

    #[test]
    fn client_capabilities_by_revision() {
        let full = r#"{"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}},"tasks":{"list":{}},"experimental":{"a":{}},"extensions":{"x.y/z":{"tasks":1}},"own":{}}"#;
        let open = r#""experimental":{"a":{}},"extensions":{"x.y/z":{"tasks":1}},"own":{}}"#;
        let old = [r#"{"roots":{"listChanged":true},"sampling":{},"#, open].concat();
        let middle = [r#"{"roots":{"listChanged":true},"sampling":{},"elicitation":{},"#, open].concat();
        let modern =
            [r#"{"roots":{},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}},"#, open]
                .concat();
        let url = r#"{"elicitation":{"url":{}}}"#;
        let cases = [
            (full, [&*old, &old, &middle, full, &modern]),
            (url, ["{}", "{}", "{}", url, url]),
            ("{\n \"sampling\": {}\n}", [r#"{"sampling":{}}"#; 5]),
            (
                r#"{"elicitation":{}}"#,
                ["{}", "{}", r#"{"elicitation":{}}"#, r#"{"elicitation":{}}"#, r#"{"elicitation":{}}"#],
            ),
            (r#"{"roots":null}"#, ["{}"; 5]),
            ("{}", ["{}"; 5]),
        ];
        for (written, expected) in cases {
            let capabilities = Capabilities::read(&Json::new(written).unwrap());
            for (revision, expected) in Revision::ALL.into_iter().zip(expected) {
                assert_eq!(write_client_capabilities(revision, &capabilities), expected, "{revision}");
            }
        }
    }

    #[test]
    fn declared_abilities_make_an_object() {
        let mut capabilities = Capabilities::default();
        assert_eq!(write_client_capabilities(Revision::V2025_11_25, &capabilities), "{}");
        capabilities.insert(Capability::ElicitationUrl);
        capabilities.insert(Capability::RootsListChanged);
        let url = r#"{"roots":{"listChanged":true},"elicitation":{"url":{}}}"#;
        assert_eq!(write_client_capabilities(Revision::V2025_11_25, &capabilities), url);
        assert_eq!(
            write_client_capabilities(Revision::V2025_06_18, &capabilities),
            r#"{"roots":{"listChanged":true}}"#
        );
        capabilities.insert(Capability::Elicitation);
        let both = r#"{"roots":{},"elicitation":{"form":{},"url":{}}}"#;
        assert_eq!(write_client_capabilities(Revision::V2026_07_28, &capabilities), both);
        for revision in Revision::ALL {
            let text = write_client_capabilities(revision, &capabilities);
            let read = Capabilities::read(&Json::new(&text).unwrap());
            let declares = revision >= Revision::V2025_06_18;
            assert_eq!(read.has(Capability::Elicitation), declares, "{revision}");
        }
    }

    #[test]
    fn server_capabilities_by_revision() {
        let mut capabilities = Capabilities::default();
        let write = |capabilities: &Capabilities, revision, extensions| {
            write_server_capabilities(revision, capabilities, extensions)
        };
        assert_eq!(write(&capabilities, Revision::V2026_07_28, None), "{}");
        assert_eq!(
            write(&capabilities, Revision::V2024_11_05, Some("{\"x.y/z\":\n{}}")),
            r#"{"extensions":{"x.y/z":{}}}"#
        );
        for capability in [
            Capability::Tools,
            Capability::ToolsListChanged,
            Capability::Resources,
            Capability::ResourcesSubscribe,
            Capability::Prompts,
            Capability::Logging,
            Capability::Completions,
        ] {
            capabilities.insert(capability);
        }
        let old = r#"{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"logging":{},"extensions":{}}"#;
        let new = r#"{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"logging":{},"completions":{},"extensions":{}}"#;
        let expected = [old, new, new, new, new];
        for (revision, expected) in Revision::ALL.into_iter().zip(expected) {
            assert_eq!(write(&capabilities, revision, Some("{}")), expected, "{revision}");
        }
    }
}
