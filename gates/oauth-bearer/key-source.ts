import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { discover } from './discovery.js';
import type { Endpoint } from './endpoint.js';
import { SourceFailure } from './endpoint.js';
import { type KeySet, parseKeySet } from './key-set.js';

/** Where an issuer’s keys come from. */
export interface KeySource {
  /**
   * The keys as they are now. `quick` asks for no more than the keys themselves, in one request. Throws SourceFailure.
   */
  load(quick: boolean, signal: AbortSignal): Promise<KeySet>;
  close(): Promise<void>;
}

/** Metadata is asked for again after this many loads, and after each failure, in case the keys have moved. */
const LOADS_PER_DISCOVERY = 12;

/** Keys of a JWK Set URL; without `jwks_uri` it is discovered from the issuer’s metadata. */
export function createRemoteSource(endpoint: Endpoint, issuer: string, jwks_uri: string | undefined): KeySource {
  let discovered: string | undefined;
  let loads = 0;
  return {
    load: async (quick, signal) => {
      if (discovered === undefined || (!quick && loads >= LOADS_PER_DISCOVERY)) {
        discovered = jwks_uri ?? (await discover(endpoint, issuer, signal)).jwks_uri;
        loads = 0;
      }
      const url = discovered;
      discovered = undefined;
      const answer = await endpoint.ask(url, { method: 'GET', headers: {}, expects: 'json' }, signal);
      const keys = await parseKeySet(answer.body);
      discovered = url;
      loads += 1;
      return keys;
    },
    close: () => endpoint.close(),
  };
}

/** Keys of a local JWK Set file. Relative names start at `folder`. */
export function createFileSource(folder: string, file: string): KeySource {
  const path = resolve(folder, file);
  return {
    load: async (_quick, signal) => {
      try {
        return await parseKeySet(await readFile(path, { signal }));
      } catch (error) {
        if (error instanceof SourceFailure) throw error;
        throw new SourceFailure('unreachable', 'the jwks_file cannot be read', error);
      }
    },
    close: async () => {},
  };
}
