/**
 * A server that uses every feature, `everything_server.mjs [--http PORT]`; the conformance suite calls it.
 *
 * It serves on standard input and output, or over HTTP. The first half works in every revision; the tools named
 * `input_required` show questions to the client, which legacy clients get as requests and newer ones as rounds of the
 * same call.
 */

import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server, ToolError } from 'barewire';
import { nodeHandler } from 'barewire/http';
import { run } from 'barewire/stdio';
import * as z from 'zod';

const server = new Server({
  name: 'everything',
  version: '1.0.0',
  title: 'Everything',
  instructions: 'A server that offers one of everything, for trying out clients.',
});

/** One red pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
);

/** A hundredth of a second of silence. */
function tinyWav(): Uint8Array {
  const samples = 80;
  const wav = Buffer.alloc(44 + samples, 0x80);
  wav.write('RIFF', 0);
  wav.writeUInt32LE(36 + samples, 4);
  wav.write('WAVEfmt ', 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20); // PCM
  wav.writeUInt16LE(1, 22); // one channel
  wav.writeUInt32LE(8000, 24);
  wav.writeUInt32LE(8000, 28);
  wav.writeUInt16LE(1, 32);
  wav.writeUInt16LE(8, 34); // bits of a sample
  wav.write('data', 36);
  wav.writeUInt32LE(samples, 40);
  return wav;
}

const WAV = tinyWav();
const READS = { readOnlyHint: true };

// ---------------------------------------------------------------- tools: content

server.tool(
  'test_simple_text',
  { description: 'Answers with text.', annotations: READS },
  () => 'This is a simple text response for testing.',
);

server.tool('test_image_content', { description: 'Answers with an image.', annotations: READS }, () => ({
  type: 'image',
  data: PNG,
  mimeType: 'image/png',
}));

server.tool('test_audio_content', { description: 'Answers with a sound.', annotations: READS }, () => ({
  type: 'audio',
  data: WAV,
  mimeType: 'audio/wav',
}));

server.tool(
  'test_embedded_resource',
  { description: 'Answers with a resource inside the result.', annotations: READS },
  () => ({
    type: 'resource',
    resource: {
      uri: 'test://embedded-resource',
      mimeType: 'text/plain',
      text: 'This is an embedded resource content.',
    },
  }),
);

server.tool(
  'test_resource_link',
  { description: 'Answers with a link to a resource.', annotations: READS },
  () => ({ type: 'resource_link', uri: 'test://static-text', name: 'static-text', mimeType: 'text/plain' }),
);

server.tool(
  'test_multiple_content_types',
  { description: 'Answers with text, an image and a resource.', annotations: READS },
  () => [
    'Multiple content types test:',
    { type: 'image', data: PNG, mimeType: 'image/png' },
    {
      type: 'resource',
      resource: {
        uri: 'test://mixed-content-resource',
        mimeType: 'application/json',
        text: '{"test":"data","value":123}',
      },
    },
  ],
);

server.tool(
  'test_structured_content',
  {
    description: 'Answers with structured content.',
    input: z.object({ place: z.string().default('here').describe('Any place will do.') }),
    output: z.object({
      place: z.string(),
      temperature: z.number().describe('Degrees Celsius.'),
      conditions: z.enum(['sunny', 'cloudy', 'rainy']).default('sunny'),
    }),
    annotations: READS,
  },
  ({ place }) => ({ place, temperature: 21.5 }),
);

server.tool('test_error_handling', { description: 'Fails on purpose.' }, () => {
  throw new ToolError('This tool intentionally returns an error for testing');
});

// ---------------------------------------------------------------- tools: while they run

server.tool('test_tool_with_logging', { description: 'Logs while it works.' }, async (_, context) => {
  await context.log('info', 'Tool execution started');
  await sleep(50);
  await context.log('info', 'Tool processing data');
  await sleep(50);
  await context.log('info', 'Tool execution completed');
  return 'Logged three messages.';
});

server.tool(
  'test_logging_tool',
  { description: 'Logs once, if the client wants to hear it.' },
  async (_, context) => {
    await context.log('info', 'A log message that was asked for');
    return 'Logged one message.';
  },
);

