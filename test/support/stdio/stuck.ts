// An MCP server over stdio that a client could wait on for ever. Arguments: the method that it gets stuck at (`exit`: the end of its
// input, and SIGTERM), and what it does then.
import { createInterface } from 'node:readline';

const [stage = 'exit', behaviour = 'silence'] = process.argv.slice(2);
const send = (message: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
let asked = 0;

const BEHAVIOURS: Readonly<Record<string, () => void>> = {
  silence: () => undefined,
  half: () => void process.stdout.write('{"jsonrpc":"2.0",'),
  junk: () => void setInterval(() => process.stdout.write('no message\n'), 20),
  pings: () => void setInterval(() => send({ id: `q${++asked}`, method: 'ping' }), 20),
  questions: () => void setInterval(() => send({ id: `q${++asked}`, method: 'vendor/question' }), 20),
  deaf: () => void process.stdin.pause(),
};

// Nothing but SIGKILL ends it.
process.on('SIGTERM', () => undefined);
process.on('SIGINT', () => undefined);
setInterval(() => undefined, 1_000);
process.stdout.on('error', () => undefined);

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === stage) return BEHAVIOURS[behaviour]?.();
  if (id === undefined || method === undefined) return;
  if (method === 'server/discover') return send({ id, error: { code: -32601, message: 'no such method' } });
  if (method === 'initialize') {
    const { protocolVersion } = params;
    return send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } });
  }
  if (method === 'tools/list') return send({ id, result: { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] } });
  send({ id, result: { content: [{ type: 'text', text: 'said' }] } });
});
