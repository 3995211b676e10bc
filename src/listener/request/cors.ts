import type { HeaderList } from '../../contract/runtime.js';
import { trimOws } from '../../wire/field.js';

/** Request fields that browser clients of MCP may send beside their `Mcp-Param-*`. */
const ASKED =
  'authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id, x-api-key, dpop';
const EXPOSED = 'WWW-Authenticate, Mcp-Session-Id, MCP-Protocol-Version, X-Request-Id, Retry-After, DPoP-Nonce';
const EMPTY: HeaderList = [];

/** CORS fields of every answer to an allowed origin (Fetch standard); none when CORS is off or the request has no Origin. */
export function corsHeaders(origin: string | undefined): HeaderList {
  if (origin === undefined) return EMPTY;
  return ['access-control-allow-origin', origin, 'access-control-expose-headers', EXPOSED, 'vary', 'Origin'];
}

/** The answer to a preflight of an allowed origin. `asked` is Access-Control-Request-Headers: its `mcp-param-*` names are allowed too. */
export function preflightHeaders(origin: string, methods: string, asked: string | undefined): HeaderList {
  const params = (asked ?? '').toLowerCase().split(',', 64).map(trimOws).filter(isParam);
  return [
    'access-control-allow-origin',
    origin,
    'access-control-allow-methods',
    methods,
    'access-control-allow-headers',
    [ASKED, ...params].join(', '),
    'access-control-max-age',
    '600',
    'vary',
    'Origin, Access-Control-Request-Headers',
  ];
}

function isParam(name: string): boolean {
  if (!name.startsWith('mcp-param-') || name.length > 128) return false;
  for (let i = 10; i < name.length; i++) {
    const c = name.charCodeAt(i);
    const token = (c >= 0x61 && c <= 0x7a) || (c >= 0x30 && c <= 0x39) || c === 0x2d || c === 0x5f;
    if (!token) return false;
  }
  return true;
}
