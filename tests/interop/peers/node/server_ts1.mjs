// The interop peer server on npm `@modelcontextprotocol/sdk` 1.x, legacy revisions; the command line is that
// of `listening.mjs`.
import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod/v4';
import * as listening from './listening.mjs';
import * as shared from './shared.mjs';

const { WATCHED, text } = shared;

// One server for each session.
function build() {
    const capabilities = { logging: {}, tools: { listChanged: true }, resources: { subscribe: true } };
    const server = new McpServer({ name: 'interop-ts1', version: '1.0.0' }, { capabilities });
    const subscribed = new Set();

    const tool = (name, description, inputSchema, run, outputSchema) =>
        server.registerTool(name, { description, inputSchema, outputSchema }, run);
    const progress = (extra, done, total) =>
        shared.reportProgress(extra._meta?.progressToken, extra.sendNotification, done, total);

    tool('test_simple_text', 'Return a fixed text.', {}, async () => text(shared.SIMPLE));
    tool('echo', 'Return the text.', { text: z.string() }, async args => text(args.text));
    tool(
        'add',
        'Add two integers.',
        { a: z.number().int(), b: z.number().int() },
        async ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }),
        { sum: z.number().int() }
    );
    for (const [name, result] of Object.entries(shared.CONTENT)) tool(name, 'Return content.', {}, async () => result);
    tool('test_error_handling', 'Fail.', {}, async () => ({ ...text(shared.FAILURE), isError: true }));
    tool('test_tool_with_progress', 'Report progress 0, 50 and 100 of 100.', {}, async (_, extra) => {
        for (const done of [0, 50, 100]) await progress(extra, done, 100);
        return text('done');
    });
    tool('slow', 'Report progress and wait.', { seconds: z.number() }, async ({ seconds }, extra) => {
        await progress(extra, 0, seconds);
        return shared.sleepUnlessCancelled(seconds, extra.signal);
    });
    tool('cancellations', 'Return how many calls of slow were cancelled.', {}, async () => shared.cancellations());
    tool('test_tool_with_logging', 'Log three lines at level info.', {}, async (_, extra) => {
        for (const data of shared.LOG_LINES) {
            const params = { level: 'info', data };
            await extra.sendNotification({ method: 'notifications/message', params });
        }
        return text('logged');
    });
    // Over HTTP these go out on the stream of the call; without the request they would take the session's own,
    // as those for the model and the roots do.
    const ask = (message, extra) =>
        server.server.elicitInput({ message, requestedSchema: shared.USER_SCHEMA }, { relatedRequestId: extra.requestId });
    tool('test_elicitation', 'Ask the user.', { message: z.string() }, async ({ message }, extra) =>
        shared.userResponse(await ask(message, extra))
    );
    tool('test_elicitation_twice', 'Ask the user two questions.', {}, async (_, extra) => {
        const first = await ask('First?', extra);
        const second = await ask('Second?', extra);
        return text(`${first.content.username} and ${second.content.username}`);
    });
    tool('test_sampling', 'Ask the model.', { prompt: z.string() }, async ({ prompt }) => {
        const answer = await server.server.createMessage(shared.samplingParams(prompt));
        return text(`LLM response: ${answer.content.text}`);
    });
    tool('test_list_roots', 'Ask for the roots of the client.', {}, async () => {
        const { roots } = await server.server.listRoots();
        return text(roots.map(root => root.uri).join(' '));
    });
    let extraTool;
    tool('test_trigger_tool_change', 'Add or remove one tool.', {}, async () => {
        if (extraTool) {
            extraTool.remove();
            extraTool = undefined;
        } else {
            extraTool = tool('extra', 'Comes and goes.', {}, async () => text('extra'));
        }
        return text('changed');
    });
    tool('test_trigger_resource_update', 'Tell the subscriber.', {}, async () => {
        if (subscribed.has(WATCHED)) await server.server.sendResourceUpdated({ uri: WATCHED });
        return text('updated');
    });

    const plain = { mimeType: 'text/plain' };
    server.registerResource('static-text', 'test://static-text', plain, async uri => ({
        contents: [{ uri: uri.href, ...plain, text: 'This is the content of the static text resource.' }]
    }));
    server.registerResource('static-binary', 'test://static-binary', { mimeType: 'image/png' }, async uri => ({
        contents: [{ uri: uri.href, mimeType: 'image/png', blob: shared.PIXEL }]
    }));
    server.registerResource('watched', WATCHED, plain, async uri => ({
        contents: [{ uri: uri.href, ...plain, text: 'watched' }]
    }));
    const template = new ResourceTemplate('test://template/{id}/data', { list: undefined, complete: { id: shared.suggestions } });
    server.registerResource('template', template, { mimeType: 'application/json' }, async (uri, { id }) => ({
        contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true }) }]
    }));
    server.server.setRequestHandler(SubscribeRequestSchema, async ({ params }) => {
        subscribed.add(params.uri);
        return {};
    });
    server.server.setRequestHandler(UnsubscribeRequestSchema, async ({ params }) => {
        subscribed.delete(params.uri);
        return {};
    });

    server.registerPrompt('test_simple_prompt', { description: 'A prompt without arguments.' }, async () =>
        shared.promptMessage('This is a simple prompt for testing.')
    );
    server.registerPrompt(
        'test_prompt_with_arguments',
        {
            description: 'A prompt with two arguments.',
            argsSchema: { arg1: completable(z.string(), shared.suggestions), arg2: z.string() }
        },
        async ({ arg1, arg2 }) => shared.promptMessage(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)
    );
    return server;
}

await listening.serve({
    stdio: () => build().connect(new StdioServerTransport()),
    http: listening.sessions(StreamableHTTPServerTransport, build),
    sse: listening.streams(SSEServerTransport, build)
});
