/** Servers for the tests of the client, on the lower floor: in memory, and in lines of JSON. */

import type { Link, LinkReceiver, ServerInMemory } from 'barewire';
import { Server, type ServerEvent } from 'barewire/sansio';

/** What a test does about the events of its server. */
export type Script = (server: Server, event: ServerEvent) => void;

/** A way in memory to whatever takes and gives bytes. */
export class MemoryLink implements Link {
  readonly exitStatus = undefined;
  readonly stderrTail = '';
  readonly failure = undefined;
  pending = 0;
  isPaused = false;
  isClosed = false;
  receiver: LinkReceiver | undefined;
  readonly #waiting: Uint8Array[] = [];

  constructor(readonly take: (data: Uint8Array, link: MemoryLink) => void) {}

  start(receiver: LinkReceiver): void {
    this.receiver = receiver;
  }

  write(data: Uint8Array): void {
    const copy = data.slice();
    setImmediate(() => this.take(copy, this));
  }

  /** What the server sends. */
  give(data: Uint8Array | string): void {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    if (bytes.length === 0 || this.isClosed) return;
    if (this.isPaused) this.#waiting.push(bytes);
    else this.receiver?.data(bytes);
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    for (let data = this.#waiting.shift(); data !== undefined; data = this.#waiting.shift()) {
      if (this.isPaused) {
        this.#waiting.unshift(data);
        return;
      }
      this.receiver?.data(data);
    }
  }

  /** The server is gone. */
  die(): void {
    this.isClosed = true;
    this.receiver?.end();
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

/** A server on the lower floor, served in memory. */
export class ScriptedServer implements ServerInMemory {
  readonly machine: Server;
  readonly link: MemoryLink;
  readonly events: ServerEvent[] = [];

  constructor(script: Script, settings: Partial<ConstructorParameters<typeof Server>[0]> = {}) {
    this.machine = new Server({
      name: 'scripted',
      version: '1',
      instructions: 'Be brief.',
      completions: true,
      seed: crypto.getRandomValues(new Uint8Array(32)),
      clockOrigin: performance.timeOrigin,
      ...settings,
    });
    this.link = new MemoryLink((data) => {
      for (const event of this.machine.receiveData(data, performance.now())) {
        this.events.push(event);
        script(this.machine, event);
      }
      this.flush();
    });
  }

  flush(): void {
    this.link.give(this.machine.dataToSend());
  }

  openLink(): Link {
    return this.link;
  }
}

/** A server that answers lines of JSON as a table says: by method, a result. */
export function lineServer(answers: Readonly<Record<string, (params: any) => unknown>>): ServerInMemory & {
  link: MemoryLink;
  lines: any[];
} {
  const lines: any[] = [];
  const link = new MemoryLink((data, { give }) => {
    for (const line of Buffer.from(data).toString().trim().split('\n')) {
      const message = JSON.parse(line);
      lines.push(message);
      const answer = answers[message.method];
      if (message.id === undefined || message.method === undefined) continue;
      const outcome =
        answer === undefined
          ? { error: { code: -32601, message: 'Method not found' } }
          : { result: answer(message.params) };
      give.call(link, `${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...outcome })}\n`);
    }
  });
  return { link, lines, openLink: () => link };
}

/** The answer to the legacy handshake. */
export function initialized(params: any): object {
  const capabilities = {
    tools: {},
    resources: { subscribe: true },
    prompts: {},
    completions: {},
    logging: {},
  };
  return {
    protocolVersion: params.protocolVersion,
    capabilities,
    serverInfo: { name: 'lines', version: '1' },
  };
}
