import type { Clock } from '../../contract/clock.js';
import { createSealedTexts } from '../../core/sealed-texts.js';
import { isPlainText } from '../../wire/text.js';
import { bindingBytes, type SessionBinding } from './session-seal.js';

/** A task as the upstream knows it. */
export interface SealedTask {
  /** The upstream's own id. */
  readonly id: string;
  /** The tool whose call began it; empty: no tool did, or its name is longer than 128 bytes. */
  readonly tool: string;
}

/** Turns the upstream's task ids into ids that only their owner can use. Stateless: any replica with the same keys opens them. */
export interface TaskSeal {
  /** The id for the client, at most 1 600 characters of visible ASCII. Undefined: the upstream's id is not 1 to 1 024 bytes of text without NUL. */
  seal(task: SealedTask, binding: SessionBinding): string | undefined;
  /** Undefined: forged, changed, another caller's, of another route, or of a key that is no longer configured. */
  open(sealed: string, binding: SessionBinding): SealedTask | undefined;
}

export interface TaskSealOptions {
  /** Secrets: the first seals, all open. Empty: one random key, ids end with the process. */
  readonly keys: readonly string[];
  readonly clock: Clock;
}

/**
 * `t1.<key id>.<base64url>`, sealed with `createSealedTexts`: one byte with the length of the tool's name, the name, the id. It never expires,
 * since a task may have no end (`ttlMs: null`): a key opens tasks for as long as it is configured.
 */
export function createTaskSeal({ keys, clock }: TaskSealOptions): TaskSeal {
  const texts = createSealedTexts({ label: 'task-id-1', key_id_label: 'task-id-1 key', keys, max_sealed: MAX_SEALED, clock });
  return {
    seal({ id, tool }, binding) {
      const own = Buffer.from(id);
      if (own.length === 0 || own.length > MAX_ID || !isPlainText(id)) return undefined;
      const name = Buffer.from(tool);
      const kept = name.length > MAX_TOOL ? Buffer.alloc(0) : name;
      return VERSION + texts.seal(Buffer.concat([Buffer.of(kept.length), kept, own]), bindingBytes(binding), Number.POSITIVE_INFINITY);
    },
    open(sealed, binding) {
      if (!sealed.startsWith(VERSION)) return undefined;
      const text = texts.open(sealed.slice(VERSION.length), bindingBytes(binding))?.text;
      if (text === undefined) return undefined;
      const id_at = 1 + (text[0] as number);
      return { id: text.toString('utf8', id_at), tool: text.toString('utf8', 1, id_at) };
    },
  };
}

const VERSION = 't1.';
const MAX_ID = 1024;
const MAX_TOOL = 128;
const MAX_SEALED = 1600;
