// The walk through an everything server that every client on Node takes; the same checks as `walk.py`.
//
// An adapter has: revision, logs, elicitations, elicitAction, client (that of an SDK, or with its methods), and the
// functions call, listAll and watch, for what the two SDKs do not share; all results are in wire shapes.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const CHECK_SECONDS = 60;
const ODD_TEXT = 'say "hi" \\ tab\t newline\n \u2028 ünïcødé 🜁';
const WATCHED = 'test://watched-resource';
const MODEL_ANSWER = 'This is a test response from the client';

export const USER = { username: 'testuser', email: 'test@example.com' };
export const ROOTS = { roots: [{ uri: 'file:///test/root', name: 'Test Root' }] };
export const SAMPLE_RESULT = {
    role: 'assistant',
    content: { type: 'text', text: MODEL_ANSWER },
    model: 'test-model',
    stopReason: 'endTurn'
};

class Unsupported extends Error {}

const modern = adapter => adapter.revision >= '2026';
const textOf = result => result.content.map(block => block.text ?? '').join('');

function expect(condition, detail) {
    if (!condition) throw new Error(typeof detail === 'string' ? detail : JSON.stringify(detail));
}

// Whether two JSON values are the same, without regard to the order of members.
function same(left, right) {
    const isObject = value => typeof value === 'object' && value !== null;
    if (!isObject(left) || !isObject(right)) return left === right;
    const keys = Object.keys(left);
    return keys.length === Object.keys(right).length && keys.every(key => same(left[key], right[key]));
}

const call = (adapter, name, args, options) => adapter.call(args ? { name, arguments: args } : { name }, options);

async function nextEvent(events) {
    for (let waited = 0; waited < (CHECK_SECONDS * 1000) / 2; waited += 10) {
        if (events.length > 0) return events.shift();
        await sleep(10);
    }
    throw new Error('no event came');
}

async function refused(promise) {
    try {
        return { result: await promise };
    } catch (error) {
        return { code: error.code ?? error.name };
    }
}

