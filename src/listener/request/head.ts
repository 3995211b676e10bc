import type { IncomingMessage } from 'node:http';
import type { Claims } from '../../contract/claims.js';
import type { HeaderView, RemoteAddress } from '../../contract/head.js';
import type { OriginVerdict } from '../../core/http/check-head.js';
import type { JudgedHead } from '../../gate-chain/chain.js';

/** Builds the head that gates and runtimes see. `claims` are set before the first gate runs. */
export class Head implements JudgedHead {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: HeaderView;
  readonly peer: RemoteAddress;
  readonly received_at_ms: number;
  readonly origin: OriginVerdict;
  claims_read = false;
  #claims: Claims = UNCLAIMED;

  constructor(
    request: IncomingMessage,
    headers: HeaderView,
    id: string,
    peer: RemoteAddress,
    received_at_ms: number,
    origin: OriginVerdict,
  ) {
    const target = request.url ?? '/';
    const mark = target.indexOf('?');
    this.id = id;
    this.method = request.method ?? '';
    this.path = mark === -1 ? target : target.slice(0, mark);
    this.query = mark === -1 ? '' : target.slice(mark + 1);
    this.headers = headers;
    this.peer = peer;
    this.received_at_ms = received_at_ms;
    this.origin = origin;
  }

  get claims(): Claims {
    this.claims_read = true;
    return this.#claims;
  }

  set claims(claims: Claims) {
    this.#claims = claims;
  }
}

/** The empty claims of a request that is not MCP. */
export const UNCLAIMED: Claims = { era: 'legacy', revision: '2025-03-26', declared: false, method: undefined, name: undefined };

/** Looks a name up by length first: of a dozen fields one or two are ever lower-cased. */
export class RawHeaders implements HeaderView {
  readonly raw: readonly string[];

  constructor(raw: readonly string[]) {
    this.raw = raw;
  }

  get(name: string): string | undefined {
    let found: string | undefined;
    const { raw } = this;
    for (let i = 0; i < raw.length; i += 2) {
      if (!isNamed(raw[i] as string, name)) continue;
      if (found !== undefined) return undefined;
      found = raw[i + 1];
    }
    return found;
  }

  all(name: string): readonly string[] {
    const { raw } = this;
    let found: string[] | undefined;
    for (let i = 0; i < raw.length; i += 2) {
      if (!isNamed(raw[i] as string, name)) continue;
      if (found === undefined) found = [raw[i + 1] as string];
      else found.push(raw[i + 1] as string);
    }
    return found ?? NONE;
  }
}

const NONE: readonly string[] = Object.freeze([]);

function isNamed(name: string, wanted: string): boolean {
  return name.length === wanted.length && (name === wanted || name.toLowerCase() === wanted);
}
