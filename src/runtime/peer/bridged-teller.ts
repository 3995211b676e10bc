import { skipSpace } from '../../wire/skip.js';
import { toRaw } from '../../wire/text.js';
import type { Handshake } from './handshake.js';
import { isObjectAt, type Member, memberOf, membersOf } from './locate.js';
import { type Edit, splice } from './splice.js';
import { modernStatus, type Teller } from './teller.js';

/**
 * Tells a legacy server's answers to modern clients (MCP 2026-07-28, Base "Results", Caching, Resources "Error Handling"): results get
 * `resultType`, where the revision wants them caching hints, and who answered; -32002 for a missing resource becomes -32602.
 * Everything else stays as the server wrote it.
 */
export function bridgedTeller({ server_info }: Handshake): Teller {
  return (call, line, { outcome, rpc_code }) => {
    const edits: Edit[] = [];
    let code = rpc_code;
    for (const member of membersOf(line, skipSpace(line, 0))) {
      if (member.key === 'id') edits.push({ from: member.value, to: member.to, text: call.id as string });
      else if (member.key === 'result') {
        if (!isObjectAt(line, member.value)) return undefined;
        editResult(line, member, call.method, server_info, edits);
      } else if (member.key === 'error' && rpc_code === NO_RESOURCE && isObjectAt(line, member.value)) {
        const found = memberOf(line, member.value, 'code');
        if (found !== undefined) edits.push({ from: found.value, to: found.to, text: '-32602' });
        code = -32602;
      }
    }
    return { status: modernStatus(code), body: splice(line, edits), outcome, rpc_code: code };
  };
}

const NO_RESOURCE = -32002;
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';
const CACHEABLE: ReadonlySet<string> = new Set([
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

function editResult(line: Uint8Array, result: Member, method: string, server_info: string, edits: Edit[]): void {
  const members = membersOf(line, result.value);
  const has = (key: string): boolean => members.some((member) => member.key === key);
  const added: string[] = [];
  if (!has('resultType')) added.push('"resultType":"complete"');
  if (CACHEABLE.has(method) && !has('ttlMs')) added.push('"ttlMs":0');
  if (CACHEABLE.has(method) && !has('cacheScope')) added.push('"cacheScope":"private"');
  if (!has('_meta')) added.push(`"_meta":{"${SERVER_INFO}":${server_info}}`);
  if (added.length > 0) {
    const text = `${added.join(',')}${members.length === 0 ? '' : ','}`;
    edits.push({ from: result.value + 1, to: result.value + 1, text });
  }
  for (const member of members) {
    if (member.key === 'resultType') edits.push({ from: member.value, to: member.to, text: '"complete"' });
    else if (member.key === '_meta') edits.push({ from: member.value, to: member.to, text: metaText(line, member, server_info) });
  }
}

function metaText(line: Uint8Array, member: Member, server_info: string): string {
  const kept = isObjectAt(line, member.value) ? membersOf(line, member.value).filter(({ key }) => key !== SERVER_INFO) : [];
  return `{${[...kept.map(({ from, to }) => toRaw(line, from, to)), `"${SERVER_INFO}":${server_info}`].join(',')}}`;
}
