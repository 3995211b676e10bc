import type { Clock, Timer } from '../../contract/clock.js';
import type { Log } from '../../contract/log.js';
import type { Verdict } from './verdict.js';

/** `auto`: the era of a server is found out. `as_is`: every call goes on as its client wrote it. `modern`, `legacy`: the server speaks revisions of that era only. */
export type EraProtocol = 'auto' | 'as_is' | 'modern' | 'legacy';

export interface EraBookOptions {
  readonly protocol: Exclude<EraProtocol, 'as_is'>;
  /** How long a modern call waits for a probe that runs. Then it goes on as it is, and the next one waits again. */
  readonly probe_timeout_ms: number;
  /** Age of a legacy verdict at which a modern call makes the gateway ask again. */
  readonly era_ttl_ms: number;
}

export interface EraBookDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Asks the server which revisions it serves, once; undefined: its answer does not tell. `refused`: it wants another credential. Returns the way to give up. */
  probe(told: (verdict: Verdict | undefined, refused?: boolean) => void): () => void;
  probed(outcome: EraOutcome): void;
  /** `passes` may be another. */
  changed(): void;
  /** The server speaks this era from now on, after the other. */
  flipped(era: Verdict): void;
}

/** What a probe came to. A closed set: it is a metric label. */
export type EraOutcome = Verdict | 'inconclusive';

/**
 * What is known of the era that one server speaks. Only a conclusive probe makes a verdict. A legacy one is asked again after `era_ttl_ms`; a modern one when
 * the server answers a modern request as only a legacy server does. Two changes within 60 s are two versions behind one URL: both serve legacy
 * calls, so the server counts as legacy until the verdict is old.
 */
export class EraBook {
  readonly #options: EraBookOptions;
  readonly #deps: EraBookDeps;
  readonly #waiting = new Set<(bridged: boolean) => void>();
  #verdict: Verdict | undefined;
  /** The last verdict, kept while the present one is doubted. */
  #former: Verdict | undefined;
  #serves_legacy: boolean | undefined;
  #since_ms = 0;
  /** When a doubt last turned out to be unfounded. */
  #confirmed_ms = Number.NEGATIVE_INFINITY;
  #flipped_ms = Number.NEGATIVE_INFINITY;
  /** When a server with a legacy verdict last refused a legacy session. */
  #refused_ms = Number.NEGATIVE_INFINITY;
  /** The last probe was refused. */
  #refused = false;
  /** When a probe last told nothing: calls do not wait for the next ones. */
  #mute_ms = Number.NEGATIVE_INFINITY;
  /** So many probes in a row told nothing. */
  #mute = 0;
  /** The server counts as legacy because it changes back and forth. */
  #mixed = false;
  #giveUp: (() => void) | undefined;
  #late: Timer | undefined;
  #closed = false;
  /** Modern calls go to the server as they are. Read on each call. */
  passes: boolean;

  constructor(options: EraBookOptions, deps: EraBookDeps) {
    this.#options = options;
    this.#deps = deps;
    this.passes = options.protocol === 'modern';
    if (options.protocol !== 'auto') this.#verdict = options.protocol;
    this.#serves_legacy = options.protocol === 'modern' ? false : undefined;
  }

