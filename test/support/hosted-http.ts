import type { Clock } from '../../src/contract/clock.js';
import type { Server } from '../../src/contract/server.js';
import { createExecutor } from '../../src/executor/bounded.js';
import { createHosted } from '../../src/runtime/hosted/hosted.js';
import { SILENT } from '../../src/silent-log.js';
import { type Listening, type ListeningSetup, listening } from './listening.js';

/** A hosted server behind a real listener, on a public route. */
export interface HostedHttp {
  readonly url: string;
  readonly listening: Listening;
  close(): Promise<void>;
}

export async function servingHosted(server: Server, clock: Clock, setup: ListeningSetup = {}): Promise<HostedHttp> {
  const executor = createExecutor({ clock });
  const runtime = createHosted(
    { name: 'hosted', server, state_keys: [] },
    { log: SILENT, clock, executor, telemetry: { toolsListed: () => undefined } },
  );
  await runtime.start(new AbortController().signal);
  const open = await listening({ handle: (call, exchange) => runtime.handle(call, exchange), ...setup });
  return {
    url: `http://127.0.0.1:${open.port}/mcp`,
    listening: open,
    async close() {
      await open.close();
      await runtime.close(0);
    },
  };
}
