import type { Claims } from '../contract/claims.js';
import type { RequestHead } from '../contract/head.js';
import { nameField } from '../dialect/methods.js';
import { isModern, isServed } from '../dialect/revisions.js';
import type { Envelope } from '../wire/scan.js';

/**
 * What a message on a line claims. The body is all there is: a modern one says so in `_meta` (MCP 2026-07-28 stdio, "Request
 * Metadata"), any other is of the revision that `initialize` agreed on.
 */
export function claimsOf({ method, meta, name, uri, taskId }: Envelope, agreed: string): Claims {
  const declared = meta.protocol_version;
  if (declared === undefined || (isServed(declared) && !isModern(declared)))
    return { era: 'legacy', revision: agreed, declared: false, method: undefined, name: undefined };
  const field = nameField(method);
  return {
    era: 'modern',
    revision: declared,
    declared: true,
    method,
    name: field === undefined ? undefined : { name, uri, taskId }[field],
  };
}

/** The head of a message that has none. */
export function bareHead(id: string, claims: Claims): RequestHead {
  return { ...BARE, id, claims };
}

const BARE = {
  method: '',
  path: '',
  query: '',
  headers: { get: () => undefined, all: () => [], raw: [] },
  peer: { address: '', trusted: false, client_address: '', tls: undefined },
  received_at_ms: 0,
} as const;