server.tool(
  'test_tool_with_progress',
  { description: 'Reports progress while it works.' },
  async (_, context) => {
    for (const done of [0, 50, 100]) {
      await context.progress(done, 100, `Completed step ${done} of 100`);
      await sleep(50);
    }
    return 'Progress was reported.';
  },
);

server.tool(
  'test_reconnection',
  { description: 'Hangs up while it works: the client comes back for the answer, which waits for it.' },
  async (_, context) => {
    context.closeStream(500);
    await sleep(100);
    return 'Reconnection test completed.';
  },
);

server.tool(
  'test_slow',
  {
    description: 'Takes its time, so that it can be cancelled.',
    input: z.object({ seconds: z.number().default(60) }),
  },
  async ({ seconds }, { signal }) => {
    await sleep(seconds * 1000, undefined, { signal });
    return `Slept ${seconds} s.`;
  },
);

// ---------------------------------------------------------------- tools: questions

server.tool(
  'test_elicitation',
  { description: 'Asks the user for name and address.', input: z.object({ message: z.string() }) },
  async ({ message }, context) => {
    const user = z.object({
      username: z.string().describe("User's response"),
      email: z.string().describe("User's email address"),
    });
    const { action, content } = await context.elicit(message, user);
    return `User response: action=${action}, content=${JSON.stringify(content)}`;
  },
);

const Defaults = z.object({
  name: z.string().default('John Doe'),
  age: z.int().default(30),
  score: z.number().default(95.5),
  status: z.enum(['active', 'inactive', 'pending']).default('active'),
  verified: z.boolean().default(true),
});

server.tool(
  'test_elicitation_sep1034_defaults',
  { description: 'Asks with a default for every kind of field.' },
  async (_, context) => {
    const question = 'Please review and update the form fields with defaults';
    const { action, content } = await context.elicit(question, Defaults);
    return `Elicitation completed: action=${action}, content=${JSON.stringify(content)}`;
  },
);

const OPTIONS = ['option1', 'option2', 'option3'];
const TITLED = ['First', 'Second', 'Third'].map((title, place) => ({ const: `value${place + 1}`, title }));

server.tool(
  'test_elicitation_sep1330_enums',
  { description: 'Asks with every kind of choice; here the form is a JSON Schema.' },
  async (_, context) => {
    const { action, content } = await context.elicit('Please select options from the enum fields', {
      type: 'object',
      properties: {
        untitledSingle: { type: 'string', enum: OPTIONS },
        titledSingle: { type: 'string', oneOf: TITLED },
        legacyEnum: {
          type: 'string',
          enum: ['opt1', 'opt2', 'opt3'],
          enumNames: ['Option One', 'Option Two', 'Option Three'],
        },
        untitledMulti: { type: 'array', items: { type: 'string', enum: OPTIONS } },
        titledMulti: { type: 'array', items: { anyOf: TITLED } },
      },
      required: [],
    });
    return `Elicitation completed: action=${action}, content=${JSON.stringify(content)}`;
  },
);

server.tool('test_streaming_elicitation', { description: 'Asks for a confirmation.' }, async (_, context) => {
  const answer = await context.elicit('Go on?', z.object({ confirm: z.boolean() }), { key: 'confirm' });
  return answer.content?.confirm ? 'Going on.' : 'Stopped.';
});

server.tool(
  'test_sampling',
  { description: "Asks the client's model.", input: z.object({ prompt: z.string() }) },
  async ({ prompt }, context) => {
    const { text } = await context.sample(prompt, { maxTokens: 100 });
    return `LLM response: ${text}`;
  },
);

server.tool('test_roots', { description: "Asks for the client's roots." }, async (_, context) =>
  (await context.roots()).map(({ uri }) => uri),
);

server.tool(
  'test_missing_capability',
  { description: 'Needs a client with a model.' },
  async (_, context) => (await context.sample('Are you there?', { maxTokens: 10 })).text,
);

// ---------------------------------------------------------------- tools: several rounds

const Name = z.object({ name: z.string() });
const Confirmation = z.object({ ok: z.boolean() });

