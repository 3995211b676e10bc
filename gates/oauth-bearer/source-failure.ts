/** Why a key source or an introspection endpoint gave nothing usable. Also the `outcome` label of its metric. */
export type FailureReason =
  | 'timeout'
  | 'unreachable'
  | 'status'
  | 'media_type'
  | 'too_large'
  | 'malformed'
  | 'no_keys'
  | 'too_many_keys'
  | 'issuer_mismatch'
  | 'insecure';

/** Something outside this process gave nothing usable. The message is for the log, never for a client. */
export class SourceFailure extends Error {
  override readonly name = 'SourceFailure';
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
