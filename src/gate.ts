// The API for gates: `import { Type, defineGate } from 'portcullis/gate'`.
import type { GateModule } from './contract/gate.js';
import type { TSchema } from './contract/options.js';

export { addressKey, callerKey } from './contract/caller.js';
export type { CallSummary, Claims, Era } from './contract/claims.js';
export type { Clock, Timer } from './contract/clock.js';
export type { ConnectTarget, Egress, SocketConnector } from './contract/egress.js';
export { fieldText } from './contract/field-text.js';
export type { GateContext, GateDecision, GateHost, GateModule, HeaderInit, RefuseStatus, RequestGate, RouteInfo } from './contract/gate.js';
export type { HeaderView, PeerTls, RemoteAddress as Peer, RequestHead } from './contract/head.js';
export type { Facts, Identity } from './contract/identity.js';
export type { Log } from './contract/log.js';
export type { Counter, Histogram, Labels, Metrics } from './contract/metrics.js';
export { type Static, type TSchema, Type } from './contract/options.js';
export { retryAfter } from './errors/retry-after.js';
export { trimOws } from './wire/field.js';

/**
 * Types a gate module by its own options schema; returns it unchanged.
 *
 * @example
 * ```ts
 * import { defineGate, Type } from 'portcullis/gate';
 *
 * export const gate = defineGate({
 *   name: 'office-hours',
 *   contract: 1,
 *   options: Type.Object({ from: Type.Integer({ default: 9 }), until: Type.Integer({ default: 17 }) }),
 *   open: ({ from, until }, { clock }) => ({
 *     decide() {
 *       const hour = new Date(clock.now_ms()).getUTCHours();
 *       return hour >= from && hour < until ? { kind: 'pass' } : { kind: 'refuse', status: 403, code: 'OFFICE_CLOSED' };
 *     },
 *   }),
 * });
 * ```
 */
export function defineGate<const S extends TSchema>(module: GateModule<S>): GateModule<S> {
  return module;
}
