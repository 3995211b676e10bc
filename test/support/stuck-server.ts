// An MCP server over HTTP that is well behaved until it comes to one message, and then does one of the things that a waiting client
// could wait on for ever. Bare sockets: no HTTP library would say half a head.
import { createServer, type Socket } from 'node:net';
import { closeServer, listen } from './upstream.js';

type Json = ReturnType<typeof JSON.parse>;

/** What the server does instead of an answer. `every` repeats until the connection is gone. */
export type Behaviour = (socket: Socket, every: (write: () => string) => void) => void;

const head = (status: string, ...fields: readonly string[]): string => `HTTP/1.1 ${[status, ...fields].join('\r\n')}\r\n\r\n`;
const JSON_TYPE = 'Content-Type: application/json';
const EVENTS = head('200 OK', 'Content-Type: text/event-stream');
const CHUNKED = 'Transfer-Encoding: chunked';
let asked = 0;
const asking = (method: string) => (): string => `data: ${JSON.stringify({ jsonrpc: '2.0', id: `q${++asked}`, method })}\n\n`;

export const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  'says nothing': () => undefined,
  'says half a head': (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Ty'),
  'says early hints without end': (_socket, every) => every(() => head('103 Early Hints', 'Link: </a>')),
  'says half a body': (socket) => void socket.write(`${head('200 OK', JSON_TYPE, 'Content-Length: 1000')}{"jsonrpc"`),
  'says a body without end': (socket, every) => {
    socket.write(head('200 OK', JSON_TYPE));
    every(() => ' ');
  },
  'accepts with a body that drips': (socket, every) => {
    socket.write(head('202 Accepted', CHUNKED));
    every(() => '1\r\nx\r\n');
  },
  'refuses with a body that drips': (socket, every) => {
    socket.write(head('500 Internal Server Error', JSON_TYPE, CHUNKED));
    every(() => '1\r\nx\r\n');
  },
  'redirects with half a body': (socket) => void socket.write(`${head('307 Temporary Redirect', 'Location: /mcp', 'Content-Length: 9')}x`),
  'opens an event stream and says nothing': (socket) => void socket.write(EVENTS),
  'opens an event stream of comments': (socket, every) => {
    socket.write(EVENTS);
    every(() => ': still here\n\n');
  },
  'opens an event stream of half an event': (socket) => void socket.write(`${EVENTS}data: {"jsonrpc":"2.0",`),
  'opens an event stream of pings': (socket, every) => {
    socket.write(EVENTS);
    every(asking('ping'));
  },
  'opens an event stream of unknown questions': (socket, every) => {
    socket.write(EVENTS);
    every(asking('vendor/question'));
  },
  'opens an event stream of notifications': (socket, every) => {
    socket.write(EVENTS);
    every(() => `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n\n`);
  },
};

export interface StuckServer {
  readonly url: string;
  /** Connections that are open. */
  readonly open: number;
  /** Messages, in the order they came; `{ method: 'GET' }` and such for requests without one. */
  readonly messages: Json[];
  close(): Promise<void>;
}

/** Starts one. `stage`: the method of the message that it misbehaves at, `GET` or `DELETE`; `answer to the server`: at responses. */
export async function startStuck(era: 'modern' | 'legacy', stage: string, behaviour: Behaviour): Promise<StuckServer> {
  const sockets = new Set<Socket>();
  const messages: Json[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    let timer: NodeJS.Timeout | undefined;
    socket
      .on('error', () => undefined)
      .on('close', () => {
        sockets.delete(socket);
        clearInterval(timer);
      });
    const every = (write: () => string): void => {
      timer ??= setInterval(() => socket.write(write()), 20);
    };
    eachRequest(socket, (http_method, message) => {
      messages.push(message);
      const what = http_method === 'POST' ? (message.method ?? 'answer to the server') : http_method;
      if (what === stage) return behaviour(socket, every);
      socket.write(answerOf(era, what, message));
    });
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    messages,
    get open() {
      return sockets.size;
    },
    close: () => closeServer(server, sockets),
  };
}

/** A server that accepts connections and never says a byte: a TLS handshake toward it does not end. */
export async function startMute(): Promise<StuckServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket
      .on('error', () => undefined)
      .on('close', () => sockets.delete(socket))
      .resume();
  });
  const port = await listen(server);
  return {
    url: `https://127.0.0.1:${port}/mcp`,
    messages: [],
    get open() {
      return sockets.size;
    },
    close: () => closeServer(server, sockets),
  };
}

function answerOf(era: 'modern' | 'legacy', what: string, { id, params }: Json): string {
  const json = (body: Json, status = '200 OK', ...fields: readonly string[]): string => {
    const text = JSON.stringify({ jsonrpc: '2.0', id, ...body });
    return head(status, JSON_TYPE, ...fields, `Content-Length: ${Buffer.byteLength(text)}`) + text;
  };
  const complete = era === 'modern' ? { resultType: 'complete' } : {};
  switch (what) {
    case 'server/discover':
      if (era === 'legacy') return json({ error: { code: -32601, message: 'no such method' } }, '400 Bad Request');
      return json({ result: { ...complete, supportedVersions: ['2026-07-28'], capabilities: { tools: {}, logging: {} } } });
    case 'initialize': {
      const { protocolVersion } = params;
      const result = { protocolVersion, capabilities: { tools: {}, logging: {} }, serverInfo: { name: 's', version: '1' } };
      return json({ result }, '200 OK', 'Mcp-Session-Id: s-1');
    }
    case 'tools/list':
      return json({ result: { ...complete, tools: [{ name: 'echo', inputSchema: { type: 'object' } }] } });
    case 'tools/call':
      return json({ result: { ...complete, content: [{ type: 'text', text: 'said' }] } });
    case 'GET':
      return head('405 Method Not Allowed', 'Content-Length: 0');
    default:
      return id === undefined || what === 'answer to the server' ? head('202 Accepted', 'Content-Length: 0') : json({ result: complete });
  }
}

function eachRequest(socket: Socket, take: (http_method: string, message: Json) => void): void {
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    for (;;) {
      const end = text.indexOf('\r\n\r\n') + 4;
      const whole = end + Number(/content-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0);
      if (end < 4 || text.length < whole) return;
      const http_method = text.slice(0, text.indexOf(' '));
      const body = text.slice(end, whole);
      text = text.slice(whole);
      take(http_method, body === '' ? { method: http_method } : JSON.parse(body));
    }
  });
}
