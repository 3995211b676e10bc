import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { GateHost } from 'portcullis/gate';
import { type Certificate, readCertificate } from './certificate.js';
import { whyNotIssuer } from './chain.js';
import { Fault } from './codes.js';
import { BEGIN, END, fromPem } from './encoding.js';

/** The client CAs of a PEM file, as they are now. */
export interface Anchors {
  readonly current: readonly Certificate[];
  close(): void;
}

/** How often the file is read again. Its text is compared, so a new symlink target counts and a touched file does not. */
export const RELOAD_MS = 60_000;

/** CA certificates of one file, and its size. */
export const MAX_ANCHORS = 100;
export const MAX_FILE_BYTES = 1_048_576;

/**
 * Opens `file` (relative to the config's folder) and follows it: `changed` is called after each new content was taken. A
 * file that cannot be read or used at start throws; later the last good CAs stay and a warning is logged.
 */
export async function openAnchors(file: string, host: GateHost, changed: () => void): Promise<Anchors> {
  const path = resolve(host.folder, file);
  let text = await readFile(path, 'utf8');
  let current = parseAnchors(text);
  let reading = false;
  const reload = async () => {
    if (reading) return;
    reading = true;
    try {
      const now = await readFile(path, 'utf8');
      if (now === text) return;
      current = parseAnchors(now);
      text = now;
      changed();
      host.log.info({ file, certificates: current.length }, 'client CAs reloaded');
    } catch (error) {
      host.log.warn({ file, reason: String(error) }, 'client CAs not reloaded; the last good ones stay');
    } finally {
      reading = false;
    }
  };
  const timer = host.clock.interval(RELOAD_MS, () => void reload());
  return {
    get current() {
      return current;
    },
    close: () => timer.cancel(),
  };
}

/** Reads a PEM bundle; text between its blocks is comment. Throws an Error that says which certificate cannot be an anchor, and why. */
export function parseAnchors(text: string): readonly Certificate[] {
  if (text.length > MAX_FILE_BYTES) throw new Error(`ca_file: is larger than ${MAX_FILE_BYTES} bytes`);
  const anchors: Certificate[] = [];
  for (const block of blocks(text)) {
    const chain = fromPem(block);
    const certificate = chain instanceof Fault ? chain : readCertificate(chain[0]);
    const nth = `ca_file: certificate ${anchors.length + 1}`;
    if (certificate instanceof Fault) throw new Error(`${nth} cannot be read. ${certificate.detail}`);
    const why = whyNotIssuer(certificate, 0);
    if (why !== undefined) throw new Error(`${nth} cannot be a client CA. ${why}`);
    if (anchors.push(certificate) > MAX_ANCHORS) throw new Error(`ca_file: holds more than ${MAX_ANCHORS} certificates`);
  }
  if (anchors.length === 0) throw new Error('ca_file: holds no CERTIFICATE block');
  return anchors;
}

function* blocks(text: string): Generator<string> {
  for (let at = text.indexOf(BEGIN); at !== -1; at = text.indexOf(BEGIN, at)) {
    const end = text.indexOf(END, at);
    const stop = end === -1 ? text.length : end + END.length;
    yield text.slice(at, stop);
    at = stop;
  }
}
