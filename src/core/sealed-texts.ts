import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { Clock } from '../contract/clock.js';

/** What was opened: the text, and when it stops opening, in milliseconds since the epoch. */
export interface Opened {
  readonly text: Buffer;
  readonly expires_at_ms: number;
}

/** Texts that only holders of the same secret, label and binding can open. */
export interface SealedTexts {
  /** Seals for `ttl_ms`. `binding` is not in the sealed text; who opens it gives it again. */
  seal(text: Buffer, binding: Buffer, ttl_ms: number): string;
  /** Undefined: forged, changed, re-spelt, expired, longer than `max_sealed`, or for another key, label or binding. */
  open(sealed: string, binding: Buffer): Opened | undefined;
}

export interface SealOptions {
  /** What the texts are for: keys of two labels have nothing in common, and a text opens under its own label alone. */
  readonly label: string;
  /** Secrets: the first seals, all open. None: one random key, what was sealed opens no more when the process ends. */
  readonly keys: readonly string[];
  /** Prefixes `<key id>.`, so that one key is tried instead of each. The id is derived from the key under this label. */
  readonly key_id_label?: string;
  /** Characters of the longest sealed text; a longer one is refused before it is decoded. */
  readonly max_sealed: number;
  readonly clock: Clock;
}

/**
 * Seals with AES-256-GCM: base64url(nonce, expiry and text, tag), the binding as additional data, behind the key's id if it has one.
 * A key comes from its secret by HKDF-SHA-256 under the label; the nonce is 96 random bits, so one secret is good for 2^32 texts of a
 * label (NIST SP 800-38D, 8.3). Replicas with the same keys open each other's texts: the format is a contract between versions.
 */
export function createSealedTexts({ label, keys: secrets, key_id_label, max_sealed, clock }: SealOptions): SealedTexts {
  const keys = (secrets.length > 0 ? secrets : [randomBytes(32).toString('base64url')]).map((secret) =>
    deriveKey(secret, label, key_id_label),
  );
  const sealing = keys[0] as SealKey;
  const prefix = key_id_label === undefined ? 0 : KEY_ID + 1;
  return {
    seal(text, binding, ttl_ms) {
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv('aes-256-gcm', sealing.key, nonce).setAAD(binding);
      const expiry = Buffer.allocUnsafe(EXPIRY);
      expiry.writeDoubleBE(clock.now_ms() + ttl_ms, 0);
      const parts = [nonce, cipher.update(expiry), cipher.update(text), cipher.final(), cipher.getAuthTag()];
      return sealing.id + Buffer.concat(parts).toString('base64url');
    },
    open(sealed, binding) {
      if (sealed.length > max_sealed) return undefined;
      const id = sealed.slice(0, prefix);
      const coded = sealed.slice(prefix);
      if (!BASE64URL.test(coded)) return undefined;
      const bytes = Buffer.from(coded, 'base64url');
      if (bytes.length < NONCE + EXPIRY + TAG || bytes.toString('base64url') !== coded) return undefined;
      for (const { id: own, key } of keys) {
        const plain = own === id ? decrypt(key, bytes, binding) : undefined;
        if (plain === undefined) continue;
        const expires_at_ms = plain.readDoubleBE(0);
        return expires_at_ms > clock.now_ms() ? { text: plain.subarray(EXPIRY), expires_at_ms } : undefined;
      }
      return undefined;
    },
  };
}

const NONCE = 12;
const TAG = 16;
const EXPIRY = 8;
const KEY_ID = 8;
const BASE64URL = /^[A-Za-z0-9_-]+$/;

interface SealKey {
  /** What sealed texts begin with: `<key id>.`, or nothing. */
  readonly id: string;
  readonly key: Uint8Array;
}

function deriveKey(secret: string, label: string, key_id_label: string | undefined): SealKey {
  const key = new Uint8Array(hkdfSync('sha256', secret, 'portcullis', label, 32));
  if (key_id_label === undefined) return { id: '', key };
  return { id: `${createHash('sha256').update(key_id_label).update(key).digest('base64url').slice(0, KEY_ID)}.`, key };
}

function decrypt(key: Uint8Array, bytes: Buffer, binding: Buffer): Buffer | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE), { authTagLength: TAG }).setAAD(binding);
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE, bytes.length - TAG)), decipher.final()]);
  } catch {
    return undefined;
  }
}
