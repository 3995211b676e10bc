import type { CallSummary } from '../contract/claims.js';
import type { Clock } from '../contract/clock.js';
import type { HeaderInit, RequestGate } from '../contract/gate.js';
import type { RequestHead } from '../contract/head.js';
import type { Facts, Identity } from '../contract/identity.js';
import type { Log } from '../contract/log.js';
import type { GateVerdict, Telemetry } from '../contract/telemetry.js';
import { CODES, type ErrorCode } from '../errors/codes.js';
import {
  type CheckedDecision,
  type Claimed,
  checkDecision,
  type KnownDecision,
  mergeFacts,
  NO_FACTS,
  recall,
  remember,
  toIdentity,
} from './decision.js';
import { DecisionFault } from './headers.js';
import type { Slot } from './rules.js';
import { Context, type GateSettled, type JudgedRequest, waitFor } from './wait.js';

/** A head that notices when its claims are read; one that does not has no `claims_read`. */
export interface JudgedHead extends RequestHead {
  claims_read?: boolean;
}

/** What the gates so far found. */
export interface Admitted {
  readonly identity: Identity | undefined;
  readonly facts: Facts;
  /** True once an allowlist passed. */
  readonly authorized: boolean;
}

export type GateRefusal = {
  readonly kind: 'refuse';
  readonly status: number;
  readonly rpc: number;
  readonly code: string;
  readonly message: string;
  readonly headers: HeaderInit | undefined;
  /** Config name of the gate that refused; empty when all passed and none identified the caller. */
  readonly gate: string;
  /** Whom an earlier gate had identified; for the audit. */
  readonly identity: Identity | undefined;
  /** It tells a known caller what may not be called: the answer needs the id of the call. */
  readonly about_call: boolean;
};

export type ChainOutcome =
  | ({ readonly kind: 'admit' } & Admitted)
  | GateRefusal
  | {
      readonly kind: 'serve';
      readonly status: number;
      readonly headers: HeaderInit | undefined;
      readonly body: string;
      readonly gate: string;
    };

/**
 * How a chain ends. `open`: admitted (the listener's chain, a public route). `guarded`: admitted only with an identity or an
 * allowlist's pass. `served`: the last gate answers its own public path; a pass counts as a failure.
 */
export type ChainEnd = 'open' | 'guarded' | 'served';

export interface ChainParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly telemetry: Telemetry;
  /** In the order in which they are asked. */
  readonly slots: readonly Slot[];
  /** Slots whose `decideCall` is asked: of a route, the listener's too. */
  readonly judges: readonly Slot[];
  readonly end: ChainEnd;
  /** True when a gate of this chain always identifies: an identity that an earlier chain found counts no more, its facts do. */
  readonly replaces_identity: boolean;
}

/**
 * Gates in order; the first that does not pass decides. Synchronous as long as the gates are: no promise, no timer. A gate
 * that is late is a 504 `GATE_TIMEOUT`, one that throws, rejects or returns anything but a decision a 500 `GATE_FAILED`.
 */
export class Chain {
  readonly size: number;
  /** True when `decideCall` has somebody to ask. A route's chain asks the listener's gates too: ask it alone. */
  readonly judges_calls: boolean;
  /** True when one of its gates says that it finds out who calls. */
  readonly identifies: boolean;
  readonly #parts: ChainParts;

  constructor(parts: ChainParts) {
    this.#parts = parts;
    this.size = parts.slots.length;
    this.judges_calls = parts.judges.length > 0;
    this.identifies = parts.slots.some((slot) => slot.knows_caller);
  }

  /** Judges a head. `before` is what the listener's chain found. Never throws, never rejects. */
  decide(head: JudgedHead, judged: JudgedRequest, before: Admitted = NOBODY): ChainOutcome | Promise<ChainOutcome> {
    const { slots, end, replaces_identity } = this.#parts;
    if (end === 'served' && !SERVED_METHODS.has(head.method))
      return refusal('METHOD_NOT_ALLOWED', slots.at(-1)?.name ?? '', undefined, SERVED_ALLOW);
    const identity = replaces_identity ? undefined : before.identity;
    const run: Run = { slots, end, head, judged, call: undefined, identity, facts: before.facts, authorized: before.authorized };
    return this.#from(0, run, this.size === 0 ? 0 : this.#parts.clock.mono_ms());
  }

