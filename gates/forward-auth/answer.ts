import { fieldText, type GateDecision, type Identity, trimOws } from 'portcullis/gate';
import type { Options } from './options.js';
import type { ServiceAnswer } from './service.js';

/** Challenge lines that are relayed, and their characters in all. */
const MAX_CHALLENGES = 8;
const MAX_CHALLENGE_CHARS = 4_096;
/** Scopes or groups that are read from one field. */
const MAX_WORDS = 500;

export type AnswerOutcome = 'pass' | 'refused' | 'broken';

const BROKEN: readonly [AnswerOutcome, GateDecision] = [
  'broken',
  {
    kind: 'refuse',
    status: 502,
    code: 'FORWARD_AUTH_BROKEN',
    message: 'The service that decides about this request gave no usable answer.',
  },
];

/**
 * What an answer means: 2xx passes, 401 and 403 refuse with their challenge, everything else is broken. `about_call`: the service saw
 * what is called, and does not find out who calls.
 */
export function toDecision(
  answer: ServiceAnswer,
  identity: Options['identity'],
  about_call: boolean,
): readonly [AnswerOutcome, GateDecision] {
  const { status } = answer;
  if (status === 401 || status === 403) return ['refused', toRefusal(status, answer, about_call)];
  if (status < 200 || status > 299) return BROKEN;
  if (identity === undefined) return ['pass', { kind: 'pass' }];
  const decision = toIdentity(answer, identity);
  return decision === undefined ? BROKEN : ['pass', decision];
}

function toRefusal(status: 401 | 403, answer: ServiceAnswer, about_call: boolean): GateDecision {
  const given = answer.headers['www-authenticate'] ?? [];
  const challenges = (typeof given === 'string' ? [given] : given).slice(0, MAX_CHALLENGES);
  const fits = challenges.length > 0 && challenges.join('').length <= MAX_CHALLENGE_CHARS;
  return {
    kind: 'refuse',
    status,
    code: status === 401 ? 'FORWARD_AUTH_UNAUTHENTICATED' : 'FORWARD_AUTH_FORBIDDEN',
    message: status === 401 ? 'The request needs a valid credential.' : 'The request is not allowed for this caller.',
    ...(fits ? { headers: { 'www-authenticate': challenges } } : undefined),
    ...(status === 403 && about_call ? { about: 'call' } : undefined),
  };
}

function toIdentity(answer: ServiceAnswer, options: NonNullable<Options['identity']>): GateDecision | undefined {
  const read = (name: string | undefined): string | undefined => (name === undefined ? '' : single(answer, name));
  const principal = read(options.principal_header);
  const scopes = words(read(options.scopes_header), /[ ,]/);
  const groups = words(read(options.groups_header), ',');
  const client = read(options.client_header);
  if (principal === undefined || !isName(principal) || scopes === undefined || groups === undefined || client === undefined)
    return undefined;
  if (client !== '' && !isName(client)) return undefined;
  const identity: Omit<Identity, 'facts'> = {
    principal,
    issuer: options.issuer,
    scopes: new Set(scopes),
    ...(client === '' ? undefined : { client }),
  };
  return options.groups_header === undefined ? { kind: 'identify', identity } : { kind: 'identify', identity, facts: { groups } };
}

/** The only value of a field as text; empty when it is absent, undefined when it came more than once or is not UTF-8. */
function single(answer: ServiceAnswer, name: string): string | undefined {
  const value = answer.headers[name.toLowerCase()] ?? '';
  return typeof value === 'string' ? fieldText(trimOws(value)) : undefined;
}

function words(text: string | undefined, separator: string | RegExp): readonly string[] | undefined {
  const all = text
    ?.split(separator)
    .map(trimOws)
    .filter((word) => word !== '');
  return all === undefined || all.length > MAX_WORDS ? undefined : all;
}

function isName(text: string): boolean {
  return text !== '' && text.length <= 1_024 && !/\p{Cc}/u.test(text);
}
