/** Ways of bytes to a server: a child process, or a server of this process. */
/** How a process ended: with a status, or by a signal. */
export interface ExitStatus {
    /** Its exit status; `undefined` if a signal ended it. */
    readonly code: number | undefined;
    /** The name of the signal, such as `SIGKILL`, if one ended it. */
    readonly signal: string | undefined;
}
/** Who is told what a server sends. */
export interface LinkReceiver {
    /** Takes bytes that the server sent, cut anywhere. */
    data(data: Uint8Array): void;
    /** The server sends nothing more; called once. */
    end(): void;
    /** All that was written has been taken, after some had to wait. */
    drained(): void;
}
/** A way of bytes to a server. Its methods do not wait, and throw nothing. */
export interface Link {
    /** How the server ended, where it is a process that has. */
    readonly exitStatus: ExitStatus | undefined;
    /** The last that the server wrote to its stderr, where that is captured. */
    readonly stderrTail: string;
    /** Why the server could not be started, or what ended it, as far as that is an error of this process. */
    readonly failure: unknown;
    /** How many bytes the server has not taken yet. */
    readonly pending: number;
    /** Begins to read; called once. */
    start(receiver: LinkReceiver): void;
    /** Sends bytes, which nobody changes later. */
    write(data: Uint8Array): void;
    /** Reads on no more, so that the server has to wait. */
    pause(): void;
    /** Reads on. */
    resume(): void;
    /** Ends the server, however long it takes to do that in order, and frees all that belongs to it. */
    close(): Promise<void>;
}
