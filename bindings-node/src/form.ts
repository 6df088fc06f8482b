/** Schemas of libraries as forms allow them: flat, without references, and with a type on every field. */

import { type AnySchema, isStandard, jsonSchema, type JsonSchema } from './schema.js';

type Schema = Readonly<Record<string, unknown>>;

/**
 * The JSON Schema of a form. One that was spelled out stays as it is; what libraries write in other ways than forms do
 * is rewritten. What no form can ask for stays, and is refused when the question is put.
 *
 * @internal
 */
export function formSchema(form: AnySchema): JsonSchema {
  // Forms have a dialect of their own, whose name is not theirs to tell.
  const { $schema, ...schema } = jsonSchema(form, 'input', 'a form');
  if (!isStandard(form)) return schema;
  const { $defs = {}, properties = {}, ...rest } = schema;
  const fields = Object.entries(properties as Record<string, Schema>);
  return {
    ...rest,
    properties: Object.fromEntries(fields.map(([name, schema]) => [name, field(schema, $defs as Schema)])),
  };
}

function field(schema: Schema, definitions: Schema): Schema {
  if (typeof schema['$ref'] === 'string') return referred(schema, definitions);
  if (Array.isArray(schema['anyOf'])) return chosen(schema, definitions);
  const { type, items, enum: choices, const: constant, default: usual, ...rest } = schema;
  const named = choices ?? (constant === undefined ? undefined : [constant]);
  const known = Array.isArray(named) ? named.filter((choice) => choice !== null) : undefined;
  const isChoice = known?.every((choice) => typeof choice === 'string');
  const types = Array.isArray(type) ? type.filter((one) => one !== 'null') : [type];
  return {
    ...rest,
    type: types.length > 1 ? types : (types[0] ?? (isChoice ? 'string' : undefined)),
    ...(known && { enum: known }),
    ...(items !== undefined && { items: item(field(items as Schema, definitions)) }),
    ...(usual !== null && { default: usual }),
  };
}

/** What can be chosen several of: with titles, forms write it in another way. */
function item({ type, oneOf, ...rest }: Schema): Schema {
  return oneOf === undefined ? { type, ...rest } : { anyOf: oneOf, ...rest };
}

/** What a reference leads to, in its place. */
function referred({ $ref, ...rest }: Schema, definitions: Schema): Schema {
  const name = String($ref).replace(/^#\/\$defs\//, '');
  // Each definition is used up, so that those that refer to themselves come to an end.
  const { [name]: found, ...others } = definitions;
  return found === undefined ? { $ref, ...rest } : field({ ...(found as Schema), ...rest }, others);
}

/** A field that may be null, which is absent instead, or a choice among constants, with titles if all have one. */
function chosen({ anyOf, ...rest }: Schema, definitions: Schema): Schema {
  const options = (anyOf as Schema[]).filter(({ type }) => type !== 'null');
  if (options.length === 1) return field({ ...options[0], ...rest }, definitions);
  if (options.every(({ const: constant, title }) => typeof constant === 'string' && title !== undefined)) {
    return {
      ...rest,
      type: 'string',
      oneOf: options.map(({ const: constant, title }) => ({ const: constant, title })),
    };
  }
  const known = options.map((option) => field(option, definitions)['enum'] as readonly string[] | undefined);
  const choices = known.flatMap((some) => some ?? []);
  return known.includes(undefined) ? { anyOf, ...rest } : field({ enum: choices, ...rest }, definitions);
}
