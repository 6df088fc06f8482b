// The published `server-everything` with the command line of `listening.mjs`. It would listen on every
// interface, so its listeners are sent to the loopback interface.
import { Server } from 'node:net';
import { parseArgs } from 'node:util';

const WAYS = { http: 'streamableHttp', sse: 'sse', stdio: 'stdio' };
const { values } = parseArgs({ options: { http: { type: 'string' }, sse: { type: 'string' } } });
const way = Object.keys(WAYS).find(name => values[name]) ?? 'stdio';

const { listen } = Server.prototype;
Server.prototype.listen = function (port, ...rest) {
    return listen.call(this, { port: Number(port), host: '127.0.0.1' }, ...rest);
};
process.env.PORT = values[way] ?? '';
process.argv = [process.argv[0], process.argv[1], WAYS[way]];
await import('@modelcontextprotocol/server-everything/dist/index.js');
