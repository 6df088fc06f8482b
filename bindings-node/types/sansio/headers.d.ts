/** Headers on their way into the addon and out of it. */
/** Names and values in the order of arrival. The `Headers` of fetch are some. */
export type HeaderPairs = Iterable<readonly [name: string, value: string]>;
