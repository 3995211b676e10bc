import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';

/** Asks a person at a terminal. */
export interface Prompt {
  /** The answer without blanks around it. Rejects when the person ends the input. */
  ask(question: string): Promise<string>;
  close(): void;
}

/** A prompt on a terminal. Ctrl-C and the end of the input end it. */
export function openPrompt(input: Readable, output: Writable): Prompt {
  const lines = createInterface({ input, output });
  const ended = new AbortController();
  lines.on('close', () => ended.abort());
  return {
    ask: async (question) => (await lines.question(question, { signal: ended.signal })).trim(),
    close: () => lines.close(),
  };
}
