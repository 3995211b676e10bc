import { type FileHandle, open, stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';

/** Where audit lines go. `write` settles once the text was taken or lost; it may take as long as it likes. */
export interface AuditSink {
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Appends to a file that only its owner may read. It is reopened when it was renamed or removed, as log rotation does, and after a failed write. */
export function createFileSink(path: string): AuditSink {
  let handle: FileHandle | undefined;
  const close = async (): Promise<void> => {
    const old = handle;
    handle = undefined;
    await old?.close();
  };
  return {
    async write(text) {
      if (handle !== undefined && !(await isAt(path, handle))) await close().catch(() => undefined);
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

async function isAt(path: string, handle: FileHandle): Promise<boolean> {
  const [there, open] = await Promise.all([stat(path).catch(() => undefined), handle.stat()]);
  return there?.ino === open.ino && there.dev === open.dev;
}

/** Writes to a stream that somebody else owns, such as the standard output; closing leaves it open. */
export function createStreamSink(stream: Writable): AuditSink {
  return {
    write: (text) => new Promise((resolve, reject) => stream.write(text, (error) => (error ? reject(error) : resolve()))),
    close: async () => undefined,
  };
}
