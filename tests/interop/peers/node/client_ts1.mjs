// The interop peer client on npm `@modelcontextprotocol/sdk` 1.x:
// `client_ts1.mjs [--revision REVISION] -- COMMAND...`.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import * as walk from './walk.mjs';

const LISTS = {
    tools: 'listTools',
    resources: 'listResources',
    resourceTemplates: 'listResourceTemplates',
    prompts: 'listPrompts'
};

// The SDK always offers its newest revision and has no option for it, so the transport offers another.
class OfferingTransport extends StdioClientTransport {
    constructor(parameters, revision) {
        super(parameters);
        this.offer = revision;
        // The client calls this with the agreed revision.
        this.setProtocolVersion = agreed => (this.agreed = agreed);
    }

    send(message) {
        if (this.offer !== 'auto' && message.method === 'initialize') {
            const params = { ...message.params, protocolVersion: this.offer };
            return super.send({ ...message, params });
        }
        return super.send(message);
    }
}

async function connect([command, ...args], revision) {
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

    const transport = new OfferingTransport({ command, args, env: process.env }, revision);
    await client.connect(transport);
    adapter.revision = transport.agreed;
    return adapter;
}

await walk.main(connect);
