import type { Clock } from '../../contract/clock.js';
import type { Call, Exchange } from '../../contract/runtime.js';
import { GatewayError } from '../../errors/error.js';
import { resultText } from '../../wire/rpc.js';
import type { Envelope } from '../../wire/scan.js';
import type { ToolsLearner } from '../shared/tools-learner.js';
import { ask } from './ask.js';
import type { Askable } from './askable.js';
import { Bridge } from './bridge.js';
import { initializeParams, readHandshake } from './handshake.js';
import { HeldCall } from './held-call.js';
import type { HeldCalls } from './held-calls.js';
import type { Peer } from './peer.js';
import type { ToolHeaders } from './tool-headers.js';

/** A way to a server for one session. */
export interface Lease {
  readonly peer: Peer;
  /** Hears what belongs to no request, where that needs a stream of its own; calling it twice does nothing. */
  listen(): void;
  /** Ends the session and whatever it has for itself. The calls in it were told before. */
  end(): void;
}

export interface LeasedSessionOptions {
  /** From the call that needs a session to the server's answer to `initialize`. */
  readonly start_timeout_ms: number;
  /** What the gateway tells servers of itself. */
  readonly version: string;
}

export interface LeasedSessionDeps {
  readonly clock: Clock;
  readonly tools: ToolsLearner;
  /** What is known of the server's mirrored arguments. */
  readonly headers: ToolHeaders;
  /** The calls that wait for their client's answer to a question of the server. */
  readonly held: HeldCalls<HeldCall>;
  /** JSON text of who calls, where messages tell it. */
  identityOf(call: Call): string | undefined;
  /** Header fields that go with one call, where messages have any. */
  fieldsOf(call: Call): readonly string[];
  /** The server answered `initialize` as one that serves no legacy revision. */
  refused(): void;
  /** The server gave no session: whoever waited was told. */
  failed(): void;
  /** A call is over. */
  over(): void;
  /** The server has lost the session; the call was not begun. True: it was sent again in another one. */
  again(call: Call, exchange: Exchange): boolean;
}

/** One session that the gateway holds on a legacy server for modern calls; they wait until it is open. */
export class LeasedSession {
  /** Equal for calls that may share it. */
  readonly key: string;
  /** Whose it is; undefined: nobody that a gate has identified. */
  readonly caller: string | undefined;
  readonly #route: string;
  readonly #lease: Lease;
  readonly #deps: LeasedSessionDeps;
  readonly #calls = new Set<HeldCall>();
  readonly #waiting = new Set<(error: GatewayError | undefined) => void>();
  readonly #askable: boolean;
  #bridge: Bridge | undefined;
  #roots: { readonly result: string; readonly since_ms: number } | undefined;
  #used_ms: number;

