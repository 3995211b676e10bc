import type { AnswerOutcome } from '../../contract/runtime.js';
import { memberAt } from '../../wire/edit.js';
import { isId } from '../../wire/id.js';
import { SUBSCRIPTION_KEY } from '../../wire/rpc.js';
import { type Envelope, scanMessage } from '../../wire/scan.js';
import { skipSpace } from '../../wire/skip.js';
import { judgeAnswer } from '../../wire/summary.js';
import { toRaw } from '../../wire/text.js';

/** One message of the peer, judged. */
export type Incoming =
  | Response
  /** `id` names the call that it belongs to, as the peer calls it. */
  | { readonly kind: 'progress' | 'event'; readonly id: string }
  | { readonly kind: 'request' | 'notification'; readonly envelope: Envelope }
  /** No message. `id`: it was meant to answer this request. `asks`: it is a request of the peer with this id. Raw JSON text. */
  | { readonly kind: 'junk'; readonly id: string | undefined; readonly asks?: string | undefined };

export interface Response {
  readonly kind: 'response';
  /** Raw JSON text. */
  readonly id: string;
  readonly outcome: AnswerOutcome;
  readonly rpc_code: number | undefined;
}

/**
 * Reads one line of a peer. It is held to the same rules as a client's message, so that nothing broken or ambiguous is relayed:
 * what is not one JSON-RPC message is junk.
 */
export function readIncoming(line: Uint8Array): Incoming {
  const scanned = scanMessage(line);
  if (!scanned.ok) return readJunk(line, scanned.id);
  const envelope = scanned.value;
  if (envelope.kind === 'response') {
    const { outcome, rpc_code } = judgeAnswer(line);
    return { kind: 'response', id: envelope.id as string, outcome, rpc_code };
  }
  if (envelope.kind === 'request') return { kind: 'request', envelope };
  if (envelope.method === 'notifications/progress') {
    const token = memberAt(line, 'params', 'progressToken');
    return token === undefined ? { kind: 'junk', id: undefined } : { kind: 'progress', id: toRaw(line, token.value, token.to) };
  }
  const subscription = memberAt(line, 'params', '_meta', SUBSCRIPTION_KEY);
  if (subscription !== undefined) return { kind: 'event', id: toRaw(line, subscription.value, subscription.to) };
  return { kind: 'notification', envelope };
}

/** The likely kind of a broken message, so that the side that waits for it fails at once. */
function readJunk(line: Uint8Array, scanned_id: string | undefined): Incoming {
  if (line[skipSpace(line, 0)] !== OPEN) return { kind: 'junk', id: undefined };
  const { kind, id } = judgeAnswer(line);
  if (kind === 'request') return { kind: 'junk', id: undefined, asks: id !== undefined && isId(id) ? id : undefined };
  return { kind: 'junk', id: kind === 'response' ? id : scanned_id };
}

const OPEN = 0x7b;
