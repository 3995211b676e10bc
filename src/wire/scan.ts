import type { ErrorCode } from '../errors/codes.js';
import type { ProtocolFault } from '../errors/error.js';
import { isId } from './id.js';
import { KeyPolicy } from './keys.js';
import { SUBSCRIPTION_KEY } from './rpc.js';
import { byteAt, skipSpace, skipString, skipValue, syntaxAt, toSkipFault } from './skip.js';
import { isPlainText, toRaw, toText } from './text.js';

/** What one body asks for, read without building its value. */
export interface Envelope {
  /** `response`: no method, an id and exactly one of result and error. */
  readonly kind: 'request' | 'notification' | 'response';
  /** Raw JSON text as sent: quotes, escapes and digits untouched; undefined for a notification. */
  readonly id: string | undefined;
  /** First and after-last byte of `id` in the body. */
  readonly id_span: readonly [number, number] | undefined;
  /** Empty for a response. */
  readonly method: string;
  /** `params.name`, decoded, when it is a string. */
  readonly name: string | undefined;
  /** `params.uri`, decoded, when it is a string. */
  readonly uri: string | undefined;
  /** `params.taskId`, decoded, when it is a string. */
  readonly taskId: string | undefined;
  /** Raw JSON text of `params._meta.progressToken`. */
  readonly progress_token: string | undefined;
  readonly meta: EnvelopeMeta;
  /** `params.protocolVersion` when it is a string: what `initialize` asks for. */
  readonly requested_version: string | undefined;
}

/** What `params._meta` says of the revision (MCP 2026-07-28, Base, "Per-request protocol fields"). */
export interface EnvelopeMeta {
  /** True when `params._meta` is an object. */
  readonly present: boolean;
  readonly protocol_version: string | undefined;
  readonly has_client_info: boolean;
  readonly has_client_capabilities: boolean;
  /** First and after-last byte of the text of `traceparent` and `tracestate` (W3C Trace Context), not parsed; undefined when it is not a string. */
  readonly traceparent: readonly [number, number] | undefined;
  readonly tracestate: readonly [number, number] | undefined;
}

/** An envelope, or why there is none. `id` is then the raw id for the error answer, if a good one of a request was read. */
export type ScanResult =
  | { readonly ok: true; readonly value: Envelope }
  | { readonly ok: false; readonly fault: ProtocolFault; readonly id: string | undefined };

/**
 * Reads one JSON-RPC message in one pass over its bytes. Accepts what `JSON.parse` accepts, and of that only one object in valid
 * UTF-8 without a BOM, whose envelope, `params` and `params._meta` no two parsers read differently; `arguments` and everything
 * else below are checked for syntax only. Broken JSON wins over a broken message: `PARSE_ERROR` is answered without an id.
 * Limits: nesting 128, integers of 64 digits, ids of 256 bytes or int64, 1 024 members in a policed object.
 */
export function scanMessage(body: Uint8Array): ScanResult {
  const reading = new Reading(body);
  const start = skipSpace(body, 0);
  let i = byteAt(body, start) === OPEN ? reading.object(start + 1, ENVELOPE) : skipValue(body, start, 0);
  if (i >= 0) i = skipSpace(body, i);
  if (i >= 0 && i < body.length) i = syntaxAt(i);
  if (i < 0) return { ok: false, fault: { code: 'PARSE_ERROR', detail: toSkipFault(i) }, id: undefined };
  if (byteAt(body, start) !== OPEN) {
    const detail =
      byteAt(body, start) === 0x5b ? 'A batch is not served; send one message for each POST.' : 'The body must be one JSON object.';
    return { ok: false, fault: { code: 'INVALID_REQUEST', detail }, id: undefined };
  }
  return reading.conclude();
}

const OPEN = 0x7b;
const MAX_MEMBERS = 1024;
const [ENVELOPE, PARAMS, META] = [0, 1, 2];
/** Slots of one level's spans: more than a level has known keys, fewer than the bits of its `seen` mask. */
const STRIDE = 30;

const LEVELS = [
  { where: 'The message', keys: new KeyPolicy(['jsonrpc', 'id', 'method', 'params', 'result', 'error']) },
  {
    where: 'params',
    keys: new KeyPolicy(
      [
        '_meta',
        'name',
        'uri',
        'protocolVersion',
        'arguments',
        'capabilities',
        'clientInfo',
        'cursor',
        'taskId',
        'task',
        'requestId',
      ].concat(['progressToken', 'inputResponses', 'requestState', 'ref', 'argument', 'context', 'level', 'reason', 'notifications']),
    ),
  },
  {
    where: 'params._meta',
    keys: new KeyPolicy(
      ['progressToken', 'io.modelcontextprotocol/protocolVersion', 'io.modelcontextprotocol/clientInfo'].concat(
        ['io.modelcontextprotocol/clientCapabilities', 'io.modelcontextprotocol/logLevel', SUBSCRIPTION_KEY],
        ['io.modelcontextprotocol/related-task', 'traceparent', 'tracestate', 'baggage'],
      ),
    ),
  },
] as const;

