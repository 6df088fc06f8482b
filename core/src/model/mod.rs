//! Optional typed vocabulary: what params and results hold, as Rust values.
//!
//! The machines pass JSON text; these types read and write it. Reading is lenient where the protocol grows
//! (unknown members are kept in `extra`, unknown content stays raw) and exact where it does not: a number that
//! does not fit is an error, never rounded. `null` in an optional member reads as absent, and absent members
//! are never written.

mod content;
mod input;
mod prompts;
mod resources;
mod tools;
mod value;

pub use content::{
    Annotations, AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceContents, ResourceLink,
    Role, TextContent, ToolResultContent, ToolUseContent,
};
pub use input::{
    Blocks, CreateMessageRequest, CreateMessageResult, ElicitAction, ElicitRequest, ElicitResult,
    ListRootsResult, Root, SamplingMessage,
};
pub use prompts::{Completion, GetPromptResult, Prompt, PromptArgument, PromptMessage};
pub use resources::{ReadResourceResult, Resource, ResourceTemplate};
pub use tools::{CallToolResult, SchemaFault, Tool, ToolAnnotations, is_recommended_tool_name};
pub use value::{Listing, Object, Rejected, Unfit, Value, read_list};
