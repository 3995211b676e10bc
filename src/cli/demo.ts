import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Command, Option } from 'commander';
import { parse } from 'yaml';
import { resolveConfig } from '../config/load.js';
import { startDemoIssuer } from '../demo/issuer.js';
import { systemClock } from '../system-clock.js';
import { toPort } from './run.js';
import type { RunIo } from './run-io.js';
import { serveUntilSignal } from './serve.js';

const CONFIG = new URL('../../../config/portcullis.yaml', import.meta.url);
const HOST = '127.0.0.1';

/** `portcullis demo`: the default config with a demo MCP server, a development issuer and a token to paste. Loopback only. */
export function registerDemo(program: Command, io: RunIo): void {
  program
    .command('demo')
    .description('serve config/portcullis.yaml with a demo MCP server and a development issuer, all on loopback')
    .addOption(new Option('--port <port>', 'port to listen on').argParser(toPort).default(8080))
    .addOption(new Option('--ops-port <port>', 'port of the ops listener').argParser(toPort).default(9090))
    .action(({ port, opsPort }: { port: number; opsPort: number }) => runDemo(port, opsPort, io));
}

async function runDemo(port: number, ops_port: number, io: RunIo): Promise<void> {
  const base = `http://${HOST}:${port}`;
  const issuer = await startDemoIssuer({ host: HOST, port: 0, audience: `${base}/mcp`, scopes: ['mcp.read'], clock: systemClock });
  try {
    const input = parse(readFileSync(CONFIG, 'utf8'));
    input.listener.port = port;
    input.ops = { ...input.ops, port: ops_port };
    const env = { ...io.env, DEMO_ISSUER: issuer.issuer };
    const loaded = resolveConfig(input, { env, folder: fileURLToPath(new URL('.', CONFIG)) });
    await serveUntilSignal(loaded, io, { ready: (gateway) => io.stdout(welcome(gateway.url, gateway.ops_url, issuer.token)) });
  } finally {
    await issuer.close();
  }
}

function welcome(url: string, ops_url: string | undefined, token: string): string {
  return `
A demo MCP server is behind ${url}/mcp. Without a token it answers 401; this one is good for 12 hours:

  export TOKEN=${token}

Call a tool (MCP 2026-07-28, one request):

  curl -sS ${url}/mcp -H "Authorization: Bearer $TOKEN" \\
    -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\
    -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: echo' \\
    -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"curl","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}}}'

Or, with the client that comes with the gateway, in this folder:

  printf %s "$TOKEN" | npx portcullis call ${url}/mcp echo '{"text":"hello"}' --token-file -

Or point any MCP client at ${url}/mcp with the header Authorization: Bearer $TOKEN. With the official TypeScript SDK:

  import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
  const client = new Client({ name: 'me', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL('${url}/mcp'), { requestInit: { headers: { authorization: \`Bearer \${process.env.TOKEN}\` } } }));
  console.log(await client.listTools());

Metrics: ${ops_url ?? 'off'}/metrics   Status: ${ops_url ?? 'off'}/status   Stop: Ctrl-C (drains)
`;
}
