import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** Asks a person at a terminal. */
export interface Prompt {
  /** The answer without blanks around it. Rejects with an AbortError when the person ends the input. */
  ask(question: string): Promise<string>;
  close(): void;
}

/** A prompt on a terminal. What is typed before a question answers it; Ctrl-C and the end of the input end everything. */
export function openPrompt(input: Readable, output: Writable): Prompt {
  const reader = createInterface({ input, output });
  const lines: string[] = [];
  let take = (): void => undefined;
  let ended = false;
  reader.on('line', (line) => {
    lines.push(line);
    take();
  });
  reader.on('close', () => {
    ended = true;
    take();
  });
  return {
    async ask(question) {
      if (!ended) {
        reader.setPrompt(question);
        reader.prompt();
      }
      if (lines.length === 0 && !ended) await new Promise<void>((resolve) => (take = resolve));
      const line = lines.shift();
      if (line === undefined) throw Object.assign(new Error('the input has ended'), { name: 'AbortError' });
      return line.trim();
    },
    close: () => reader.close(),
  };
}
