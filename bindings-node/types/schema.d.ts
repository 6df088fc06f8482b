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
        readonly types?: {
            readonly input: In;
            readonly output: Out;
        } | undefined;
        /** Checks a value. */
        readonly validate: (value: unknown) => Validated<Out> | Promise<Validated<Out>>;
        /** Tells the JSON Schema of what is given and of what checking makes of it. */
        readonly jsonSchema: {
            readonly input: (options: {
                readonly target: 'draft-2020-12';
            }) => Record<string, unknown>;
            readonly output: (options: {
                readonly target: 'draft-2020-12';
            }) => Record<string, unknown>;
        };
    };
}
/** What checking a value comes to. */
export type Validated<Out> = {
    readonly value: Out;
    readonly issues?: undefined;
} | {
    readonly issues: readonly SchemaIssue[];
};
/** What is wrong with a value, and where. */
export interface SchemaIssue {
    /** What is wrong, for people. */
    readonly message: string;
    /** Where, from the outside in. */
    readonly path?: readonly (PropertyKey | {
        readonly key: PropertyKey;
    })[] | undefined;
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
export type OutputOf<S extends AnySchema> = S extends StandardSchema<infer _, infer Out> ? Out : Record<string, unknown>;
/** What is to be given where a schema is checked. */
export type InputOf<S extends AnySchema> = S extends StandardSchema<infer In, infer _> ? In : Record<string, unknown>;
