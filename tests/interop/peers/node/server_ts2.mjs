// The interop peer server on npm `@modelcontextprotocol/server` 2.x, both eras; the command line is that of
// `listening.mjs`.
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import {
    McpServer,
    ResourceTemplate,
    completable,
    createMcpHandler,
    inputRequired,
    inputResponse,
    isLegacyRequest
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod/v4';
import * as listening from './listening.mjs';
import * as shared from './shared.mjs';

const { WATCHED, text } = shared;
// Whether the tool that comes and goes is there: over HTTP a modern request has a server of its own.
let extraIsThere = false;

function addTools(server, told) {
    const tool = (name, description, inputSchema, run, outputSchema) =>
        server.registerTool(name, { description, inputSchema, outputSchema }, run);
    const none = z.object({});
    const progress = (ctx, done, total) =>
        shared.reportProgress(ctx.mcpReq._meta?.progressToken, ctx.mcpReq.notify, done, total);
    // Asks on the first round, and reads the answer on the second.
    const ask = (ctx, kind, request, done) => {
        const answer = inputResponse(ctx.mcpReq.inputResponses, 'answer');
        return answer.kind === kind ? done(answer) : inputRequired({ inputRequests: { answer: request } });
    };

    tool('test_simple_text', 'Return a fixed text.', none, async () => text(shared.SIMPLE));
    tool('echo', 'Return the text.', z.object({ text: z.string() }), async args => text(args.text));
    tool(
        'add',
        'Add two integers.',
        z.object({ a: z.number().int(), b: z.number().int() }),
        async ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }),
        z.object({ sum: z.number().int() })
    );
    for (const [name, result] of Object.entries(shared.CONTENT)) tool(name, 'Return content.', none, async () => result);
    tool('test_error_handling', 'Fail.', none, async () => ({ ...text(shared.FAILURE), isError: true }));
    tool('test_tool_with_progress', 'Report progress 0, 50 and 100 of 100.', none, async (_, ctx) => {
        for (const done of [0, 50, 100]) await progress(ctx, done, 100);
        return text('done');
    });
    tool('slow', 'Report progress and wait.', z.object({ seconds: z.number() }), async ({ seconds }, ctx) => {
        await progress(ctx, 0, seconds);
        return shared.sleepUnlessCancelled(seconds, ctx.mcpReq.signal);
    });
    tool('cancellations', 'Return how many calls of slow were cancelled.', none, async () => shared.cancellations());
    tool('test_tool_with_logging', 'Log three lines at level info.', none, async (_, ctx) => {
        for (const line of shared.LOG_LINES) await ctx.mcpReq.log('info', line);
        return text('logged');
    });
    tool('test_elicitation', 'Ask the user.', z.object({ message: z.string() }), async ({ message }, ctx) => {
        const request = inputRequired.elicit({ message, requestedSchema: shared.USER_SCHEMA });
        return ask(ctx, 'elicit', request, shared.userResponse);
    });
    tool('test_elicitation_twice', 'Ask the user two questions.', none, async (_, ctx) => {
        // The answer to the first question comes back as the state of the second round.
        const first = ctx.mcpReq.requestState();
        const question = first === undefined ? 'First?' : 'Second?';
        const answer = inputResponse(ctx.mcpReq.inputResponses, question);
        const request = message => inputRequired.elicit({ message, requestedSchema: shared.USER_SCHEMA });
        if (answer.kind !== 'elicit') return inputRequired({ inputRequests: { [question]: request(question) } });
        const { username } = answer.content;
        if (first !== undefined) return text(`${first} and ${username}`);
        return inputRequired({ inputRequests: { 'Second?': request('Second?') }, requestState: username });
    });
    tool('test_sampling', 'Ask the model.', z.object({ prompt: z.string() }), async ({ prompt }, ctx) => {
        const request = inputRequired.createMessage(shared.samplingParams(prompt));
        return ask(ctx, 'sampling', request, ({ result }) => text(`LLM response: ${result.content.text}`));
    });
    tool('test_list_roots', 'Ask for the roots of the client.', none, async (_, ctx) =>
        ask(ctx, 'roots', inputRequired.listRoots(), ({ roots }) => text(roots.map(root => root.uri).join(' ')))
    );
    const addExtra = () => tool('extra', 'Comes and goes.', none, async () => text('extra'));
    let extra = extraIsThere ? addExtra() : undefined;
    tool('test_trigger_tool_change', 'Add or remove one tool.', none, async () => {
        extraIsThere = extra === undefined;
        if (extraIsThere) {
            extra = addExtra();
        } else {
            extra.remove();
            extra = undefined;
        }
        told.toolsChanged();
        return text('changed');
    });
}

function addResources(server, told) {
    const subscribed = new Set();
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
    server.registerTool('test_trigger_resource_update', { inputSchema: z.object({}) }, async (_, ctx) => {
        // On a legacy connection nothing filters by subscription; on a modern one the SDK does.
        if (ctx.mcpReq.envelope || subscribed.has(WATCHED)) await server.server.sendResourceUpdated({ uri: WATCHED });
        told.resourceUpdated(WATCHED);
        return text('updated');
    });
    server.server.setRequestHandler('resources/subscribe', async ({ params }) => {
        subscribed.add(params.uri);
        return {};
    });
    server.server.setRequestHandler('resources/unsubscribe', async ({ params }) => {
        subscribed.delete(params.uri);
        return {};
    });
}

function addPrompts(server) {
    server.registerPrompt('test_simple_prompt', { description: 'A prompt without arguments.' }, async () =>
        shared.promptMessage('This is a simple prompt for testing.')
    );
    const argsSchema = z.object({ arg1: completable(z.string(), shared.suggestions), arg2: z.string() });
    server.registerPrompt(
        'test_prompt_with_arguments',
        { description: 'A prompt with two arguments.', argsSchema },
        async ({ arg1, arg2 }) => shared.promptMessage(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)
    );
}

// `told` hears of changes, for those whose stream is not of this server.
function build(told) {
    const capabilities = { logging: {}, tools: { listChanged: true }, resources: { subscribe: true } };
    const server = new McpServer({ name: 'interop-ts2', version: '1.0.0' }, { capabilities });
    addTools(server, told);
    addResources(server, told);
    addPrompts(server);
    return server;
}

// Sessions for the legacy era and a handler for the modern one, at one endpoint.
function bothEras() {
    const modern = createMcpHandler(() => build(modern.notify), { legacy: 'reject' });
    const answerModern = toNodeHandler(modern);
    const answerLegacy = listening.sessions(NodeStreamableHTTPServerTransport, () => build(modern.notify));
    return async (request, response) => {
        const body = request.method === 'POST' ? await listening.json(request) : undefined;
        const legacy = await isLegacyRequest(await toWebRequest(request, body), body);
        return (legacy ? answerLegacy : answerModern)(request, response, body);
    };
}

const nobody = { toolsChanged() {}, resourceUpdated() {} };
await listening.serve({ stdio: () => serveStdio(() => build(nobody)), http: bothEras() });
