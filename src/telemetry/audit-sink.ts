import { type FileHandle, open } from 'node:fs/promises';
import type { Writable } from 'node:stream';

/** Where audit lines go. `write` settles once the text was taken or lost; it may take as long as it likes. */
export interface AuditSink {
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Appends to a file that only its owner may read. After a failed write the file is opened anew, so a rotated or repaired disk is found. */
export function createFileSink(path: string): AuditSink {
  let handle: FileHandle | undefined;
  const close = async (): Promise<void> => {
    const old = handle;
    handle = undefined;
    await old?.close();
  };
  return {
    async write(text) {
      handle ??= await open(path, 'a', 0o600);
      try {
        await handle.appendFile(text);
      } catch (error) {
        await close().catch(() => undefined);
        throw error;
      }
    },
    close,
  };
}

/** Writes to a stream that somebody else owns, such as the standard output; closing leaves it open. */
export function createStreamSink(stream: Writable): AuditSink {
  return {
    write: (text) => new Promise((resolve, reject) => stream.write(text, (error) => (error ? reject(error) : resolve()))),
    close: async () => undefined,
  };
}