  /** The second look, at one scanned message: `pass` or `refuse` only. Never throws, never rejects. */
  decideCall(call: CallSummary, head: RequestHead, judged: JudgedRequest, admitted: Admitted): ChainOutcome | Promise<ChainOutcome> {
    const { identity, facts, authorized } = admitted;
    const run: Run = { slots: this.#parts.judges, end: 'open', head, judged, call, identity, facts, authorized };
    return this.#from(0, run, this.judges_calls ? this.#parts.clock.mono_ms() : 0);
  }

  #from(first: number, run: Run, started_ms: number): ChainOutcome | Promise<ChainOutcome> {
    let begun_ms = started_ms;
    for (let i = first; i < run.slots.length; i += 1) {
      const slot = run.slots[i] as Slot;
      const context = new Context(run.identity, run.facts, slot.route);
      if (run.head.claims_read === true) run.head.claims_read = false;
      let answer: unknown;
      let waits: boolean;
      try {
        answer = ask(slot.gate, run, context);
        waits = isThenable(answer);
      } catch (error) {
        return this.#failed(slot, run, this.#parts.clock.mono_ms() - begun_ms, error);
      }
      if (waits) {
        return waitFor(answer as PromiseLike<unknown>, slot.timeout_ms, this.#parts.clock, run.judged, context).then((settled) => {
          const now_ms = this.#parts.clock.mono_ms();
          return this.#settled(slot, run, settled, now_ms - begun_ms) ?? this.#from(i + 1, run, now_ms);
        });
      }
      const now_ms = this.#parts.clock.mono_ms();
      const outcome = this.#take(slot, run, answer, now_ms - begun_ms);
      if (outcome !== undefined) return outcome;
      begun_ms = now_ms;
    }
    return finish(run);
  }

  #settled(slot: Slot, run: Run, settled: GateSettled, took_ms: number): ChainOutcome | undefined {
    if (settled.kind === 'value') return this.#take(slot, run, settled.value, took_ms);
    if (settled.kind === 'error') return this.#failed(slot, run, took_ms, settled.error);
    if (settled.kind === 'left') {
      this.#tell(slot, run, 'refuse', 'CLIENT_LEFT', took_ms);
      return { ...refusal('GATE_TIMEOUT', slot.name, run.identity), code: 'CLIENT_LEFT' };
    }
    const { name, route, timeout_ms } = slot;
    this.#parts.log.error({ request_id: run.head.id, gate: name, route: route.path, timeout_ms }, 'gate did not decide in time');
    this.#tell(slot, run, 'timeout', 'GATE_TIMEOUT', took_ms);
    return refusal('GATE_TIMEOUT', name, run.identity);
  }

  /** Undefined: the gate passed, go on. */
  #take(slot: Slot, run: Run, answer: unknown, took_ms: number): ChainOutcome | undefined {
    let known: KnownDecision | undefined;
    let decision: CheckedDecision;
    try {
      known = recall(answer, slot.provides);
      decision = known?.decision ?? checkDecision(answer, slot.provides);
      if (known === undefined && decision.kind === 'identify') remember(answer, slot.provides, decision);
      mayDecide(slot, run, decision);
    } catch (error) {
      return this.#failed(slot, run, took_ms, error);
    }
    if (decision.kind === 'refuse') {
      const { status, code, message = 'The request was refused.', headers } = decision;
      const { identity } = run;
      this.#tell(slot, run, 'refuse', slot.codeLabel(code), took_ms);
      const about_call = isAboutCall(slot, run, decision);
      return { kind: 'refuse', status, rpc: -32600, code, message, headers, gate: slot.name, identity, about_call };
    }
    this.#tell(slot, run, decision.kind, '', took_ms);
    if (decision.kind === 'serve') {
      return { kind: 'serve', status: decision.status, headers: decision.headers, body: decision.body, gate: slot.name };
    }
    run.facts = mergeFacts(run.facts, decision.facts);
    run.authorized ||= slot.authorizes;
    if (decision.kind === 'identify' && slot.identifies !== 'ignored') {
      run.identity = known?.identity.facts === run.facts ? known.identity : toIdentity(decision.identity, run.facts);
    }
    return undefined;
  }

  #failed(slot: Slot, run: Run, took_ms: number, cause: unknown): ChainOutcome {
    const fields = { request_id: run.head.id, gate: slot.name, route: slot.route.path, ...describe(cause) };
    this.#parts.log.error(fields, 'gate failed');
    this.#tell(slot, run, 'failed', 'GATE_FAILED', took_ms);
    return refusal('GATE_FAILED', slot.name, run.identity);
  }

  #tell(slot: Slot, run: Run, verdict: GateVerdict, code: string, took_ms: number): void {
    this.#parts.telemetry.gateDecided(slot.route.path, slot.name, verdict, code, took_ms / 1_000);
    run.judged.trace?.gateDecided(slot.name, verdict, code, took_ms / 1_000);
  }
}

