import type { ClientNames } from './certificate.js';
import { Fault } from './fault.js';
import type { MtlsOptions } from './options.js';

export type PrincipalKind = NonNullable<MtlsOptions['principal']>;

/** Characters of a principal; a longer name is refused, never cut. */
export const MAX_PRINCIPAL_CHARS = 1_024;

/** The name that identifies the caller. A certificate without it, or with several that could be it, is refused. */
export function readPrincipal(kind: PrincipalKind, names: ClientNames, spiffe_id: string | undefined): string | Fault {
  const name = pick(kind, names, spiffe_id);
  if (name === undefined || name === '')
    return new Fault('CLIENT_CERTIFICATE_NOT_ALLOWED', `It does not have exactly one ${kind} to be known by.`);
  if (name.length > MAX_PRINCIPAL_CHARS)
    return new Fault('CLIENT_CERTIFICATE_NOT_ALLOWED', `Its ${kind} is longer than ${MAX_PRINCIPAL_CHARS} characters.`);
  return name;
}

function pick(kind: PrincipalKind, names: ClientNames, spiffe_id: string | undefined): string | undefined {
  if (kind === 'spiffe_id') return spiffe_id;
  if (kind === 'subject') return names.subject;
  if (kind === 'sha256') return names.sha256;
  const dns = names.sans.filter((san) => san.type === 'dns');
  return dns.length === 1 ? dns[0]?.value.toLowerCase() : undefined;
}
