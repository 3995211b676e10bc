import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, fromJsonSchema, type McpServer, type ServerNotifier } from '@modelcontextprotocol/server';
import { closeServer, listen } from '../upstream.js';
import { createConformanceServer } from './conformance/create-server.js';
import { object, text } from './conformance/feature.js';

/** An SDK v2 server in this process: the conformance fixture's features and tools that show what a handler notices. */
export interface ModernServer {
  /** Its MCP endpoint: 2026-07-28, and stateless legacy unless it rejects that. */
  readonly url: string;
  /** Every `hang` call: its label, and whether its signal has fired. */
  readonly hanging: readonly { readonly label: string; readonly aborted: boolean }[];
  /** Open subscriptions. */
  readonly listener_count: number;
  readonly notify: ServerNotifier;
  /** Ends subscriptions as a server does that goes away in good order. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

export async function startModernServer(legacy: 'stateless' | 'reject' = 'stateless'): Promise<ModernServer> {
  const hanging: { label: string; aborted: boolean }[] = [];
  const create = (): McpServer => addTools(createConformanceServer(handler.notify), hanging);
  const handler = createMcpHandler(create, { legacy, keepAliveMs: 100, onerror: () => undefined });
  const serve = toNodeHandler(handler);
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => void serve(request as Parameters<typeof serve>[0], response));
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    hanging,
    get listener_count() {
      return (handler.bus as { readonly listenerCount?: number }).listenerCount ?? -1;
    },
    notify: handler.notify,
    finish: () => handler.close(),
    async close() {
      await handler.close();
      await closeServer(server, sockets);
    },
  };
}

function addTools(server: McpServer, hanging: { label: string; aborted: boolean }[]): McpServer {
  const input = (properties: Readonly<Record<string, object>>) => fromJsonSchema<Record<string, unknown>>(object(properties));
  // Waits until it is told to stop, or `for_ms`; with `talk` it tells progress first, so that its answer has become a stream.
  const hang = input({ label: { type: 'string' }, talk: { type: 'boolean' }, for_ms: { type: 'integer' } });
  server.registerTool('hang', { inputSchema: hang }, async ({ label, talk, for_ms = 60_000 }, { mcpReq }) => {
    const entry = { label: String(label), aborted: false };
    hanging.push(entry);
    const progressToken = mcpReq._meta?.progressToken;
    if (talk === true && progressToken !== undefined) {
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
    }
    await sleep(Number(for_ms), undefined, { signal: mcpReq.signal }).catch(() => undefined);
    entry.aborted = mcpReq.signal.aborted;
    return text(entry.aborted ? 'stopped' : 'done');
  });
  server.registerTool('repeat', { inputSchema: input({ what: { type: 'string' }, times: { type: 'integer' } }) }, async ({ what, times }) =>
    text(String(what).repeat(Number(times))),
  );
  const structured = { inputSchema: input({ a: { type: 'number' } }), outputSchema: input({ double: { type: 'number' } }) };
  server.registerTool('double', structured, async ({ a }) => {
    const structuredContent = { double: Number(a) * 2 };
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  });
  return server;
}