const [JSONRPC, ID, METHOD, PARAMS_OBJECT, RESULT, ERROR] = [0, 1, 2, 3, 4, 5];
const [META_OBJECT, NAME, URI, REQUESTED_VERSION, TASK_ID] = [STRIDE, STRIDE + 1, STRIDE + 2, STRIDE + 3, STRIDE + 8];
const [PROGRESS_TOKEN, META_VERSION, CLIENT_INFO, CLIENT_CAPABILITIES] = [2 * STRIDE, 2 * STRIDE + 1, 2 * STRIDE + 2, 2 * STRIDE + 3];
const [TRACEPARENT, TRACESTATE] = [2 * STRIDE + 7, 2 * STRIDE + 8];

/** From and to of each slot; a `from` of 0 is an absent member. One for all: a scan neither waits nor nests. */
const SPANS = new Int32Array(6 * STRIDE);

/** One pass: where the known members' values lie, and the first thing that is wrong with the message. */
class Reading {
  readonly #body: Uint8Array;
  readonly #spans = SPANS.fill(0);
  #fault: ProtocolFault | undefined;
  #id_doubtful = false;

  constructor(body: Uint8Array) {
    this.#body = body;
  }

  /** Reads a policed object whose brace is before `at`; returns the index after it, or a skip's negative number. */
  object(at: number, level: number): number {
    const body = this.#body;
    let i = skipSpace(body, at);
    if (byteAt(body, i) === 0x7d) return i + 1;
    const keys = LEVELS[level]!.keys;
    let seen = 0;
    let extras: Set<string> | undefined;
    for (;;) {
      if (byteAt(body, i) !== 0x22) return syntaxAt(i);
      const key = i + 1;
      i = skipString(body, key);
      if (i < 0) return i;
      let index = keys.find(body, key, i - 1);
      if (index < 0) {
        extras ??= new Set();
        index = this.#judge(level, key, i - 1, extras);
      }
      if (index >= 0) {
        if ((seen & (1 << index)) !== 0) this.#refuseKey(level, index, `"${keys.names[index]}" comes twice`);
        seen |= 1 << index;
      }
      i = skipSpace(body, i);
      if (byteAt(body, i) !== 0x3a) return syntaxAt(i);
      i = skipSpace(body, i + 1);
      const slot = index < 0 ? -1 : level * STRIDE + index;
      const from = i;
      if (byteAt(body, i) === OPEN && slot === PARAMS_OBJECT) i = this.object(i + 1, PARAMS);
      else if (byteAt(body, i) === OPEN && slot === META_OBJECT) i = this.object(i + 1, META);
      else i = skipValue(body, i, level + 1);
      if (i < 0) return i;
      if (slot >= 0) {
        this.#spans[2 * slot] = from;
        this.#spans[2 * slot + 1] = i;
      }
      i = skipSpace(body, i);
      if (byteAt(body, i) === 0x7d) return i + 1;
      if (byteAt(body, i) !== 0x2c) return syntaxAt(i);
      i = skipSpace(body, i + 1);
    }
  }

