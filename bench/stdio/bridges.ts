import { accessSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, startChild, untilListening } from '../parts/child.js';
import { Missing } from '../parts/tool.js';
import { openStdio } from '../rows/portcullis.js';
import type { Row } from '../rows/row.js';

/** This gateway, guarded, before a stdio child for each legacy session. */
export const ourBridge: Row = {
  name: 'portcullis stdio, ip-allow + oauth-bearer',
  guarded: true,
  open: (ground) => openStdio(ground, [process.execPath, SERVER]),
};

const SERVER = fileURLToPath(new URL('./server.js', import.meta.url));

/** The npm bridges, as their documentation starts them; none verifies anything. */
export const otherBridges: readonly Row[] = [
  bridge('mcp-proxy', (port) => ['--host', '127.0.0.1', '--port', `${port}`, '--server', 'stream', '--', process.execPath, SERVER]),
  bridge('supergateway', (port) => [
    ...['--stdio', `${process.execPath} ${SERVER}`, '--outputTransport', 'streamableHttp', '--stateful'],
    ...['--port', `${port}`, '--logLevel', 'none'],
  ]),
];

function bridge(name: string, args: (port: number) => readonly string[]): Row {
  return {
    name,
    guarded: false,
    async open() {
      const script = resolve('.tmp/peers/node_modules/.bin', name);
      try {
        accessSync(script);
      } catch {
        throw new Missing(`${name} is not installed: npm run peers`);
      }
      const port = await freePort();
      const child = startChild(process.execPath, [script, ...args(port)]);
      await untilListening(port);
      return { port, child };
    },
  };
}
