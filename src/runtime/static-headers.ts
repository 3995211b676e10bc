import { ConfigError, type ConfigProblem } from '../errors/error.js';
import { HOP_BY_HOP } from './dropped-headers.js';

/**
 * Checks `runtimes.<name>.headers`: names are tokens, values are field values, and none is a field that the gateway writes itself.
 * @throws ConfigError naming every bad key; values are never quoted.
 */
export function checkStaticHeaders(runtime: string, headers: Readonly<Record<string, string>>): void {
  const problems: ConfigProblem[] = [];
  for (const [name, value] of Object.entries(headers)) {
    const where = `runtimes.${runtime}.headers.${name}`;
    const lower = name.toLowerCase();
    if (!TOKEN.test(name)) problems.push({ where, message: 'is not a header name' });
    else if (HOP_BY_HOP.has(lower) || OWN.has(lower) || lower.startsWith('mcp-')) {
      problems.push({ where, message: 'is written by the gateway itself and cannot be set' });
    } else if (!VALUE.test(value)) problems.push({ where, message: 'the value must be printable ASCII' });
  }
  if (problems.length > 0) throw new ConfigError(problems);
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}$/;
const VALUE = /^[\x20-\x7e\t]*$/;
const OWN: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'last-event-id',
  'traceparent',
  'tracestate',
]);
