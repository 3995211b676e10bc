import { LRUCache } from 'lru-cache';
import type { Clock } from '../../contract/clock.js';
import type { Call } from '../../contract/runtime.js';
import { createSealedTexts } from '../../core/sealed-texts.js';
import { isVisible } from '../../wire/field.js';

/** What an id is sealed to: one route and one caller, independent of the caller's current token. */
export interface SessionBinding {
  readonly route: string;
  readonly issuer: string;
  readonly principal: string;
  readonly client: string;
}

/** The binding of what this call's caller is given; an unknown caller has empty names. */
export function bindingOf({ route, identity }: Call): SessionBinding {
  return {
    route: route.path,
    issuer: identity?.issuer ?? '',
    principal: identity?.principal ?? '',
    client: identity?.client ?? '',
  };
}

/** A binding as the additional data of a seal. */
export function bindingBytes({ route, issuer, principal, client }: SessionBinding): Buffer {
  return Buffer.from(JSON.stringify([route, issuer, principal, client]));
}

/** Turns the upstream's session ids into ids that only their owner can use. Nothing has to be stored: what is remembered saves time alone. */
export interface SessionSeal {
  /** The id for the client: visible ASCII, at most 4 096 characters. Undefined: the upstream's id is not 1 to 2 048 characters of visible ASCII. */
  seal(upstream_id: string, binding: SessionBinding): string | undefined;
  /** The upstream's id; undefined when the sealed id is forged, foreign, expired, over 4 096 characters or of an unknown key. */
  open(sealed: string, binding: SessionBinding): string | undefined;
}

export interface SessionSealOptions {
  /** Secrets: the first seals, all open. Undefined or empty: one random key, sessions end with the process. */
  readonly keys: readonly string[] | undefined;
  /** Seconds from sealing until the id opens no more. */
  readonly ttl_s: number;
  readonly clock: Clock;
}

/** Seals with `createSealedTexts`, the binding as JSON. A sealed id names its key: `<key id>.<base64url>`. */
export function createSessionSeal({ keys = [], ttl_s, clock }: SessionSealOptions): SessionSeal {
  const sealing = { label: 'session-seal-1', key_id_label: 'session-seal-id', keys, max_sealed: MAX_SEALED, clock };
  const texts = createSealedTexts(sealing);
  const opened = new LRUCache<string, Opened>({ max: MAX_REMEMBERED });
  return {
    seal(upstream_id, binding) {
      if (!isVisible(upstream_id, MAX_ID)) return undefined;
      return texts.seal(Buffer.from(upstream_id, 'latin1'), bindingBytes(binding), ttl_s * 1000);
    },
    open(sealed, binding) {
      const known = opened.get(sealed);
      if (known !== undefined && sameBinding(known.binding, binding))
        return known.expires_at_ms > clock.now_ms() ? known.upstream_id : undefined;
      const found = texts.open(sealed, bindingBytes(binding));
      if (found === undefined) return undefined;
      const upstream_id = found.text.toString('latin1');
      if (sealed.length <= MAX_REMEMBERED_CHARS) opened.set(sealed, { upstream_id, expires_at_ms: found.expires_at_ms, binding });
      return upstream_id;
    },
  };
}

const MAX_ID = 2048;
const MAX_SEALED = 4096;

/** Ids whose seal was found good, so that AES need not be asked for each call of a session: the least recently used are forgotten. */
const MAX_REMEMBERED = 4096;
/** Longer ones are not cached. */
const MAX_REMEMBERED_CHARS = 512;

interface Opened {
  readonly upstream_id: string;
  readonly expires_at_ms: number;
  /** The caller that it was opened for; no other caller gets the result. */
  readonly binding: SessionBinding;
}

function sameBinding(a: SessionBinding, b: SessionBinding): boolean {
  return a.route === b.route && a.issuer === b.issuer && a.principal === b.principal && a.client === b.client;
}
