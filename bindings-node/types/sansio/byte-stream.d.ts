/** Servers behind newline framing, and what clients there have in common with them. */
import { type ServerEvent } from './events.js';
import { ServerCommands } from './server-commands.js';
import type { ServerSettings } from './settings.js';
/** A server behind newline framing, for both eras on one channel. */
export declare class Server extends ServerCommands<ServerEvent> {
    /** Sets a server up. */
    constructor(settings: ServerSettings);
    /**
     * Takes bytes that were read, cut anywhere, and gives all events.
     *
     * @throws {@link ConnectionClosedError} when the connection is over already, and no event is left to tell it.
     */
    receiveData(data: Uint8Array, now: number): ServerEvent[];
    /** The client closed its side; answers that are owed can still be sent. */
    receiveEof(now: number): ServerEvent[];
    /** The transport broke: nothing can be sent or received any more. */
    connectionLost(now: number): ServerEvent[];
    /** Takes out all bytes that wait to be sent. They may lie in a larger `ArrayBuffer`, and nobody changes them. */
    dataToSend(): Uint8Array;
    /** False while so much waits to be sent or taken that the host should stop reading. */
    get wantsInput(): boolean;
    /** True when everything is over and sent: close this side of the stream. */
    get isFinished(): boolean;
}
