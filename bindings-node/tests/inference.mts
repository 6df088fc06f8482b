/** What the compiler infers and refuses. It is compiled and never run. */

import { Server } from 'barewire';
import { createHandler, nodeHandler } from 'barewire/http';
import { type } from 'arktype';
import * as v from 'valibot';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import * as z from 'zod';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A>() {
  return { as: <B,>(_: Same<A, B>) => {} };
}

export function good(server: Server): void {
  server.tool('zod', { input: z.object({ a: z.number(), b: z.string().optional() }) }, (input) => {
    same<typeof input>().as<{ a: number; b?: string | undefined }>(true);
    return '';
  });
  server.tool('transforms', { input: z.object({ at: z.string().transform(Number) }) }, ({ at }) => {
    same<typeof at>().as<number>(true);
  });
  server.tool('valibot', { input: toStandardJsonSchema(v.object({ a: v.number() })) }, ({ a }) => {
    same<typeof a>().as<number>(true);
  });
  server.tool('arktype', { input: type({ a: 'number' }) }, ({ a }) => {
    same<typeof a>().as<number>(true);
  });
  server.tool('json', { input: { type: 'object', properties: { a: { type: 'number' } } } }, ({ a }) => {
    same<typeof a>().as<unknown>(true);
  });
  server.tool('output', { output: z.object({ sum: z.number() }) }, () => ({ sum: 1 }));
  server.tool('whole', { output: z.object({ sum: z.number() }) }, async () => ({
    content: [],
    structuredContent: { sum: 1 },
  }));
  server.tool('ask', {}, async (_, context) => {
    same<typeof context.signal>().as<AbortSignal>(true);
    const answer = await context.elicit('?', z.object({ yes: z.boolean() }));
    if (answer.action !== 'accept') return;
    same<typeof answer.content>().as<{ yes: boolean }>(true);
  });
  server.resource('notes://{id}{/path*}{?lang,size:3}', { name: 'note' }, (variables) => {
    same<typeof variables.id>().as<string>(true);
    same<typeof variables.path>().as<string>(true);
    same<typeof variables.lang>().as<string | undefined>(true);
    same<typeof variables.size>().as<string | undefined>(true);
    return '';
  });
  server.prompt('greet', { input: z.object({ name: z.string() }) }, ({ name }) => name);
  server.prompt('plain', {}, ({ name = '' }) => name);
  const fetchHandler: (request: Request) => Promise<Response> = createHandler(server);
  void [fetchHandler, nodeHandler(server)];
}

export function bad(server: Server): void {
  // @ts-expect-error: a server has a version
  void new Server({ name: 'x' });
  // @ts-expect-error: there is no argument c
  server.tool('a', { input: z.object({ a: z.number() }) }, ({ c }) => `${c}`);
  // @ts-expect-error: a is a number
  server.tool('b', { input: z.object({ a: z.number() }) }, ({ a }) => a.toUpperCase());
  // @ts-expect-error: the output is an object with a sum
  server.tool('c', { output: z.object({ sum: z.number() }) }, () => ({ total: 1 }));
  // @ts-expect-error: and so it is behind a promise
  server.tool('d', { output: z.object({ sum: z.number() }) }, async () => 'text');
  // @ts-expect-error: a schema of valibot does not tell its JSON Schema
  server.tool('e', { input: v.object({ a: v.number() }) }, () => '');
  // @ts-expect-error: values of a plain JSON Schema are unknown
  server.tool('f', { input: { type: 'object', properties: {} } }, ({ a }) => a.toUpperCase());
  // @ts-expect-error: the arguments of a tool are an object
  server.tool('g', { input: { type: 'string' } }, () => '');
  // @ts-expect-error: the template has no variable name
  server.resource('notes://{id}', { name: 'note' }, ({ name }) => `${name}`);
  // @ts-expect-error: a resource has a name
  server.resource('notes://{id}', {}, ({ id }) => id);
  // @ts-expect-error: there is no such hint
  server.tool('h', { annotations: { readOnly: true } }, () => '');
}
