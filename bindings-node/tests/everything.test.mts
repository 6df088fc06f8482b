/** The client against the servers that use every feature, in both eras, over stdio and HTTP. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Change, Client, type ClientOptions, ConnectionLostError } from 'barewire';
import { LEGACY_REVISIONS, MODERN_REVISIONS } from 'barewire/sansio';
import { freePort } from './free-port.mjs';

/** Milliseconds for what takes a few of them on an idle machine. */
const PATIENCE = 180_000;

const ROOT = new URL('../../../', import.meta.url);
const PYTHON = fileURLToPath(new URL('.work/venv/bin/python', ROOT));
const PYTHON_SERVER = fileURLToPath(new URL('tests/conformance/python/everything_server.py', ROOT));
const NODE_SERVER = fileURLToPath(new URL('bindings-node/dist/conformance/everything_server.mjs', ROOT));

interface Program {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly skip: string | false;
}

const NODE: Program = { name: 'node', command: [process.execPath, NODE_SERVER], skip: false };
const PROGRAMS: readonly Program[] = [
  NODE,
  {
    name: 'python',
    command: [PYTHON, PYTHON_SERVER],
    skip: existsSync(PYTHON) ? false : 'the Python package is not built here',
  },
];

/** A server over HTTP, ready to be connected to. */
async function served({ command: [program, ...rest] }: Program) {
  const port = await freePort();
  const child = spawn(program, [...rest, '--http', String(port)], { stdio: ['ignore', 'ignore', 'inherit'] });
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const url = `http://127.0.0.1:${port}/mcp`;
  const listens = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  while (!(await listens())) {
    assert.equal(child.exitCode, null, 'the server ended before it listened');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    url,
    /** Asks it to end; its exit status. */
    end(): Promise<number | null> {
      child.kill('SIGTERM');
      return exited;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

type Connect = (options: ClientOptions) => Promise<Client>;

async function text(client: Client, tool: string, args: object = {}): Promise<string> {
  const result = await client.callTool(tool, args);
  assert.equal(result.isError, false, JSON.stringify(result.content));
  return result.content.map((block) => (block.type === 'text' ? block.text : block.type)).join(' ');
}

const SAMPLES: Readonly<Record<string, unknown>> = {
  boolean: true,
  string: 'x',
  number: 1,
  integer: 1,
  array: [],
};

/** The content of a form, filled in by someone in a hurry. */
function filledIn(schema: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const fields = Object.entries((schema['properties'] ?? {}) as Record<string, Record<string, any>>);
  return Object.fromEntries(
    fields.map(([name, { default: usual, type, enum: choices }]) => [
      name,
      usual ?? choices?.[0] ?? SAMPLES[type],
    ]),
  );
}

/** Uses one of everything. */
async function tour(connect: Connect, isLegacy: boolean): Promise<void> {
  const logged: unknown[] = [];
  const changes: Change[] = [];
  await using client = await connect({
    onElicit: ({ requestedSchema }) => ({ action: 'accept', content: filledIn(requestedSchema) }),
    onSample: ({ messages }) => ({
      content: `${messages.length} messages`,
      model: 'none',
      stopReason: 'endTurn',
    }),
    onRoots: () => ['file:///tmp'],
    onLog: (message) => logged.push(message),
    onChange: (change) => changes.push(change),
  });
  assert.equal(client.serverInfo?.title, 'Everything');
  assert.match(client.instructions ?? '', /one of everything/);

  const names: string[] = [];
  for await (const tool of client.tools()) names.push(tool.name);
  assert.ok(names.includes('test_simple_text'));
  assert.equal((await client.callTool('test_image_content')).content[0]?.type, 'image');
  assert.equal((await client.callTool('test_audio_content')).content[0]?.type, 'audio');
  assert.equal((await client.callTool('test_embedded_resource')).content[0]?.type, 'resource');
  assert.equal((await client.callTool('test_resource_link')).content[0]?.type, 'resource_link');
  assert.equal((await client.callTool('test_error_handling')).isError, true);
  const { structuredContent } = await client.callTool('test_structured_content', { place: 'Oslo' });
  assert.equal(typeof structuredContent, 'object');

  const reports: number[] = [];
  await client.callTool(
    'test_tool_with_progress',
    {},
    { onProgress: ({ progress }) => reports.push(progress) },
  );
  assert.deepEqual(
    reports,
    [...reports].sort((a, b) => a - b),
  );
  assert.ok(reports.length >= 3);

  assert.match(await text(client, 'test_sampling', { prompt: 'hi' }), /messages/);
  assert.match(await text(client, 'test_elicitation', { message: 'Who?' }), /accept/);
  assert.match(await text(client, 'test_roots'), /file:\/\/\/tmp/);
  await text(client, 'test_input_required_result_multiple_inputs');
  await text(client, 'test_input_required_result_multi_round');
  await text(client, 'test_resume_in_memory');

  const resources: string[] = [];
  for await (const { uri } of client.resources()) resources.push(uri);
  assert.ok(resources.includes('test://static-text'));
  assert.equal(typeof (await client.readResource('test://static-text')).contents[0]?.text, 'string');
  assert.equal(typeof (await client.readResource('test://static-binary')).contents[0]?.blob, 'string');
  assert.match((await client.readResource('test://template/7/data')).contents[0]?.text ?? '', /7/);
  for await (const { uriTemplate } of client.resourceTemplates()) assert.match(uriTemplate, /\{id\}/);

  for await (const { name } of client.prompts()) assert.match(name, /^test_/);
  const prompt = await client.getPrompt('test_prompt_with_arguments', { arg1: 'one', arg2: 'two' });
  assert.equal(prompt.messages[0]?.role, 'user');
  const target = { prompt: 'test_prompt_with_arguments' };
  assert.ok(Array.isArray((await client.complete(target, 'arg1', 'p')).values));

  const watched = await client.subscribe({ tools: true, resourceUris: ['test://watched-resource'] });
  await text(client, 'test_trigger_resource_update');
  assert.deepEqual((await watched.next()).value, { kind: 'resource', uri: 'test://watched-resource' });
  await watched.close();
  await text(client, 'test_trigger_prompt_change');
  while (!changes.some(({ kind }) => kind === 'prompts')) await new Promise(setImmediate);

  if (isLegacy) {
    await client.ping();
    await client.setLogLevel('debug');
    await text(client, 'test_tool_with_logging');
    while (logged.length === 0) await new Promise(setImmediate);
  }
  await assert.rejects(client.callTool('test_slow', {}, { signal: AbortSignal.timeout(100) }), {
    name: 'TimeoutError',
  });
}

for (const program of PROGRAMS) {
  const { name, command, skip } = program;
  // Questions to users came with the second of the legacy revisions, counted from the newest.
  for (const revision of [...MODERN_REVISIONS, ...LEGACY_REVISIONS.slice(0, 2)]) {
    const isLegacy = LEGACY_REVISIONS.includes(revision);
    test(`${name}: everything over stdio in ${revision}`, { skip, timeout: PATIENCE }, async () => {
      await tour((options) => Client.connect({ command }, { ...options, revisions: [revision] }), isLegacy);
    });
  }

  for (const revision of LEGACY_REVISIONS.slice(2)) {
    test(`${name}: what there is over stdio in ${revision}`, { skip, timeout: PATIENCE }, async () => {
      await using client = await Client.connect({ command }, { revisions: [revision] });
      assert.equal(client.revision, revision);
      assert.match(await text(client, 'test_simple_text'), /simple/);
      assert.equal((await client.callTool('test_image_content')).content[0]?.type, 'image');
      assert.ok((await client.readResource('test://static-text')).contents.length === 1);
    });
  }

  test(`${name}: everything over HTTP`, { skip, timeout: PATIENCE }, async (context) => {
    await using server = await served(program);
    for (const revision of [LEGACY_REVISIONS[0], ...MODERN_REVISIONS] as string[]) {
      const isLegacy = LEGACY_REVISIONS.includes(revision);
      await context.test(`in ${revision}`, async () => {
        await tour((options) => Client.connect(server.url, { ...options, revisions: [revision] }), isLegacy);
      });
    }
  });

  test(
    `${name}: a server over HTTP that is killed in the middle of calls`,
    { skip, timeout: PATIENCE },
    async () => {
      const server = await served(program);
      const client = await Client.connect(server.url);
      const calls = Array.from({ length: 20 }, () => client.callTool('test_slow', { seconds: 20 }));
      setTimeout(() => void server[Symbol.asyncDispose](), 300);
      for (const outcome of await Promise.allSettled(calls)) {
        assert.equal(outcome.status, 'rejected');
        assert.ok(outcome.reason instanceof ConnectionLostError, String(outcome.reason));
      }
      await client.close();
    },
  );
}

for (const revisions of [LEGACY_REVISIONS, MODERN_REVISIONS]) {
  test(
    `a server over HTTP that is asked to end answers first, in ${revisions[0]}`,
    { timeout: PATIENCE },
    async () => {
      await using server = await served(NODE);
      await using client = await Client.connect(server.url, { revisions });
      await client.subscribe({ tools: true }); // a stream that would go on
      const answer = text(client, 'test_tool_with_progress');
      await client.listTools(); // the call before it has arrived
      const status = server.end();
      assert.match(await answer, /reported/);
      assert.equal(await status, 0);
    },
  );
}
