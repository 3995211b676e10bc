import { createHash } from 'node:crypto';

const REDACTED = '[redacted]';
const MAX_TEXT = 2_000;
const MAX_DEPTH = 6;
const MAX_MEMBERS = 100;
/** Values of one line, at all depths together. */
const MAX_VALUES = 500;

/** What may still be copied. */
interface Budget {
  values: number;
}

/** Parts of a key, spelled without `-` and `_`, whose value is never written. */
const SECRET = /authorization|cookie|token|secret|passw|apikey|privatekey|assertion|credential|session(id)?$|dpop|bearer|signature|jwt$/;
/** Keys that measure a secret instead of holding it. */
const MEASURE = /_(ms|s|seconds|count|bytes|type)$/;
/** A JWT, and whatever follows an HTTP scheme, inside running text. */
const TOKENS = /\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+){1,4}|\b(?:bearer|dpop|basic) [A-Za-z0-9._~+/=-]{8,}/gi;

/** A copy of log fields that holds no secret: values of secret-like keys and tokens inside text are replaced; everything is bounded. */
export function redacted(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return copyObject(fields, 0, { values: MAX_VALUES });
}

/** Text without tokens, at most 2 000 UTF-16 units. */
export function redactedText(text: string): string {
  const cut = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  return cut.replace(TOKENS, REDACTED);
}

/** True for a key whose value is a secret by its name. */
function isSecretKey(key: string): boolean {
  return SECRET.test(key.toLowerCase().replaceAll(/[-_]/g, '')) && !MEASURE.test(key);
}

function copyObject(value: object, depth: number, budget: Budget): Record<string, unknown> {
  const copy: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value)) {
    if (copy.length === MAX_MEMBERS || budget.values <= 0) break;
    if (member === undefined) continue;
    const secret = isSecretKey(key) && typeof member !== 'boolean';
    copy.push([redactedText(key), secret ? REDACTED : copyValue(member, depth + 1, budget)]);
  }
  return Object.fromEntries(copy);
}

function copyValue(value: unknown, depth: number, budget: Budget): unknown {
  budget.values -= 1;
  if (typeof value === 'string') return redactedText(value);
  if (typeof value === 'bigint') return value.toString();
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value !== 'object') return `[${typeof value}]`;
  if (depth >= MAX_DEPTH) return '[deep]';
  if (value instanceof Error) return copyError(value, depth, budget);
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Set) return copyList([...value], depth, budget);
  if (value instanceof Map) return copyObject(Object.fromEntries(value), depth, budget);
  if (Array.isArray(value)) return copyList(value, depth, budget);
  return copyObject(value, depth, budget);
}

function copyList(list: readonly unknown[], depth: number, budget: Budget): readonly unknown[] {
  const copy: unknown[] = [];
  for (const member of list) {
    if (copy.length === MAX_MEMBERS || budget.values <= 0) break;
    copy.push(copyValue(member, depth + 1, budget));
  }
  return copy;
}

/** Own properties of an error are left out but its code: libraries hang requests and responses on them. */
function copyError(error: Error, depth: number, budget: Budget): Record<string, unknown> {
  const { code } = error as { readonly code?: unknown };
  return {
    name: error.name,
    message: redactedText(error.message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(error.stack === undefined ? {} : { stack: redactedText(error.stack) }),
    ...(error.cause === undefined ? {} : { cause: copyValue(error.cause, depth + 1, budget) }),
  };
}

/** One name for issuer and principal together: equal callers stay equal, and a guessable name can be guessed. */
export function pseudonymOf(identity: { readonly issuer: string; readonly principal: string }): string {
  return `sha256:${createHash('sha256').update(`${identity.issuer}\n${identity.principal}`).digest('hex')}`;
}
