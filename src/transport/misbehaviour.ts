import type { TransportFault, TransportOutcome } from '../contract/transport.js';

/** A transport did what its contract forbids. */
export function misbehaved(callback: string, what: string): { readonly ok: false; readonly fault: TransportFault } {
  return { ok: false, fault: { code: 'MISBEHAVED', message: `the transport's ${callback} ${what}` } };
}

/** What a callback returned, if it is an outcome. */
export function readOutcome(callback: string, outcome: unknown): TransportOutcome<unknown> {
  if (typeof outcome === 'object' && outcome !== null && 'ok' in outcome) {
    const { ok, value, fault } = outcome as { readonly ok: unknown; readonly value?: unknown; readonly fault?: unknown };
    if (ok === true) return { ok, value };
    if (ok === false && isFault(fault)) return { ok, fault };
    if (ok === false) return misbehaved(callback, 'failed and gave no { code, message }');
  }
  return misbehaved(callback, 'returned neither { ok: true, value } nor { ok: false, fault }');
}

export function isFault(fault: unknown): fault is TransportFault {
  if (typeof fault !== 'object' || fault === null) return false;
  const { code, message } = fault as { readonly code?: unknown; readonly message?: unknown };
  return typeof code === 'string' && typeof message === 'string';
}

/** Why a value is not a transport; undefined when it is one. */
export function wrongTransport(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return 'is not a transport';
  const transport = value as Readonly<Record<string, unknown>>;
  for (const name of REQUIRED) if (typeof transport[name] !== 'function') return `is not a transport: it has no ${name}()`;
  for (const name of OPTIONAL) {
    if (transport[name] !== undefined && typeof transport[name] !== 'function') return `is not a transport: its ${name} is not a function`;
  }
  return undefined;
}

const REQUIRED = ['start', 'sendMessage', 'shutdown', 'supportedProtocolVersions'] as const;
const OPTIONAL = ['init', 'parse', 'encode', 'extractMetadata'] as const;
