import { type Logger, pino } from 'pino';
import type { Clock } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import { redacted, redactedText } from './redact.js';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface LogOptions {
  readonly level: LogLevel;
  /** `json`: one object a line. `pretty`: for a person at a terminal. */
  readonly format: 'json' | 'pretty';
  /** Takes one line with its line feed. Its exceptions are swallowed: a broken pipe must not end a request. */
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

/** One JSON log line as a person reads it: time of day, level, message, then `key=value` pairs. */
function toPretty(line: string): string {
  const { level, time, message, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const pairs = Object.entries(fields).map(([key, value]) => `  ${shown(key)}=${shownValue(value)}`);
  return `${String(time).slice(11, 23)} ${String(level).toUpperCase().padEnd(5)} ${shown(String(message ?? ''))}${pairs.join('')}\n`;
}

function shownValue(value: unknown): string {
  if (typeof value === 'string') return /^[\w.:/@*-]+$/.test(value) ? value : shown(JSON.stringify(value));
  if (typeof value === 'object' && value !== null && 'stack' in value) return shownStack(value as { readonly stack: unknown });
  return shown(JSON.stringify(value));
}

function shownStack({ stack }: { readonly stack: unknown }): string {
  return String(stack)
    .split('\n')
    .map((row) => shown(row))
    .join('\n    ');
}

/** What a client sent may not move the cursor, hide text or begin a line: control and format characters are written as escapes. */
function shown(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
