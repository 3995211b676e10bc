import { builtins } from '../../gates/index.js';
import { chainInput } from '../assembly/snapshot.js';
import { publicUrl } from '../assembly/urls.js';
import type { LoadedConfig } from '../config/load.js';
import type { Clock } from '../contract/clock.js';
import type { HeaderInit } from '../contract/gate.js';
import type { RequestHead } from '../contract/head.js';
import type { Identity } from '../contract/identity.js';
import type { Metrics } from '../contract/metrics.js';
import type { GateVerdict, Telemetry } from '../contract/telemetry.js';
import { unsupportedVersion } from '../dialect/admit.js';
import { isServed } from '../dialect/methods.js';
import { CODES } from '../errors/codes.js';
import type { ProtocolFault } from '../errors/error.js';
import { type Admitted, type Chain, type ChainOutcome, NOBODY } from '../gate-chain/chain.js';
import { type ChainSet, openChains } from '../gate-chain/load.js';
import { SILENT } from '../silent-log.js';
import { placesOf, verdictOn } from './head-checks.js';
import { adviceOf, askedCall, type Question, toHead } from './question.js';

/** One thing that was asked on the way. */
export interface Step {
  /** `route`, `headers`, `body`, or the config name of a gate. */
  readonly by: string;
  readonly verdict: 'ok' | GateVerdict;
  /** Refusal code; empty otherwise. */
  readonly code: string;
  readonly milliseconds: number;
}

