/** A server as Bun and Deno serve it: a module whose default export has `fetch`. */

import { createHandler } from 'barewire/http';
import { EVERYWHERE, newServer } from './serving.mjs';

export default {
  fetch: createHandler(newServer(), EVERYWHERE),
  idleTimeout: 30,
  hostname: '127.0.0.1',
  port: 0,
};
