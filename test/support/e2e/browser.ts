import { whole } from '../send.js';

/** Follows redirects and forms as a browser does, with cookies by path. */
export class Browser {
  readonly #cookies = new Map<string, { readonly value: string; readonly path: string }>();

  get paths(): ReadonlySet<string> {
    return new Set([...this.#cookies.values()].map(({ path }) => path));
  }

  /** Answers login and consent until a redirect leads away; returns where to. */
  async signIn(first: string): Promise<URL> {
    let url = new URL(first);
    let form: string | undefined;
    for (let step = 0; step < 20; step++) {
      const answer = await this.#visit(url, form);
      form = undefined;
      if (answer.headers.location !== undefined) {
        const next = new URL(answer.headers.location, url);
        if (next.origin !== url.origin) return next;
        url = next;
        continue;
      }
      const action = /<form[^>]*action="([^"]+)"/.exec(answer.text)?.[1];
      const prompt = /name="prompt" value="(\w+)"/.exec(answer.text)?.[1];
      if (action === undefined || prompt === undefined) throw new Error(`${url}: ${answer.status} ${answer.text.slice(0, 2000)}`);
      url = new URL(action, url);
      form = new URLSearchParams({ prompt, login: 'alice', password: 'any' }).toString();
    }
    throw new Error('no end');
  }

  async #visit(url: URL, form: string | undefined) {
    const cookie = [...this.#cookies].filter(
      ([, { path }]) => url.pathname === path || url.pathname.startsWith(`${path.replace(/\/$/, '')}/`),
    );
    const headers = {
      accept: 'text/html',
      ...(cookie.length === 0 ? {} : { cookie: cookie.map(([name, { value }]) => `${name}=${value}`).join('; ') }),
      ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded', origin: url.origin }),
    };
    const answer = await whole(url.href, form === undefined ? { headers } : { method: 'POST', headers, body: form });
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, { value, path: /; path=([^;]+)/i.exec(line)?.[1] ?? '/' });
    }
    return answer;
  }
}
