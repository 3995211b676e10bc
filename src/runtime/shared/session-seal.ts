import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../contract/clock.js';

/** What a sealed session id is good for: one route and one caller, whatever token the caller holds today. */
export interface SessionBinding {
  readonly route: string;
  readonly issuer: string;
  readonly principal: string;
  readonly client: string;
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

/**
 * Seals with AES-256-GCM: `<key id>.<base64url(nonce, expiry and id, tag)>`, the binding as additional data. The key comes from
 * the secret by HKDF-SHA-256; the nonce is 96 random bits, so one secret is good for 2^32 sessions (NIST SP 800-38D, 8.3).
 */
export function createSessionSeal(options: SessionSealOptions): SessionSeal {
  const secrets = options.keys !== undefined && options.keys.length > 0 ? options.keys : [randomBytes(32).toString('base64url')];
  const keys = secrets.map(deriveKey);
  const sealing = keys[0] as SealKey;
  const opened = new LRUCache<string, Opened>({ max: MAX_REMEMBERED });
  return {
    seal(upstream_id, binding) {
      if (upstream_id.length > MAX_ID || !VISIBLE.test(upstream_id)) return undefined;
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv('aes-256-gcm', sealing.key, nonce);
      cipher.setAAD(additional(binding));
      const plain = Buffer.allocUnsafe(EXPIRY + upstream_id.length);
      plain.writeDoubleBE(options.clock.now_ms() + options.ttl_s * 1000, 0);
      plain.write(upstream_id, EXPIRY, 'latin1');
      const sealed = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
      return `${sealing.id}.${sealed.toString('base64url')}`;
    },
    open(sealed, binding) {
      const known = opened.get(sealed);
      if (known !== undefined && sameBinding(known.binding, binding))
        return known.expires_at_ms > options.clock.now_ms() ? known.upstream_id : undefined;
      if (sealed.length > MAX_SEALED || sealed.charAt(KEY_ID) !== '.') return undefined;
      const id = sealed.slice(0, KEY_ID);
      const found = keys.find((key) => key.id === id);
      const text = sealed.slice(KEY_ID + 1);
      if (found === undefined || !BASE64URL.test(text)) return undefined;
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.length <= NONCE + EXPIRY + TAG || bytes.toString('base64url') !== text) return undefined;
      const plain = decrypt(found.key, bytes, additional(binding));
      const expires_at_ms = plain?.readDoubleBE(0) ?? 0;
      if (plain === undefined || !(expires_at_ms > options.clock.now_ms())) return undefined;
      const upstream_id = plain.toString('latin1', EXPIRY);
      if (sealed.length <= MAX_REMEMBERED_CHARS) opened.set(sealed, { upstream_id, expires_at_ms, binding });
      return upstream_id;
    },
  };
}

const NONCE = 12;
const TAG = 16;
const EXPIRY = 8;
const KEY_ID = 8;
const MAX_ID = 2048;
const MAX_SEALED = 4096;
const VISIBLE = /^[\x21-\x7e]+$/;
const BASE64URL = /^[A-Za-z0-9_-]+$/;

/** Ids whose seal was found good, so that AES need not be asked for each call of a session: the least recently used are forgotten. */
const MAX_REMEMBERED = 4096;
/** Longer ones are opened anew each time. */
const MAX_REMEMBERED_CHARS = 512;

interface Opened {
  readonly upstream_id: string;
  readonly expires_at_ms: number;
  /** Who it was opened for; nobody else is told. */
  readonly binding: SessionBinding;
}

function sameBinding(a: SessionBinding, b: SessionBinding): boolean {
  return a.route === b.route && a.issuer === b.issuer && a.principal === b.principal && a.client === b.client;
}

interface SealKey {
  readonly id: string;
  readonly key: Uint8Array;
}

function deriveKey(secret: string): SealKey {
  const key = new Uint8Array(hkdfSync('sha256', secret, 'portcullis', 'session-seal-1', 32));
  return { key, id: createHash('sha256').update('session-seal-id').update(key).digest('base64url').slice(0, KEY_ID) };
}

function additional(binding: SessionBinding): Buffer {
  return Buffer.from(JSON.stringify([binding.route, binding.issuer, binding.principal, binding.client]));
}

function decrypt(key: Uint8Array, bytes: Buffer, aad: Buffer): Buffer | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE), { authTagLength: TAG });
  decipher.setAAD(aad);
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE, bytes.length - TAG)), decipher.final()]);
  } catch {
    return undefined;
  }
}
