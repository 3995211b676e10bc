import { createHash, timingSafeEqual } from 'node:crypto';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { defineGate, type GateDecision, type RequestGate } from 'portcullis/gate';
import { type Key, Options } from './options.js';

/** Bytes of a digest file that are read. */
const MAX_FILE_BYTES = 1_024;
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

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

/** One accepted key. */
interface KnownKey {
  readonly name: string;
  /** SHA-256 of the key's bytes. */
  readonly digest: Buffer;
  readonly scopes: ReadonlySet<string>;
}

/** The digests of all keys, from the options or from files. Rejects with an Error that names the key, never a digest. */
async function readKeys(keys: readonly Key[], folder: string): Promise<readonly KnownKey[]> {
  const known: KnownKey[] = [];
  for (const { name, sha256, sha256_file, scopes } of keys) {
    if ((sha256 === undefined) === (sha256_file === undefined)) throw new Error(`key "${name}": give either sha256_file or sha256`);
    const hex = (sha256 ?? (await readDigest(resolve(folder, sha256_file ?? ''), name))).toLowerCase();
    if (hex === EMPTY)
      throw new Error(`key "${name}": this is the SHA-256 of nothing; hash the key without a newline: printf %s KEY | sha256sum`);
    const digest = Buffer.from(hex, 'hex');
    for (const other of known) {
      if (other.name === name) throw new Error(`key "${name}" is there twice`);
      if (other.digest.equals(digest)) throw new Error(`keys "${other.name}" and "${name}" are the same key`);
    }
    known.push({ name, digest, scopes: new Set(scopes) });
  }
  return known;
}

/** The first word of a file, as sha256sum writes it; a byte order mark before it is ignored. */
async function readDigest(path: string, name: string): Promise<string> {
  let text: string;
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_FILE_BYTES), 0, MAX_FILE_BYTES, 0);
      text = buffer.toString('utf8', 0, bytesRead).replace(/^\ufeff/, '');
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new Error(`key "${name}": sha256_file ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
  const word = text.trim().split(/\s/, 1)[0] ?? '';
  if (!/^[0-9A-Fa-f]{64}$/.test(word)) throw new Error(`key "${name}": sha256_file ${path} does not start with 64 hex digits`);
  return word;
}
