/** The machines of vectors: how they are set up and told to do things. */

import {
  Client,
  type InputKind,
  type InputQuestion,
  type LogLevel,
  REVISIONS,
  Server,
  type ServerSettings,
} from 'barewire/sansio';
import { camelCase, Disagreement, isObject, type Members, type Value } from './vector-names.mjs';

type Machine = Client | Server;

/** Commands that open something, and the kind of handle that they give. */
export const OPENS: Readonly<Record<string, string>> = {
  request: 'request',
  set_log_level: 'request',
  subscribe: 'subscription',
};

/** JSON text of a value, or the text that is to be handed over exactly. */
function jsonText(value: Value): string {
  return isObject(value) && '$text' in value ? String(value['$text']) : JSON.stringify(value);
}

/** Settings under the names of JavaScript, with JSON text for those members. */
function settingsOf(config: Members, ...json: string[]): Members {
  const entries = Object.entries(config).map(([name, value]): [string, Value] => {
    if (json.includes(name)) return [camelCase(name), jsonText(value)];
    return [camelCase(name), isObject(value) ? settingsOf(value) : value];
  });
  return Object.fromEntries(entries);
}

/** The client of a vector. */
export function clientOf(config: Members): Client {
  const { era, ...settings } = settingsOf(config, 'capabilities');
  // The constructor refuses a verdict that it cannot read.
  const known = typeof era === 'string' && REVISIONS.includes(era) ? { era } : {};
  return new Client({
    name: 'client',
    version: '1',
    ...settings,
    ...known,
    seed: new Uint8Array(32).fill(1),
    now: 0,
  });
}

/** The server of a vector. */
export function serverOf(config: Members): Server {
  const { tools, resources, resource_templates, prompts, ...rest } = config;
  const server = new Server({
    name: 'server',
    version: '1',
    ...(settingsOf(rest, 'extensions') as Partial<ServerSettings>),
    seed: new Uint8Array(32).fill(2),
    clockOrigin: 0,
  });
  const add = (definitions: Value | undefined, register: (definition: string) => void) => {
    for (const definition of (definitions ?? []) as Value[]) register(jsonText(definition));
  };
  add(tools, (definition) => server.addTool(definition));
  add(resources, (definition) => server.addResource(definition));
  add(resource_templates, (definition) => server.addResourceTemplate(definition));
  add(prompts, (definition) => server.addPrompt(definition));
  return server;
}

type Run = (given: Given) => number | boolean | void;

/** The arguments of a command: each is taken once, and none may be left. */
class Given {
  readonly now: number;
  readonly #arguments: Members;

  constructor(args: Members, now: number) {
    this.#arguments = { ...args };
    this.now = now;
  }

  value(name: string): Value | undefined {
    const value = this.#arguments[name];
    delete this.#arguments[name];
    return value;
  }

  string(name: string): string {
    return this.value(name) as string;
  }

  maybeString(name: string): string | undefined {
    return this.value(name) as string | undefined;
  }

  number(name: string): number {
    return this.value(name) as number;
  }

  json(name: string): string {
    return jsonText(this.value(name) as Value);
  }

  maybeJson(name: string): string | undefined {
    const value = this.value(name);
    return value === undefined ? undefined : jsonText(value);
  }

  rest(): Members {
    const rest = { ...this.#arguments };
    for (const name of Object.keys(rest)) delete this.#arguments[name];
    return rest;
  }

  checkTaken(command: string): void {
    const left = Object.keys(this.#arguments);
    if (left.length > 0) throw new Disagreement(`${command} has no ${left.join(', ')}`);
  }
}

function questionsOf(value: Value | undefined): InputQuestion[] {
  return (value as Members[]).map((question) => ({
    key: question['key'] as string,
    kind: question['kind'] as InputKind,
    params: jsonText(question['params'] as Value),
  }));
}

function clientCommands(client: Client): Record<string, Run> {
  return {
    request: (given) => {
      const [method, params] = [given.string('method'), given.maybeJson('params')];
      return client.request(method, params, given.now, settingsOf(given.rest(), 'meta'));
    },
    provide_input: (given) => client.provideInput(given.number('input'), given.json('result'), given.now),
    refuse_input: (given) =>
      client.refuseInput(given.number('input'), given.number('code'), given.string('message'), given.now),
    subscribe: (given) => client.subscribe(settingsOf(given.value('filter') as Members), given.now),
    unsubscribe: (given) => client.unsubscribe(given.number('subscription'), given.now),
    set_log_level: (given) => client.setLogLevel(given.string('level') as LogLevel, given.now),
    cancel: (given) => client.cancel(given.number('request'), given.maybeString('reason')),
    notify: (given) => client.notify(given.string('method'), given.maybeJson('params')),
    close: () => client.close(),
  };
}

function serverCommands(server: Server): Record<string, Run> {
  return {
    respond: (given) => server.respond(given.number('request'), given.json('result')),
    respond_error: (given) => {
      const error = { code: given.number('code'), message: given.string('message') };
      const data = given.maybeJson('data');
      server.respondError(given.number('request'), data === undefined ? error : { ...error, data });
    },
    respond_missing_capability: (given) =>
      server.respondMissingCapability(given.number('request'), given.json('required')),
    respond_invalid_arguments: (given) =>
      server.respondInvalidArguments(given.number('request'), given.string('message')),
    require_input: (given) =>
      server.requireInput(
        given.number('request'),
        questionsOf(given.value('questions')),
        given.now,
        given.maybeJson('state'),
      ),
    progress: (given) =>
      server.progress(
        given.number('request'),
        given.number('progress'),
        given.value('total') as number | undefined,
        given.maybeString('message'),
      ),
    log: (given) => {
      const request = given.value('request') as number | undefined;
      const level = given.string('level') as LogLevel;
      const sent = server.log(request, level, given.json('data'), given.maybeString('logger'));
      // Outside a request there is nothing to give.
      return request === undefined ? undefined : sent;
    },
    notify: (given) =>
      server.notify(given.number('request'), given.string('method'), given.maybeJson('params')),
    publish_list_changed: (given) => server.publishListChanged(given.string('kind') as 'tools'),
    publish_resource_updated: (given) => server.publishResourceUpdated(given.string('uri')),
    end_subscription: (given) => server.endSubscription(given.number('subscription')),
    request: (given) =>
      server.request(given.number('session'), given.string('method'), given.maybeJson('params'), given.now),
    close: () => server.close(),
    add_tool: (given) => server.addTool(given.json('definition')),
    add_resource: (given) => server.addResource(given.json('definition')),
    add_resource_template: (given) => server.addResourceTemplate(given.json('definition')),
    add_prompt: (given) => server.addPrompt(given.json('definition')),
    remove_tool: (given) => server.removeTool(given.string('name')),
    remove_prompt: (given) => server.removePrompt(given.string('name')),
    remove_resource: (given) => server.removeResource(given.string('uri')),
    remove_resource_template: (given) => server.removeResourceTemplate(given.string('template')),
  };
}

/** Tells the machine to do something. */
export function run(machine: Machine, command: string, args: Members, now: number): number | boolean | void {
  const commands = machine instanceof Client ? clientCommands(machine) : serverCommands(machine);
  const wanted = commands[command];
  if (wanted === undefined) throw new Disagreement(`no such command: ${command}`);
  const given = new Given(args, now);
  const outcome = wanted(given);
  given.checkTaken(command);
  return outcome;
}
