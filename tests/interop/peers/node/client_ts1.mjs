// The interop peer client on npm `@modelcontextprotocol/sdk` 1.x; the command line is that of `walk.mjs`.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import * as walk from './walk.mjs';

const LISTS = {
    tools: 'listTools',
    resources: 'listResources',
    resourceTemplates: 'listResourceTemplates',
    prompts: 'listPrompts'
};

function transportTo({ command: [command, ...args], url, sse }) {
    if (url) return new StreamableHTTPClientTransport(new URL(url));
    if (sse) return new SSEClientTransport(new URL(sse));
    return new StdioClientTransport({ command, args, env: process.env });
}

// The SDK always offers its newest revision and has no option for it, so the transport offers another.
function offering(transport, revision) {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
        if (revision === 'auto' || message.method !== 'initialize') return send(message, options);
        const params = { ...message.params, protocolVersion: revision };
        return send({ ...message, params }, options);
    };
    // The client calls this with the agreed revision.
    const agree = transport.setProtocolVersion?.bind(transport);
    transport.setProtocolVersion = agreed => {
        transport.agreed = agreed;
        agree?.(agreed);
    };
    return transport;
}

async function connect(target, revision) {
    const capabilities = { sampling: {}, elicitation: {}, roots: {} };
    const client = new Client({ name: 'interop-ts1', version: '1.0.0' }, { capabilities });
    const adapter = { client, logs: [], elicitations: [], elicitAction: 'accept' };
    const queues = new Set();
    const tell = event => queues.forEach(queue => queue.push(event));

    client.setRequestHandler(types.ElicitRequestSchema, async ({ params }) => {
        adapter.elicitations.push(params);
        return adapter.elicitAction === 'accept' ? { action: 'accept', content: walk.USER } : { action: 'decline' };
    });
    client.setRequestHandler(types.CreateMessageRequestSchema, async () => walk.SAMPLE_RESULT);
    client.setRequestHandler(types.ListRootsRequestSchema, async () => walk.ROOTS);
    client.setNotificationHandler(types.LoggingMessageNotificationSchema, ({ params }) => void adapter.logs.push(params));
    client.setNotificationHandler(types.ToolListChangedNotificationSchema, () => tell('tools'));
    client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, ({ params }) => tell(`updated ${params.uri}`));

    adapter.call = (params, options) => client.callTool(params, undefined, options);
    adapter.listAll = kind => walk.pages(params => client[LISTS[kind]](params), kind);
    adapter.watch = async (tools, uris) => {
        const events = [];
        queues.add(events);
        for (const uri of uris) await client.subscribeResource({ uri });
        const close = async () => {
            for (const uri of uris) await client.unsubscribeResource({ uri });
        };
        return { events, close };
    };

    const transport = offering(transportTo(target), revision);
    await client.connect(transport);
    adapter.revision = transport.agreed;
    adapter.close = async () => {
        await transport.terminateSession?.();
        await client.close();
    };
    return adapter;
}

await walk.main(connect);
