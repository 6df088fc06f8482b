// The interop peer client on npm `@modelcontextprotocol/client` 2.x; the command line is that of `walk.mjs`.
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import * as walk from './walk.mjs';

const LISTS = {
    tools: 'listTools',
    resources: 'listResources',
    resourceTemplates: 'listResourceTemplates',
    prompts: 'listPrompts'
};

function negotiation(revision) {
    if (revision === 'auto') return { versionNegotiation: { mode: 'auto' } };
    if (revision >= '2026') return { versionNegotiation: { mode: { pin: revision } } };
    return { versionNegotiation: { mode: 'legacy' }, supportedProtocolVersions: [revision] };
}

function transportTo({ command: [command, ...args], url, sse }) {
    if (url) return new StreamableHTTPClientTransport(new URL(url));
    if (sse) return new SSEClientTransport(new URL(sse));
    return new StdioClientTransport({ command, args, env: process.env });
}

async function connect(target, revision) {
    const capabilities = { sampling: {}, elicitation: {}, roots: {} };
    const client = new Client({ name: 'interop-ts2', version: '1.0.0' }, { capabilities, ...negotiation(revision) });
    const adapter = { client, logs: [], elicitations: [], elicitAction: 'accept' };
    const queues = new Set();
    const tell = event => queues.forEach(queue => queue.push(event));

    client.setRequestHandler('elicitation/create', async ({ params }) => {
        adapter.elicitations.push(params);
        return adapter.elicitAction === 'accept' ? { action: 'accept', content: walk.USER } : { action: 'decline' };
    });
    client.setRequestHandler('sampling/createMessage', async () => walk.SAMPLE_RESULT);
    client.setRequestHandler('roots/list', async () => walk.ROOTS);
    client.setNotificationHandler('notifications/message', ({ params }) => void adapter.logs.push(params));
    client.setNotificationHandler('notifications/tools/list_changed', () => tell('tools'));
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => tell(`updated ${params.uri}`));

    adapter.call = (params, options) => client.callTool(params, options);
    // Without a cursor this SDK follows all pages itself.
    adapter.listAll = kind => walk.pages(params => client[LISTS[kind]](params, { cacheMode: 'refresh' }), kind);
    adapter.watch = async (tools, uris) => {
        const events = [];
        queues.add(events);
        if (adapter.revision >= '2026') {
            const filter = tools ? { toolsListChanged: true } : { resourceSubscriptions: uris };
            const subscription = await client.listen(filter);
            const close = async () => {
                await subscription.close();
                queues.delete(events);
            };
            return { events, close };
        }
        for (const uri of uris) await client.subscribeResource({ uri });
        const close = async () => {
            for (const uri of uris) await client.unsubscribeResource({ uri });
        };
        return { events, close };
    };

    const transport = transportTo(target);
    await client.connect(transport);
    adapter.revision = client.getNegotiatedProtocolVersion();
    adapter.close = async () => {
        await transport.terminateSession?.();
        await client.close();
    };
    return adapter;
}

await walk.main(connect);
