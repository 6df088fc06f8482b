/** Schemas: any library that speaks Standard Schema and Standard JSON Schema, or plain JSON Schema. */

/**
 * A schema of a library: it checks values, and tells its JSON Schema.
 *
 * It is what the standard calls `StandardSchemaV1` and `StandardJSONSchemaV1` in one (https://standardschema.dev):
 * schemas of zod from 4.2 and arktype from 2.1.28 as they are, and those of valibot once `toStandardJsonSchema` of
 * `@valibot/to-json-schema` has been called on them. `In` is what is given, `Out` what checking makes of it.
 */
export interface StandardSchema<In = unknown, Out = In> {
  /** What the standard defines. */
  readonly '~standard': {
    /** The version of the standard. */
    readonly version: 1;
    /** The name of the library. */
    readonly vendor: string;
    /** Exists for the compiler alone. */
    readonly types?: { readonly input: In; readonly output: Out } | undefined;
    /** Checks a value. */
    readonly validate: (value: unknown) => Validated<Out> | Promise<Validated<Out>>;
    /** Tells the JSON Schema of what is given and of what checking makes of it. */
    readonly jsonSchema: {
      readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
      readonly output: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
    };
  };
}

/** What checking a value comes to. */
export type Validated<Out> =
  { readonly value: Out; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

/** What is wrong with a value, and where. */
export interface SchemaIssue {
  /** What is wrong, for people. */
  readonly message: string;
  /** Where, from the outside in. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * The JSON Schema of an object, announced as it is.
 *
 * Nothing is checked against it: the handler gets what the client has sent, and what it returns is sent.
 */
export interface JsonSchema {
  readonly type: 'object';
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
  /** Not there: a schema of a library is none of these. */
  readonly '~standard'?: never;
}

/** A schema of either kind. */
export type AnySchema = StandardSchema | JsonSchema;

/** What a handler gets of values of a schema. Values of a plain JSON Schema are unknown: nobody checks them. */
export type OutputOf<S extends AnySchema> =
  S extends StandardSchema<infer _, infer Out> ? Out : Record<string, unknown>;

/** What is to be given where a schema is checked. */
export type InputOf<S extends AnySchema> =
  S extends StandardSchema<infer In, infer _> ? In : Record<string, unknown>;

/**
 * What checks a value: gives it, or a text of what is wrong; a promise of these if the schema wants to wait.
 *
 * @internal
 */
export type Checker = (value: unknown) => Checked | Promise<Checked>;

/** @internal */
export type Checked = { readonly value: unknown } | { readonly fault: string };

/**
 * Whether a schema is one of a library. Those of arktype are functions.
 *
 * @internal
 */
export function isStandard(schema: AnySchema): schema is StandardSchema {
  return '~standard' in schema;
}

/**
 * What checks values of a schema.
 *
 * @internal
 */
export function checker(schema: AnySchema | undefined): Checker {
  if (schema === undefined || !isStandard(schema)) return (value) => ({ value });
  const { validate } = schema['~standard'];
  return (value) => {
    const validated = validate(value);
    return validated instanceof Promise ? validated.then(judged) : judged(validated);
  };
}

function judged(validated: Validated<unknown>): Checked {
  return validated.issues ? { fault: validated.issues.map(issueText).join('; ') } : validated;
}

function issueText({ message, path }: SchemaIssue): string {
  if (path === undefined || path.length === 0) return message;
  const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment));
  return `${keys.join('.')}: ${message}`;
}

/**
 * The JSON Schema of what is given (`input`) or of what checking makes of it (`output`).
 *
 * @throws TypeError if the schema has none, or it is not that of an object.
 * @internal
 */
export function jsonSchema(schema: AnySchema, side: 'input' | 'output', what: string): JsonSchema {
  const derived = isStandard(schema) ? derive(schema, side, what) : schema;
  if (derived.type !== 'object') {
    throw new TypeError(
      `${what} has to be the schema of an object: z.object({ ... }), or { type: 'object', ... }`,
    );
  }
  return derived as JsonSchema;
}

function derive(schema: StandardSchema, side: 'input' | 'output', what: string): Record<string, unknown> {
  const { jsonSchema: converter, vendor } = schema['~standard'];
  if (converter === undefined) {
    throw new TypeError(
      `${what} does not tell its JSON Schema, as Standard JSON Schema wants it: take a newer ${vendor}, or what ` +
        'converts its schemas (for valibot toStandardJsonSchema of @valibot/to-json-schema)',
    );
  }
  try {
    return converter[side]({ target: 'draft-2020-12' });
  } catch (cause) {
    throw new TypeError(`${what} has no JSON Schema: ${(cause as Error).message}`, { cause });
  }
}
