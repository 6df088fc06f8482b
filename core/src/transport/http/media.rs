//! Media types: what a peer accepts, and what a body is (RFC 9110, sections 8.3 and 12.5.1).

/// What a body is, by its `Content-Type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Media {
    /// `application/json` in UTF-8.
    Json,
    /// `text/event-stream`.
    EventStream,
    /// Anything else, and no type at all.
    Other,
}

/// What each is called.
pub(crate) const JSON: &str = "application/json";
pub(crate) const EVENT_STREAM: &str = "text/event-stream";
/// What a client accepts as the answer to a message.
pub(crate) const BOTH: &str = "application/json, text/event-stream";

/// Names of UTF-8, or of a part of it, without case.
const UTF8_CHARSETS: [&str; 3] = ["utf-8", "utf8", "us-ascii"];

impl Media {
    /// Reads the value of a `Content-Type` header. Case and parameters do not matter, except for a `charset` that
    /// is not UTF-8: such JSON is none (RFC 8259, section 8.1).
    pub(crate) fn of(content_type: Option<&str>) -> Media {
        let Some(value) = content_type else { return Media::Other };
        if value == JSON {
            return Media::Json; // as nearly always
        }
        let mut parts = split(value, ';');
        let kind = parts.next().unwrap_or_default();
        if kind.eq_ignore_ascii_case(EVENT_STREAM) {
            // Always UTF-8, whatever a parameter says (WHATWG HTML, section 9.2.2).
            return Media::EventStream;
        }
        let is_utf8 = |charset: &str| UTF8_CHARSETS.iter().any(|known| known.eq_ignore_ascii_case(charset));
        let readable = parts
            .filter_map(parameter)
            .all(|(name, value)| !name.eq_ignore_ascii_case("charset") || is_utf8(value));
        if kind.eq_ignore_ascii_case(JSON) && readable { Media::Json } else { Media::Other }
    }
}

/// Which forms of an answer a client accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Acceptable {
    pub(crate) json: bool,
    pub(crate) event_stream: bool,
}

impl Acceptable {
    /// Reads the values of all `Accept` headers. Without one, or with none that says anything, everything is accepted.
    ///
    /// The most specific range decides, and a weight of zero means no; parameters other than the weight and ranges
    /// that are malformed are passed over.
    pub(crate) fn of<'a>(mut values: impl Iterator<Item = &'a str>) -> Acceptable {
        let (first, second) = (values.next(), values.next());
        if first == Some(BOTH) && second.is_none() {
            return Acceptable { json: true, event_stream: true }; // as nearly always
        }
        let values = first.into_iter().chain(second).chain(values);
        let mut stated = false;
        let (mut json, mut event_stream) = (Best::default(), Best::default());
        for range in values.flat_map(|value| split(value, ',')) {
            let mut parts = split(range, ';');
            let Some((kind, subtype)) = parts.next().and_then(|range| range.split_once('/')) else {
                continue;
            };
            stated = true;
            let weight = parts.filter_map(parameter).find(|(name, _)| name.eq_ignore_ascii_case("q"));
            let accepted = weight.is_none_or(|(_, weight)| !is_zero(weight));
            json.consider(JSON, kind, subtype, accepted);
            event_stream.consider(EVENT_STREAM, kind, subtype, accepted);
        }
        if stated {
            Acceptable { json: json.accepted, event_stream: event_stream.accepted }
        } else {
            Acceptable { json: true, event_stream: true }
        }
    }
}

/// What the most specific range so far says of a type.
#[derive(Default)]
struct Best {
    /// 0 without one, 1 for `*/*`, 2 for `type/*`, 3 for the type itself.
    specificity: u8,
    accepted: bool,
}

impl Best {
    fn consider(&mut self, media: &str, kind: &str, subtype: &str, accepted: bool) {
        let same_kind = media.split('/').next().is_some_and(|own| own.eq_ignore_ascii_case(kind));
        let same_subtype = media.split('/').nth(1).is_some_and(|own| own.eq_ignore_ascii_case(subtype));
        let specificity = match (kind, subtype) {
            ("*", "*") => 1,
            (_, "*") if same_kind => 2,
            _ if same_kind && same_subtype => 3,
            _ => return,
        };
        if specificity > self.specificity {
            *self = Best { specificity, accepted };
        } else if specificity == self.specificity {
            self.accepted |= accepted;
        }
    }
}

