import type { GateDecision } from 'portcullis/gate';
import { CODES, type Code } from './codes.js';

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
