/** The variables of URI templates (RFC 6570), as types. */

type Operator = '+' | '#' | '.' | '/' | ';';
type QueryOperator = '?' | '&';

/** A name without what says how to expand it. */
type Bare<V extends string> = V extends `${infer Name}*`
  ? Name
  : V extends `${infer Name}:${number}`
    ? Name
    : V;

type Names<List extends string> = List extends `${infer First},${infer Rest}`
  ? Bare<First> | Names<Rest>
  : Bare<List>;

/** Variables of an expression; those of a query may be left out by the client. */
type Expression<E extends string> = E extends `${QueryOperator}${infer List}`
  ? { readonly [Name in Names<List>]?: string }
  : E extends `${Operator}${infer List}`
    ? { readonly [Name in Names<List>]: string }
    : { readonly [Name in Names<E>]: string };

/**
 * The variables of a template, by name: strings. A URI that is only known at run time may hold any.
 *
 * `VariablesOf<'notes://{id}/{?lang}'>` is `{ id: string } & { lang?: string }`.
 */
export type VariablesOf<U extends string> = string extends U
  ? Readonly<Record<string, string>>
  : U extends `${string}{${infer E}}${infer Rest}`
    ? Expression<E> & VariablesOf<Rest>
    : Readonly<Record<never, string>>;
