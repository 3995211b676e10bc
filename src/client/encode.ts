import type { ClientInfo, LogLevel } from '../contract/handler.js';
import { isObject } from '../core/call/params.js';
import { type ParamHeader, writeParamHeaders } from '../core/define/param-headers.js';
import { MODERN, nameField } from '../dialect/methods.js';
import { encodeFieldText } from '../wire/field.js';
import type { JsonObject } from './messages.js';

/** What this client tells of itself. */
export interface ClientIdentity {
  readonly client_info: ClientInfo;
  readonly capabilities: JsonObject;
  readonly log_level: LogLevel | undefined;
}

/** A request as it is sent. */
export interface Spoken {
  readonly params: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A modern request: version, client and capabilities in `_meta`, and the mirrored header fields (MCP 2026-07-28,
 * Streamable HTTP, "Request Metadata"). `mirrored`: the arguments of this tool that are.
 */
export function encodeModern(self: ClientIdentity, method: string, params: JsonObject, mirrored: readonly ParamHeader[] = []): Spoken {
  const meta = {
    ...(isObject(params._meta) ? params._meta : {}),
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': self.client_info,
    'io.modelcontextprotocol/clientCapabilities': self.capabilities,
    ...(self.log_level === undefined ? {} : { 'io.modelcontextprotocol/logLevel': self.log_level }),
  };
  const field = nameField(method);
  const name = field === undefined ? undefined : params[field];
  const args = isObject(params.arguments) ? params.arguments : {};
  return {
    params: { ...params, _meta: meta },
    headers: {
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': encodeFieldText(name) } : {}),
      ...writeParamHeaders(mirrored, args),
    },
  };
}

/** A legacy request. `revision`: what was agreed on; undefined before that. */
export function encodeLegacy(revision: string | undefined, params: JsonObject): Spoken {
  return { params, headers: revision === undefined ? {} : { 'mcp-protocol-version': revision } };
}
