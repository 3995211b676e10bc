import { createHash, randomBytes } from 'node:crypto';
import { callerKey } from '../../contract/caller.js';
import type { Clock } from '../../contract/clock.js';
import type { Call } from '../../contract/runtime.js';
import type { QuestionOutcome, Telemetry } from '../../contract/telemetry.js';
import { canonical, paramsOf } from '../../core/call/params.js';
import { createSealedTexts, type SealedTexts } from '../../core/sealed-texts.js';
import { GatewayError } from '../../errors/error.js';

export interface HeldCallsOptions {
  /** Calls that are held at once. For one more the question is refused to the server, and the call goes on. */
  readonly max_held: number;
  /** Those of one caller. */
  readonly max_held_per_caller: number;
  /** How long a call waits for the client's answer. Then it is cancelled at the server. */
  readonly hold_ttl_ms: number;
}

export interface HeldCallsDeps {
  readonly clock: Clock;
  /** Secrets that replicas share; none: one of this process. */
  readonly keys: readonly string[];
  /** Config name of the runtime, and who counts for it. */
  readonly name: string;
  readonly telemetry: Pick<Telemetry, 'heldCallEnded' | 'drainKilled' | 'questionEnded'>;
  /** `size` is another. */
  changed?(): void;
}

/** A call that can be held. */
export interface Holdable {
  /** As the held calls know it. */
  name: string | undefined;
  /** Counts what its clients were given; a former one is no longer good. */
  readonly round: number;
  /** Nobody comes for it: it ends at the server. */
  giveUp(reason: HeldEnd): void;
}

/** How the holding of a call ended: its client came back, did not, the server finished or lost it, or the gateway drains. A closed set: a metric label. */
export type HeldEnd = 'answered' | 'expired' | 'finished' | 'drain';

/**
 * The calls of one runtime whose server asks their client something: they wait, without a client, for the retry that answers. What the client is given to come back with is sealed,
 * and good for the same caller, route, method and params, in this process, once (MCP 2026-07-28, Multi Round-Trip Requests).
 */
export class HeldCalls<T extends Holdable> {
  readonly options: HeldCallsOptions;
  readonly #deps: HeldCallsDeps;
  readonly #texts: SealedTexts;
  readonly #boot = randomBytes(8);
  readonly #known = new Map<string, T>();
  readonly #held = new Map<T, { readonly caller: string; readonly since_ms: number }>();
  readonly #bytes = new Map<T, number>();
  #bytes_in_all = 0;

  constructor(options: HeldCallsOptions, deps: HeldCallsDeps) {
    this.options = options;
    this.#deps = deps;
    this.#texts = createSealedTexts({ label: 'bridge-state-1', keys: deps.keys, max_sealed: MAX_SEALED, clock: deps.clock });
  }

  get size(): number {
    return this.#held.size;
  }

  /** Holds a call, and returns the state for its client. Undefined: too many are held. */
  hold(held: T, call: Call, round: number): string | undefined {
    const caller = callerKey(call.identity, call.head.peer.client_address);
    if (this.#held.size >= this.options.max_held) return undefined;
    if ([...this.#held.values()].filter((other) => other.caller === caller).length >= this.options.max_held_per_caller) return undefined;
    held.name ??= randomBytes(16).toString('hex');
    this.#known.set(held.name, held);
    this.#held.set(held, { caller, since_ms: this.#deps.clock.mono_ms() });
    this.#deps.changed?.();
    const text = Buffer.concat([this.#boot, Buffer.from(held.name, 'hex'), Buffer.from([round & 0xff])]);
    return this.#texts.seal(text, bindingOf(call), SEAL_MS);
  }

  /** A state for a client that has to do something before the same call is made anew: nothing is held for it. */
  sealAsked(call: Call): string {
    return this.#texts.seal(Buffer.concat([this.#boot, ASKED, Buffer.from([0])]), bindingOf(call), SEAL_MS);
  }

  isAsked(call: Call, state: unknown): boolean {
    return this.#open(call, state)?.subarray(8, 24).equals(ASKED) === true;
  }

  /** It is a state that a client of this call was given, here or by a replica. */
  knows(call: Call, state: unknown): boolean {
    return this.#open(call, state) !== undefined;
  }

  /** The call that this one answers, no longer held; or why there is none. */
  find(call: Call, state: unknown): T | GatewayError {
    const text = this.#open(call, state);
    if (text === undefined) return new GatewayError('INVALID_STATE');
    if (!text.subarray(0, 8).equals(this.#boot)) return new GatewayError('HELD_CALL_GONE', { data: { elsewhere: true } });
    const held = this.#known.get(text.subarray(8, 24).toString('hex'));
    if (held === undefined || held.round !== text[24]) return new GatewayError('HELD_CALL_GONE');
    return this.#held.has(held) ? held : new GatewayError('HELD_CALL_BUSY');
  }

  /** A question of the server to its client came to its end. */
  questioned(route: string, method: string, outcome: QuestionOutcome): void {
    this.#deps.telemetry.questionEnded(route, method, outcome);
  }

  /** It waits no more. */
  release(held: T, reason: HeldEnd): void {
    const { telemetry, name, clock } = this.#deps;
    const entry = this.#held.get(held);
    if (entry === undefined) return;
    this.#held.delete(held);
    telemetry.heldCallEnded(name, reason, (clock.mono_ms() - entry.since_ms) / 1000);
    if (reason === 'drain') telemetry.drainKilled('held', 1);
    this.#deps.changed?.();
  }

  /** Takes so many bytes for what a call has to keep until it is over. False: all calls together would keep more than 16 MiB. */
  reserve(held: T, bytes: number): boolean {
    if (this.#bytes_in_all + bytes > MAX_BYTES) return false;
    this.#bytes_in_all += bytes;
    this.#bytes.set(held, (this.#bytes.get(held) ?? 0) + bytes);
    return true;
  }

  /** It is over. */
  forget(held: T): void {
    if (this.#held.delete(held)) this.#deps.changed?.();
    this.#bytes_in_all -= this.#bytes.get(held) ?? 0;
    this.#bytes.delete(held);
    if (held.name !== undefined) this.#known.delete(held.name);
  }

  #open(call: Call, state: unknown): Buffer | undefined {
    return typeof state === 'string' ? this.#texts.open(state, bindingOf(call))?.text : undefined;
  }

  /** Cancels all of them at their servers. */
  close(): void {
    for (const held of [...this.#held.keys()]) held.giveUp('drain');
  }
}

/** In the place of a call's name. */
const ASKED = Buffer.alloc(16);
/** Long enough to say of an old state that its call is gone. */
const SEAL_MS = 86_400_000;
const MAX_SEALED = 160;
/** Questions and results of all calls of a runtime that wait for their clients. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Who asks what: a state is good for the same again and nothing else. */
function bindingOf({ identity, route, method, body }: Call): Buffer {
  const { _meta, inputResponses, requestState, ...salient } = paramsOf(body);
  const caller = [route.path, identity?.issuer ?? '', identity?.principal ?? '', identity?.client ?? ''];
  return createHash('sha256')
    .update(canonical([...caller, method, salient]))
    .digest();
}
