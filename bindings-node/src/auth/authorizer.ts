/** Carries out what an authorization machine asks for, beside the exchanges of a client. */

import type {
  Authorization,
  AuthorizationAction,
  AuthorizationEvent,
  OpenUserAgent,
  Refusal,
  SaveRecord,
  SendRequest,
} from '../sansio/authorization.js';
import { AuthorizationError } from '../sansio/errors.js';
import { AddressRefused, isInside, refuseInside, request, TooLarge } from './fetch.js';
import type { Grant } from './grant.js';
import { StoredRecord } from './token-store.js';

type Header = [name: string, value: string];

/** Somebody who waits for credentials. */
interface Wait {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Milliseconds that a timer can wait. */
const LONGEST_WAIT = 2 ** 31 - 1;

/**
 * The authorization of one client at one server.
 *
 * @internal
 */
export class Authorizer {
  readonly #grant: Grant;
  readonly #machine: Authorization;
  readonly #url: string;
  readonly #key: string;
  /** Who waits, by number. Who has left is in it until the machine has settled it. */
  readonly #waiting = new Map<number, Wait>();
  readonly #closed = new AbortController();
  #last = 0;
  /** Unlocks the store, while that is locked. */
  #unlock: (() => unknown) | undefined;
  /** Whether private addresses may be reached, once that is known. */
  #isInside: boolean | undefined;
  /** What went wrong last while something was carried out, for whoever looks for the reason. */
  #failure: unknown;
  #visit: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(grant: Grant, machine: Authorization, url: string) {
    this.#grant = grant;
    this.#machine = machine;
    this.#url = url;
    this.#key = grant.key(url);
  }

  // ------------------------------------------------------------ for the exchanges

  /** The headers that go with a request, and which token is in them. @throws AuthorizationError */
  async credentials(method: string, url: string): Promise<{ headers: Header[]; generation: number }> {
    if (!this.#machine.isReady(Date.now())) {
      await this.#wait((waiter) => this.#machine.acquire(waiter, Date.now()));
    }
    const { authorization, proof, generation } = this.#machine.credentials(method, url, Date.now());
    const headers: Header[] = [];
    if (authorization !== undefined) headers.push(['authorization', authorization]);
    if (proof !== undefined) headers.push(['dpop', proof.header(await this.#grant.sign(proof))]);
    return { headers, generation };
  }

  /** A request was refused. Resolved when it may be sent again. @throws AuthorizationError */
  challenge(refusal: Refusal, generation: number): Promise<void> {
    return this.#wait((waiter) => this.#machine.challenge(waiter, refusal, generation, Date.now()));
  }

  /** A response has come. */
  note(status: number, headers: Headers, generation: number): void {
    if (status === 401) return;
    this.#machine.noteSuccess(generation);
    const nonce = headers.get('dpop-nonce');
    if (nonce !== null) this.#machine.noteNonce(nonce);
  }

  /** Gives up what is under way. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('the client was closed'));
    this.#machine.cancel(Date.now());
    this.#pump();
    clearTimeout(this.#timer);
    await this.#release();
  }

  #wait(begin: (waiter: number) => void): Promise<void> {
    const waiter = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(waiter, { resolve, reject });
      begin(waiter);
      this.#pump();
    });
  }

  // ------------------------------------------------------------ driving the machine

  /** After anything has happened: does what there is to do, and tells who waits. */
  #pump(): void {
    const machine = this.#machine;
    for (let action = machine.pollAction(); action !== undefined; action = machine.pollAction()) {
      void this.#carryOut(action);
    }
    for (let event = machine.pollEvent(); event !== undefined; event = machine.pollEvent()) this.#tell(event);
    if (this.#visit !== undefined && !machine.awaitsCallback) {
      this.#visit.abort(new Error('nobody waits for the user any more'));
      this.#visit = undefined;
    }
    if (this.#waiting.size === 0) void this.#release();
    this.#setTimer(machine.pollTimeout());
  }

  #tell({ waiter, error }: AuthorizationEvent): void {
    const wait = this.#waiting.get(waiter);
    this.#waiting.delete(waiter);
    if (error === undefined) {
      wait?.resolve();
      return;
    }
    if (this.#failure !== undefined) error.cause = this.#failure;
    wait?.reject(error);
  }

  #setTimer(due: number | undefined): void {
    clearTimeout(this.#timer);
    if (due === undefined || this.#closed.signal.aborted) return;
    const wait = Math.min(Math.max(0, due - Date.now()), LONGEST_WAIT);
    this.#timer = setTimeout(() => {
      this.#machine.handleTimeout(Date.now());
      this.#pump();
    }, wait);
    // A token that is about to expire keeps nobody from ending.
    if (this.#waiting.size === 0) this.#timer.unref();
  }

  async #carryOut(action: AuthorizationAction): Promise<void> {
    this.#failure = undefined;
    try {
      await this.#do(action);
    } catch (error) {
      this.#failure = error;
      this.#machine.failAction(action.action, failureOf(error, action), Date.now());
    }
    this.#pump();
  }

  #do(action: AuthorizationAction): Promise<void> {
    switch (action.type) {
      case 'loadRecord':
        return this.#load(action.action);
      case 'saveRecord':
        return this.#save(action);
      case 'sendRequest':
        return this.#send(action);
      case 'openUserAgent':
        return this.#openUserAgent(action);
      case 'signInput':
        return this.#sign(action);
      case 'provideClient':
        return this.#provideClient(action);
      case 'provideAssertion':
        return this.#provideAssertion(action);
    }
  }

  // ------------------------------------------------------------ what there may be to do

  async #load(action: number): Promise<void> {
    const { store } = this.#grant;
    this.#unlock ??= await store.lock(this.#key, this.#closed.signal);
    this.#machine.loaded(action, await store.load(this.#key), Date.now());
  }

