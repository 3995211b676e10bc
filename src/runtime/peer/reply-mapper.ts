import type { AnswerOutcome, Call } from '../../contract/runtime.js';
import { CODES } from '../../errors/codes.js';
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
import { errorObject, errorResponseText, resultText, SERVER_INFO_KEY, SUBSCRIPTION_KEY } from '../../wire/rpc.js';
import { skipSpace } from '../../wire/skip.js';
import { toRaw } from '../../wire/text.js';
import { askableOf } from './askable.js';
import type { Handshake } from './handshake.js';
import type { Response } from './incoming.js';

/** The answer as the peer wrote it, with the client's own id, of the same type and with the same digits. */
export const tellAsIs: ReplyMapper = (call, line, response) => {
  const { outcome, rpc_code } = response;
  const edits = [idEdit(line, call.id as string)];
  if (call.method === 'subscriptions/listen') {
    const closes = memberAt(line, 'result', '_meta', SUBSCRIPTION_KEY);
    if (closes !== undefined) edits.push({ from: closes.value, to: closes.to, text: call.id as string });
  }
  edits.sort((a, b) => a.from - b.from);
  return { status: call.era === 'modern' ? modernStatus(rpc_code) : 200, body: splice(line, edits), outcome, rpc_code };
};

/**
 * Tells a legacy server's answers to modern clients (MCP 2026-07-28, Base "Results", Caching, Resources "Error Handling"): results get
 * `resultType`, where the revision wants them caching hints, and who answered; -32002 for a missing resource becomes -32602; -32042, which sends
 * the user to a URL before the call can be made, becomes `input_required`, or -32021 for a client that cannot open one; tools that run as tasks alone are left out. Everything else stays as the server wrote it.
 * `stateOf` seals what the client comes back with.
 */
export function bridgedReplyMapper({ server_info }: Handshake, stateOf: (call: Call) => string): ReplyMapper {
  return (call, line, { outcome, rpc_code }) => {
    const sent = rpc_code === URL_FIRST ? sentTo(call, line, stateOf) : undefined;
    if (sent !== undefined) return sent;
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

/** MCP 2025-11-25, "URL Elicitation Required Error". */
const URL_FIRST = -32042;

/** The result that asks for what a -32042 names. Undefined: it names nothing that a client could be asked. */
function sentTo(call: Call, line: Uint8Array, stateOf: (call: Call) => string): Reply | undefined {
  const given = memberAt(line, 'error', 'data', 'elicitations');
  const asked = askableOf(call);
  if (given === undefined || !isListAt(line, given.value) || !asked.asks) return undefined;
  const questions = itemsOf(line, given.value).map(({ from }, index) => {
    const kept = isObjectAt(line, from) ? membersOf(line, from).filter(({ key }) => key !== 'elicitationId') : [];
    return `"q${index + 1}":{"method":"elicitation/create","params":{${kept.map(({ from, to }) => toRaw(line, from, to)).join(',')}}}`;
  });
  if (questions.length === 0) return undefined;
  const id = call.id as string;
  if (asked.capabilities.elicitation?.url === undefined) {
    const error = errorObject(-32021, CODES.MISSING_CAPABILITY.message, { requiredCapabilities: { elicitation: { url: {} } } });
    return { status: 400, body: Buffer.from(errorResponseText(id, error)), outcome: 'rpc_error', rpc_code: -32021 };
  }
  const result = `{"resultType":"input_required","inputRequests":{${questions.join(',')}},"requestState":"${stateOf(call)}"}`;
  return { status: 200, body: Buffer.from(resultText(id, result)), outcome: 'ok', rpc_code: undefined };
}

const NO_RESOURCE = -32002;
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
  if (!has('_meta')) added.push(`"_meta":{"${SERVER_INFO_KEY}":${server_info}}`);
  if (added.length > 0) {
    const text = `${added.join(',')}${members.length === 0 ? '' : ','}`;
    edits.push({ from: result.value + 1, to: result.value + 1, text });
  }
  for (const member of members) {
    if (member.key === 'resultType') edits.push({ from: member.value, to: member.to, text: '"complete"' });
    else if (member.key === 'tools' && method === 'tools/list' && isListAt(line, member.value))
      edits.push(...cutting(itemsOf(line, member.value), (tool) => onlyAsTask(line, tool)));
    else if (member.key === '_meta') edits.push({ from: member.value, to: member.to, text: metaText(line, member, server_info) });
  }
}

/** A tool that runs as a task of 2025-11-25 alone cannot be called in the modern revision. */
function onlyAsTask(line: Uint8Array, { from }: Span): boolean {
  const execution = isObjectAt(line, from) ? memberOf(line, from, 'execution') : undefined;
  if (execution === undefined || !isObjectAt(line, execution.value)) return false;
  const support = memberOf(line, execution.value, 'taskSupport');
  return support !== undefined && toRaw(line, support.value, support.to) === '"required"';
}

function metaText(line: Uint8Array, member: Member, server_info: string): string {
  const kept = isObjectAt(line, member.value) ? membersOf(line, member.value).filter(({ key }) => key !== SERVER_INFO_KEY) : [];
  return `{${[...kept.map(({ from, to }) => toRaw(line, from, to)), `"${SERVER_INFO_KEY}":${server_info}`].join(',')}}`;
}

/** An answer as the client gets it. */
export interface Reply {
  readonly status: number;
  readonly body: Uint8Array;
  readonly outcome: AnswerOutcome;
  readonly rpc_code: number | undefined;
}

/** Turns a peer's answer into the client's. Undefined: this answer cannot be given to this client. */
export type ReplyMapper = (call: Call, line: Uint8Array, response: Response) => Reply | undefined;

/** HTTP status of an answer in the modern era (MCP 2026-07-28, Streamable HTTP, "Protocol Version Header", "Server Validation"). */
export function modernStatus(rpc_code: number | undefined): number {
  if (rpc_code === -32601) return 404;
  return rpc_code === -32020 || rpc_code === -32021 || rpc_code === -32022 ? 400 : 200;
}

/** Puts the client's id, raw JSON text, in the place of the peer's. */
export function idEdit(line: Uint8Array, id: string): Edit {
  const member = memberOf(line, skipSpace(line, 0), 'id');
  return member === undefined ? { from: 0, to: 0, text: '' } : { from: member.value, to: member.to, text: id };
}
