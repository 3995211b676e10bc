/**
 * Why an exchange failed for a reason that is not the system's own: `CLOSED` the upstream closed before the answer was whole,
 * `CONNECT_TIMEOUT` no connection in time, `BAD_ANSWER` what came is not HTTP/1.1 as RFC 9112 has it, `STOPPED` the pool is closed. `PROXY_…`: the
 * egress proxy opened no tunnel; `PROXY_REFUSED_` is followed by the status that it answered.
 */
export type UpstreamFailureCode =
  | 'CLOSED'
  | 'CONNECT_TIMEOUT'
  | 'BAD_ANSWER'
  | 'STOPPED'
  | 'PROXY_UNREACHABLE'
  | 'PROXY_TIMEOUT'
  | 'PROXY_BROKEN'
  | `PROXY_REFUSED_${string}`;

/** A failure of an exchange with a code of ours; the message never holds an address or a byte of the answer. */
export class UpstreamFailure extends Error {
  readonly code: UpstreamFailureCode;

  constructor(code: UpstreamFailureCode, message: string) {
    super(message);
    this.name = 'UpstreamFailure';
    this.code = code;
  }
}

/** The answer breaks a rule of RFC 9112; `what` names it. */
export function badAnswer(what: string): UpstreamFailure {
  return new UpstreamFailure('BAD_ANSWER', what);
}
