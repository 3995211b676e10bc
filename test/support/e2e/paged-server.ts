// The module of a hosted runtime whose lists come in pages of three.
import { defineServer } from '../../../src/server.js';

/** Names of its tools, in order. */
export const PAGED = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];

export const server = defineServer({
  name: 'paged',
  version: '1.0.0',
  tools: PAGED.map((name) => ({ name, run: () => name })),
  page_size: 3,
});
