import type { Call } from '../../contract/runtime.js';
import { FIRST_LEVEL } from '../call/context.js';
import type { CoreSession } from '../call/request.js';
import type { ClientSeal, LegacyClient } from '../client-seal.js';

/**
 * Sessions of legacy clients over HTTP (MCP 2025-11-25, "Session Management"). The id carries what the client said of itself, bound to route and
 * caller; the log level that it set is kept in this process alone, for the 4 096 sessions that were used last, and is `info` elsewhere. A call
 * without an id, or with one that does not open, is served all the same, as one of a client that said nothing.
 */
export class ClientSessions {
  readonly #seal: ClientSeal;
  readonly #known = new Map<string, KnownSession>();

  constructor(seal: ClientSeal) {
    this.#seal = seal;
  }

  /** The id of a new session. */
  begin(call: Call, client: LegacyClient): string {
    return this.#seal.seal(client, bindingOf(call));
  }

  /** The session that a call belongs to. */
  find(call: Call): CoreSession | undefined {
    const id = call.head.headers.get('mcp-session-id');
    if (id === undefined) return undefined;
    const binding = bindingOf(call);
    const known = this.#known.get(id);
    if (known?.binding === binding) this.#known.delete(id);
    const session = known?.binding === binding ? known.session : this.#open(id, binding);
    if (session !== undefined) this.#keep(id, { binding, session });
    return session;
  }

  #open(id: string, binding: string): CoreSession | undefined {
    const client = this.#seal.open(id, binding);
    return client === undefined ? undefined : { log_level: FIRST_LEVEL, client };
  }

  /** The newest is last. */
  #keep(id: string, session: KnownSession): void {
    this.#known.set(id, session);
    if (this.#known.size <= MAX_KNOWN) return;
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest);
      return;
    }
  }
}

const MAX_KNOWN = 4096;

interface KnownSession {
  /** Of the caller whose session it is. */
  readonly binding: string;
  readonly session: CoreSession;
}

function bindingOf({ route, identity }: Call): string {
  return JSON.stringify([route.path, identity?.issuer ?? '', identity?.principal ?? '', identity?.client ?? '']);
}
