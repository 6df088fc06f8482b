// Runs a session of each era in the library as a WebAssembly module. Its memory comes from here: the hooks are imports.
// usage: wasm.mjs MODULE

import assert from 'node:assert';
import { readFileSync } from 'node:fs';

const HEADER = 8;
const sizes = new Map();
let free = [];
let memory;
let end;

const bytes = () => new Uint8Array(memory.buffer);
const words = () => new DataView(memory.buffer);

/** A block of the memory behind the module's own: the first that was given back and is long enough, or a new one. */
function allocate(size) {
  const needed = Math.ceil(size / 8) * 8;
  const found = free.findIndex((block) => block.size >= needed);
  const block = found < 0 ? { place: end, size: needed } : free.splice(found, 1)[0];
  if (found < 0) {
    end += needed + HEADER;
    const missing = end - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / 65536));
  }
  sizes.set(block.place, block.size);
  return block.place;
}

function release(place) {
  free.push({ place, size: sizes.get(place) });
  sizes.delete(place);
}

function reallocate(place, size) {
  const other = allocate(size);
  bytes().copyWithin(other, place, place + Math.min(size, sizes.get(place)));
  release(place);
  return other;
}

const env = {
  bw_port_allocate: allocate,
  bw_port_reallocate: reallocate,
  bw_port_free: release,
  bw_port_available: () => 1 << 24,
  bw_port_panic: () => assert.fail('the library has a defect'),
};

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
for (const { module: from, name } of WebAssembly.Module.imports(module)) {
  assert.ok(from === 'env' && name in env, `the module wants ${from}.${name}`);
}
const library = new WebAssembly.Instance(module, { env }).exports;
memory = library.memory;
end = Math.ceil(library.__heap_base.value / 8) * 8;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Gives `use` the address of a `bw_bytes` that holds `text`. */
function lend(text, use) {
  const encoded = encoder.encode(text);
  const place = allocate(encoded.length + 8);
  bytes().set(encoded, place + 8);
  words().setUint32(place, place + 8, true);
  words().setUint32(place + 4, encoded.length, true);
  try {
    return use(place);
  } finally {
    release(place);
  }
}

function must(status) {
  assert.strictEqual(status, 0);
}

function make(create) {
  const place = allocate(8);
  must(create(place));
  const handle = words().getUint32(place, true);
  release(place);
  return handle;
}

/** The text of a `bw_bytes` that a function returns through a pointer. */
function told(ask) {
  const place = allocate(8);
  ask(place);
  const [start, length] = [words().getUint32(place, true), words().getUint32(place + 4, true)];
  release(place);
  return decoder.decode(bytes().slice(start, start + length));
}

function takeOutput(server) {
  let all = '';
  for (;;) {
    const text = told((place) => library.bw_server_data_to_send(place, server));
    if (text === '') return all;
    all += text;
    must(library.bw_server_consume(server, encoder.encode(text).length));
  }
}

const TOOL_CALLED = 1;
const TOOL = '{"name":"greet","inputSchema":{"type":"object"}}';
const RESULT = '{"content":[{"type":"text","text":"Hello!"}]}';

function session(lines) {
  const seed = allocate(32);
  const config = make((place) =>
    lend('module', (name) => lend('1.0', (version) => library.bw_server_config_new(name, version, seed, place))),
  );
  const server = make((place) => library.bw_server_new(config, place));
  library.bw_server_config_free(config);
  release(seed);
  must(lend(TOOL, (definition) => library.bw_server_add_tool(server, definition)));
  let output = '';
  for (const line of lines) {
    must(lend(line + '\n', (data) => library.bw_server_receive_data(server, 0n, data)));
    for (let event; (event = library.bw_server_poll_event(server)) !== 0; ) {
      if (library.bw_event_kind(event) !== TOOL_CALLED) continue;
      const request = library.bw_event_request(event);
      must(lend(RESULT, (result) => library.bw_server_respond(server, request, result)));
    }
    output += takeOutput(server);
  }
  must(library.bw_server_receive_eof(server, 0n));
  while (library.bw_server_poll_event(server) !== 0);
  takeOutput(server);
  assert.ok(library.bw_server_is_finished(server));
  library.bw_server_free(server);
  const messages = output.trim().split('\n').map((line) => JSON.parse(line));
  assert.deepStrictEqual(
    messages.map((message) => [message.id, 'result' in message]),
    lines.filter((line) => line.includes('"id"')).map((_, at) => [at, true]),
  );
  assert.ok(output.includes('Hello!'));
}

const client = { name: 'client', version: '1.0' };
const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': client,
  'io.modelcontextprotocol/clientCapabilities': {},
};
const request = (id, method, params) => JSON.stringify({ jsonrpc: '2.0', id, method, params });

session([
  request(0, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: client }),
  '{"jsonrpc":"2.0","method":"notifications/initialized"}',
  request(1, 'tools/list'),
  request(2, 'tools/call', { name: 'greet', arguments: {} }),
  request(3, 'ping'),
]);
session([
  request(0, 'server/discover', { _meta }),
  request(1, 'tools/list', { _meta }),
  request(2, 'tools/call', { name: 'greet', arguments: {}, _meta }),
]);
assert.strictEqual(sizes.size, 0, 'blocks that were not given back');
console.log(`a session of each era; ${end - library.__heap_base.value} bytes of memory beside the module's own`);
