// A legacy MCP server over stdio that asks its client before it answers. Arguments: the method whose answer waits until all questions
// are answered, and the methods that it asks. Its tool returns the answers.
import { createInterface } from 'node:readline';

const [stage, ...questions] = process.argv.slice(2);
const answers = new Map<string, unknown>();
const send = (message: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
let whenAnswered = (): void => undefined;

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) {
    answers.set(id, result ?? error.code);
    if (answers.size === questions.length) whenAnswered();
    return;
  }
  if (id === undefined) return;
  if (method !== stage) return answer(id, method, params);
  whenAnswered = () => answer(id, method, params);
  for (const question of questions) send({ id: `q ${question}`, method: question });
});

function answer(id: unknown, method: string, params: { readonly protocolVersion?: string } = {}): void {
  if (method === 'server/discover') return send({ id, error: { code: -32601, message: 'no such method' } });
  if (method === 'initialize') {
    const { protocolVersion } = params;
    return send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } });
  }
  if (method === 'tools/list') return send({ id, result: { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] } });
  const text = JSON.stringify(questions.map((question) => answers.get(`q ${question}`)));
  send({ id, result: { content: [{ type: 'text', text }] } });
}
