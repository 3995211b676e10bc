// One server, one client, five ways between them: `node dist/examples/client-over-all-transports.js`
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as NetServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { connect, loadTransport, type Target } from 'portcullis/client';
import { createNodeMount } from 'portcullis/node';
import { defineServer, serveStdio } from 'portcullis/server';

const server = defineServer({
  name: 'everywhere',
  version: '1.0.0',
  tools: [
    {
      name: 'double',
      input: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
      run: ({ n }) => String(2 * (n as number)),
    },
  ],
});

const listen = async (net: NetServer): Promise<number> => {
  await new Promise<void>((resolve) => net.listen(0, '127.0.0.1', resolve));
  return (net.address() as AddressInfo).port;
};

/** Connects, calls and closes, in the era that is asked for. */
async function visit(name: string, target: Target, era: 'modern' | 'legacy'): Promise<void> {
  const client = await connect(target, { era });
  try {
    const { content } = await client.callTool('double', { n: 21 });
    console.log(`${name}: ${client.server.revision} ${JSON.stringify(content)}`);
  } finally {
    await client.close();
  }
}

if (process.argv[2] === 'serve') {
  // The other end of the stdio transport: this very file, started as a child process.
  await serveStdio(server, { input: process.stdin, output: process.stdout });
} else {
  const mount = createNodeMount(server);
  const http = createHttpServer((request, response) => mount(request, response));
  const tcp = createTcpServer((socket) => void serveStdio(server, { input: socket, output: socket }).then(() => socket.end()));
  const url = `http://127.0.0.1:${await listen(http)}/mcp`;
  const port = await listen(tcp);

  for (const era of ['modern', 'legacy'] as const) {
    await visit('http', { http: url }, era);
    await visit('stdio', { stdio: { command: process.execPath, args: [fileURLToPath(import.meta.url), 'serve'] } }, era);
    await visit('memory', { server }, era);
    const own = await loadTransport('file:./transport-tcp.js', { folder: import.meta.dirname, options: { port } });
    await visit('a transport of our own', { transport: own }, era);
  }

  await mount.close(1_000);
  http.close();
  tcp.close();
}
