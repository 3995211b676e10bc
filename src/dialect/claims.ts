import type { Claims } from '../contract/claims.js';
import type { HeaderView } from '../contract/head.js';
import type { Outcome, ProtocolFault } from '../errors/error.js';
import { decodeFieldText, isFieldText, trimOws } from '../wire/field.js';
import { toEcho } from '../wire/text.js';
import { headerMismatch, missingMethod, unsupportedVersion } from './admit.js';
import { isModern, isServed, MODERN, nameField, UNDECLARED_REVISION } from './methods.js';

/**
 * What the MCP request headers claim, read before the gates and before the body (MCP 2026-07-28, Streamable HTTP, "Request
 * Metadata"). No `MCP-Protocol-Version`: legacy 2025-03-26, not declared. One that names no served revision: `UNSUPPORTED_VERSION`.
 * A modern POST needs `Mcp-Method`, and `Mcp-Name` for the methods that name something; they, the version and each `Mcp-Param-*`
 * come at most once and decode strictly, else `HEADER_MISMATCH`. Of a legacy request the version is read and, of a POST, the form of its
 * `Mcp-Param-*`, which go on; its other MCP headers have no meaning. With `defer`, a claim that only the body can settle is passed on as a modern claim without method and
 * name: an unknown revision, which `admitMessage` always refuses, then with the request's id, and a missing `Mcp-Method`, which
 * it allows to a notification alone.
 */
export function readClaims(headers: HeaderView, http_method: string, unsettled: 'refuse' | 'defer' = 'refuse'): Outcome<Claims> {
  const version = readOnce(headers, 'mcp-protocol-version', 'MCP-Protocol-Version');
  if (!version.ok) return version;
  if (version.value === undefined) return legacyPost(headers, http_method) ?? UNDECLARED;
  const revision = trimOws(version.value);
  if (revision === '' || revision.includes(',') || !isFieldText(revision)) {
    return headerMismatch(`MCP-Protocol-Version must be one date such as ${MODERN}, not "${toEcho(revision)}".`);
  }
  if (!isServed(revision)) {
    return unsettled === 'refuse' ? unsupportedVersion(revision) : claim(revision);
  }
  if (!isModern(revision)) {
    return (
      legacyPost(headers, http_method) ?? {
        ok: true,
        value: { era: 'legacy', revision, declared: true, method: undefined, name: undefined },
      }
    );
  }
  return http_method === 'POST' ? readModern(headers, unsettled) : claim(MODERN);
}

const UNDECLARED: Outcome<Claims> = {
  ok: true,
  value: Object.freeze({ era: 'legacy', revision: UNDECLARED_REVISION, declared: false, method: undefined, name: undefined }),
};

const claim = (revision: string, method?: string, name?: string): Outcome<Claims> => ({
  ok: true,
  value: { era: 'modern', revision, declared: true, method, name },
});

/** What is wrong with the headers of a legacy POST that go on. */
function legacyPost(headers: HeaderView, http_method: string): ReturnType<typeof checkParams> {
  return http_method === 'POST' ? checkParams(headers.raw) : undefined;
}

function readModern(headers: HeaderView, unsettled: 'refuse' | 'defer'): Outcome<Claims> {
  const method = readOnce(headers, 'mcp-method', 'Mcp-Method');
  if (!method.ok) return method;
  const params = checkParams(headers.raw);
  if (params !== undefined) return params;
  if (method.value === undefined) return unsettled === 'defer' ? claim(MODERN) : missingMethod();
  const method_name = trimOws(method.value);
  if (method_name === '' || !isFieldText(method_name)) return headerMismatch('Mcp-Method must be the method in visible ASCII.');

  const name = readOnce(headers, 'mcp-name', 'Mcp-Name');
  if (!name.ok) return name;
  const field = nameField(method_name);
  if (name.value === undefined) {
    if (field === undefined || field === 'taskId') return claim(MODERN, method_name);
    return headerMismatch(`Mcp-Name is missing; ${method_name} needs it to mirror params.${field}.`);
  }
  const decoded = decodeFieldText(trimOws(name.value));
  if (!decoded.ok) return headerMismatch(`Mcp-Name ${decoded.fault}.`);
  return claim(MODERN, method_name, field === undefined ? undefined : decoded.value);
}

/** `Mcp-Param-*` fields are forwarded as they are; here they only must not be ambiguous. Undefined: nothing is wrong. */
function checkParams(raw: readonly string[]): { readonly ok: false; readonly fault: ProtocolFault } | undefined {
  let seen: Set<string> | undefined;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const field = raw[i]!;
    if (field.length <= PARAM.length || (field.charCodeAt(0) | 0x20) !== 0x6d || field.charCodeAt(3) !== 0x2d) continue;
    const lower = field.toLowerCase();
    if (!lower.startsWith(PARAM)) continue;
    seen ??= new Set();
    if (seen.has(lower)) return headerMismatch(`${toEcho(field)} must come once.`);
    seen.add(lower);
    const decoded = decodeFieldText(trimOws(raw[i + 1]!));
    if (!decoded.ok) return headerMismatch(`${toEcho(field)} ${decoded.fault}.`);
  }
  return undefined;
}

const PARAM = 'mcp-param-';

function readOnce(headers: HeaderView, name: string, shown: string): Outcome<string | undefined> {
  const value = headers.get(name);
  if (value === undefined && headers.all(name).length > 1) return headerMismatch(`${shown} must come once.`);
  return { ok: true, value };
}
