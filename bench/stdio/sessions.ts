import { Agent, request } from 'node:http';
import { ANSWER_TEXT } from '../hosted/answer-text.js';
import type { Round } from '../parts/load.js';

/** Legacy sessions on one bridge: each has a connection of its own and one call under way. */
export interface Sessions {
  /** Calls the tool for so many seconds; every answer is looked at. */
  round(seconds: number): Promise<Round>;
  close(): void;
}

/** Opens `count` sessions of revision 2025-11-25. Rejects when one is refused. */
export async function openSessions(port: number, token: string, count: number): Promise<Sessions> {
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  const sessions = await Promise.all(Array.from({ length: count }, () => openSession(agent, port, token)));
  return {
    async round(seconds) {
      const times: number[] = [];
      const began_ms = performance.now();
      await Promise.all(sessions.map((session) => callUntil(session, began_ms + seconds * 1000, times)));
      const sorted = Float64Array.from(times).sort();
      const at = (share: number): number => sorted[Math.floor((times.length - 1) * share)] ?? 0;
      return { requests: times.length, seconds: (performance.now() - began_ms) / 1000, p50_us: at(0.5), p99_us: at(0.99) };
    },
    close: () => agent.destroy(),
  };
}

interface Answer {
  readonly session: string | undefined;
  readonly body: string;
}

interface Session {
  send(message: object): Promise<Answer>;
  next: number;
}

async function openSession(agent: Agent, port: number, token: string): Promise<Session> {
  const clientInfo = { name: 'bench', version: '1.0.0' };
  const post = poster(agent, port, token);
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const { session } = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params }, {});
  const fields = { 'mcp-protocol-version': '2025-11-25', ...(session === undefined ? {} : { 'mcp-session-id': session }) };
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, fields);
  return { send: (message) => post(message, fields), next: 1 };
}

async function callUntil(session: Session, until_ms: number, times: number[]): Promise<void> {
  while (performance.now() < until_ms) {
    const sent_ms = performance.now();
    const params = { name: 'get_weather', arguments: { location: 'Seattle, WA', unit: 'celsius', days: 3 } };
    const { body } = await session.send({ jsonrpc: '2.0', id: session.next++, method: 'tools/call', params });
    if (!body.includes(ANSWER_TEXT)) throw new Error(`a bridge answered: ${body.slice(0, 300)}`);
    times.push((performance.now() - sent_ms) * 1000);
  }
}

type Post = (message: object, fields: Readonly<Record<string, string>>) => Promise<Answer>;

function poster(agent: Agent, port: number, token: string): Post {
  const always = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${token}`,
  };
  return (message, fields) =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify(message);
      const headers = { ...always, ...fields, 'content-length': Buffer.byteLength(body) };
      const sent = request({ agent, port, host: '127.0.0.1', path: '/mcp', method: 'POST', headers }, (response) => {
        let said = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          said += chunk;
        });
        response.on('end', () => {
          const id = response.headers['mcp-session-id'];
          if ((response.statusCode ?? 500) < 300) resolve({ session: typeof id === 'string' ? id : undefined, body: said });
          else reject(new Error(`a bridge answered ${response.statusCode}: ${said.slice(0, 300)}`));
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });
}
