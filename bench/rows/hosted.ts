import { fileURLToPath } from 'node:url';
import { startChild } from '../parts/child.js';
import { openHosted } from './portcullis.js';
import type { Row } from './row.js';

/** Our own core in process, behind ip-allow and oauth-bearer. */
export const hosted: Row = {
  name: 'portcullis hosted, ip-allow + oauth-bearer',
  guarded: true,
  own_answer: true,
  open: (ground) => openHosted(ground),
};

/** What others pay for the same call in process, none of them guarded. */
export const inProcess: readonly Row[] = [
  script('SDK v2 handler', 'sdk-v2'),
  script('bare Fastify JSON route', 'fastify-json'),
  script('raw node:http', 'raw-http'),
];

function script(name: string, file: string): Row {
  return {
    name,
    guarded: false,
    own_answer: true,
    async open() {
      const child = startChild(process.execPath, [fileURLToPath(new URL(`../hosted/${file}.js`, import.meta.url))], { channel: true });
      return { child, ...(await child.message<{ port: number }>()) };
    },
  };
}
