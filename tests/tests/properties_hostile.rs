//! A peer that sends what it should not: nothing panics, nothing hangs, and what is sound is still answered.

use barewire::{Revision, Revisions};
use barewire_tests::frames::{self, Scene};
use barewire_tests::{Choices, Random, mutate};

/// Sound messages that reach many corners, for either side.
const LINES: [&str; 34] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"cursor":"x"}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","arguments":{"b":[1,{"c":"\u00e9"}]},"_meta":{"progressToken":7}}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":"t"}}}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":5,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"a","requestState":"c2VhbGVk","inputResponses":{"k":{"action":"accept"}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}"#,
    r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"sampling":{}},"clientInfo":{"name":"c","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"r"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.5,"total":1}}"#,
    r#"{"jsonrpc":"2.0","id":8,"method":"resources/read","params":{"uri":"note:///%7E7"}}"#,
    r#"{"jsonrpc":"2.0","id":9,"method":"resources/subscribe","params":{"uri":"file:///a"}}"#,
    r#"{"jsonrpc":"2.0","id":10,"method":"resources/unsubscribe","params":{"uri":"file:///a"}}"#,
    r#"{"jsonrpc":"2.0","id":11,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"note:///{id}"},"argument":{"name":"id","value":"7"},"context":{"arguments":{"a":"b"}}}}"#,
    r#"{"jsonrpc":"2.0","id":12,"method":"logging/setLevel","params":{"level":"debug"}}"#,
    r#"{"jsonrpc":"2.0","id":13,"method":"x/known","params":{"a":[[[[]]]]}}"#,
    r#"[{"jsonrpc":"2.0","id":14,"method":"ping"},{"jsonrpc":"2.0","id":15,"method":"tools/call","params":{"name":"a"}},{"jsonrpc":"2.0","method":"x/note"}]"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#,
    r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[{"type":"text","text":"x"}]}}"#,
    r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","requestState":"s","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}}}}"#,
    r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"m","data":{"a":1}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://example.com/","message":"m"}]}}}"#,
    r#"{"jsonrpc":"2.0","id":"probe-1","error":{"code":-32022,"message":"m","data":{"supported":["2025-06-18"],"requested":"2026-07-28"}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","id":"probe-1","result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#,
    r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#,
    r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":16,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}"#,
    r#"{"jsonrpc":"2.0","id":17,"method":"roots/list"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":4},"notifications":{"toolsListChanged":true}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":4}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a/b","_meta":{"io.modelcontextprotocol/subscriptionId":4}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","logger":"l","data":[1]}}"#,
];

fn any_scene(random: &mut Random) -> Scene {
    Scene::from_byte(random.number() as u8)
}

fn any_bytes(random: &mut Random, most: usize) -> Vec<u8> {
    let count = random.below(most);
    (0..count).map(|_| random.number() as u8).collect()
}

/// Lines in any order, lost, doubled and mutated.
fn conversation(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..1 + random.below(8) {
        let line = random.pick(&LINES).as_bytes();
        let decisions = any_bytes(random, 24);
        let line =
            if random.below(3) == 0 { line.to_vec() } else { mutate(&mut Choices::new(&decisions), line) };
        for _ in 0..1 + random.below(8) / 7 {
            bytes.extend_from_slice(&line);
            bytes.extend_from_slice(random.pick(&["\n", "\n", "\n", "\r\n", "\n\n", " \n"]).as_bytes());
        }
    }
    bytes
}

// proves: BASE-152
#[test]
fn mutated_messages_do_no_harm_and_can_be_cut_anywhere() {
    for mut random in Random::seeds(1_500) {
        let bytes = conversation(&mut random);
        frames::check_scene(any_scene(&mut random), random.below(2) == 0, &bytes);
    }
}

#[test]
fn noise_does_no_harm() {
    const PUNCTUATION: &[u8] = b"{}[],:\"\\ \n\r\t0123456789-+.eEtrufalsn\xef\xbb\xbf\xc3\xa9\x00";
    for mut random in Random::seeds(500) {
        let mut bytes = any_bytes(&mut random, 400);
        if random.below(3) > 0 {
            bytes.iter_mut().for_each(|byte| *byte = PUNCTUATION[usize::from(*byte) % PUNCTUATION.len()]);
        }
        frames::check_scene(any_scene(&mut random), random.below(2) == 0, &bytes);
    }
}

#[test]
fn every_sound_message_can_come_to_every_scene() {
    let revisions = Revision::ALL.map(|revision| Revisions::of(&[revision]));
    let scenes =
        Revision::ALL.into_iter().flat_map(|revision| [Scene::Session(revision), Scene::Connected(revision)]);
    let scenes = scenes
        .filter(|scene| !matches!(scene, Scene::Session(revision) if *revision == Revision::V2026_07_28));
    let opening = revisions.into_iter().chain([Revisions::ALL]).map(Scene::Client);
    for scene in scenes.chain(opening).chain([Scene::Server]) {
        for line in LINES {
            frames::check_scene(scene, false, format!("{line}\n{line}\n").as_bytes());
        }
    }
}
