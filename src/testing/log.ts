import type { Log } from '../contract/log.js';

/** One line as it was logged. */
export interface TestLogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A log that keeps its lines. */
export interface TestLog extends Log {
  /** Oldest first, those of children too. */
  readonly lines: readonly TestLogLine[];
}

/** An empty log that keeps its lines. */
export function makeLog(): TestLog {
  const lines: TestLogLine[] = [];
  return { lines, ...logger(lines, {}) };
}

function logger(lines: TestLogLine[], always: TestLogLine['fields']): Log {
  const write =
    (level: TestLogLine['level']): Log['info'] =>
    (fields, message) =>
      void lines.push({ level, message, fields: { ...always, ...fields } });
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => logger(lines, { ...always, ...fields }),
  };
}