  /** Whether a modern server serves legacy revisions too. Undefined: nobody has asked it, or it is not modern. */
  get serves_legacy(): boolean | undefined {
    return (this.#verdict ?? this.#former) === 'modern' ? this.#serves_legacy : undefined;
  }

  /** What a client's `initialize` came to on a modern server. */
  set serves_legacy(serves: boolean) {
    if (this.#verdict === 'modern') this.#serves_legacy = serves;
  }

  /** Undefined: not known, or never asked. */
  get verdict(): Verdict | undefined {
    return this.#verdict;
  }

  /** Why the verdict is what it is, for people. */
  get reason(): string {
    const { protocol } = this.#options;
    if (protocol !== 'auto') return `protocol: ${protocol}`;
    if (this.#verdict === undefined) return 'the server has not said which revisions it serves';
    if (this.#mixed) return 'it changes its era back and forth, as servers do in the middle of an upgrade';
    return `its answer to server/discover, ${Math.round((this.#deps.clock.mono_ms() - this.#since_ms) / 1000)} s ago`;
  }

  /** Asks for the first time, in the background. */
  start(): void {
    if (this.#options.protocol === 'auto') this.#probe();
  }

  /** Tells once, now or when the probe that runs is over, whether a modern call has to be bridged. Returns the way to wait no more. */
  resolve(told: (bridged: boolean) => void): () => void {
    const { protocol, era_ttl_ms } = this.#options;
    if (this.#verdict === 'legacy') {
      if (protocol === 'auto' && this.#deps.clock.mono_ms() - this.#since_ms >= era_ttl_ms) this.#probe();
      told(true);
    } else if (this.#verdict === 'modern' || this.#closed) told(false);
    else {
      const mute_ms = this.#deps.clock.mono_ms() - this.#mute_ms;
      if (this.#mute < MUTE_PROBES || mute_ms >= PAUSE_MS) this.#probe();
      if (mute_ms < MUTE_MS || this.#giveUp === undefined) told(this.#verdict === 'legacy');
      else this.#waiting.add(told);
    }
    return () => void this.#waiting.delete(told);
  }

  /** A modern request was answered as a modern server does not. */
  doubt(): void {
    const unfounded = this.#deps.clock.mono_ms() - this.#confirmed_ms < UNFOUNDED_MS;
    if (this.#verdict !== 'modern' || this.#options.protocol !== 'auto' || unfounded) return;
    this.#former = this.#verdict;
    this.#verdict = undefined;
    this.passes = false;
    this.#deps.changed();
    this.#probe();
  }

  /**
   * A legacy verdict was followed by a refused `initialize`: a 404 of whatever stood before a modern server may have made it. The verdict stays, since
   * sessions and held calls may live by it, and the server is asked again, once in 5 s.
   */
  sessionRefused(): void {
    const now_ms = this.#deps.clock.mono_ms();
    if (this.#verdict !== 'legacy' || this.#options.protocol !== 'auto' || now_ms - this.#refused_ms < UNFOUNDED_MS) return;
    this.#refused_ms = now_ms;
    this.#probe();
  }

  close(): void {
    this.#closed = true;
    this.#giveUp?.();
    this.#finish(undefined);
  }

  #probe(): void {
    if (this.#giveUp !== undefined || this.#closed) return;
    let answered = false;
    const told = (verdict: Verdict | undefined, refused = false): void => {
      if (answered) return;
      answered = true;
      if (refused && !this.#refused)
        this.#deps.log.warn({}, 'the upstream refuses the gateway: its era is not known (check the headers of the runtime)');
      this.#refused = refused;
      this.#mute = verdict === undefined ? this.#mute + 1 : 0;
      if (verdict === undefined) this.#mute_ms = this.#deps.clock.mono_ms();
      this.#deps.probed(verdict ?? 'inconclusive');
      this.#finish(verdict);
    };
    this.#giveUp = () => undefined;
    this.#late = this.#deps.clock.timer(this.#options.probe_timeout_ms, () => {
      this.#giveUp?.();
      told(undefined);
    });
    const giveUp = this.#deps.probe(told);
    if (!answered) this.#giveUp = giveUp;
  }

  #finish(verdict: Verdict | undefined): void {
    this.#late?.cancel();
    this.#giveUp = undefined;
    if (verdict !== undefined) this.#decided(verdict);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const told of waiting) told(this.#verdict === 'legacy');
  }

  #decided(verdict: Verdict): void {
    const now_ms = this.#deps.clock.mono_ms();
    const before = this.#verdict ?? this.#former;
    let taken = verdict;
    this.#mixed = false;
    if (before !== undefined && before !== verdict) {
      this.#serves_legacy = undefined;
      // Nothing is gained by sessions that the server refuses.
      const mixed = now_ms - this.#flipped_ms < MIXED_MS && now_ms - this.#refused_ms >= MIXED_MS;
      this.#flipped_ms = now_ms;
      this.#mixed = mixed;
      if (mixed) {
        taken = 'legacy';
        this.#deps.log.warn({}, 'the MCP server changes its era back and forth: it is treated as a legacy server for now');
      } else this.#deps.log.info({ era: verdict }, 'the MCP server speaks another era than before');
    }
    if (this.#former === verdict) this.#confirmed_ms = now_ms;
    this.#verdict = taken;
    this.#former = undefined;
    this.#since_ms = now_ms;
    this.passes = taken === 'modern';
    this.#deps.changed();
    if (before !== undefined && before !== verdict) this.#deps.flipped(taken);
  }
}

/** So long after an unfounded doubt there is no other: the errors of a modern server must not cost a probe each. */
const UNFOUNDED_MS = 5_000;
const MIXED_MS = 60_000;
const MUTE_MS = 10_000;
/** After so many probes in a row that told nothing there is a pause before each further one: calls of a server that is away must not cost it two requests each. */
const MUTE_PROBES = 3;
const PAUSE_MS = 5_000;
