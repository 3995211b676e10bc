import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { Clock } from '../../contract/clock.js';

/** Turns what a handler remembers between rounds into a text that only the same call of the same caller gives back. */
export interface StateSeal {
  /** `binding` is the caller, the method and the arguments. Throws RangeError when the state has more than 32 768 bytes. */
  seal(state: string, binding: string): string;
  /** Undefined: forged, expired, or sealed for another binding. */
  open(sealed: string, binding: string): string | undefined;
}

export interface StateSealOptions {
  /** Secrets: the first seals, all open. None: one random key, open questions end with the process. */
  readonly keys: readonly string[];
  readonly clock: Clock;
  /** Default 600 000: ten minutes. */
  readonly ttl_ms?: number;
}

/**
 * Seals with AES-256-GCM: base64url(nonce, expiry and state, tag), the binding as additional data (MCP 2026-07-28 MRTR, "Server
 * Requirements" 4 and 5). Keys come from the secrets by HKDF-SHA-256 under a label of their own.
 */
export function createStateSeal({ keys, clock, ttl_ms = 600_000 }: StateSealOptions): StateSeal {
  const secrets = keys.length > 0 ? keys : [randomBytes(32).toString('base64url')];
  const derived = secrets.map((secret) => new Uint8Array(hkdfSync('sha256', secret, 'portcullis', 'request-state-1', 32)));
  return {
    seal(state, binding) {
      const text = Buffer.from(state);
      if (text.length > MAX_STATE_BYTES) throw new RangeError(`state has more than ${MAX_STATE_BYTES} bytes`);
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv('aes-256-gcm', derived[0]!, nonce).setAAD(additional(binding));
      const expiry = Buffer.alloc(EXPIRY);
      expiry.writeDoubleBE(clock.now_ms() + ttl_ms, 0);
      return Buffer.concat([nonce, cipher.update(expiry), cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString('base64url');
    },
    open(sealed, binding) {
      if (sealed.length > MAX_SEALED || !BASE64URL.test(sealed)) return undefined;
      const bytes = Buffer.from(sealed, 'base64url');
      if (bytes.length < NONCE + EXPIRY + TAG || bytes.toString('base64url') !== sealed) return undefined;
      for (const key of derived) {
        const plain = decrypt(key, bytes, binding);
        if (plain !== undefined) return plain.readDoubleBE(0) > clock.now_ms() ? plain.toString('utf8', EXPIRY) : undefined;
      }
      return undefined;
    },
  };
}

const NONCE = 12;
const TAG = 16;
const EXPIRY = 8;
const MAX_STATE_BYTES = 32_768;
const MAX_SEALED = 44_000;
const BASE64URL = /^[A-Za-z0-9_-]+$/;

function additional(binding: string): Buffer {
  return createHash('sha256').update(binding).digest();
}

function decrypt(key: Uint8Array, bytes: Buffer, binding: string): Buffer | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE), { authTagLength: TAG }).setAAD(additional(binding));
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE, bytes.length - TAG)), decipher.final()]);
  } catch {
    return undefined;
  }
}
