import type { Clock } from '../../contract/clock.js';
import type { ErrorCode } from '../../errors/codes.js';
import { requestText } from '../../wire/rpc.js';
import type { Response } from './incoming.js';
import type { Peer, PendingRequest } from './peer.js';

/** What came of a question of the gateway's own. */
export type ProbeReply =
  | { readonly kind: 'answered'; readonly line: Uint8Array; readonly response: Response }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'lost'; readonly code: ErrorCode };

/** Asks the peer in the gateway's own name and tells the outcome once. `params` is JSON text. */
export function ask(peer: Peer, clock: Clock, method: string, params: string, timeout_ms: number, told: (asked: ProbeReply) => void): void {
  const waiting: PendingRequest = {
    answered(line, response) {
      timer.cancel();
      told({ kind: 'answered', line, response });
    },
    noticed() {},
    lost(code) {
      timer.cancel();
      told({ kind: 'lost', code });
    },
  };
  const timer = clock.timer(timeout_ms, () => {
    if (id !== undefined) peer.forget(id);
    told({ kind: 'timeout' });
  });
  const id = peer.open(waiting);
  if (id !== undefined && peer.say(requestText(id, method, params))) return;
  if (id !== undefined) peer.forget(id);
  waiting.lost('UPSTREAM_ENDED');
}
