import type { IssuerKeys } from './issuer-keys.js';
import { isJsonObject, type JsonObject } from './json-object.js';
import { parseJws } from './jws.js';
import { type Settings, toType } from './settings.js';
import { SourceFailure } from './source-failure.js';

export interface SignedAnswerRules {
  readonly issuer: string;
  readonly keys: IssuerKeys;
  readonly settings: Settings;
  /** Who the answer must be meant for. */
  readonly client_id: string;
  readonly now_ms: number;
}

const TYPE = 'token-introspection+jwt';

export function isSignedAnswer(media_type: string): boolean {
  return toType(media_type) === TYPE;
}

/** The `token_introspection` member of a signed answer (RFC 9701 section 5) after its type, issuer, audience, time and signature. Throws SourceFailure. */
export async function readSignedAnswer(body: Buffer, rules: SignedAnswerRules): Promise<JsonObject> {
  // trim() takes a byte order mark along.
  const jws = parseJws(body.toString('utf8').trim());
  if (jws === undefined) throw new SourceFailure('malformed', 'the signed answer is no signed JWT');
  const { header, claims, compact } = jws;
  const algorithms: readonly string[] = rules.settings.options.algorithms;
  const fault = answerFault(header, claims, algorithms, rules);
  if (fault !== undefined) throw new SourceFailure('malformed', fault);
  const verdict = await rules.keys.verify(compact, header, algorithms);
  if (verdict === 'unavailable') throw new SourceFailure('unreachable', 'the keys for the signed answer are out of reach');
  if (verdict === 'wrong') throw new SourceFailure('malformed', 'the signature of the answer is wrong');
  return claims.token_introspection as JsonObject;
}

function answerFault(header: JsonObject, claims: JsonObject, algorithms: readonly string[], rules: SignedAnswerRules): string | undefined {
  if (typeof header.typ !== 'string' || toType(header.typ) !== TYPE) return `the typ of the signed answer is not ${TYPE}`;
  if (!algorithms.includes(header.alg as string) || Object.hasOwn(header, 'crit'))
    return 'the signed answer uses an algorithm that is not accepted';
  if (claims.iss !== rules.issuer) return 'the signed answer is from another issuer';
  if (![claims.aud].flat().includes(rules.client_id)) return 'the signed answer is meant for another client';
  const latest_s = rules.now_ms / 1000 + rules.settings.options.clock_tolerance_s;
  if (typeof claims.iat !== 'number' || claims.iat > latest_s) return 'the signed answer has no usable iat';
  return isJsonObject(claims.token_introspection) ? undefined : 'the signed answer has no token_introspection';
}
