import { createHash } from 'node:crypto';
import type { Attributes } from '@opentelemetry/api';
import type { Identity } from '../contract/identity.js';
import type { RequestRecord } from '../contract/telemetry.js';

/** Where a call goes on to, for the span of that part. */
export interface NetworkPeer {
  /** `pipe` for a child process; undefined when it is not known. */
  readonly transport: 'tcp' | 'pipe' | undefined;
  readonly address?: string | undefined;
  readonly port?: number | undefined;
}

/**
 * What the span of a request and the span of its upstream part both carry, by the OpenTelemetry conventions for MCP. Of the message
 * there are its method, its id and what it names: no argument, no result, no header, no token.
 */
export function callAttributes(record: RequestRecord, said: Described): Attributes {
  const { method, revision, rpc_code } = record;
  const attributes: Attributes = { 'portcullis.request_id': record.request_id, 'portcullis.route': record.route };
  if (method === '') {
    attributes['http.request.method'] = said.http_method;
    attributes['http.route'] = record.route;
  } else {
    attributes['mcp.method.name'] = method;
    attributes['mcp.protocol.version'] = revision;
  }
  if (said.id !== undefined) attributes['jsonrpc.request.id'] = idText(said.id);
  if (said.session !== undefined) attributes['mcp.session.id'] = sessionName(said.session);
  if (rpc_code !== undefined) attributes['rpc.response.status_code'] = String(rpc_code);
  const error = errorType(record, said.refused);
  if (error !== undefined) attributes['error.type'] = error;
  return Object.assign(attributes, subject(method, said.name));
}

/** The span's own way: the request came over HTTP. */
export const SERVER_NETWORK: Attributes = {
  'network.transport': 'tcp',
  'network.protocol.name': 'http',
  'network.protocol.version': '1.1',
};

export function peerAttributes(runtime: string, peer: NetworkPeer | undefined): Attributes {
  const attributes: Attributes = { 'portcullis.runtime': runtime };
  if (peer?.transport !== undefined) attributes['network.transport'] = peer.transport;
  if (peer?.transport === 'tcp') attributes['network.protocol.name'] = 'http';
  if (peer?.address !== undefined) attributes['server.address'] = peer.address;
  if (peer?.port !== undefined) attributes['server.port'] = peer.port;
  return attributes;
}

/** `tool_error`, the JSON-RPC code of the answer, the code of a refusal, or the outcome; undefined when nothing failed. */
function errorType(record: RequestRecord, refused: string | undefined): string | undefined {
  const { outcome, rpc_code } = record;
  if (outcome === 'ok') return undefined;
  if (outcome === 'tool_error') return outcome;
  return rpc_code !== undefined ? String(rpc_code) : (refused ?? outcome);
}

function subject(method: string, name: string | undefined): Attributes {
  if (name === undefined) return {};
  if (method === 'tools/call') return { 'gen_ai.tool.name': name, 'gen_ai.operation.name': 'execute_tool' };
  if (method === 'prompts/get') return { 'gen_ai.prompt.name': name };
  return method.startsWith('resources/') ? { 'mcp.resource.uri': bareUri(name) } : {};
}

/** The raw JSON text of an id without its quotes. */
function idText(raw: string): string {
  return raw.startsWith('"') ? raw.slice(1, -1) : raw;
}

/** A session id is as good as a key to the session: the span has a name for it that opens nothing. */
function sessionName(session: string): string {
  return `sha256:${createHash('sha256').update(session).digest('hex').slice(0, 32)}`;
}

/** Without userinfo, query and fragment: there is where URIs keep their secrets. */
function bareUri(uri: string): string {
  return uri.replace(/[?#].*$/s, '').replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1');
}

/** What is kept of a request until its span ends: texts, no head and no body, because a stream may last for hours. */
export interface Described {
  http_method: string;
  /** Raw JSON text of the id of a request. */
  id: string | undefined;
  /** `params.name`, or the URI of a resource. */
  name: string | undefined;
  /** A legacy `Mcp-Session-Id` as sent. */
  session: string | undefined;
  identity: Identity | undefined;
  /** The code that refused it. */
  refused: string | undefined;
  /** Config name of the gate that refused it. */
  refused_by: string | undefined;
}
