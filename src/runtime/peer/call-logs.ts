import type { Clock } from '../../contract/clock.js';
import type { Call } from '../../contract/runtime.js';
import { isLogLevel, LEVELS } from '../../core/call/context.js';
import { memberAt } from '../../wire/edit.js';
import { toRaw } from '../../wire/text.js';
import { ask } from './ask.js';
import type { Peer } from './peer.js';

/** A call that may get log messages. */
export interface LoggingCall {
  readonly call: Call;
  /** What the peer calls it. */
  readonly peer_id: number | undefined;
  carryLog(line: Uint8Array): boolean;
}

/**
 * Log messages of one legacy server for the modern calls that run on it. A modern call says from which level on it wants them (MCP 2026-07-28, Logging); the server has one
 * level for all, so it is set to the most verbose that was asked for, and each call gets what it asked for: what came in its own exchange, or anything if no other call runs.
 * What nobody can be shown to have caused is dropped.
 */
export class CallLogs {
  readonly #peer: Peer;
  readonly #clock: Clock;
  /** The server has a level to set. */
  readonly #declared: boolean;
  readonly #calls = new Map<LoggingCall, number | undefined>();
  /** Position of the level that the server was told; the less, the more verbose. */
  #told = Number.POSITIVE_INFINITY;

  constructor(peer: Peer, clock: Clock, declared: boolean) {
    this.#peer = peer;
    this.#clock = clock;
    this.#declared = declared;
  }

  /** Takes a call in; `ready` runs when it may be sent, at the latest after 2 s. */
  enter(call: LoggingCall, ready: () => void): void {
    const wanted = this.#declared ? levelOf(call.call) : undefined;
    this.#calls.set(call, wanted);
    if (wanted === undefined || wanted >= this.#told) return ready();
    this.#told = wanted;
    ask(this.#peer, this.#clock, 'logging/setLevel', JSON.stringify({ level: LEVELS[wanted] }), SET_MS, () => {
      if (this.#calls.has(call)) ready();
    });
  }

  leave(call: LoggingCall): void {
    this.#calls.delete(call);
  }

  /** `about`: it came in the exchange of this request of ours. */
  message(line: Uint8Array, about: number | undefined): void {
    const level = memberAt(line, 'params', 'level');
    const at = level === undefined ? -1 : LEVELS.indexOf(toRaw(line, level.value, level.to).slice(1, -1));
    for (const [call, wanted] of this.#calls) {
      const its = about === undefined ? this.#calls.size === 1 : call.peer_id === about;
      if (its && wanted !== undefined && at >= wanted) call.carryLog(line);
    }
  }
}

const SET_MS = 2_000;

/** Position of the level that a modern call asks for; undefined: it wants no messages. */
function levelOf({ body }: Call): number | undefined {
  const member = memberAt(body, 'params', '_meta', 'io.modelcontextprotocol/logLevel');
  const level = member === undefined ? undefined : toRaw(body, member.value, member.to).slice(1, -1);
  return isLogLevel(level) ? LEVELS.indexOf(level) : undefined;
}
