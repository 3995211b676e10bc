import { createServer } from 'node:net';
import { repositoryPath } from '../repository.js';
import { type Child, startChild } from './child.js';

/** The reference server `@modelcontextprotocol/server-everything`, a process of its own on a free port. */
export interface EverythingServer {
  /** Its MCP endpoint, or its event stream. */
  readonly url: string;
  readonly child: Child;
}

/** `sse`: over the transport of revision 2024-11-05. */
export async function startEverything(mode: 'streamableHttp' | 'sse' = 'streamableHttp'): Promise<EverythingServer> {
  const port = await freePort();
  const program = repositoryPath('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
  const child = startChild([program, mode], { PORT: String(port) });
  await child.says(mode === 'sse' ? /running on port/ : /listening on port/);
  return { url: `http://127.0.0.1:${port}/${mode === 'sse' ? 'sse' : 'mcp'}`, child };
}

/** A port that was free a moment ago, for programs that cannot pick one themselves. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { readonly port: number };
      server.close(() => resolve(port));
    });
  });
}
