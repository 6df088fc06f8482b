/** The user's browser: it is sent to the authorization server, and received here when it comes back. */
/** What the user consents in. {@link Browser} is the one for programs on the user's machine. */
export interface UserAgent {
    /** Where the authorization server sends the user back to. It must not change. */
    redirectUri(): string | Promise<string>;
    /**
     * Has the user visit `url`; gives the URL that they come back to, whole. The signal is aborted when the user takes too
     * long. What is thrown says that the user does not want it.
     */
    visit(url: string, signal: AbortSignal): Promise<string>;
}
/** Options of a {@link Browser}. */
export interface BrowserOptions {
    /**
     * Where it is listened, while somebody is awaited. Default: a free port, which authorization servers have to take
     * whatever was registered (RFC 8252, section 7.3), though not all do.
     */
    readonly port?: number;
    /** Opens a URL. Default: the browser of the system; where there is none, the URL is written to standard error. */
    readonly open?: (url: string) => unknown;
}
/** The user's own browser, and a web server on the loopback interface that it comes back to. */
export declare class Browser implements UserAgent {
    #private;
    /** @param options - Where it comes back to, and how it is opened. */
    constructor({ port, open }?: BrowserOptions);
    /** Where the browser comes back to. */
    redirectUri(): Promise<string>;
    /** Opens `url`, and waits until the browser comes back from there. Others that come are turned away. */
    visit(url: string, signal: AbortSignal): Promise<string>;
}