/** What a chain starts with when nothing was judged before. */
export const NOBODY: Admitted = Object.freeze({ identity: undefined, facts: NO_FACTS, authorized: false });

/** Methods of a path that its last gate serves. */
export const SERVED_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const SERVED_ALLOW: HeaderInit = Object.freeze({ allow: 'GET, HEAD, OPTIONS' });

interface Run {
  readonly slots: readonly Slot[];
  readonly end: ChainEnd;
  readonly head: JudgedHead;
  readonly judged: JudgedRequest;
  /** Set when one message is judged. */
  readonly call: CallSummary | undefined;
  identity: Identity | undefined;
  facts: Facts;
  authorized: boolean;
}

function ask(gate: RequestGate, run: Run, context: Context): unknown {
  return run.call === undefined ? gate.decide(run.head, context) : gate.decideCall?.(run.call, run.head, context);
}

function isThenable(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && typeof (answer as { readonly then?: unknown }).then === 'function';
}

function mayDecide(slot: Slot, run: Run, decision: CheckedDecision): void {
  const { kind } = decision;
  if (kind === 'refuse') return;
  if (run.call !== undefined && kind !== 'pass') throw new DecisionFault(`decideCall returned ${kind}; it may pass or refuse`);
  if (run.end === 'served' && kind !== 'serve' && slot === run.slots.at(-1))
    throw new DecisionFault(`${kind} on a path that the gate serves; it may serve or refuse`);
  if (kind === 'pass' && run.call === undefined && slot.identifies === 'always') {
    throw new DecisionFault('passed without an identity although the module always identifies');
  }
  if (kind === 'identify' && slot.identifies !== 'ignored' && run.identity !== undefined) {
    throw new DecisionFault('a second identity; an earlier gate has identified the caller');
  }
}

function isAboutCall(
  slot: Slot,
  { identity, head }: Run,
  { about, status }: Extract<CheckedDecision, { readonly kind: 'refuse' }>,
): boolean {
  if (about !== undefined) return about === 'call' && (identity !== undefined || slot.knows_caller);
  return status === 403 && identity !== undefined && head.claims_read === true;
}

function finish(run: Run): ChainOutcome {
  const { facts, authorized, identity } = run;
  if (run.end === 'guarded' && identity === undefined && !authorized) return refusal('UNAUTHENTICATED', '', undefined);
  // A gate after the identifying one may have added facts.
  const whole = identity === undefined || identity.facts === facts ? identity : toIdentity(toClaimed(identity), facts);
  return { kind: 'admit', identity: whole, facts, authorized };
}

function toClaimed({ principal, issuer, scopes, client, expires_at_ms }: Identity): Claimed {
  return { principal, issuer, scopes, client, expires_at_ms };
}

function refusal(code: ErrorCode, gate: string, identity: Identity | undefined, headers?: HeaderInit): GateRefusal {
  const { status, rpc, message } = CODES[code];
  return { kind: 'refuse', status, rpc, code, message, headers, gate, identity, about_call: false };
}

/** Bounded, without the stack: a cause comes from the gate's author. */
function describe(cause: unknown): Readonly<Record<string, unknown>> {
  try {
    if (cause instanceof Error) return { error: String(cause.name).slice(0, 64), cause: String(cause.message).slice(0, 512) };
    return { error: typeof cause, cause: String(cause).slice(0, 512) };
  } catch {
    return { error: 'unreadable', cause: '' };
  }
}
