/** Standard input and output: servers that a client starts as its child processes. */

export { run, serveStdio, type StdioOptions } from './stdio-server.js';
