import type { ClientCapabilities } from '../../contract/handler.js';
import type { LegacyClient } from '../../core/client-seal.js';
import { MODERN } from '../../dialect/methods.js';
import { encodeFieldText } from '../../wire/field.js';

/** Members of `params._meta` that a modern request has, and legacy ones have not (MCP 2026-07-28, Base, "_meta"); JSON text without braces. */
export function modernMeta({ revision, capabilities, info }: LegacyClient, log_level: string): string {
  const told = info ?? UNKNOWN;
  return [
    `"io.modelcontextprotocol/protocolVersion":"${MODERN}"`,
    `"io.modelcontextprotocol/clientInfo":${JSON.stringify({ name: told.name, version: told.version })}`,
    `"io.modelcontextprotocol/clientCapabilities":${JSON.stringify(capabilitiesIn(revision, capabilities))}`,
    `"io.modelcontextprotocol/logLevel":"${log_level}"`,
  ].join(',');
}

const UNKNOWN = { name: 'unknown', version: '0' };

/** What of its capabilities a client can use in its revision. */
export function capabilitiesIn(revision: string, { elicitation, sampling, roots }: ClientCapabilities): ClientCapabilities {
  const newest = revision >= '2025-11-25';
  const forms = newest ? elicitation : revision >= '2025-06-18' && elicitation !== undefined ? {} : undefined;
  const samples = newest || sampling === undefined ? sampling : {};
  return {
    ...(forms === undefined ? {} : { elicitation: forms }),
    ...(samples === undefined ? {} : { sampling: samples }),
    ...(roots === undefined ? {} : { roots }),
  };
}

/** Header fields that a modern request mirrors (MCP 2026-07-28, Streamable HTTP, "Standard Request Headers"); flat name, value. */
export function modernFields(method: string, name: string | undefined): readonly string[] {
  const fields = ['mcp-protocol-version', MODERN, 'mcp-method', method];
  return name === undefined ? fields : [...fields, 'mcp-name', encodeFieldText(name)];
}
