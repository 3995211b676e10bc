import { paramHeadersOf } from '../../core/define/param-headers.js';
import type { Dialect } from '../../dialect/dialect.js';
import { DIALECTS, dialectOf } from '../../dialect/select.js';
import {
  cutting,
  type Edit,
  isListAt,
  isObjectAt,
  itemsOf,
  type Member,
  memberAt,
  memberOf,
  membersOf,
  type Span,
  splice,
} from '../../wire/edit.js';
import { skipSpace } from '../../wire/skip.js';
import { toRaw } from '../../wire/text.js';
import type { ReplyMapper } from '../peer/reply-mapper.js';

/**
 * Tells a modern server's answers to clients of a legacy revision: results without `resultType` and caching hints, and without what the revision has no
 * word for; -32602 for a resource that is missing becomes -32002; -32020 and -32021, which legacy revisions do not have, become -32603. HTTP 200 for all:
 * a 404 would end the client's session. Everything else stays as the server wrote it.
 */
export function legacyReplyMapper(revision: string): ReplyMapper {
  return MAPPERS.get(revision) ?? mapperOf(dialectOf(revision));
}

const MAPPERS: ReadonlyMap<string, ReplyMapper> = new Map(DIALECTS.map((dialect) => [dialect.revision, mapperOf(dialect)]));

function mapperOf(dialect: Dialect): ReplyMapper {
  return (call, line, { outcome, rpc_code }) => {
    const edits: Edit[] = [];
    let code = rpc_code;
    for (const member of membersOf(line, skipSpace(line, 0))) {
      if (member.key === 'id') edits.push({ from: member.value, to: member.to, text: call.id as string });
      else if (member.key === 'result') {
        if (!isObjectAt(line, member.value)) return undefined;
        edits.push(...resultEdits(line, member.value, call.method, dialect));
      } else if (member.key === 'error' && isObjectAt(line, member.value)) {
        code = legacyCode(line, rpc_code, call.method, call.name);
        const found = memberOf(line, member.value, 'code');
        if (found !== undefined && code !== rpc_code) edits.push({ from: found.value, to: found.to, text: String(code) });
      }
    }
    return { status: 200, body: splice(line, edits), outcome, rpc_code: code };
  };
}

function legacyCode(line: Uint8Array, code: number | undefined, method: string, uri: string | undefined): number | undefined {
  if (code === -32020 || code === -32021) return -32603;
  if (code !== -32602 || method !== 'resources/read') return code;
  const named = memberAt(line, 'error', 'data', 'uri');
  return named !== undefined && textOf(line, named) === uri ? -32002 : code;
}

function resultEdits(line: Uint8Array, at: number, method: string, dialect: Dialect): readonly Edit[] {
  const members = membersOf(line, at);
  const { structured } = dialect.items;
  const edits = [
    ...cutting(members, ({ key, value }) => {
      if (key === 'structuredContent') return structured === 'none' || (structured === 'object' && !isObjectAt(line, value));
      return HINTS.has(key);
    }),
  ];
  const list = (key: string): readonly Span[] => {
    const member = members.find((one) => one.key === key);
    return member !== undefined && isListAt(line, member.value) ? itemsOf(line, member.value) : [];
  };
  if (method === 'tools/list') edits.push(...toolEdits(line, list('tools'), dialect));
  else if (method === 'tools/call') for (const block of list('content')) edits.push(...contentEdits(line, block, dialect));
  else if (method === 'prompts/get') {
    for (const message of list('messages')) {
      const content = isObjectAt(line, message.from) ? memberOf(line, message.from, 'content') : undefined;
      if (content !== undefined) edits.push(...contentEdits(line, { from: content.value, to: content.to }, dialect));
    }
  }
  return edits.sort((a, b) => a.from - b.from);
}

/** Members of a result that legacy revisions do not have. */
const HINTS: ReadonlySet<string> = new Set(['resultType', 'ttlMs', 'cacheScope']);

/** Leaves out a schema that the revision cannot have, and tools whose mirrored headers are not valid: clients must not call those. */
function toolEdits(line: Uint8Array, tools: readonly Span[], { items }: Dialect): readonly Edit[] {
  const edits: Edit[] = [];
  const sound = tools.map((tool) => !isObjectAt(line, tool.from) || hasSoundHeaders(line, tool));
  edits.push(...cutting(tools, (_tool, index) => !sound[index]));
  for (const [index, tool] of tools.entries()) {
    if (!sound[index] || !isObjectAt(line, tool.from)) continue;
    edits.push(
      ...cutting(membersOf(line, tool.from), (member) => {
        if (member.key !== 'outputSchema') return false;
        return items.structured === 'none' || (items.structured === 'object' && !describesObject(line, member));
      }),
    );
  }
  return edits;
}

function hasSoundHeaders(line: Uint8Array, { from, to }: Span): boolean {
  const schema = memberOf(line, from, 'inputSchema');
  if (schema === undefined || !Buffer.from(line.buffer, line.byteOffset + from, to - from).includes('x-mcp-header')) return true;
  let sound = true;
  paramHeadersOf(JSON.parse(toRaw(line, schema.value, schema.to)) as object, () => void (sound = false));
  return sound;
}

function describesObject(line: Uint8Array, schema: Member): boolean {
  const type = isObjectAt(line, schema.value) ? memberOf(line, schema.value, 'type') : undefined;
  return type !== undefined && toRaw(line, type.value, type.to) === '"object"';
}

/** A kind of content that the revision does not know becomes text: clients refuse kinds that are not in their list. */
function contentEdits(line: Uint8Array, { from, to }: Span, dialect: Dialect): readonly Edit[] {
  if (!isObjectAt(line, from)) return [];
  const type = memberOf(line, from, 'type');
  const kind = type === undefined ? undefined : toRaw(line, type.value, type.to);
  if (kind === '"resource_link"' && !dialect.links) {
    const uri = memberOf(line, from, 'uri');
    return [{ from, to, text: `{"type":"text","text":${JSON.stringify(uri === undefined ? '' : (textOf(line, uri) ?? ''))}}` }];
  }
  return kind === '"audio"' && dialect.revision === WITHOUT_AUDIO ? [{ from, to, text: '{"type":"text","text":"audio"}' }] : [];
}

/** Undefined: it is no string. Servers may escape what need not be escaped. */
function textOf(line: Uint8Array, { value, to }: Member): string | undefined {
  const given: unknown = line[value] === QUOTE ? JSON.parse(toRaw(line, value, to)) : undefined;
  return typeof given === 'string' ? given : undefined;
}

const QUOTE = 0x22;
const WITHOUT_AUDIO = '2024-11-05';
