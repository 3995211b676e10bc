import type { Dialect } from './dialect.js';
import { REV_2024_11_05 } from './rev-2024-11-05/dialect.js';
import { REV_2025_03_26 } from './rev-2025-03-26/dialect.js';
import { REV_2025_06_18 } from './rev-2025-06-18/dialect.js';
import { REV_2025_11_25 } from './rev-2025-11-25/dialect.js';
import { REV_2026_07_28 } from './rev-2026-07-28/dialect.js';

/** Every revision that a server speaks, newest first. */
export const DIALECTS: readonly Dialect[] = [REV_2026_07_28, REV_2025_11_25, REV_2025_06_18, REV_2025_03_26, REV_2024_11_05];

/** The dialect of an admitted request. Its revision was checked by `admitMessage`. */
export function dialectOf(revision: string): Dialect {
  return BY_REVISION.get(revision) ?? REV_2025_03_26;
}

/**
 * The revision that `initialize` answers: the one that was asked for, else the newest with a handshake (MCP 2025-11-25
 * Lifecycle, "Version Negotiation"). 2024-11-05 had another HTTP transport, so it is not offered over Streamable HTTP.
 */
export function negotiate(requested: string | undefined, offer_2024: boolean): Dialect {
  const found = requested === undefined ? undefined : BY_REVISION.get(requested);
  if (found === undefined || found.era === 'modern' || (found === REV_2024_11_05 && !offer_2024)) return REV_2025_11_25;
  return found;
}

const BY_REVISION: ReadonlyMap<string, Dialect> = new Map(DIALECTS.map((dialect) => [dialect.revision, dialect]));
