import { createHash } from 'node:crypto';
import type { Clock } from '../../contract/clock.js';
import { createSealedTexts } from '../sealed-texts.js';

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
 * Seals with `createSealedTexts`, the digest of the binding as additional data (MCP 2026-07-28 MRTR, "Server Requirements" 4 and 5).
 */
export function createStateSeal({ keys, clock, ttl_ms = 600_000 }: StateSealOptions): StateSeal {
  const texts = createSealedTexts({ label: 'request-state-1', keys, max_sealed: MAX_SEALED, clock });
  return {
    seal(state, binding) {
      const text = Buffer.from(state);
      if (text.length > MAX_STATE_BYTES) throw new RangeError(`state has more than ${MAX_STATE_BYTES} bytes`);
      return texts.seal(text, additional(binding), ttl_ms);
    },
    open: (sealed, binding) => texts.open(sealed, additional(binding))?.text.toString(),
  };
}

const MAX_STATE_BYTES = 32_768;
const MAX_SEALED = 44_000;

function additional(binding: string): Buffer {
  return createHash('sha256').update(binding).digest();
}
