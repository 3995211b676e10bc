import { fileURLToPath } from 'node:url';
import { startChild } from './child.js';
import type { LoadOrder, LoadResult } from './loader.js';

/** The loader process. Rejects when an answer was wrong: a proxy that fails fast must not look cheap. */
export interface Load {
  run(order: LoadOrder): Promise<LoadResult>;
  close(): Promise<void>;
}

export function startLoad(): Load {
  const child = startChild(process.execPath, [fileURLToPath(new URL('./loader.js', import.meta.url))], { channel: true });
  return {
    async run(order) {
      const answer = child.message<LoadResult>();
      child.send(order);
      const result = await answer;
      if (result.fault !== undefined) throw new Error(`the load broke off: ${result.fault}`);
      return result;
    },
    close: () => child.close(),
  };
}
