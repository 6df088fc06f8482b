// The command line of a peer server: nothing for stdio, `--http PORT` for Streamable HTTP at `/mcp`,
// `--sse PORT` for HTTP+SSE at `/sse`.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

// Runs a server in one of its ways; `http` and `sse` answer one request of `node:http`.
export async function serve({ stdio, http, sse }) {
    const { values } = parseArgs({ options: { http: { type: 'string' }, sse: { type: 'string' } } });
    const answer = values.http ? http : sse;
    if (!values.http && !values.sse) return stdio();
    createServer((request, response) => {
        answer(request, response).catch(error => {
            console.error(error);
            response.destroy();
        });
    }).listen(Number(values.http ?? values.sse), '127.0.0.1');
}

// The body of a request whose era must be known before anyone handles it.
export async function json(request) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    return JSON.parse(Buffer.concat(chunks));
}

// The sessions of Streamable HTTP: a transport and a server each.
export function sessions(Transport, build) {
    const transports = new Map();
    return async (request, response, body) => {
        const id = request.headers['mcp-session-id'];
        if (id !== undefined) {
            const known = transports.get(id);
            return known ? known.handleRequest(request, response, body) : void response.writeHead(404).end();
        }
        const transport = new Transport({
            sessionIdGenerator: () => randomUUID(),
            onsessioninitialized: created => void transports.set(created, transport)
        });
        transport.onclose = () => transports.delete(transport.sessionId);
        await build().connect(transport);
        return transport.handleRequest(request, response, body);
    };
}

// The streams of HTTP+SSE: a transport and a server each, and messages that come on their own.
export function streams(Transport, build) {
    const transports = new Map();
    return async (request, response) => {
        const { pathname, searchParams } = new URL(request.url, 'http://127.0.0.1');
        if (pathname === '/sse' && request.method === 'GET') {
            const transport = new Transport('/messages', response);
            transports.set(transport.sessionId, transport);
            response.on('close', () => transports.delete(transport.sessionId));
            return build().connect(transport);
        }
        const known = transports.get(searchParams.get('sessionId'));
        return known ? known.handlePostMessage(request, response) : void response.writeHead(404).end();
    };
}