/// Whether a weight is zero: `0`, `0.`, `0.000`. One that is malformed counts as none.
fn is_zero(weight: &str) -> bool {
    let digits = weight.strip_prefix('0').map(|rest| rest.strip_prefix('.').unwrap_or(rest));
    digits.is_some_and(|digits| digits.bytes().all(|digit| digit == b'0'))
}

/// A parameter `name=value`, the value without the quotes around it.
fn parameter(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    let (name, value) = (name.trim_matches([' ', '\t']), value.trim_matches([' ', '\t']));
    let unquoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    Some((name, unquoted.unwrap_or(value)))
}

/// The parts of `text` between separators that stand outside quotes, trimmed; empty ones are passed over.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let mut escaped = false;
    let ends = move |character: char| {
        let was_escaped = escaped;
        escaped = quoted && !was_escaped && character == '\\';
        if character == '"' && !was_escaped {
            quoted = !quoted;
        }
        character == separator && !quoted
    };
    text.split(ends).map(|part| part.trim_matches([' ', '\t'])).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_what_its_type_says() {
        let cases = [
            ("application/json", Media::Json),
            ("Application/JSON; charset=utf-8", Media::Json),
            ("application/json;charset=\"UTF-8\"", Media::Json),
            ("application/json ; a=\"; charset=latin1\"", Media::Json),
            ("application/json; charset=iso-8859-1", Media::Other),
            ("application/json; charset=utf-16; x", Media::Other),
            ("Text/Event-Stream; charset=utf-8", Media::EventStream),
            ("text/event-stream;charset=latin1", Media::EventStream),
            ("application/jsonp", Media::Other),
            ("application/problem+json", Media::Other),
            ("text/plain", Media::Other),
            ("application/*", Media::Other),
            ("", Media::Other),
            (";", Media::Other),
            ("application", Media::Other),
        ];
        for (value, expected) in cases {
            assert_eq!(Media::of(Some(value)), expected, "{value}");
        }
        assert_eq!(Media::of(None), Media::Other);
    }

    #[test]
    fn the_most_specific_range_decides() {
        let cases: [(&[&str], bool, bool); 29] = [
            (&["application/json, text/event-stream"], true, true),
            (&["application/json", "text/event-stream"], true, true),
            (&["APPLICATION/JSON,Text/Event-Stream;q=0.5"], true, true),
            (&["application/json"], true, false),
            (&["text/event-stream"], false, true),
            (&["*/*"], true, true),
            (&["application/*"], true, false),
            (&["text/*;q=0.1"], false, true),
            (&["*/*;q=0"], false, false),
            (&["*/*, application/json;q=0"], false, true),
            (&["application/json;q=0, */*"], false, true),
            (&["*/*;q=0, text/*"], false, true),
            (&["text/*;q=0, text/event-stream;q=0.001"], false, true),
            (&["application/json; q=0.000, text/event-stream"], false, true),
            (&["application/json;Q=0"], false, false),
            (&["application/json;q=0., text/event-stream;q=1."], false, true),
            (&["application/json;q=00.5"], true, false),
            (&["application/json;charset=utf-8;q=1"], true, false),
            (&["application/json;a=\",text/event-stream\""], true, false),
            (&["application/json;a=\"\\\",text/event-stream\""], true, false),
            (&["application/json, application/json;q=0"], true, false),
            (&["application/json;q=0, application/json;charset=utf-8"], true, false),
            (&["text/html"], false, false),
            (&["text/event-streams, application/jsonx"], false, false),
            (&["*/json"], false, false),
            (&["json"], true, true),
            (&[""], true, true),
            (&[" , ,"], true, true),
            (&[], true, true),
        ];
        for (values, json, event_stream) in cases {
            let acceptable = Acceptable::of(values.iter().copied());
            assert_eq!(acceptable, Acceptable { json, event_stream }, "{values:?}");
        }
    }
}