server.tool(
  'test_input_required_result_elicitation',
  { description: 'Asks for a name.' },
  async (_, context) => {
    const { content } = await context.elicit('What is your name?', Name, { key: 'user_name' });
    return `Hello, ${content?.name ?? 'stranger'}!`;
  },
);

server.tool(
  'test_input_required_result_sampling',
  { description: "Asks the client's model for a capital." },
  async (_, context) => {
    const question = 'What is the capital of France?';
    const { text } = await context.sample(question, { maxTokens: 100, key: 'capital_question' });
    return `The model says: ${text}`;
  },
);

server.tool(
  'test_input_required_result_list_roots',
  { description: 'Asks for roots.' },
  async (_, context) => {
    const found = await context.roots({ key: 'client_roots' });
    return `Roots: ${found.map(({ uri }) => uri).join(', ')}`;
  },
);

server.tool(
  'test_input_required_result_request_state',
  { description: 'Keeps state with the client while it asks.' },
  async (_, context) => {
    const kept = await context.once('kept', () => 'state-ok');
    await context.elicit('Please confirm', Confirmation, { key: 'confirm' });
    return `Confirmed: ${kept}`;
  },
);

server.tool(
  'test_input_required_result_tampered_state',
  { description: 'Its state is sealed: what was tampered with is refused.' },
  async (_, context) => {
    await context.once('secret', () => 'do not touch');
    await context.elicit('Please confirm', Confirmation, { key: 'confirm' });
    return 'The state came back as it was.';
  },
);

server.tool(
  'test_input_required_result_multiple_inputs',
  { description: 'Asks three questions at once.' },
  async (_, context) => {
    await context.once('asked', () => true);
    const [user, greeting, found] = await Promise.all([
      context.elicit('What is your name?', Name, { key: 'user_name' }),
      context.sample('Write a greeting', { maxTokens: 100, key: 'greeting' }),
      context.roots({ key: 'client_roots' }),
    ]);
    return `${user.content?.name ?? 'nobody'}: ${greeting.text} (${found.length} roots)`;
  },
);

server.tool(
  'test_input_required_result_multi_round',
  { description: 'Asks twice, the second question after the first answer.' },
  async (_, context) => {
    await context.once('started', () => true);
    const first = await context.elicit('Step 1: What is your name?', Name, { key: 'step1' });
    const name = first.content?.name ?? 'nobody';
    const question = `Step 2: ${name}, what is your favourite colour?`;
    const second = await context.elicit(question, z.object({ color: z.string() }), { key: 'step2' });
    return `${name} likes ${second.content?.color ?? 'nothing'}.`;
  },
);

server.tool(
  'test_input_required_result_capabilities',
  { description: 'Asks only what the client can answer.' },
  async (_, context) => {
    const { capabilities } = context.client;
    if ('elicitation' in capabilities) await context.elicit('Who are you?', Name, { key: 'who' });
    if ('sampling' in capabilities) await context.sample('Who are you?', { maxTokens: 50, key: 'model' });
    return 'Asked what could be asked.';
  },
);

server.tool(
  'test_resume_in_memory',
  { description: 'Waits in this process for the answer, with all that it has computed.', resume: 'memory' },
  async (_, context) => {
    const steps = ['before'];
    await context.elicit('Go on?', z.object({ go: z.boolean() }), { key: 'go' });
    steps.push('after');
    return steps.join(' and ');
  },
);

// ---------------------------------------------------------------- tools: schemas and changes

server.tool(
  'json_schema_2020_12_tool',
  {
    description: 'Announces a JSON Schema as it is.',
    input: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
  },
  ({ name, address, contactMethod, phone, email }) =>
    JSON.stringify([name, address, contactMethod, phone, email]),
);

server.tool(
  'test_x_mcp_header',
  {
    description: 'Takes an argument that clients send in a header too, so that proxies can route by it.',
    input: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }),
    annotations: READS,
  },
  ({ region }) => `The call was for ${region}.`,
);

