import type { Clock } from '../../contract/clock.js';
import type { Identity } from '../../contract/identity.js';
import type { RequestTrace, Tracing } from '../../contract/tracing.js';
import type { Admitted, Chain } from '../../gate-chain/chain.js';
import type { Admission } from '../socket/admission.js';
import type { ExchangeEnvironment } from './exchange.js';
import type { Head } from './head.js';
import type { ListenerRoute } from './route.js';

/** A request and the route that it was matched to. */
export interface RoutedRequest {
  readonly head: Head;
  readonly route: ListenerRoute;
  readonly trace: RequestTrace | undefined;
}

/** One refusal as the log and the audit tell it. */
export interface Denial {
  readonly head: Head;
  readonly route: string;
  /** Config name of the gate; empty when the listener itself refused. */
  readonly gate: string;
  readonly status: number;
  readonly code: string;
  readonly method: string;
  readonly tool: string | undefined;
  readonly identity: Identity | undefined;
  readonly trace: RequestTrace | undefined;
}

export interface RequestEnvironment extends ExchangeEnvironment {
  readonly clock: Clock;
  readonly admission: Admission;
  readonly listenerChain: Chain;
  readonly tracing: Tracing | undefined;
  denied(denial: Denial): void;
  admitted(request: RoutedRequest, admitted: Admitted): void;
}