  /** Judges what was read. Call once, after the whole body was valid JSON. */
  conclude(): ScanResult {
    const id = this.#raw(ID);
    const good_id = id !== undefined && !this.#id_doubtful && isId(id) ? id : undefined;
    const envelope = this.#envelope(good_id);
    if (id !== undefined && good_id === undefined)
      this.#refuse('INVALID_REQUEST', 'id must be a string of at most 256 bytes or a 64-bit integer.');
    if (this.#fault === undefined) return { ok: true, value: envelope };
    return { ok: false, fault: this.#fault, id: this.#answers ? undefined : good_id };
  }

  #envelope(id: string | undefined): Envelope {
    if (this.#string(JSONRPC) !== '2.0') this.#refuse('INVALID_REQUEST', 'jsonrpc must be "2.0".');
    const has_method = this.#first(METHOD) > 0;
    const has_answer = this.#has_answer;
    const method = this.#string(METHOD) ?? '';
    if (has_method && !isName(method)) this.#refuse('INVALID_REQUEST', 'method must be a string without NUL, and not empty.');
    if (has_method && has_answer) this.#refuse('INVALID_REQUEST', 'A message has a method, or a result or error, not both.');
    if (!has_method && !has_answer) this.#refuse('INVALID_REQUEST', 'method is missing.');
    if (!has_method && this.#first(RESULT) > 0 && this.#first(ERROR) > 0)
      this.#refuse('INVALID_REQUEST', 'A response has a result or an error, not both.');
    if (!has_method && this.#first(ID) === 0) this.#refuse('INVALID_REQUEST', 'id is missing.');
    this.#mustBeObject(PARAMS_OBJECT, 'INVALID_REQUEST', 'params');
    this.#mustBeObject(META_OBJECT, 'INVALID_PARAMS', 'params._meta');
    const span = this.#first(ID) > 0 ? ([this.#spans[2 * ID]!, this.#spans[2 * ID + 1]!] as const) : undefined;
    return {
      kind: !has_method ? 'response' : this.#first(ID) > 0 ? 'request' : 'notification',
      id,
      id_span: span,
      method,
      name: this.#plain(NAME, 'params.name'),
      uri: this.#plain(URI, 'params.uri'),
      taskId: this.#plain(TASK_ID, 'params.taskId'),
      progress_token: this.#progressToken(),
      meta: this.#meta(),
      requested_version: this.#plain(REQUESTED_VERSION, 'params.protocolVersion'),
    };
  }

  get #has_answer(): boolean {
    return this.#first(RESULT) > 0 || this.#first(ERROR) > 0;
  }

  /** A response: the id in it is one that the server chose. */
  get #answers(): boolean {
    return this.#first(METHOD) === 0 && this.#has_answer;
  }

  #meta(): EnvelopeMeta {
    if (this.#first(META_OBJECT) !== OPEN) return NO_META;
    const version = this.#plain(META_VERSION, 'The protocol version of params._meta');
    if (version === undefined && this.#first(META_VERSION) > 0)
      this.#refuse('INVALID_PARAMS', 'The protocol version of params._meta must be a string.');
    return {
      present: true,
      protocol_version: version,
      has_client_info: this.#first(CLIENT_INFO) === OPEN,
      has_client_capabilities: this.#first(CLIENT_CAPABILITIES) === OPEN,
      traceparent: this.#textSpan(TRACEPARENT),
      tracestate: this.#textSpan(TRACESTATE),
    };
  }

  #progressToken(): string | undefined {
    const raw = this.#raw(PROGRESS_TOKEN);
    if (raw === undefined || isId(raw)) return raw;
    this.#refuse('INVALID_PARAMS', 'progressToken must be a string of at most 256 bytes or a 64-bit integer.');
    return undefined;
  }

  /** A string member; refused when two parsers could read it differently. */
  #plain(slot: number, where: string): string | undefined {
    const text = this.#string(slot);
    if (text !== undefined && !isPlainText(text)) this.#refuse('INVALID_REQUEST', `${where} contains NUL or half a surrogate pair.`);
    return text;
  }

  /** Null counts as absent: clients that write every optional field send it. */
  #mustBeObject(slot: number, code: ErrorCode, where: string): void {
    const first = this.#first(slot);
    if (first !== 0 && first !== OPEN && first !== 0x6e) this.#refuse(code, `${where} must be an object.`);
  }

  #judge(level: number, from: number, to: number, extras: Set<string>): number {
    if (extras.size >= MAX_MEMBERS) {
      this.#refuseKey(level, -1, `has more than ${MAX_MEMBERS} members`);
      return -1;
    }
    const { index, fault } = LEVELS[level]!.keys.judge(this.#body, from, to, extras);
    if (fault !== undefined) this.#refuseKey(level, index, `a key ${fault}`);
    return fault === undefined ? index : -1;
  }

  #refuseKey(level: number, index: number, what: string): void {
    if (level === ENVELOPE && index === ID) this.#id_doubtful = true;
    this.#refuse('INVALID_REQUEST', `${LEVELS[level]!.where}: ${what}.`);
  }

  #refuse(code: ErrorCode, detail: string): void {
    this.#fault ??= { code, detail };
  }

  /** First byte of the slot's value; 0 when the member is absent. */
  #first(slot: number): number {
    const from = this.#spans[2 * slot]!;
    return from === 0 ? 0 : this.#body[from]!;
  }

  #textSpan(slot: number): readonly [number, number] | undefined {
    return this.#first(slot) === 0x22 ? [this.#spans[2 * slot]! + 1, this.#spans[2 * slot + 1]! - 1] : undefined;
  }

  #raw(slot: number): string | undefined {
    const from = this.#spans[2 * slot]!;
    return from === 0 ? undefined : toRaw(this.#body, from, this.#spans[2 * slot + 1]!);
  }

  #string(slot: number): string | undefined {
    return this.#first(slot) === 0x22 ? toText(this.#body, this.#spans[2 * slot]! + 1, this.#spans[2 * slot + 1]! - 1) : undefined;
  }
}

const NO_META: EnvelopeMeta = {
  present: false,
  protocol_version: undefined,
  has_client_info: false,
  has_client_capabilities: false,
  traceparent: undefined,
  tracestate: undefined,
};

const isName = (text: string): boolean => text !== '' && isPlainText(text);