server.tool(
  'test_typed_arguments',
  {
    description: 'Takes an object, a choice and something optional.',
    input: z.object({
      place: z
        .object({ latitude: z.number(), longitude: z.number(), tags: z.array(z.string()).default([]) })
        .describe('Where to look.'),
      unit: z.enum(['m', 'ft']).default('m').describe('How to measure.'),
      limit: z.int().optional().describe('How many to find.'),
    }),
    annotations: READS,
  },
  ({ place, unit, limit }) => `${place.latitude},${place.longitude} in ${unit}, limit ${limit ?? 'none'}`,
);

let changes = 0;

server.tool(
  'test_trigger_tool_change',
  { description: 'Adds a tool and takes it out again: clients that watch the list are told.' },
  () => {
    changes += 1;
    const name = `temporary_${changes}`;
    server.tool(name, { description: 'Here for a moment.' }, () => 'Here for a moment.');
    server.removeTool(name);
    return 'The tool list has changed.';
  },
);

server.tool('test_trigger_prompt_change', { description: 'Adds a prompt and takes it out again.' }, () => {
  changes += 1;
  const name = `temporary_${changes}`;
  server.prompt(name, { description: 'Here for a moment.' }, () => 'Here for a moment.');
  server.removePrompt(name);
  return 'The prompt list has changed.';
});

server.tool(
  'test_trigger_resource_update',
  { description: 'Says that the watched resource has changed.' },
  () => {
    server.resourceUpdated('test://watched-resource');
    return 'The resource was updated.';
  },
);

// ---------------------------------------------------------------- resources

server.resource(
  'test://static-text',
  { name: 'static_text', description: 'Text that never changes.', mimeType: 'text/plain' },
  () => 'This is the content of the static text resource.',
);

server.resource(
  'test://static-binary',
  { name: 'static_binary', description: 'An image that never changes.', mimeType: 'image/png' },
  () => PNG,
);

server.resource(
  'test://watched-resource',
  { name: 'watched_resource', description: 'A resource to subscribe to.', mimeType: 'text/plain' },
  () => 'Watched resource content.',
);

server.resource(
  'test://template/{id}/data',
  { name: 'template_data', description: 'Data by id.', mimeType: 'application/json' },
  ({ id }) => ({ id, templateTest: true, data: `Data for ID: ${id}` }),
);

// ---------------------------------------------------------------- prompts and completion

server.prompt(
  'test_simple_prompt',
  { description: 'A prompt without arguments.' },
  () => 'This is a simple prompt for testing.',
);

server.prompt(
  'test_prompt_with_arguments',
  {
    description: 'A prompt with two arguments.',
    input: z.object({ arg1: z.string().describe('The first.'), arg2: z.string().describe('The second.') }),
  },
  ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
);

server.prompt(
  'test_prompt_with_embedded_resource',
  { description: 'A prompt that carries a resource.', input: z.object({ resourceUri: z.string() }) },
  ({ resourceUri: uri }) => [
    {
      type: 'resource',
      resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
    },
    'Please process the embedded resource above.',
  ],
);

server.prompt('test_prompt_with_image', { description: 'A prompt that carries an image.' }, () => [
  { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
  'Please analyze the image above.',
]);

server.prompt(
  'test_input_required_result_prompt',
  { description: 'A prompt that asks the user first.' },
  async (_, context) => {
    const question = 'What context should the prompt use?';
    const form = z.object({ context: z.string() });
    const { content } = await context.elicit(question, form, { key: 'user_context' });
    return `Use this context: ${content?.context ?? 'none'}`;
  },
);

const WORDS = ['test', 'testValue1', 'testing', 'paris', 'park', 'party'];

server.completion('test_prompt_with_arguments', 'arg1', ({ value }) =>
  WORDS.filter((word) => word.startsWith(value)),
);

server.completion('test://template/{id}/data', 'id', ({ value }) =>
  Array.from({ length: 100 }, (_, place) => String(100 + place)).filter((id) => id.startsWith(value)),
);

// ---------------------------------------------------------------- serving

const [transport, port] = process.argv.slice(2);
if (transport === '--http') {
  const handler = nodeHandler(server, { path: '/mcp' });
  const http = createServer(handler).listen(Number(port), '127.0.0.1');
  const end = async (): Promise<void> => {
    await handler.close(); // what is in flight gets its time
    http.close();
  };
  process.once('SIGINT', end).once('SIGTERM', end);
} else {
  await run(server);
}
