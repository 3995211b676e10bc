import type { RequestHead } from 'portcullis/gate';
import type { ClientNames } from '../certificate.js';
import type { Chain } from '../encoding.js';
import { Fault, malformed } from '../fault.js';

/** What one header value holds: certificates in DER, the client's first, or a trusted hop's text about it. */
export type Evidence = { readonly kind: 'chain'; readonly chain: Chain } | { readonly kind: 'text'; readonly names: ClientNames };

/** One way in which a TLS terminator hands a client certificate over. Pure: what it reads depends on the head alone. */
export interface Source {
  /** Lower-case names of the header fields it reads; none for a source that reads the connection itself. */
  readonly fields: readonly string[];
  /**
   * Cheap, for each request: the text that holds the certificate, undefined when the client presented none, or why it is
   * not believed. `values` belong to `fields`, one each.
   */
  read(values: readonly (string | undefined)[], head: RequestHead): string | undefined | Fault;
  /** Dear, once for each new text: what it holds. */
  decode(text: string): Evidence | Fault;
}

/** A decoded chain as evidence; a fault stays one. */
export function toEvidence(chain: Chain | Fault): Evidence | Fault {
  return chain instanceof Fault ? chain : { kind: 'chain', chain };
}

/** The certificate text of a source with a flag: it counts only when the flag is exactly `good`; `idle` is the flag without a certificate. */
export function readFlagged(cert: string | undefined, flag: string | undefined, good: string, idle: string): string | undefined | Fault {
  if (cert === undefined) {
    return flag === undefined || flag === idle ? undefined : malformed('The verification header came without the certificate header.');
  }
  return flag === good ? cert : new Fault('CLIENT_CERTIFICATE_UNVERIFIED', 'The TLS terminator does not say that it verified it.');
}
