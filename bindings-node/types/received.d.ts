/** Reads what a peer sent member by member: what is good is kept, and what is not is told beside it. */
/** Something in a result that could not be read. */
export interface Problem {
    /** The position in the list or content, from 0; `undefined` if it is a member of the result itself. */
    readonly index: number | undefined;
    /** The member, such as `inputSchema` or `annotations.priority`; empty if it is the item as a whole. */
    readonly path: string;
    /** What is wrong with it. */
    readonly reason: string;
    /** The item that was left out, or the member that its item was delivered without. */
    readonly value: unknown;
    /** True if the item was left out; false if it was delivered without this optional member. */
    readonly isRejected: boolean;
}
