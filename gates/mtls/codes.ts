import type { GateDecision } from 'portcullis/gate';

/**
 * The refusals of the mtls gate. All are 403: a 401 must carry a challenge (RFC 9110 section 15.5.2) and no scheme asks
 * for a TLS certificate, while MCP clients answer a 401 by starting an OAuth flow that could not help them.
 */
export const CODES = {
  CLIENT_CERTIFICATE_REQUIRED: {
    status: 403,
    meaning: 'A client certificate is required and none was presented.',
    remedy: 'Connect with a client certificate, through the TLS terminator whose address is in listener.trusted_proxies.',
  },
  CLIENT_CERTIFICATE_MALFORMED: {
    status: 403,
    meaning: 'The client certificate cannot be read without doubt.',
    remedy: 'Let the TLS terminator set (not add) its certificate header, once, in the form that the source of the gate expects.',
  },
  CLIENT_CERTIFICATE_UNVERIFIED: {
    status: 403,
    meaning: 'The client certificate was not verified.',
    remedy: 'Use a certificate of a client CA that the TLS terminator, or ca_file, trusts.',
  },
  CLIENT_CERTIFICATE_EXPIRED: {
    status: 403,
    meaning: 'The client certificate is outside its validity period.',
    remedy: 'Renew the certificate; check the clocks if it is new.',
  },
  CLIENT_CERTIFICATE_NOT_ALLOWED: {
    status: 403,
    meaning: 'The client certificate is good, but its names are not allowed here.',
    remedy: 'Add the name to allow or the trust domain to spiffe_trust_domains, or use another certificate.',
  },
} as const;

export type Code = keyof typeof CODES;

/** Why a certificate, or the header that carries one, is not believed. A value: parsers return it instead of what they read. */
export class Fault {
  readonly code: Code;
  /** Told to the client after the code's meaning: what was found, what was expected. Never text from the header itself. */
  readonly detail: string;

  constructor(code: Code, detail: string) {
    this.code = code;
    this.detail = detail;
  }
}

/** The header is there, but does not hold exactly one readable certificate. */
export function malformed(detail: string): Fault {
  return new Fault('CLIENT_CERTIFICATE_MALFORMED', detail);
}

/** The decision that tells a fault to the client. */
export function refuse(fault: Fault): GateDecision {
  return {
    kind: 'refuse',
    status: CODES[fault.code].status,
    code: fault.code,
    message: `${CODES[fault.code].meaning} ${fault.detail}`.trimEnd(),
  };
}
