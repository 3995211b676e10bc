import type { Clock } from '../../contract/clock.js';
import type { Call, Exchange, HeaderList } from '../../contract/runtime.js';
import type { ErrorCode } from '../../errors/codes.js';
import type { ErrorDetail } from '../../errors/error.js';
import type { RatedLog } from '../../transport/rated-log.js';
import { essenceOf, listedIn } from '../../wire/field.js';
import { spellsId, type AnswerVerdict as Verdict, withId } from '../../wire/summary.js';
import type { BoundTasks, TaskNames } from '../shared/bound-tasks.js';
import type { SessionSeal } from '../shared/session-seal.js';
import { HOP_BY_HOP, ORIGIN_WIDE } from '../shared/static-headers.js';
import type { ToolsLearner } from '../shared/tools-learner.js';

const PLAIN_CONNECTION: ReadonlySet<string> = new Set(['keep-alive', 'close']);

/** One upstream answer after its head: takes the body and tells the exchange. Its methods are called until the call is over. */
export interface Answer {
  /** False: stop reading until `AnswerHost.resume`. */
  data(chunk: Buffer): boolean;
  /** The body is complete as far as HTTP can tell. */
  end(): void;
  /** The body was cut short. */
  broken(error: Error): void;
  /** The gateway drains: a stream that could stay open for hours ends, a subscription with its completion. */
  drain?(): void;
}

/** What an answer needs from the call that it belongs to. */
export interface AnswerHost {
  readonly call: Call;
  readonly exchange: Exchange;
  readonly parts: ProxiedParts;
  /** The session that the call came with. */
  readonly session: OpenSession | undefined;
  /** The bound tasks that the call is about; undefined: none. */
  readonly task_names?: TaskNames | undefined;
  /** Reads on after a pause. */
  resume(): void;
  /** Ends the upstream's half now, at the price of its connection; the answer hears no more. */
  abort(): void;
  /** The answer is complete: later bytes are ignored, and a body that does not end soon is aborted. The answer gets no further calls. */
  release(): void;
  /** The upstream has ended the session that the call came with, or does not know it. */
  sessionEnded(): void;
  /** Tells the client and, when the upstream is to blame, the log. */
  fail(code: ErrorCode, reason: string, detail?: ErrorDetail): void;
  /** Tells the log only. */
  note(code: ErrorCode, reason: string): void;
}

/** A session id as the client knows it and as the upstream does. */
export interface OpenSession {
  readonly sealed: string;
  readonly upstream: string;
}

/** What all calls of one runtime share. */
export interface ProxiedParts {
  readonly name: string;
  readonly log: RatedLog;
  readonly clock: Clock;
  readonly seal: SessionSeal;
  readonly tools: ToolsLearner;
  /** Undefined: task ids pass as they are. */
  readonly tasks?: BoundTasks | undefined;
  /** A request of the server to its client was dropped. */
  questionRefused(method: string): void;
  /** A modern request was answered as only a legacy server does. */
  eraDoubted(): void;
  readonly max_event_bytes: number;
  readonly max_response_bytes: number;
}

/**
 * The answer to `call` as its client gets it, with the call's own id; undefined when it answers another call. An id that spells the call's
 * counts as its own (`"1"` for `1`), and so does an error without an id (JSON-RPC 2.0 section 5); an error with any other id does where
 * the exchange has one answer alone.
 */
export function ownAnswer(call: Call, message: Uint8Array, verdict: Verdict, alone: boolean): Uint8Array | undefined {
  const { id, id_from, id_to, outcome } = verdict;
  if (id !== undefined && id === call.id) return message;
  const ours = spellsId(id, call.id) || (outcome === 'rpc_error' && (alone || id === undefined));
  return ours ? withId(message, id_from, id_to, call.id) : undefined;
}

/** A message of the upstream's with the ids of bound tasks as the client knows them; undefined: it must not go on. */
export function withTaskNames({ parts, call, task_names }: AnswerHost, message: Uint8Array): Uint8Array | undefined {
  return parts.tasks === undefined || call.identity === undefined ? message : parts.tasks.message(call, task_names, message);
}

/** Why `withTaskNames` keeps a message back. */
export const TASK_UNKNOWN = 'the task of an answer has no usable id';

/** The header list with one more field. */
export function withField(list: HeaderList, name: string, value: string): HeaderList {
  return [...list, name, value];
}

/** What an upstream's answer is, as far as its head tells. */
type Media = 'json' | 'events' | 'other' | 'none';

/** The head of an upstream's answer, split into the fields to relay and the fields to act upon. */
export interface UpstreamHead {
  readonly status: number;
  /** Flat name, value list of the fields that reach the client; without content-type. */
  readonly relayed: readonly string[];
  readonly media: Media;
  readonly content_type: string;
  /** Exact body length in bytes if the upstream declared it. */
  readonly length: number | undefined;
  /** True when the body is not what its type says but a coding of it. */
  readonly encoded: boolean;
  /** The upstream's own `Mcp-Session-Id`. */
  readonly session: string | undefined;
}

/** Sorts the fields of an answer, names in lower case: hop-by-hop fields, fields that `Connection` lists and fields that only the gateway may set stay here. */
export function readUpstreamHead(status: number, fields: HeaderList, length: number | undefined): UpstreamHead {
  let relayed: string[] = [];
  let types = 0;
  let content_type = '';
  let encoded = false;
  let session: string | undefined;
  let connection = '';
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = fields[i] as string;
    const value = fields[i + 1] as string;
    switch (name) {
      case 'content-type':
        types += 1;
        content_type = value;
        break;
      case 'content-encoding':
        encoded ||= value.toLowerCase() !== 'identity';
        break;
      case 'connection':
        connection = connection === '' ? value : `${connection},${value}`;
        break;
      case 'mcp-session-id':
        session ??= value;
        break;
      case 'x-request-id':
        relayed.push('x-upstream-request-id', value);
        break;
      default:
        if (name !== 'content-length' && !dropped(name)) relayed.push(name, value);
    }
  }
  if (connection !== '' && !PLAIN_CONNECTION.has(connection.toLowerCase())) relayed = withoutListed(relayed, connection);
  return { status, relayed, media: types > 1 ? 'other' : mediaOf(content_type), content_type, length, encoded, session };
}

function mediaOf(content_type: string): Media {
  if (content_type === 'application/json') return 'json';
  if (content_type === '') return 'none';
  const essence = essenceOf(content_type);
  return essence === 'application/json' ? 'json' : essence === 'text/event-stream' ? 'events' : 'other';
}

function withoutListed(fields: readonly string[], connection: string): string[] {
  const listed = new Set(listedIn(connection));
  const kept: string[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = fields[i] as string;
    if (!listed.has(name === 'x-upstream-request-id' ? 'x-request-id' : name)) kept.push(name, fields[i + 1] as string);
  }
  return kept;
}

/**
 * True for a response field of an MCP upstream that must not reach the client. Names are in lower case. Three groups: fields
 * of the hop (RFC 9110 section 7.6.1) and of the framing, which the listener writes itself; fields that speak for the whole
 * origin or to a proxy in front of us; and fields that would hand the upstream's credentials, addresses or challenges on.
 */
function dropped(name: string): boolean {
  return DROPPED.has(name) || (name.charCodeAt(0) === A && name.startsWith('access-control-')) || name.startsWith('x-accel-');
}

const A = 0x61;
const DROPPED: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  ...ORIGIN_WIDE,
  'authentication-info',
  'content-location',
  'date',
  'location',
  'server',
  'set-cookie',
  'set-cookie2',
  'via',
  'www-authenticate',
  'x-powered-by',
]);
