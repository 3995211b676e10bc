import type { CallSummary } from './claims.js';
import type { Clock } from './clock.js';
import type { Egress } from './egress.js';
import type { RequestHead } from './head.js';
import type { Facts, Identity } from './identity.js';
import type { Log } from './log.js';
import type { Metrics } from './metrics.js';
import type { Static, TSchema } from './options.js';

/** Header fields to send: one string or several lines of one field. Names and values are checked; CR, LF or NUL fail the gate. */
export type HeaderInit = Readonly<Record<string, string | readonly string[]>>;

/** A refusal's status. 2xx and 3xx cannot refuse. */
export type RefuseStatus = 400 | 401 | 403 | 404 | 405 | 406 | 411 | 413 | 415 | 421 | 429 | 431 | 500 | 502 | 503 | 504;

/** What a gate returns. Anything else, a throw or a rejection is a 500 `GATE_FAILED`; lateness is a 504 `GATE_TIMEOUT`. */
export type GateDecision =
  | { readonly kind: 'pass'; readonly facts?: Facts }
  | { readonly kind: 'identify'; readonly identity: Omit<Identity, 'facts'>; readonly facts?: Facts }
  | {
      readonly kind: 'refuse';
      readonly status: RefuseStatus;
      /** Stable, upper snake case; goes to `error.data.code`, the log and the metrics. */
      readonly code: string;
      /** Told to the client. Say what was expected and what to do; never a token, a secret or an internal host. */
      readonly message?: string;
      readonly headers?: HeaderInit;
      /**
       * The subject of the refusal. `call`: the called component, where the caller is known to an earlier gate, or to this one if its module
       * identifies. Some clients end their whole session after an error that they can't match to a request, so the gateway waits for
       * the first 64 KiB of the body, at most 1 s, and answers with the request's id if it is there. `caller`: who calls; the answer
       * goes at once. Default: `call` for a 403 of a gate that read `head.claims` and has `context.identity`, else `caller`. A 401 is
       * never about the call: with `call` it is GATE_FAILED.
       */
      readonly about?: 'call' | 'caller';
    }
  | { readonly kind: 'serve'; readonly status: number; readonly headers?: HeaderInit; readonly body: string };

/** The route a gate instance stands before. */
export interface RouteInfo {
  /** Config path, e.g. `/files/mcp`; `*` for a gate of `listener.gates`. */
  readonly path: string;
  /** The URL clients dial: `listener.public_url` + path, or the route's own `public_url`. No trailing slash is added. */
  readonly url: string;
  /** Config name of the runtime; empty for a gate of `listener.gates`. */
  readonly runtime: string;
}

/** What a gate sees beside the head. */
export interface GateContext {
  /** Set once an earlier gate of the chain has identified the caller. */
  readonly identity: Identity | undefined;
  /** Everything that earlier gates of the chain found. */
  readonly facts: Facts;
  readonly route: RouteInfo;
  /** Aborts at the gate's deadline and when the client leaves. Pass it to everything that waits. */
  readonly signal: AbortSignal;
}

/** One opened gate. It sees heads only; it never gets the body, the response or a `next`. */
export interface RequestGate {
  /** Absolute public paths that this gate answers itself (GET, HEAD, OPTIONS), e.g. its RFC 9728 document. It then gets their heads and returns `serve` or `refuse`. */
  readonly serves?: readonly string[];
  /**
   * Further public paths of this kind. One is answered only while exactly one gate instance of the whole gateway names it here and no gate
   * or route has it; else it is 404. For the root form of an RFC 9728 document, which can speak for one resource only.
   */
  readonly serves_if_alone?: readonly string[];
  decide(head: RequestHead, context: GateContext): GateDecision | Promise<GateDecision>;
  /**
   * A second, stricter look once the body was scanned. Called for legacy-era messages, whose method and name no header
   * binds, before the runtime runs; `pass` or `refuse` only. For the modern era `decide` sees the same names in `head.claims`; a modern
   * message that has one in its body alone (a task without `Mcp-Name`) is asked about here too.
   */
  decideCall?(call: CallSummary, head: RequestHead, context: GateContext): GateDecision | Promise<GateDecision>;
  /** Ends what the gate owns. Called once, also after a failed start. */
  close?(): Promise<void>;
}

/** What a gate instance gets when it is opened. */
export interface GateHost {
  /** Config name of the gate. */
  readonly name: string;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Aborts when the gateway closes. */
  readonly signal: AbortSignal;
  readonly route: RouteInfo;
  /** Folder that relative file names in the options are resolved from. */
  readonly folder: string;
  /** The way to what the gate asks over the network: pass each of undici's connectors through `egress.connector`. */
  readonly egress: Egress;
  /**
   * One value for all instances that ask with the same key, e.g. a key cache per issuer for all routes. Created on first
   * use; `close` is called once when the last gate of the gateway was closed.
   */
  shared<T extends { close?(): Promise<void> }>(key: string, create: () => T): T;
}

/** A gate's module: the named export `gate` of a built-in, an `npm:` package or a `file:`. */
export interface GateModule<S extends TSchema = TSchema> {
  readonly name: string;
  /** The contract's number. This gateway speaks 1; a mismatch refuses to start and names both. */
  readonly contract: 1;
  /** JSON Schema of the options; they are validated, defaulted and frozen before `open`. */
  readonly options: S;
  /** Facts this gate writes. */
  readonly provides?: readonly string[];
  /** Facts this gate needs from earlier gates; a wrong order refuses to start. `identity` asks for an earlier identifying gate. */
  readonly requires?: readonly string[] | ((options: Static<S>) => readonly string[]);
  /**
   * `always`: a pass comes with an identity. `when_alone`: it identifies unless another gate of the chain always does; then
   * only its facts count. Exactly one gate of a chain identifies. A function decides by the options.
   */
  readonly identifies?: 'always' | 'when_alone' | ((options: Static<S>) => 'always' | 'when_alone' | undefined);
  /** True for an allowlist: its pass alone admits to a route that is not public. */
  readonly authorizes?: boolean;
  /** The refusal codes this gate uses, for docs/errors.md. */
  readonly codes?: Readonly<Record<string, { readonly status: number; readonly meaning: string; readonly remedy: string }>>;
  /** What the schema cannot say: throws an Error that says what is wrong. Asked before any gate is opened, by `portcullis validate` too. */
  check?(options: Static<S>): void;
  open(options: Static<S>, host: GateHost): RequestGate | Promise<RequestGate>;
}
