import { builtins } from '../../gates/index.js';
import { CODES } from '../errors/codes.js';

/** What a code means, and what the caller can do. */
export interface Advice {
  readonly meaning: string;
  readonly remedy: string;
}

/** What the tables of the gateway and of the built-in gates say of a code; empty texts for a code of a third party's gate. */
export function adviceOf(code: string): Advice {
  if (Object.hasOwn(CODES, code)) return CODES[code as keyof typeof CODES];
  for (const module of Object.values(builtins)) {
    const row = module.codes?.[code];
    if (row !== undefined) return row;
  }
  return { meaning: '', remedy: '' };
}
