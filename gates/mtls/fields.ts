import { type RequestHead, trimOws } from 'portcullis/gate';
import { type Fault, malformed } from './codes.js';

/** The identity fields of one head: a value or undefined for each wanted name, and how many lines spelt one of them. */
export interface Fields {
  readonly values: readonly (string | undefined)[];
  /** Lines that a lenient reader could take for one of the fields, `_` spellings included. */
  readonly lines: number;
  /** Why no value may be used. */
  readonly fault: Fault | undefined;
}

/**
 * Reads the fields `names` (lower case) in one walk. A repeated or empty field, a `_` spelling, a value over `max_bytes`
 * and a field that `Connection` asks to delete are faults: somebody beside the terminator had a hand in them.
 */
export function readFields(head: RequestHead, names: readonly string[], max_bytes: number): Fields {
  const { raw } = head.headers;
  const values: (string | undefined)[] = new Array(names.length).fill(undefined);
  let lines = 0;
  let fault: Fault | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    const sent = raw[i] as string;
    const value = raw[i + 1] as string;
    if (sent.length === CONNECTION.length && nominates(sent, value, names))
      fault ??= malformed('Connection asks to delete the certificate header.');
    for (let n = 0; n < names.length; n += 1) {
      const name = names[n] as string;
      if (sent.length !== name.length || (sent !== name && sent.toLowerCase().replaceAll('_', '-') !== name)) continue;
      lines += 1;
      fault ??= check(name, sent, value, values[n] !== undefined, max_bytes);
      values[n] = value;
    }
  }
  return { values, lines, fault };
}

const CONNECTION = 'connection';

function check(name: string, sent: string, value: string, again: boolean, max_bytes: number): Fault | undefined {
  if (sent.includes('_')) return malformed(`A spelling of ${name} with _ was sent; only ${name} itself is read.`);
  if (again) return malformed(`${name} was sent more than once; the terminator must replace the client's copy.`);
  if (value === '') return malformed(`${name} is empty; without a certificate the terminator must not send it.`);
  if (value.length > max_bytes) return malformed(`${name} is longer than ${max_bytes} bytes.`);
  return undefined;
}

function nominates(sent: string, value: string, names: readonly string[]): boolean {
  if (value === 'keep-alive' || value === 'close' || sent.toLowerCase() !== CONNECTION) return false;
  return value.split(',').some((token) => names.includes(trimOws(token).toLowerCase()));
}
