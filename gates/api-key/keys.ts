import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Key } from './options.js';

/** One accepted key. */
export interface KnownKey {
  readonly name: string;
  /** SHA-256 of the key's bytes. */
  readonly digest: Buffer;
  readonly scopes: ReadonlySet<string>;
}

/** Bytes of a digest file that are read. */
const MAX_FILE_BYTES = 1_024;
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** The digests of all keys, from the options or from files. Rejects with an Error that names the key, never a digest. */
export async function readKeys(keys: readonly Key[], folder: string): Promise<readonly KnownKey[]> {
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