  async #save({ action, expected, generation, text }: SaveRecord): Promise<void> {
    const { store } = this.#grant;
    if (await store.save(this.#key, expected, new StoredRecord(generation, text))) {
      this.#machine.saved(action, Date.now());
    } else {
      this.#machine.saveConflicted(action, await store.load(this.#key), Date.now());
    }
  }

  async #send({ action, purpose, method, url, headers, body, responseBytes }: SendRequest): Promise<void> {
    await this.#checkAddress(purpose, url);
    const { signal } = this.#closed;
    const question = { method, url, headers, body, limit: responseBytes, signal };
    const answer = await request(this.#grant.fetch, question);
    this.#machine.receiveResponse(action, answer.status, answer.headers, answer.body, Date.now());
  }

  /** A server must not have this machine make requests to networks that it cannot reach itself. */
  async #checkAddress(purpose: string, url: string): Promise<void> {
    const { allows } = this.#grant;
    if (allows !== undefined) {
      if (await allows(purpose, url)) return;
      throw new AddressRefused('the policy of the application forbids it');
    }
    this.#isInside ??= await isInside(this.#url);
    if (!this.#isInside) await refuseInside(url);
  }

  async #openUserAgent(action: OpenUserAgent): Promise<void> {
    // It may take minutes, in which others shall not have to wait.
    await this.#release();
    if (!this.#machine.awaitsCallback) return; // it was given up meanwhile
    const visit = new AbortController();
    this.#visit = visit;
    void this.#receive(action, visit);
  }

  async #receive({ action, url }: OpenUserAgent, visit: AbortController): Promise<void> {
    const { userAgent } = this.#grant;
    try {
      const cameBack = await userAgent?.visit(url, visit.signal);
      if (visit.signal.aborted) return;
      this.#machine.receiveCallback(cameBack ?? '', Date.now());
    } catch (error) {
      if (visit.signal.aborted) return;
      this.#failure = error instanceof AuthorizationError ? error.cause : error;
      // Either it has failed by this, or it was none of ours, and nobody will bring another one.
      if (this.#machine.awaitsCallback) this.#machine.failAction(action, 'declined', Date.now());
    }
    this.#pump();
  }

  async #sign({ action, request }: Extract<AuthorizationAction, { type: 'signInput' }>): Promise<void> {
    this.#machine.signed(action, await this.#grant.sign(request), Date.now());
  }

  async #provideClient({ action, issuer }: { action: number; issuer: string }): Promise<void> {
    const client = await this.#grant.askClient?.(issuer);
    if (client === undefined) throw new TypeError('no client was named');
    this.#machine.clientProvided(action, this.#grant.named(client), Date.now());
  }

  async #provideAssertion(asked: { action: number; issuer: string; resource: string }): Promise<void> {
    const assertion = await this.#grant.assertion?.(asked.issuer, asked.resource);
    if (typeof assertion !== 'string') throw new TypeError('no assertion was given');
    this.#machine.assertionProvided(asked.action, assertion, Date.now());
  }

  /** Unlocks the store, if it is locked. */
  async #release(): Promise<void> {
    const unlock = this.#unlock;
    this.#unlock = undefined;
    await unlock?.();
  }
}

type Failure = Parameters<Authorization['failAction']>[1];

function failureOf(error: unknown, { type }: AuthorizationAction): Failure {
  if (error instanceof AddressRefused) return 'forbidden';
  if (error instanceof TooLarge) return 'tooLarge';
  // What users are asked for is theirs to refuse.
  return type === 'openUserAgent' || type === 'provideClient' ? 'declined' : 'unavailable';
}
