import { randomUUID } from 'node:crypto';
import type { HeaderView, RequestHead } from '../../contract/head.js';
import type { HttpRequest, HttpResponse } from '../../contract/http.js';
import type { Call } from '../../contract/runtime.js';
import { GatewayError, type ProtocolFault } from '../../errors/error.js';
import { requestIdOf } from '../../wire/request-id.js';
import { admitCall } from '../serve.js';
import { checkMessage } from './check-head.js';
import { errorResponse } from './response.js';

/** What `execute` needs of an admitted request. */
export interface PreparedCall {
  readonly kind: 'call';
  readonly call: Call;
  readonly accepts_json: boolean;
  readonly accepts_events: boolean;
}

/** Looks at head and body as the gateway's listener and pipeline do: one well-formed message that its headers tell truthfully. */
export function admitHttp(request: HttpRequest): PreparedCall | HttpResponse {
  const request_id = request.request_id ?? randomUUID();
  const headers = viewOf(request.headers);
  const refuse = (fault: ProtocolFault, id?: string) =>
    errorResponse(
      new GatewayError(fault.code, fault.code === 'METHOD_NOT_ALLOWED' ? { headers: { allow: 'POST' } } : fault),
      id,
      request_id,
    );
  if (request.method !== 'POST') return refuse({ code: 'METHOD_NOT_ALLOWED' });
  const verdict = checkMessage({ method: 'POST', headers });
  if (verdict.fault !== undefined) return refuse(verdict.fault, requestIdOf(request.body));
  const { claims, json, events } = verdict;
  const body = Buffer.from(request.body.buffer, request.body.byteOffset, request.body.byteLength);
  const head: RequestHead = { ...BARE_HEAD, id: request_id, headers, claims };
  const admitted = admitCall(body, { head, route: NO_ROUTE, identity: request.identity, facts: request.facts ?? {} });
  if (!admitted.ok) return refuse(admitted.fault, admitted.id);
  return { kind: 'call', call: admitted.call, accepts_json: json, accepts_events: events };
}

/** Of a call that reached its server without a gateway. */
export const NO_ROUTE = Object.freeze({ path: '', url: '', runtime: '' });
/** What the host knows of the request and a hosted server never asks for. */
const BARE_HEAD = {
  method: 'POST',
  path: '',
  query: '',
  peer: { address: '', trusted: false, client_address: '', tls: undefined },
  received_at_ms: 0,
} as const;

function viewOf(fields: HttpRequest['headers']): HeaderView {
  const values = new Map<string, string[]>();
  const raw: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    for (const line of value === undefined ? [] : typeof value === 'string' ? [value] : value) {
      raw.push(name, line);
      const lower = name.toLowerCase();
      const known = values.get(lower);
      if (known === undefined) values.set(lower, [line]);
      else known.push(line);
    }
  }
  const all = (name: string): readonly string[] => values.get(name) ?? [];
  return { get: (name) => (all(name).length === 1 ? all(name)[0] : undefined), all, raw };
}
