//! Prompts and completions (server/prompts, server/utilities/completion).

use alloc::string::String;
use alloc::vec::Vec;

use super::content::{ContentBlock, Role};
use super::value::{Object, object};

object! {
    /// An argument of a prompt.
    PromptArgument {
        required {
            /// Its name.
            name: String = "name";
        }
        optional {
            /// Its name for people. From 2025-06-18.
            title: String = "title";
            /// What it is for.
            description: String = "description";
            /// Whether it must be given.
            required: bool = "required";
        }
    }
}

object! {
    /// A prompt's definition.
    Prompt {
        required {
            /// Its name.
            name: String = "name";
        }
        optional {
            /// Its name for people. From 2025-06-18.
            title: String = "title";
            /// What it is for.
            description: String = "description";
            /// Its arguments.
            arguments: Vec<PromptArgument> = "arguments";
            /// Icons. From 2025-11-25.
            icons: Vec<Object> = "icons";
            /// Metadata. From 2025-06-18.
            meta: Object = "_meta";
        }
    }
}

object! {
    /// One message of a prompt.
    PromptMessage {
        required {
            /// Who speaks.
            role: Role = "role";
            /// What is said.
            content: ContentBlock = "content";
        }
        optional {}
    }
}

object! {
    /// What getting a prompt gives.
    GetPromptResult {
        required {
            /// The messages.
            messages: Vec<PromptMessage> = "messages";
        }
        optional {
            /// What it is for.
            description: String = "description";
            /// Metadata.
            meta: Object = "_meta";
        }
    }
}

object! {
    /// Suggestions for an argument: the `completion` member of the result.
    Completion {
        required {
            /// At most 100 values, best first.
            values: Vec<String> = "values";
        }
        optional {
            /// How many there are in all.
            total: i64 = "total";
            /// Whether there are more than were given.
            has_more: bool = "hasMore";
        }
    }
}
