import { trimOws, weightOf } from './field.js';

/** True for `application/json`, any case, with at most one parameter: a charset that is UTF-8, also spelt `utf8`, plain or quoted (RFC 9110 section 8.3). */
export function isJsonType(value: string | undefined): boolean {
  if (value === 'application/json') return true;
  if (value === undefined || value.length > 128) return false;
  const [type = '', ...parameters] = value.toLowerCase().split(';');
  if (trimOws(type) !== 'application/json' || parameters.length > 1) return false;
  const [parameter] = parameters;
  return parameter === undefined || UTF8.has(trimOws(parameter));
}

/** The type of a `Content-Type`, in lower case, without its parameters (RFC 9110 section 8.3.1). */
export function essenceOf(value: string): string {
  const semicolon = value.indexOf(';');
  return trimOws(semicolon < 0 ? value : value.slice(0, semicolon)).toLowerCase();
}

/** Which answers `Accept` admits. Absence and wildcards count as both; `q=0` as neither (RFC 9110 section 12.5.1). */
export function accepts(values: readonly string[]): { readonly json: boolean; readonly events: boolean } {
  if (values.length === 0 || (values.length === 1 && values[0] === BOTH_AS_SENT)) return BOTH;
  let json = false;
  let events = false;
  for (const value of values) {
    for (const range of value.split(',', MAX_RANGES)) {
      const [type = '', ...parameters] = range.toLowerCase().split(';', MAX_PARAMETERS);
      if (parameters.length > 0 && weightOf(parameters.map(trimOws)) === 0) continue;
      const name = trimOws(type);
      if (name === '*/*') json = events = true;
      else if (name === 'application/json' || name === 'application/*') json = true;
      else if (name === 'text/event-stream' || name === 'text/*') events = true;
    }
  }
  return { json, events };
}

/** What official clients send: answered without a look inside. */
const BOTH_AS_SENT = 'application/json, text/event-stream';
const BOTH = { json: true, events: true } as const;
const UTF8: ReadonlySet<string> = new Set(['charset=utf-8', 'charset="utf-8"', 'charset=utf8', 'charset="utf8"']);
const MAX_RANGES = 64;
const MAX_PARAMETERS = 8;
