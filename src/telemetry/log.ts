import { type Logger, pino } from 'pino';
import type { Clock } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import { toPretty } from './pretty.js';
import { redacted, redactedText } from './redact.js';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface LogOptions {
  readonly level: LogLevel;
  /** `json`: one object a line. `pretty`: for a person at a terminal. */
  readonly format: 'json' | 'pretty';
  /** Takes one line with its line feed. What it throws is swallowed: a broken pipe must not end a request. */
  readonly write: (line: string) => void;
  readonly clock: Clock;
}

/** A log whose lines hold no secret, no control character and a bounded text. Times are UTC, ISO 8601. Never throws. */
export function createLog(options: LogOptions): Log {
  const { write, clock } = options;
  const destination = {
    write(line: string) {
      try {
        write(options.format === 'pretty' ? toPretty(line) : line);
      } catch {
        // The line is lost; there is nowhere to say so.
      }
    },
  };
  const logger = pino(
    {
      level: options.level,
      // No pid and host: the platform that collects the lines adds its own.
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${new Date(clock.now_ms()).toISOString()}"`,
      formatters: { level: (level) => ({ level }), log: redacted },
    },
    destination,
  );
  return fromPino(logger);
}

function fromPino(logger: Logger): Log {
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (fields: Readonly<Record<string, unknown>>, message: string): void => {
      if (logger.isLevelEnabled(level)) logger[level](fields, redactedText(message));
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => fromPino(logger.child(redacted(fields))),
  };
}
