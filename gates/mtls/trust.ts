import { hash, timingSafeEqual } from 'node:crypto';
import type { RequestHead } from 'portcullis/gate';

/**
 * Says whether the hop that sent a head may speak for the client: its address is in `listener.trusted_proxies` and, when
 * a secret is set, it sent that secret exactly once. The comparison takes the same time whatever was sent.
 */
export function createTrust(secret: { readonly header: string; readonly value: string } | undefined): (head: RequestHead) => boolean {
  if (secret === undefined) return (head) => head.peer.trusted;
  const header = secret.header.toLowerCase();
  const expected = digest(secret.value);
  return (head) => head.peer.trusted && timingSafeEqual(digest(head.headers.get(header) ?? ''), expected);
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