const CHECKS = {
    async ping(adapter) {
        if (modern(adapter)) throw new Unsupported('ping left the protocol with 2026-07-28');
        await adapter.client.ping();
    },

    async list_tools(adapter) {
        const names = (await adapter.listAll('tools')).map(tool => tool.name);
        expect(new Set(names).size === names.length, names);
        for (const name of ['echo', 'add', 'slow', 'test_simple_text', 'test_tool_with_progress', 'test_elicitation'])
            expect(names.includes(name), `missing ${name}`);
        return names.length;
    },

    async echo(adapter) {
        expect(textOf(await call(adapter, 'echo', { text: ODD_TEXT })) === ODD_TEXT, 'the text changed');
        const simple = textOf(await call(adapter, 'test_simple_text'));
        expect(simple === 'This is a simple text response for testing.', simple);
    },

    async parallel(adapter) {
        const texts = Array.from({ length: 20 }, (_, number) => `call ${number}`);
        const results = await Promise.all(texts.map(text => call(adapter, 'echo', { text })));
        expect(same(results.map(textOf), texts), 'answers were mixed up');
    },

    async big(adapter) {
        const text = '0123456789abcde\n'.repeat(65536);
        expect(textOf(await call(adapter, 'echo', { text })) === text, 'the text changed');
    },

    async structured(adapter) {
        const result = await call(adapter, 'add', { a: 2, b: 3 });
        expect(same(JSON.parse(textOf(result)), { sum: 5 }), result);
        if (adapter.revision < '2025-06-18')
            throw new Unsupported('structured output came with 2025-06-18; the text copy is right');
        expect(same(result.structuredContent, { sum: 5 }), result);
    },

    async content(adapter) {
        const starts = (block, bytes) => Buffer.from(block.data, 'base64').subarray(0, bytes.length).equals(Buffer.from(bytes));
        const [image] = (await call(adapter, 'test_image_content')).content;
        expect(image.mimeType === 'image/png' && starts(image, [0x89, 0x50, 0x4e, 0x47]), image);
        const [embedded] = (await call(adapter, 'test_embedded_resource')).content;
        expect(embedded.resource.text === 'This is an embedded resource content.', embedded);
        const mixed = (await call(adapter, 'test_multiple_content_types')).content.map(block => block.type);
        expect(same(mixed, ['text', 'image', 'resource']), mixed);
        if (adapter.revision < '2025-03-26')
            throw new Unsupported('audio came with 2025-03-26; images and resources are right');
        const [audio] = (await call(adapter, 'test_audio_content')).content;
        expect(audio.mimeType === 'audio/wav' && starts(audio, 'RIFF'), audio);
    },

    async tool_error(adapter) {
        const result = await call(adapter, 'test_error_handling');
        expect(result.isError === true && textOf(result) !== '', result);
    },

    async unknown_tool(adapter) {
        const { result, code } = await refused(call(adapter, 'no_such_tool', {}));
        if (result === undefined) return `error ${code}`;
        expect(result.isError === true, result);
        return 'isError';
    },

    // The clients of the SDKs lose a notification that arrives in one read with the answer it belongs to, so a
    // busy machine may need more than one try to see all of them.
    async progress(adapter) {
        const all = [[0, 100], [50, 100], [100, 100]];
        const tries = adapter.losesNothing ? 1 : 10;
        let seen;
        for (let round = 0; round < tries && !same(seen, all); round += 1) {
            seen = [];
            await call(adapter, 'test_tool_with_progress', undefined, {
                onprogress: ({ progress, total }) => seen.push([progress, total])
            });
            expect(same(seen, all.slice(0, seen.length)), seen);
        }
        expect(same(seen, all), seen);
    },

    async cancel(adapter) {
        const count = async () => Number(textOf(await call(adapter, 'cancellations')));
        const before = await count();
        const abort = new AbortController();
        const slow = call(adapter, 'slow', { seconds: 600 }, { signal: abort.signal, onprogress: () => abort.abort() });
        const { result } = await refused(slow);
        expect(result === undefined, 'the call was answered');
        for (let round = 0; round < 1000; round += 1) {
            if ((await count()) === before + 1) return;
            await sleep(20);
        }
        throw new Error('the server never saw the cancellation');
    },

    async logging(adapter) {
        adapter.logs.length = 0;
        if (modern(adapter)) {
            const meta = { 'io.modelcontextprotocol/logLevel': 'info' };
            await adapter.call({ name: 'test_tool_with_logging', _meta: meta });
        } else {
            await adapter.client.setLoggingLevel('info');
            await call(adapter, 'test_tool_with_logging');
        }
        for (let round = 0; round < 500 && adapter.logs.length < 3; round += 1) await sleep(20);
        expect(same(adapter.logs.map(entry => entry.level), ['info', 'info', 'info']), adapter.logs);
        const lines = ['Tool execution started', 'Tool processing data', 'Tool execution completed'];
        expect(same(adapter.logs.map(entry => entry.data), lines), adapter.logs);
    },

    async elicit(adapter) {
        if (adapter.revision < '2025-06-18') throw new Unsupported('elicitation came with 2025-06-18');
        adapter.elicitations.length = 0;
        adapter.elicitAction = 'accept';
        const ask = async () => textOf(await call(adapter, 'test_elicitation', { message: 'Who are you?' }));
        const accepted = await ask();
        expect(accepted.includes('testuser') && accepted.includes('test@example.com'), accepted);
        const [asked] = adapter.elicitations;
        expect(asked.message === 'Who are you?', asked);
        expect(same(Object.keys(asked.requestedSchema.properties).sort(), ['email', 'username']), asked);
        adapter.elicitAction = 'decline';
        const declined = await ask();
        expect(declined.includes('decline') && !declined.includes('testuser'), declined);
    },

    async elicit_twice(adapter) {
        if (adapter.revision < '2025-06-18') throw new Unsupported('elicitation came with 2025-06-18');
        adapter.elicitations.length = 0;
        adapter.elicitAction = 'accept';
        const text = textOf(await call(adapter, 'test_elicitation_twice'));
        const asked = adapter.elicitations.map(elicitation => elicitation.message);
        expect(same(asked, ['First?', 'Second?']), asked);
        expect(text === 'testuser and testuser', text);
    },

    async sample(adapter) {
        const text = textOf(await call(adapter, 'test_sampling', { prompt: 'Say something' }));
        expect(text.includes(MODEL_ANSWER), text);
    },

    async roots(adapter) {
        const text = textOf(await call(adapter, 'test_list_roots'));
        expect(text.includes(ROOTS.roots[0].uri), text);
    },

    async resources(adapter) {
        const uris = (await adapter.listAll('resources')).map(resource => resource.uri);
        for (const uri of ['test://static-text', 'test://static-binary', WATCHED]) expect(uris.includes(uri), uris);
        const [text] = (await adapter.client.readResource({ uri: 'test://static-text' })).contents;
        expect(text.text === 'This is the content of the static text resource.', text);
        const [binary] = (await adapter.client.readResource({ uri: 'test://static-binary' })).contents;
        expect(Buffer.from(binary.blob, 'base64').subarray(1, 4).toString() === 'PNG', binary);
    },

    async unknown_resource(adapter) {
        const { result, code } = await refused(adapter.client.readResource({ uri: 'test://nonexistent' }));
        expect(result === undefined, result);
        return `error ${code}`;
    },

    async template(adapter) {
        const templates = (await adapter.listAll('resourceTemplates')).map(entry => entry.uriTemplate);
        expect(templates.includes('test://template/{id}/data'), templates);
        const [contents] = (await adapter.client.readResource({ uri: 'test://template/123/data' })).contents;
        expect(JSON.parse(contents.text).id === '123', contents);
        expect(contents.uri === 'test://template/123/data', contents);
    },

    async prompt(adapter) {
        const names = (await adapter.listAll('prompts')).map(entry => entry.name);
        for (const name of ['test_simple_prompt', 'test_prompt_with_arguments']) expect(names.includes(name), names);
        const simple = await adapter.client.getPrompt({ name: 'test_simple_prompt' });
        expect(simple.messages[0].content.text === 'This is a simple prompt for testing.', simple);
        const args = { arg1: 'one', arg2: 'two' };
        const filled = await adapter.client.getPrompt({ name: 'test_prompt_with_arguments', arguments: args });
        expect(filled.messages[0].content.text === "Prompt with arguments: arg1='one', arg2='two'", filled);
    },

    async completion(adapter) {
        const ref = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };
        const { completion } = await adapter.client.complete({ ref, argument: { name: 'arg1', value: 'test' } });
        const { values } = completion;
        expect(values.includes('testValue1') && values.every(value => value.startsWith('test')), values);
    },

    async template_completion(adapter) {
        const ref = { type: 'ref/resource', uri: 'test://template/{id}/data' };
        const { completion } = await adapter.client.complete({ ref, argument: { name: 'id', value: '12' } });
        const { values } = completion;
        expect(values.includes('123') && values.every(value => value.startsWith('12')), values);
    },

    async tools_changed(adapter) {
        const names = async () => new Set((await adapter.listAll('tools')).map(tool => tool.name));
        const before = await names();
        const watching = await adapter.watch(true, []);
        await call(adapter, 'test_trigger_tool_change');
        const event = await nextEvent(watching.events);
        expect(event === 'tools', event);
        await watching.close();
        // A peer adds or removes one tool; barewire's server does both, which is worth a notice as well.
        const after = await names();
        const changed = [...before, ...after].filter(name => before.has(name) !== after.has(name));
        expect(changed.length <= 1, changed);
    },

    async resource_updated(adapter) {
        const watching = await adapter.watch(false, [WATCHED]);
        await call(adapter, 'test_trigger_resource_update');
        const event = await nextEvent(watching.events);
        expect(event === `updated ${WATCHED}`, event);
        await watching.close();
        await call(adapter, 'test_trigger_resource_update');
        await call(adapter, 'test_simple_text');
        expect(watching.events.length === 0, 'an update came after the unsubscription');
    }
};

