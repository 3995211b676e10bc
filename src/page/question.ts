import { whyNotCidr } from '../config/format/network.js';
import type { Question } from '../explain/question.js';
import { isCertificate } from '../explain/terminator.js';
import { isToken, trimOws } from '../wire/field.js';
import type { FormValues } from './explain-form.js';

/** A form that was understood, or why it was not. `asked` holds what may be shown again. */
export type Read = { readonly question: Question; readonly asked: FormValues } | { readonly fault: string; readonly asked: FormValues };

const FIELDS = ['route', 'method', 'tool', 'address', 'via', 'http_method', 'revision', 'token', 'header', 'certificate'] as const;
type Field = (typeof FIELDS)[number];
const SECRET: readonly Field[] = ['token', 'header', 'certificate'];
const MAX_TEXT = 2048;
const MAX_SECRET = 32_768;
const MAX_HEADERS = 64;

/** Reads the body of the Explain form, `application/x-www-form-urlencoded`. No value is repeated in a fault. */
export function readQuestion(body: string): Read {
  const given: Partial<Record<Field, string>> = {};
  for (const [name, value] of new URLSearchParams(body)) {
    const field = FIELDS.find((known) => known === name);
    if (field === undefined) return { fault: `There is a field that is not known; the fields are ${FIELDS.join(', ')}.`, asked: {} };
    const text = value.trim();
    if (text !== '') given[field] = given[field] === undefined ? text : `${given[field]}\n${text}`;
  }
  const asked: FormValues = Object.fromEntries(
    Object.entries(given).filter(([name, value]) => !SECRET.includes(name as Field) && value.length <= MAX_TEXT),
  );
  const headers = (given.header ?? '').split(/\r?\n/).filter((line) => line.trim() !== '');
  const fault = faultOf(given, headers);
  if (fault !== undefined) return { fault, asked };
  const { route = '', method, tool, address, via, http_method, revision, certificate } = given;
  const question: Question = {
    path: route,
    http_method: http_method?.toUpperCase(),
    method,
    tool,
    revision,
    token: given.token?.replace(/^Bearer +/i, ''),
    certificate,
    address,
    via,
    headers: headers.map(toField),
  };
  return { question, asked };
}

function faultOf(given: Readonly<Partial<Record<Field, string>>>, headers: readonly string[]): string | undefined {
  const { route, address, via, http_method, certificate } = given;
  if (route === undefined || !route.startsWith('/')) return 'Route is needed: the path that the client dials, such as /files/mcp.';
  for (const name of FIELDS) {
    const value = given[name] ?? '';
    if (value.length > (SECRET.includes(name) ? MAX_SECRET : MAX_TEXT)) return `The field ${name} is too long.`;
    if (name !== 'header' && name !== 'certificate' && /\p{Cc}/u.test(value)) return `The field ${name} must be one line of text.`;
  }
  if (address !== undefined && !isAddress(address)) return 'Client address must be one IPv4 or IPv6 address.';
  if (via !== undefined && !isAddress(via)) return 'The address of the proxy must be one IPv4 or IPv6 address.';
  if (http_method !== undefined && !isToken(http_method)) return 'HTTP method must be a word such as POST.';
  if (certificate !== undefined && !isCertificate(certificate)) return 'The certificate cannot be read: it must be PEM.';
  if (headers.length > MAX_HEADERS) return `There may be at most ${MAX_HEADERS} header fields.`;
  if (headers.some((line) => !isField(line))) return 'Header fields are written name: value, one a line.';
  return undefined;
}

function isAddress(text: string): boolean {
  return !text.includes('/') && whyNotCidr(text) === undefined;
}

function isField(line: string): boolean {
  const [name, value] = toField(line);
  return isToken(name) && !/\p{Cc}/u.test(value);
}

function toField(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  return colon < 1 ? ['', ''] : [trimOws(line.slice(0, colon)), trimOws(line.slice(colon + 1))];
}
