// The client of the Node package as a program of the suite; the command line is that of `walk.mjs`.
import { Client } from '../../../bindings-node/esm/index.mjs';
import * as walk from '../peers/node/walk.mjs';

const LISTS = {
    tools: 'listTools',
    resources: 'listResources',
    resourceTemplates: 'listResourceTemplates',
    prompts: 'listPrompts'
};

// The JSON of a result as it came, which has to be read without a problem.
async function wire(received) {
    const { raw, problems } = await received;
    if (problems.length > 0) throw new Error(`odd: ${JSON.stringify(problems)}`);
    return JSON.parse(raw);
}

// What the walk calls by the names that the published SDKs have for it.
function named(client) {
    return {
        ping: () => client.ping(),
        setLoggingLevel: level => client.setLogLevel(level),
        readResource: ({ uri }) => wire(client.readResource(uri)),
        getPrompt: ({ name, arguments: args }) => wire(client.getPrompt(name, args)),
        complete: ({ ref, argument: { name, value } }) => {
            const target = ref.type === 'ref/prompt' ? { prompt: ref.name } : { resource: ref.uri };
            return wire(client.complete(target, name, value));
        }
    };
}

async function watch(client, tools, uris) {
    const changes = await client.subscribe({ tools, resourceUris: uris });
    const events = [];
    const pumping = (async () => {
        for await (const { kind, uri } of changes) events.push(kind === 'resource' ? `updated ${uri}` : kind);
    })();
    const close = async () => {
        await changes.close();
        await pumping;
    };
    return { events, close };
}

async function connect({ command, url, sse }, revision) {
    const adapter = { logs: [], elicitations: [], elicitAction: 'accept', losesNothing: true };
    const handlers = {
        onElicit: question => {
            adapter.elicitations.push(question);
            return adapter.elicitAction === 'accept' ? { action: 'accept', content: walk.USER } : { action: 'decline' };
        },
        onSample: () => walk.SAMPLE_RESULT,
        onRoots: () => walk.ROOTS.roots,
        onLog: message => void adapter.logs.push(message)
    };
    const server = url ?? sse ?? { command, env: process.env };
    // Peers load a lot before they say anything, and take their time to end on a busy machine.
    const timeouts = { probe: 60_000, handshake: 60_000, childExit: 30_000 };
    const revisions = revision === 'auto' ? undefined : [revision];
    const client = await Client.connect(server, { ...handlers, timeouts, ...(revisions && { revisions }) });

    adapter.client = named(client);
    adapter.revision = client.revision;
    adapter.call = ({ name, arguments: args, _meta }, { signal, onprogress } = {}) =>
        wire(client.callTool(name, args, { ...(_meta && { meta: _meta }), ...(signal && { signal }), ...(onprogress && { onProgress: onprogress }) }));
    adapter.listAll = kind => walk.pages(({ cursor } = {}) => wire(client[LISTS[kind]](cursor)), kind);
    adapter.watch = (tools, uris) => watch(client, tools, uris);
    adapter.close = () => client.close();
    return adapter;
}

await walk.main(connect);
