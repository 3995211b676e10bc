import { MODERN } from '../../dialect/methods.js';
import { isObjectAt, memberAt, membersOf } from '../../wire/edit.js';
import { skipSpace } from '../../wire/skip.js';
import { toRaw } from '../../wire/text.js';

/** What a legacy server said of itself to the gateway, as JSON text. */
export interface Handshake {
  /** As a modern client may be told: without what the gateway cannot deliver. */
  readonly capabilities: string;
  readonly server_info: string;
  /** Undefined when it gave none. */
  readonly instructions: string | undefined;
  /** It sends log messages, from a level on that it can be told. */
  readonly logs: boolean;
  /** Which notices it may send. */
  readonly changes: { readonly tools: boolean; readonly prompts: boolean; readonly resources: boolean; readonly updates: boolean };
}

/** Params of the gateway's own `server/discover`. */
export function discoverParams(version: string): string {
  const client = `"io.modelcontextprotocol/clientInfo":${clientInfo(version)}`;
  return `{"_meta":{"io.modelcontextprotocol/protocolVersion":"${MODERN}",${client},"io.modelcontextprotocol/clientCapabilities":{}}}`;
}

/** Params of the gateway's own `initialize`. `capabilities`: JSON text of what the server may ask for; by default nothing, since whom it speaks for changes with each call. */
export function initializeParams(version: string, capabilities = '{}'): string {
  return `{"protocolVersion":"2025-11-25","capabilities":${capabilities},"clientInfo":${clientInfo(version)}}`;
}

/** Reads the answer to the gateway's `initialize`. Undefined: it is none. */
export function readHandshake(line: Uint8Array): Handshake | undefined {
  const result = memberAt(line, 'result');
  if (result === undefined || !isObjectAt(line, result.value)) return undefined;
  const text = (...path: string[]): string | undefined => {
    const member = memberAt(line, 'result', ...path);
    return member === undefined ? undefined : toRaw(line, member.value, member.to);
  };
  const yes = (...path: string[]): boolean => text('capabilities', ...path) === 'true';
  const instructions = text('instructions');
  return {
    capabilities: modernCapabilities(line),
    server_info: text('serverInfo') ?? '{"name":"unknown","version":"0"}',
    logs: text('capabilities', 'logging') !== undefined,
    instructions: instructions?.startsWith('"') === true ? instructions : undefined,
    changes: {
      tools: yes('tools', 'listChanged'),
      prompts: yes('prompts', 'listChanged'),
      resources: yes('resources', 'listChanged'),
      updates: yes('resources', 'subscribe'),
    },
  };
}

const clientInfo = (version: string): string => JSON.stringify({ name: 'portcullis', version });

/** `tasks`: another protocol in the modern revision. */
const DROPPED: ReadonlySet<string> = new Set(['tasks']);

function modernCapabilities(line: Uint8Array): string {
  const member = memberAt(line, 'result', 'capabilities');
  if (member === undefined || !isObjectAt(line, member.value)) return '{}';
  const kept = membersOf(line, skipSpace(line, member.value)).filter(({ key }) => !DROPPED.has(key));
  return `{${kept.map(({ from, to }) => toRaw(line, from, to)).join(',')}}`;
}
