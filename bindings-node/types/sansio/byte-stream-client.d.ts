/** Clients behind newline framing. */
import { ClientCommands } from './client-commands.js';
import { type ClientEvent } from './events.js';
import type { ClientSettings } from './settings.js';
/** A client behind newline framing. It starts to connect at once: take `dataToSend`. */
export declare class Client extends ClientCommands<ClientEvent> {
    /** Sets a client up. */
    constructor(settings: ClientSettings);
    /**
     * Takes bytes that were read, cut anywhere, and gives all events.
     *
     * @throws {@link ConnectionClosedError} when the connection is over already, and no event is left to tell it.
     */
    receiveData(data: Uint8Array, now: number): ClientEvent[];
    /** The server closed its side; requests in flight fail. */
    receiveEof(now: number): ClientEvent[];
    /** The transport broke: nothing can be sent or received any more. */
    connectionLost(now: number): ClientEvent[];
    /** The server was started afresh, as `restartRequired` asked. */
    restart(now: number): ClientEvent[];
    /** Takes out all bytes that wait to be sent. They may lie in a larger `ArrayBuffer`, and nobody changes them. */
    dataToSend(): Uint8Array;
    /** False while so much waits to be sent or taken that the host should stop reading. */
    get wantsInput(): boolean;
    /** True when everything is over and sent: close this side of the stream. */
    get isFinished(): boolean;
}
