import { isPlainText } from '../../wire/text.js';

/** Why a name of a tool is refused; undefined: it is good. */
export function whyNotToolName(name: unknown): string | undefined {
  return typeof name === 'string' && TOOL.test(name) ? undefined : 'a tool name has 1 to 128 of A-Z a-z 0-9 _ - .';
}

/** The same for a prompt, an argument, a resource's name. */
export function whyNotName(name: unknown): string | undefined {
  if (typeof name !== 'string' || name === '') return 'the name must be a text';
  return name.length <= MAX_NAME && isPlainText(name)
    ? undefined
    : `the name has NUL, half a surrogate pair or more than ${MAX_NAME} characters`;
}

/** The same for a resource's URI: absolute (RFC 3986 section 4.3), visible ASCII. */
export function whyNotUri(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || !ABSOLUTE.test(uri) || !URL.canParse(uri)) return 'the uri must be an absolute URI (RFC 3986) in ASCII';
  return uri.length <= MAX_URI ? undefined : `the uri is longer than ${MAX_URI}`;
}

/** The same for an extension id: a `_meta` key with a prefix (MCP 2026-07-28 Versioning, "Extension Negotiation"). */
export function whyNotExtension(id: string): string | undefined {
  return id.length <= MAX_NAME && EXTENSION.test(id)
    ? undefined
    : 'an extension id is a prefix of labels, a slash and a name: com.example/thing';
}

const MAX_NAME = 256;
/** Characters of a resource's URI. */
export const MAX_URI = 4096;
const TOOL = /^[A-Za-z0-9_.-]{1,128}$/;
const ABSOLUTE = /^[A-Za-z][A-Za-z0-9+.-]*:[\x21-\x7e]+$/;
const EXTENSION =
  /^[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*\/[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
