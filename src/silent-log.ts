import type { Log } from './contract/log.js';

/** A log that says nothing. */
export const SILENT: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore, child: () => SILENT };

function ignore(): void {}
