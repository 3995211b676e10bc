import type { GateHost } from '../contract/gate.js';

/** Closes each shared value through `end`, which bounds the wait and logs a failure. */
export type CloseAll = (end: (close: () => unknown) => Promise<void>) => Promise<void>;

/** Values that gate instances share. Each `use` has its own keys: two modules never meet in one value. */
export function sharing(): { of(use: string): GateHost['shared']; readonly close: CloseAll } {
  const values = new Map<string, { close?(): Promise<void> }>();
  return {
    of: (use) =>
      function shared<T extends { close?(): Promise<void> }>(key: string, create: () => T): T {
        const name = JSON.stringify([use, key]);
        const known = values.get(name) as T | undefined;
        if (known !== undefined) return known;
        const value = create();
        values.set(name, value);
        return value;
      },
    close: async (end) => {
      const all = [...values.values()];
      values.clear();
      await Promise.all(all.map((value) => end(() => value.close?.())));
    },
  };
}