/** What would happen to a request, and why. Holds no token and no secret. */
export interface Explanation {
  readonly steps: readonly Step[];
  readonly outcome: 'admitted' | 'refused' | 'served';
  /** HTTP status of a refusal or of what a gate serves; 0 when admitted. */
  readonly status: number;
  readonly code: string;
  /** Why, and what the caller can do. */
  readonly why: string;
  readonly remedy: string;
  /** Header fields of the refusal, e.g. the challenge. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly identity:
    | (Pick<Identity, 'issuer' | 'principal' | 'client' | 'expires_at_ms'> & { readonly scopes: readonly string[] })
    | undefined;
  readonly facts: readonly string[];
}

/**
 * Asks the gates of a config about one request, through the same chains that decide requests. Opens the gates, so issuers and
 * introspection endpoints are really asked; nothing is bound and no runtime is called.
 */
export async function explain(loaded: LoadedConfig, question: Question, clock: Clock): Promise<Explanation> {
  const steps: Step[] = [];
  const end = new AbortController();
  const telemetry: Telemetry = {
    ...SILENT_TELEMETRY,
    gateDecided: (_route, gate, verdict, code, seconds) =>
      void steps.push({ by: gate, verdict, code: code === 'none' ? '' : code, milliseconds: seconds * 1000 }),
  };
  const chains = await openChains(chainInput(loaded, publicUrl(loaded.config)), {
    builtins,
    log: SILENT,
    metrics: NO_METRICS,
    telemetry,
    clock,
    signal: end.signal,
    folder: loaded.folder,
  });
  try {
    return await ask(loaded, question, chains, steps, clock);
  } finally {
    end.abort();
    await chains.close();
  }
}

async function ask(loaded: LoadedConfig, question: Question, chains: ChainSet, steps: Step[], clock: Clock): Promise<Explanation> {
  const { config } = loaded;
  const head = toHead(question, config, clock.now_ms());
  const place = placesOf(config, chains).match(head.path);
  const turnAway = (
    by: string,
    { code, detail }: ProtocolFault,
    headers: HeaderInit = {},
    remedy: string = CODES[code].remedy,
  ): Explanation => {
    steps.push({ by, verdict: 'refuse', code, milliseconds: 0 });
    const { status, message } = CODES[code];
    return refused(steps, status, code, `${message} ${detail ?? ''}`.trim(), headers, remedy);
  };
  if (place === undefined) {
    return turnAway('route', { code: 'NO_ROUTE' }, {}, `The routes are ${config.routes.map(({ path }) => path).join(', ')}.`);
  }
  steps.push({ by: 'route', verdict: 'ok', code: '', milliseconds: 0 });
  const { fault, allow, preflight, claims = head.claims } = verdictOn(head, place, config);
  if (fault !== undefined) return turnAway('headers', fault, allow === undefined ? {} : { allow });
  if (preflight) return { ...refused(steps, 204, '', 'The listener answers CORS preflights itself.', {}, ''), outcome: 'served' };
  const claimed: RequestHead = { ...head, claims };
  // A path that a gate serves itself has the listener's open gates in its own chain.
  let outcome: ChainOutcome = { kind: 'admit', ...NOBODY };
  if (place.kind !== 'served') outcome = await decide(chains.listener, claimed, outcome);
  if (outcome.kind === 'admit') outcome = await decide(place.chain, claimed, outcome);
  if (outcome.kind === 'admit' && place.kind === 'mcp' && head.method === 'POST') {
    const { era, revision, method: mirrored } = claims;
    if (!isServed(revision)) return turnAway('body', unsupportedVersion(revision).fault);
    const { method, name } = askedCall(question);
    const before = steps.length;
    if (place.chain.judges_calls && (era === 'legacy' || mirrored === undefined))
      outcome = await place.chain.decideCall({ era, revision, method, name }, claimed, { abort: undefined }, outcome);
    for (const [at, step] of steps.entries()) if (at >= before) steps[at] = { ...step, by: `${step.by} (call)` };
  }
  if (outcome.kind === 'serve')
    return { ...refused(steps, outcome.status, '', 'A gate answers this path itself.', outcome.headers ?? {}, ''), outcome: 'served' };
  if (outcome.kind === 'refuse')
    return refused(steps, outcome.status, outcome.code, outcome.message, outcome.headers ?? {}, adviceOf(outcome.code).remedy);
  return admitted(steps, outcome, place.url);
}

function decide(chain: Chain, head: RequestHead, before: Admitted): ChainOutcome | Promise<ChainOutcome> {
  return chain.decide(head, { abort: undefined }, before);
}

function admitted(steps: readonly Step[], { identity, facts }: Admitted, url: string): Explanation {
  const who = identity === undefined ? 'anonymous: the route is public or an allowlist passed' : `${identity.issuer}#${identity.principal}`;
  return {
    steps,
    outcome: 'admitted',
    status: 0,
    code: '',
    why: `Every gate of ${url} passed; the caller is ${who}.`,
    remedy: '',
    headers: {},
    identity:
      identity === undefined
        ? undefined
        : {
            issuer: identity.issuer,
            principal: identity.principal,
            scopes: [...identity.scopes],
            ...(identity.client === undefined ? {} : { client: identity.client }),
            ...(identity.expires_at_ms === undefined ? {} : { expires_at_ms: identity.expires_at_ms }),
          },
    facts: Object.keys({ ...facts, ...identity?.facts }),
  };
}

function refused(
  steps: readonly Step[],
  status: number,
  code: string,
  why: string,
  headers: Explanation['headers'],
  remedy: string,
): Explanation {
  return { steps, outcome: 'refused', status, code, why, remedy, headers, identity: undefined, facts: [] };
}

const ignore = (): void => undefined;

const SILENT_TELEMETRY: Telemetry = {
  connectionRefused: ignore,
  headRefused: ignore,
  gateDecided: ignore,
  requestEnded: ignore,
  streamOpened: ignore,
  streamEvents: ignore,
  streamClosed: ignore,
  streamRefused: ignore,
  callerLimited: ignore,
  upstreamAnswered: ignore,
  upstreamConnected: ignore,
  eraProbed: ignore,
  eraFlipped: ignore,
  bridgeSessionEnded: ignore,
  heldCallEnded: ignore,
  questionEnded: ignore,
  questionRefused: ignore,
  taskRefused: ignore,
  toolsListed: ignore,
  drainKilled: ignore,
  drained: ignore,
};

const NO_METRICS: Metrics = { counter: () => ({ add: ignore }), histogram: () => ({ observe: ignore }), gauge: () => ignore };
