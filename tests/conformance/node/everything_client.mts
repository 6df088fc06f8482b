/**
 * A client that does what each client scenario of the conformance suite asks for: `everything_client.mjs URL`.
 *
 * The suite names the scenario, the revision to speak and what else the scenario needs in the environment. What belongs
 * to a scenario is a function below, written against the public API alone.
 */

import {
  Client,
  type ElicitAnswer,
  type ElicitRequest,
  REVISIONS,
  type SampleRequest,
  type Tool,
} from 'barewire';
import { LEGACY_REVISIONS } from 'barewire/sansio';
import { type Context, grantFor } from './scenario_auth.mjs';

/** Milliseconds for a whole scenario. The suite is told to give more, and ends only a shell when they are over. */
const PATIENCE = 100_000;

// ---------------------------------------------------------------- what the server may ask

/** A user who leaves each field of the form as it is, and ticks the boxes that are still open. */
function onElicit({ message, requestedSchema }: ElicitRequest): ElicitAnswer {
  console.log(`asked: ${message}`);
  const fields = Object.entries(
    (requestedSchema?.['properties'] ?? {}) as Record<string, { default?: unknown }>,
  );
  const content = Object.fromEntries(fields.map(([name, { default: usual = true }]) => [name, usual]));
  return { action: 'accept', content };
}

/** A model that has little to say. */
function onSample({ messages }: SampleRequest): string {
  console.log(`asked to continue ${messages.length} messages`);
  return 'This is a test response from the client.';
}

/** The folders that the server may work on. */
function onRoots(): string[] {
  return ['file:///tmp'];
}

// ---------------------------------------------------------------- scenarios

/** Calls a tool and shows what it says. */
async function call(client: Client, name: string, args: object = {}): Promise<void> {
  const { isError, content } = await client.callTool(name, args);
  console.log(`${name}: ${isError ? 'failed' : 'done'}`, content);
}

/** Connects, and sees what there is. Skills are not among what this client looks for. */
async function lookAround(client: Client): Promise<void> {
  console.log(client.serverInfo, Object.keys(client.capabilities));
}

/** Asks for the tools, all pages of them. */
async function listTools(client: Client): Promise<Tool[]> {
  const tools: Tool[] = [];
  for await (const tool of client.tools()) tools.push(tool);
  console.log(tools.map(({ name }) => name));
  return tools;
}

/** What a scenario tells its client beside. */
interface Given {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: object }[];
}

const SCENARIOS: Readonly<Record<string, (client: Client, given: Given) => Promise<unknown>>> = {
  initialize: lookAround,
  'request-metadata': lookAround,
  'sep-2640-client-no-prefetch': lookAround,
  'sep-2640-client-verify-digest': lookAround,
  'sep-2640-client-verify-frontmatter': lookAround,
  'sep-2640-client-verify-size': lookAround,

  'json-schema-ref-no-deref': listTools,

  async tools_call(client) {
    await listTools(client);
    await call(client, 'add_numbers', { a: 5, b: 3 });
  },

  async 'elicitation-sep1034-client-defaults'(client) {
    await listTools(client);
    await call(client, 'test_client_elicitation_defaults');
  },

  /** The answer comes after the server has hung up once. */
  async 'sse-retry'(client) {
    await listTools(client);
    await call(client, 'test_reconnection');
  },

  /** Tools that ask before they answer, while another one is called in between. */
  async 'sep-2322-client-request-state'(client) {
    await listTools(client);
    await Promise.all([call(client, 'test_mrtr_echo_state'), call(client, 'test_mrtr_unrelated')]);
    await call(client, 'test_mrtr_no_state');
    await call(client, 'test_mrtr_no_result_type');
  },

  /** One request of each kind that names what it is about. */
  async 'http-standard-headers'(client) {
    for await (const { name } of client.tools()) await call(client, name);
    for await (const { uri } of client.resources()) await client.readResource(uri);
    for await (const { name } of client.prompts()) await client.getPrompt(name);
  },

  /** Tools, with arguments as they are given, that want some of them in headers. */
  async 'http-custom-headers'(client, { toolCalls = [] }) {
    await listTools(client);
    for (const { name, arguments: args } of toolCalls) await call(client, name, args);
  },

  /** All tools that the client offers; it leaves out those that want headers which cannot be sent. */
  async 'http-invalid-tool-headers'(client) {
    for (const { name, inputSchema } of await listTools(client)) {
      const required = (inputSchema['required'] ?? []) as string[];
      await call(client, name, Object.fromEntries(required.map((argument) => [argument, 'example'])));
    }
  },

  /** Gives the schema of one tool to another, as it was received. */
  async 'json-schema-2020-12-preservation'(client) {
    const tools = await listTools(client);
    const tool = tools.find(({ name }) => name === 'json_schema_2020_12_tool');
    await call(client, 'json_schema_echo', { schema: tool?.inputSchema });
  },
};

/** Uses a protected server: how its client comes by tokens is in `scenario_auth.mts`. */
async function callWhenAuthorized(client: Client): Promise<void> {
  await listTools(client);
  await call(client, 'test-tool');
}

// ---------------------------------------------------------------- running one

/**
 * The revisions to offer: the one that is asked for and all older ones, which a server may fall back to. Suites that
 * ask for none know the handshake only.
 */
function spoken(revision: string | undefined): readonly string[] {
  return revision === undefined ? LEGACY_REVISIONS : REVISIONS.slice(REVISIONS.indexOf(revision));
}

const url = process.argv.at(-1) as string;
const {
  MCP_CONFORMANCE_SCENARIO: name = '',
  MCP_CONFORMANCE_PROTOCOL_VERSION: revision,
  MCP_CONFORMANCE_CONTEXT: context = '{}',
} = process.env;
setTimeout(() => process.exit(1), PATIENCE).unref();
const given = JSON.parse(context) as Given & Context;
const auth = grantFor(name, given);
const scenario = auth === undefined ? SCENARIOS[name] : callWhenAuthorized;
if (scenario === undefined) throw new Error(`no scenario is called '${name}'`);
await using client = await Client.connect(url, {
  revisions: spoken(revision),
  onElicit,
  onSample,
  onRoots,
  ...(auth !== undefined && { auth }),
});
console.log(`connected to ${url}, speaking ${client.revision}`);
await scenario(client, given);
