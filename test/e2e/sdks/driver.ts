// Drives one client of the TypeScript SDK for the table test of refusals: commands in, outcomes out, one JSON object a line.
// `driver.js v1.12|v1.32|v2.4 legacy|modern`. `{"id":1,"do":"open","url":"…","headers":{}}`, `{"id":2,"do":"call","tool":"echo","text":"hi"}`.
import { createInterface } from 'node:readline';
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as ClientV12 } from 'sdk-v1-12/client/index.js';
import { StreamableHTTPClientTransport as TransportV12 } from 'sdk-v1-12/client/streamableHttp.js';

/** What the clients of all versions have in common. */
interface Client {
  connect(transport: unknown): Promise<void>;
  callTool(params: object): Promise<{ readonly content: readonly { readonly text?: string }[] }>;
  close(): Promise<void>;
}

interface Command {
  readonly id: number;
  readonly do: 'open' | 'call' | 'close';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tool: string;
  readonly text: string;
}

const [sdk = '', era = ''] = process.argv.slice(2);
const info = { name: 'refusals', version: '1' };
let client: Client | undefined;

createInterface({ input: process.stdin }).on('line', (line) => void obey(JSON.parse(line)));

async function obey(command: Command): Promise<void> {
  try {
    console.log(JSON.stringify({ id: command.id, ok: true, text: await perform(command) }));
  } catch (error) {
    console.log(JSON.stringify({ id: command.id, ok: false, text: String(error) }));
  }
}

async function perform(command: Command): Promise<string> {
  if (command.do === 'open') {
    const [made, Transport] = create();
    await made.connect(new Transport(new URL(command.url), { requestInit: { headers: { ...command.headers } } }));
    client = made;
    return '';
  }
  if (command.do === 'close') {
    await client?.close();
    return '';
  }
  const { content } = await client!.callTool({ name: command.tool, arguments: { text: command.text } });
  return content[0]?.text ?? '';
}

function create(): [Client, typeof TransportV1] {
  if (sdk === 'v1.12') return [new ClientV12(info) as unknown as Client, TransportV12 as unknown as typeof TransportV1];
  if (sdk === 'v1.32') return [new ClientV1(info) as unknown as Client, TransportV1];
  const versionNegotiation = { mode: era === 'modern' ? ({ pin: '2026-07-28' } as const) : ('legacy' as const) };
  return [new ClientV2(info, { versionNegotiation }) as unknown as Client, TransportV2 as unknown as typeof TransportV1];
}
