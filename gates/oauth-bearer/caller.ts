import type { Facts, Identity } from 'portcullis/gate';
import { isJsonObject, type JsonObject } from './json-object.js';
import type { Options } from './options.js';
import { withImplied } from './scope-rules.js';

/** What verified claims say about the caller. */
export interface Caller {
  readonly identity: Omit<Identity, 'facts'>;
  /** `groups`: list of strings. `token`: the verified claims except `cnf` and `jti`; never the token. */
  readonly facts: Facts;
}

const MAX_NAME_CHARS = 1024;

/** The caller of verified claims; undefined when they name no usable principal. A client name that is not usable is left out. */
export function toCaller(claims: JsonObject, issuer: string, options: Options): Caller | undefined {
  const principal = pick(claims, options.principal_claim);
  if (!isName(principal)) return undefined;
  const client = claims.client_id ?? claims.azp;
  const { cnf: _cnf, jti: _jti, ...token } = claims;
  return {
    identity: {
      principal,
      issuer,
      scopes: withImplied([...toWords(claims.scope), ...toWords(claims.scp)], options.implied_scopes),
      ...(isName(client) ? { client } : {}),
      ...(typeof claims.exp === 'number' ? { expires_at_ms: Math.floor(claims.exp * 1000) } : {}),
    },
    facts: deepFreeze({ groups: toList(pick(claims, options.groups_claim)), token }),
  };
}

/** 1 to 1 024 characters without control characters and lone surrogates (`"\\ud800"` in JSON, which no UTF-8 can hold). */
function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_NAME_CHARS && !/[\x00-\x1f\x7f]|\p{Surrogate}/u.test(value);
}

/** A claim by its exact name, or by JSON pointer (RFC 6901) when the name starts with `/`. */
function pick(claims: JsonObject, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  if (!name.startsWith('/')) return undefined;
  let value: unknown = claims;
  for (const part of name.slice(1).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** `scope` and `scp` are written as one string with spaces or as a list. */
function toWords(value: unknown): readonly string[] {
  return toList(value).flatMap((text) => text.split(' ').filter((word) => word !== ''));
}

function toList(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string');
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