// Every page of a list, followed by hand: the SDKs differ in what they follow themselves.
export async function pages(fetch, member) {
    const items = [];
    let cursor;
    do {
        const page = await fetch(cursor === undefined ? undefined : { cursor });
        items.push(...page[member]);
        cursor = page.nextCursor;
    } while (cursor !== undefined);
    return items;
}

function report(check, ok, detail = null) {
    console.log(JSON.stringify({ check, ok, detail }));
    return ok !== false;
}

const describe = error => `${error.name}: ${error.message}`.slice(0, 500);

async function bounded(promise) {
    const timer = new AbortController();
    const late = sleep(CHECK_SECONDS * 1000, undefined, { signal: timer.signal }).then(() => {
        throw new Error('timed out');
    });
    late.catch(() => {});
    try {
        return await Promise.race([promise, late]);
    } finally {
        timer.abort();
    }
}

async function walk(adapter) {
    let good = true;
    for (const [name, check] of Object.entries(CHECKS)) {
        try {
            good = report(name, true, await bounded(check(adapter))) && good;
        } catch (error) {
            if (error instanceof Unsupported) report(name, 'unsupported', error.message);
            else good = report(name, false, describe(error));
        }
    }
    return good;
}

// The command line of a peer client, as that of `walk.py`; the target has `command`, `url` or `sse`.
export async function main(connect) {
    const { values, positionals } = parseArgs({
        options: {
            revision: { type: 'string', default: 'auto' },
            url: { type: 'string' },
            sse: { type: 'string' }
        },
        allowPositionals: true
    });
    const target = { command: positionals, url: values.url, sse: values.sse };
    let good;
    try {
        const adapter = await connect(target, values.revision);
        const met = values.revision === 'auto' || values.revision === adapter.revision;
        good = report('connect', met, adapter.revision);
        good = (await walk(adapter)) && good;
        await bounded(adapter.close());
        report('close', true);
    } catch (error) {
        good = report('connection', false, describe(error));
    }
    process.exit(good ? 0 : 1);
}
