import { publicUrl } from '../assembly/urls.js';
import type { Config } from '../config/schema/config.js';
import type { RequestHead } from '../contract/head.js';
import { readClaims } from '../dialect/claims.js';
import { type Passage, passDoor } from '../listener/door.js';
import { HostPolicy, OriginPolicy } from '../listener/origin.js';

/** What the listener checks before the first gate, in its order: method, Host, Origin, Content-Type, Accept, MCP headers. */
export function askDoor(head: RequestHead, kind: 'mcp' | 'http', config: Config): Passage {
  const { allowed_hosts, allowed_origins, limits, chunked_requests } = config.listener;
  if (kind === 'mcp' && !MCP_METHODS.has(head.method)) return fault('METHOD_NOT_ALLOWED');
  if (!new HostPolicy(allowed_hosts).isAllowed(head.headers, head.peer.trusted)) return fault('HOST_NOT_ALLOWED');
  const origins = head.headers.all('origin');
  const [origin] = origins;
  if (origin !== undefined && (origins.length > 1 || !new OriginPolicy(allowed_origins, publicUrl(config)).isAllowed(origin))) {
    return fault('ORIGIN_NOT_ALLOWED');
  }
  const content_length = Number(head.headers.get('content-length') ?? -1);
  const framing = { content_length, transfer_encoding: false, chunked: false, head_bytes: 0 };
  return passDoor(head, { kind }, framing, { max_body_bytes: limits.max_body_bytes, chunked: chunked_requests === 'accept', readClaims });
}

const MCP_METHODS: ReadonlySet<string> = new Set(['POST', 'GET', 'DELETE']);

function fault(code: 'METHOD_NOT_ALLOWED' | 'HOST_NOT_ALLOWED' | 'ORIGIN_NOT_ALLOWED'): Passage {
  return { fault: { code }, json: true, events: true };
}
