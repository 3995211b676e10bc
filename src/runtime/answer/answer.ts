import type { Clock } from '../../contract/clock.js';
import type { Call, Exchange, HeaderList } from '../../contract/runtime.js';
import type { ErrorCode } from '../../errors/codes.js';
import type { ErrorDetail } from '../../errors/error.js';
import type { RatedLog } from '../../transport/rated-log.js';
import { spellsId, type AnswerVerdict as Verdict, withId } from '../../wire/summary.js';
import type { SessionSeal } from '../shared/session-seal.js';
import type { ToolsLearner } from '../shared/tools-learner.js';

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
  /** A request of the server to its client was dropped. */
  questionRefused(method: string): void;
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

/** The header list with one more field. */
export function withField(list: HeaderList, name: string, value: string): HeaderList {
  return [...list, name, value];
}