  /** `asked`: JSON text of the capabilities by which the server may ask its client something; undefined: by none. */
  constructor(
    route: string,
    key: string,
    caller: string | undefined,
    asked: string | undefined,
    lease: Lease,
    options: LeasedSessionOptions,
    deps: LeasedSessionDeps,
  ) {
    const { clock, headers } = deps;
    const { peer } = lease;
    this.#route = route;
    this.key = key;
    this.caller = caller;
    this.#lease = lease;
    this.#deps = deps;
    this.#used_ms = clock.mono_ms();
    this.#askable = asked !== undefined;
    ask(peer, clock, 'initialize', initializeParams(options.version, asked), options.start_timeout_ms, (reply) => {
      if (reply.kind === 'timeout') return this.#fail(new GatewayError('DEADLINE'));
      if (reply.kind === 'lost' && reply.code !== 'UPSTREAM_ANSWER') return this.#fail(new GatewayError(reply.code));
      const handshake = reply.kind === 'answered' && reply.response.outcome !== 'rpc_error' ? readHandshake(reply.line) : undefined;
      if (handshake === undefined) return this.#fail(new GatewayError('ERA_UNAVAILABLE'));
      peer.notify('notifications/initialized');
      if (asked !== undefined) lease.listen();
      this.#bridge = new Bridge(peer, handshake, this.#parts(), () => headers.ask(peer, clock, '{}'));
      headers.askOnce(peer, clock, '{}');
      for (const told of this.#take()) told(undefined);
    });
  }

  /** Nothing of a call is in it. */
  get idle(): boolean {
    return this.#lease.peer.pending === 0 && this.#waiting.size === 0 && this.#calls.size === 0;
  }

  /** A call that can be asked may have it for itself. */
  get free(): boolean {
    return this.#waiting.size === 0 && this.#calls.size === 0;
  }

  /** Milliseconds since it was last in use. */
  touch(now_ms: number): number {
    if (!this.idle) this.#used_ms = now_ms;
    return now_ms - this.#used_ms;
  }

  handle(call: Call, exchange: Exchange, asked: Askable | undefined): void {
    this.#used_ms = this.#deps.clock.mono_ms();
    if (this.#bridge !== undefined) return this.#run(this.#bridge, call, exchange, asked);
    const told = (error: GatewayError | undefined): void => {
      if (error !== undefined) exchange.fail(error);
      else if (!exchange.ended) this.#run(this.#bridge as Bridge, call, exchange, asked);
      if (error === undefined && exchange.ended) this.#deps.over();
    };
    this.#waiting.add(told);
    exchange.onCancel(() => {
      if (this.#waiting.delete(told)) this.#deps.over();
    });
  }

  end(code: 'DRAINING' | 'UPSTREAM_ENDED'): void {
    this.#lease.peer.close(code);
    this.#lease.end();
    for (const told of this.#take()) told(new GatewayError(code));
  }

  #run(bridge: Bridge, call: Call, exchange: Exchange, asked: Askable | undefined): void {
    const mismatch = this.#deps.headers.mismatch(call);
    if (mismatch !== undefined) {
      exchange.fail(new GatewayError('HEADER_MISMATCH', { detail: mismatch }));
      return this.#deps.over();
    }
    if (call.method === 'subscriptions/listen') this.#lease.listen();
    if (asked === undefined) return bridge.handle(call, exchange);
    const { clock, held, again } = this.#deps;
    const own: HeldCall = new HeldCall(this.#lease.peer, call, exchange, asked.capabilities, {
      clock,
      held,
      options: bridge.optionsOf(call),
      again: () => again(call, exchange),
      rooted: (result) => {
        this.#roots = { result, since_ms: clock.mono_ms() };
      },
      over: () => {
        this.#calls.delete(own);
        bridge.logs.leave(own);
        this.#deps.over();
      },
    });
    this.#calls.add(own);
    bridge.logs.enter(own, () => own.start());
  }

  /** A question belongs to the call in whose exchange it came; one that names none to the only call that the server has, held or not. It is never guessed. */
  #asked(line: Uint8Array, envelope: Envelope, about: number | undefined): void {
    const meant = [...this.#calls].filter((call) => call.may_ask && (about === undefined || call.peer_id === about));
    if (meant.length === 1) return meant[0]?.ask(line, envelope);
    const { peer } = this.#lease;
    const roots = this.#roots;
    if (envelope.method === 'roots/list' && roots !== undefined && this.#deps.clock.mono_ms() - roots.since_ms < ROOTS_MS)
      return void peer.say(resultText(envelope.id as string, roots.result));
    this.#deps.held.questioned(this.#route, envelope.method, 'unattributed');
    peer.refuse(envelope, 'No call of this session can be asked this.', -32603);
  }

  #fail(error: GatewayError): void {
    const waiting = this.#take();
    this.#deps.failed();
    if (error.code === 'ERA_UNAVAILABLE') this.#deps.refused();
    for (const told of waiting) told(error);
  }

  #take(): readonly ((error: GatewayError | undefined) => void)[] {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    return waiting;
  }

  #parts(): ConstructorParameters<typeof Bridge>[2] {
    const { clock, tools, headers, held, identityOf, fieldsOf, again } = this.#deps;
    const learnt: ToolsLearner = {
      learn: (route, message) => {
        tools.learn(route, message);
        headers.learn(message);
      },
    };
    const parts = {
      clock,
      tools: learnt,
      identityOf,
      fieldsOf,
      again,
      stateOf: (call: Call) => held.sealAsked(call),
    };
    if (!this.#askable) return parts;
    return {
      ...parts,
      asked: (line: Uint8Array, envelope: Envelope, about: number | undefined) => this.#asked(line, envelope, about),
      withdrawn: (id: string) => {
        for (const call of this.#calls) call.withdrawn(id);
      },
    };
  }
}

/** How long the roots that a client gave stand for it, when the server asks in the middle of no call. */
const ROOTS_MS = 600_000;
