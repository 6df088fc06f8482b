/** A user who logs in and consents, with a browser without a screen: it keeps cookies and fills in forms. */

// Redirects and pages on the way, at most.
const STEPS = 20;

export class TestUser {
  /** Addresses of pages and redirects, in order. */
  visited: string[] = [];
  readonly #cookies = new Map<string, string>();

  constructor(
    readonly name = 'alice',
    readonly agrees = true,
  ) {}

  /** Opens a page, and does what it asks for until it asks for nothing; gives the text at the end. */
  readonly open = async (url: string): Promise<string> => {
    let [address, form]: [string, Record<string, string> | undefined] = [url, undefined];
    for (let step = 0; step < STEPS; step += 1) {
      const response = await this.#visit(address, form);
      const text = await response.text();
      form = undefined;
      if (response.status >= 300 && response.status < 400) {
        address = new URL(response.headers.get('location') ?? '', address).href;
      } else if (!text.includes('<form')) {
        return text;
      } else if (text.includes('name="login"')) {
        form = { login: this.name, answer: 'yes' };
      } else {
        form = { answer: this.agrees ? 'yes' : 'no' };
      }
    }
    throw new Error(`this leads nowhere: ${this.visited}`);
  };

  /** The scopes that were asked for, each time. */
  get asked(): string[] {
    const pages = this.visited.filter((address) => address.includes('/auth?'));
    return pages.map((address) => new URL(address).searchParams.get('scope') ?? '');
  }

  async #visit(url: string, form: Record<string, string> | undefined): Promise<Response> {
    this.visited.push(url);
    const cookie = [...this.#cookies].map((pair) => pair.join('=')).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie },
      ...(form !== undefined && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return response;
  }
}
