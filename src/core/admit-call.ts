import type { RequestHead } from '../contract/head.js';
import type { Call } from '../contract/runtime.js';
import { admitMessage } from '../dialect/admit.js';
import type { ProtocolFault } from '../errors/error.js';
import { type Envelope, scanMessage } from '../wire/scan.js';

/** What of a call its bytes do not say: how it came, and who sent it. */
interface Sender extends Pick<Call, 'identity' | 'facts' | 'route' | 'trace'> {
  /** Made of the envelope where the transport has no header fields. */
  readonly head: RequestHead | ((envelope: Envelope) => RequestHead);
}

/** The call, or why the message is none. */
type AdmittedCall =
  | { readonly ok: true; readonly call: Call; readonly envelope: Envelope }
  | {
      readonly ok: false;
      readonly fault: ProtocolFault;
      /** The raw id for the error answer, if that of a request was read. */
      readonly id: string | undefined;
      /** Undefined: the bytes are no message. */
      readonly kind: Envelope['kind'] | undefined;
    };

/** Scans one message, decides its era, and makes a call of it; pure. Every transport lets messages in this way, bytes unchanged. */
export function admitCall(body: Buffer, sender: Sender): AdmittedCall {
  const scanned = scanMessage(body);
  if (!scanned.ok) return { ok: false, fault: scanned.fault, id: scanned.id, kind: undefined };
  const envelope = scanned.value;
  const { identity, facts, route, trace } = sender;
  const head = typeof sender.head === 'function' ? sender.head(envelope) : sender.head;
  const admitted = admitMessage(envelope, head.claims);
  if (!admitted.ok)
    return { ok: false, fault: admitted.fault, id: envelope.kind === 'request' ? envelope.id : undefined, kind: envelope.kind };
  const { era, revision, method, name, kind, id, progress_token } = admitted.value;
  return { ok: true, call: { era, revision, method, name, kind, id, progress_token, body, head, identity, facts, route, trace }, envelope };
}
