// The gate as the gateway opens it, asked about heads without a server.
import type { GateDecision, Peer, PeerTls } from 'portcullis/gate';
import { makeClock, makeContext, makeHead, makeHost, openGate, type TestHost } from 'portcullis/testing';
import { gate } from '../../../gates/mtls/gate.js';

export const NOW = Date.parse('2026-06-01T00:00:00Z');

export interface Opened {
  readonly host: TestHost;
  /** Identity header lines that were not believed. */
  readonly ignored: number;
  /** Asks about a head of name, value, name, value …; the peer is a trusted proxy unless said otherwise. */
  ask(lines: readonly string[], peer?: Partial<Peer>): GateDecision;
  close(): Promise<void>;
}

export async function open(options: object, folder = '.'): Promise<Opened> {
  const host = makeHost({ name: 'cert', clock: makeClock(NOW), folder });
  const opened = await openGate(gate, options, host);
  return {
    host,
    get ignored() {
      return host.metrics.value('identity_headers_ignored_total', { gate: 'cert' });
    },
    ask: (lines, peer = {}) =>
      opened.decide(makeHead({ headers: toRecord(lines), peer: { trusted: true, ...peer } }), makeContext()) as GateDecision,
    close: async () => opened.close?.(),
  };
}

function toRecord(lines: readonly string[]): Record<string, string[]> {
  const record: Record<string, string[]> = {};
  for (let i = 0; i < lines.length; i += 2) {
    const name = lines[i] as string;
    record[name] = [...(record[name] ?? []), lines[i + 1] as string];
  }
  return record;
}

export const STRANGER: Partial<Peer> = { address: '192.0.2.7', trusted: false };

export const tls = (authorized: boolean, certificate: Uint8Array | undefined): { tls: PeerTls } => ({ tls: { authorized, certificate } });

/** `pass`, the principal that was identified, or the refusal's code without the common prefix. Every refusal must be a 403. */
export function said(decision: GateDecision): string {
  if (decision.kind === 'identify') return decision.identity.principal;
  if (decision.kind !== 'refuse') return decision.kind;
  return decision.status === 403 ? decision.code.replace('CLIENT_CERTIFICATE_', '') : `status ${decision.status}`;
}

/** Why it was refused; empty when it was not. */
export function why(decision: GateDecision): string {
  return decision.kind === 'refuse' ? (decision.message ?? '') : '';
}

/** The fact `certificate` of a decision that identified; an empty object otherwise. */
export function fact(decision: GateDecision): Readonly<Record<string, unknown>> {
  const facts = decision.kind === 'identify' ? decision.facts : undefined;
  return (facts?.certificate ?? {}) as Readonly<Record<string, unknown>>;
}
