import { createHash, timingSafeEqual } from 'node:crypto';
import { defineGate, type GateDecision, type RequestGate } from 'portcullis/gate';
import { readKeys } from './keys.js';
import { Options } from './options.js';

/** Longest key that is looked at. */
const MAX_KEY_CHARS = 1_024;

/**
 * Identifies scripts and probes by a shared key. Only SHA-256 digests are configured and compared: in constant time, against
 * every key. The principal is the key's name, the issuer `api-key`.
 */
export const gate = defineGate({
  name: 'api-key',
  contract: 1,
  options: Options,
  identifies: 'always',
  authorizes: true,
  provides: [],
  codes: {
    API_KEY_MISSING: { status: 401, meaning: 'The key’s header is absent or empty.', remedy: 'Send the key in the configured header.' },
    API_KEY_REPEATED: { status: 400, meaning: 'The key’s header came more than once.', remedy: 'Send the header once.' },
    API_KEY_TOO_LONG: { status: 431, meaning: 'The key is longer than 1 024 characters.', remedy: 'Use a key that is configured.' },
    API_KEY_INVALID: { status: 401, meaning: 'The key is none of the configured ones.', remedy: 'Use a key whose SHA-256 is configured.' },
  },
  async open(options, host): Promise<RequestGate> {
    const header = options.header.toLowerCase();
    const keys = await readKeys(options.keys, host.folder);
    const callers: readonly GateDecision[] = keys.map(({ name, scopes }) => ({
      kind: 'identify',
      identity: { principal: name, issuer: 'api-key', scopes },
    }));
    const headers = { 'www-authenticate': `ApiKey header="${header}"` };
    const missing: GateDecision = {
      kind: 'refuse',
      status: 401,
      code: 'API_KEY_MISSING',
      message: `Send an API key in ${header}.`,
      headers,
    };
    const invalid: GateDecision = { kind: 'refuse', status: 401, code: 'API_KEY_INVALID', message: 'The API key is not valid.', headers };
    const too_long: GateDecision = { kind: 'refuse', status: 431, code: 'API_KEY_TOO_LONG', message: 'The API key is too long.' };
    const repeated: GateDecision = { kind: 'refuse', status: 400, code: 'API_KEY_REPEATED', message: `Send ${header} once.` };
    return {
      decide(head) {
        const lines = head.headers.all(header);
        if (lines.length > 1) return repeated;
        const [key = ''] = lines;
        if (key === '') return missing;
        if (key.length > MAX_KEY_CHARS) return too_long;
        const digest = createHash('sha256').update(key, 'latin1').digest();
        let found = -1;
        for (const [i, known] of keys.entries()) if (timingSafeEqual(known.digest, digest)) found = i;
        return callers[found] ?? invalid;
      },
    };
  },
});
