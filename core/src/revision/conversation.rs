//! What the messages of a sampling request owe each other (client/sampling, Message Content Constraints).

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::text;
use crate::jsonrpc::parse::decode_string;

/// Whether each message has a role and content.
pub(super) fn are_messages(messages: &str) -> bool {
    let mut sound = text::is_array(messages);
    text::each_element(messages, |message| {
        sound &= matches!(text::string_member(message, "role"), Some("user" | "assistant"))
            && text::member(message, "content")
                .is_some_and(|content| text::is_object(content) || text::is_array(content));
    });
    sound
}

/// Whether tool uses and tool results balance: the uses of an assistant message are answered, each once, by
/// the message right behind it, which is the user's and holds nothing else; no other result is there.
pub(crate) fn is_balanced(messages: &str) -> bool {
    let mut sound = true;
    let mut open: Vec<Cow<'_, str>> = Vec::new();
    text::each_element(messages, |message| {
        let is_user = text::string_member(message, "role") == Some("user");
        let blocks = blocks(text::member(message, "content").unwrap_or_default());
        let results = of_type(&blocks, "tool_result");
        sound &= results.is_empty() || (is_user && results.len() == blocks.len());
        for result in results {
            let answered = id(result, "toolUseId").and_then(|id| open.iter().position(|one| *one == id));
            match answered {
                Some(at) => drop(open.swap_remove(at)),
                None => sound = false,
            }
        }
        sound &= open.is_empty();
        if !is_user {
            open = of_type(&blocks, "tool_use").into_iter().filter_map(|one| id(one, "id")).collect();
        }
    });
    sound && open.is_empty()
}

/// Whether a model said in these messages that it uses a tool.
pub(crate) fn uses_tools(messages: &str) -> bool {
    let mut uses = false;
    text::each_element(messages, |message| {
        uses |= has_tool_use(text::member(message, "content").unwrap_or_default());
    });
    uses
}

/// Whether content holds a tool use.
pub(crate) fn has_tool_use(content: &str) -> bool {
    !of_type(&blocks(content), "tool_use").is_empty()
}

/// The blocks of content, which may be one alone.
fn blocks(content: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    if text::is_object(content) {
        blocks.push(content);
    }
    text::each_element(content, |block| blocks.push(block));
    blocks
}

fn of_type<'a>(blocks: &[&'a str], kind: &str) -> Vec<&'a str> {
    blocks.iter().copied().filter(|block| text::string_member(block, "type") == Some(kind)).collect()
}

fn id<'a>(block: &'a str, member: &str) -> Option<Cow<'a, str>> {
    decode_string(text::member(block, member)?)
}
