// The server of the Node package as a program of the suite; the command line is that of `listening.mjs`.
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { nodeHandler } from '../../../bindings-node/esm/http.mjs';
import { Server, ToolError } from '../../../bindings-node/esm/index.mjs';
import { run } from '../../../bindings-node/esm/stdio.mjs';
import * as shared from '../peers/node/shared.mjs';

// Lists take several pages, so that the peers have to turn them.
const server = new Server({ name: 'barewire', version: '1.0.0', limits: { pageItems: 6 } });

const object = properties => ({ type: 'object', properties, required: Object.keys(properties) });
const STRING = { type: 'string' };
const INTEGER = { type: 'integer' };

function addTools() {
    const tool = (name, description, run, input, output) =>
        server.tool(name, { description, ...(input && { input: object(input) }), ...(output && { output: object(output) }) }, run);

    tool('test_simple_text', 'Return a fixed text.', () => shared.SIMPLE);
    tool('echo', 'Return the text.', ({ text }) => text, { text: STRING });
    tool('add', 'Add two integers.', ({ a, b }) => ({ sum: a + b }), { a: INTEGER, b: INTEGER }, { sum: INTEGER });
    for (const [name, result] of Object.entries(shared.CONTENT)) tool(name, 'Return content.', () => result);
    tool('test_error_handling', 'Fail.', () => {
        throw new ToolError(shared.FAILURE);
    });
    tool('test_tool_with_progress', 'Report progress 0, 50 and 100 of 100.', async (_, context) => {
        const notify = ({ params: { progress, total } }) => context.progress(progress, total);
        for (const done of [0, 50, 100]) await shared.reportProgress(null, notify, done, 100);
        return 'done';
    });
    tool(
        'slow',
        'Report progress and wait.',
        async ({ seconds }, context) => {
            await context.progress(0, seconds);
            return shared.sleepUnlessCancelled(seconds, context.signal);
        },
        { seconds: { type: 'number' } }
    );
    tool('cancellations', 'Return how many calls of slow were cancelled.', () => shared.cancellations());
    tool('test_tool_with_logging', 'Log three lines at level info.', async (_, context) => {
        for (const line of shared.LOG_LINES) await context.log('info', line);
        return 'logged';
    });
    addAskingTools(tool);
    tool('test_trigger_tool_change', 'Add one tool, and remove it.', () => {
        tool('extra', 'Comes and goes.', () => 'extra');
        server.removeTool('extra');
        return 'changed';
    });
    tool('test_trigger_resource_update', 'Say that the watched resource has changed.', () => {
        server.resourceUpdated(shared.WATCHED);
        return 'updated';
    });
}

function addAskingTools(tool) {
    tool(
        'test_elicitation',
        'Ask the user.',
        async ({ message }, context) => shared.userResponse(await context.elicit(message, shared.USER_SCHEMA)),
        { message: STRING }
    );
    tool('test_elicitation_twice', 'Ask the user two questions.', async (_, context) => {
        const first = await context.elicit('First?', shared.USER_SCHEMA, { key: 'first' });
        const second = await context.elicit('Second?', shared.USER_SCHEMA, { key: 'second' });
        return `${first.content.username} and ${second.content.username}`;
    });
    tool(
        'test_sampling',
        'Ask the model.',
        async ({ prompt }, context) => `LLM response: ${(await context.sample(prompt, { maxTokens: 100 })).text}`,
        { prompt: STRING }
    );
    tool('test_list_roots', 'Ask for the roots of the client.', async (_, context) =>
        (await context.roots()).map(({ uri }) => uri).join(' ')
    );
}

function addResources() {
    const text = { mimeType: 'text/plain' };
    server.resource(
        'test://static-text',
        { name: 'static-text', ...text },
        () => 'This is the content of the static text resource.'
    );
    server.resource('test://static-binary', { name: 'static-binary', mimeType: 'image/png' }, () =>
        Buffer.from(shared.PIXEL, 'base64')
    );
    server.resource(shared.WATCHED, { name: 'watched', ...text }, () => 'watched');
    const template = 'test://template/{id}/data';
    server.resource(template, { name: 'template', mimeType: 'application/json' }, ({ id }) => ({ id, templateTest: true }));
    server.completion(template, 'id', ({ value }) => shared.suggestions(value));
}

function addPrompts() {
    server.prompt(
        'test_simple_prompt',
        { description: 'A prompt without arguments.' },
        () => 'This is a simple prompt for testing.'
    );
    server.prompt(
        'test_prompt_with_arguments',
        { description: 'A prompt with two arguments.', input: object({ arg1: STRING, arg2: STRING }) },
        ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`
    );
    server.completion('test_prompt_with_arguments', 'arg1', ({ value }) => shared.suggestions(value));
}

addTools();
addResources();
addPrompts();
const { values } = parseArgs({ options: { http: { type: 'string' }, sse: { type: 'string' } } });
const port = values.http ?? values.sse;
if (port === undefined) {
    await run(server);
} else {
    const handler = nodeHandler(server, { path: '/mcp', sse: values.sse !== undefined });
    createServer(handler).listen(Number(port), '127.0.0.1');
}
