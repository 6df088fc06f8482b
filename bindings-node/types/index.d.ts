/**
 * Servers and clients of the Model Context Protocol, in every revision.
 *
 * A {@link Server} holds handlers; `barewire/stdio` and `barewire/http` serve it. `barewire/sansio` is the floor below,
 * for programs that bring their own I/O.
 */
export * from './client.js';
export type { AudioBlock, ContentBlock, EmbeddedResource, ImageBlock, Meta, PromptMessage, PromptResult, PromptReturn, ResourceContents, ResourceLink, ResourceReturn, TextBlock, ToolResult, } from './content.js';
export { type ClientInfo, Context, ResourceContext } from './context.js';
export type { Described, PromptOptions, ResourceOptions, Resume, Scopes, ToolOptions } from './endpoint.js';
export { InvalidAnswerError, ResourceNotFoundError, RunEndedError, ToolError } from './failures.js';
export type { ElicitResult, Root, SampleMessages, SampleOptions, SampleResult } from './questions.js';
export type { AnySchema, InputOf, JsonSchema, OutputOf, SchemaIssue, StandardSchema, Validated, } from './schema.js';
export { type PromptInput, Server, type ServerOptions, type ToolInput, type ToolReturn } from './server.js';
export type { VariablesOf } from './template.js';
