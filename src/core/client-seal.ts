import type { Clock } from '../contract/clock.js';
import type { ClientCapabilities, ClientInfo } from '../contract/handler.js';
import { isObject } from './call/params.js';
import { createSealedTexts } from './sealed-texts.js';

/** What a legacy client said of itself at the handshake, as far as later calls need it. */
export interface LegacyClient {
  /** The revision that `initialize` agreed on. */
  readonly revision: string;
  /** Elicitation, sampling and roots, with their known members; nothing else. */
  readonly capabilities: ClientCapabilities;
  /** Name and version. Undefined: not told, or longer than 160 bytes together, as JSON text. */
  readonly info: ClientInfo | undefined;
}

/** Session ids that carry the client, so that nothing is stored and any replica with the same keys can read them. */
export interface ClientSeal {
  /** At most 320 characters of visible ASCII; no two are alike. */
  seal(client: LegacyClient, binding: string): string;
  /** Undefined: forged, changed, or of another binding or key. */
  open(sealed: string, binding: string): LegacyClient | undefined;
}

export interface ClientSealOptions {
  /** Whose clients these are: ids of one label do not open under another. */
  readonly label: 'client-session-1' | 'bridge-session-1';
  /** Empty: one random key. */
  readonly keys: readonly string[];
  readonly clock: Clock;
}

/** Seals with `createSealedTexts`, without an end: what it carries is the client's own word and opens no door. */
export function createClientSeal({ label, keys, clock }: ClientSealOptions): ClientSeal {
  const texts = createSealedTexts({ label, key_id_label: `${label} key`, keys, max_sealed: MAX_SEALED, clock });
  return {
    seal({ revision, capabilities, info }, binding) {
      const bits = BITS.reduce((all, path, bit) => (hasPath(capabilities, path) ? all | (1 << bit) : all), 0);
      const text = JSON.stringify([revision, bits, ...(info === undefined ? [] : [info.name, info.version])]);
      return texts.seal(Buffer.from(text), Buffer.from(binding), Number.POSITIVE_INFINITY);
    },
    open(sealed, binding) {
      const text = texts.open(sealed, Buffer.from(binding))?.text;
      if (text === undefined) return undefined;
      const [revision, bits, name, version] = JSON.parse(text.toString()) as [string, number, string?, string?];
      const info = name === undefined || version === undefined ? undefined : { name, version };
      return { revision, capabilities: withPaths(BITS.filter((_path, bit) => (bits & (1 << bit)) !== 0)), info };
    },
  };
}

/** Reads the params of `initialize`. */
export function legacyClientOf(params: Readonly<Record<string, unknown>>, revision: string): LegacyClient {
  const capabilities = isObject(params.capabilities) ? params.capabilities : {};
  const { name, version } = isObject(params.clientInfo) ? params.clientInfo : {};
  const told = typeof name === 'string' && typeof version === 'string' && Buffer.byteLength(JSON.stringify([name, version])) <= MAX_INFO;
  return {
    revision,
    capabilities: withPaths(BITS.filter((path) => hasPath(capabilities, path))),
    info: told ? { name, version } : undefined,
  };
}

const MAX_SEALED = 320;
const MAX_INFO = 160;

/** What the bits of a sealed id stand for: the position of a path never changes, new ones go behind. */
const BITS: readonly (readonly [string, string?])[] = [
  ['elicitation'],
  ['elicitation', 'form'],
  ['elicitation', 'url'],
  ['sampling'],
  ['sampling', 'tools'],
  ['sampling', 'context'],
  ['roots'],
];

function hasPath(capabilities: object, [name, member]: readonly [string, string?]): boolean {
  const value = (capabilities as Readonly<Record<string, unknown>>)[name];
  return isObject(value) && (member === undefined || isObject(value[member]));
}

function withPaths(paths: readonly (readonly [string, string?])[]): ClientCapabilities {
  const capabilities: Record<string, Record<string, object>> = {};
  for (const [name, member] of paths) {
    const own = (capabilities[name] ??= {});
    if (member !== undefined) own[member] = {};
  }
  return capabilities;
}
