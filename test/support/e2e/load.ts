import { setTimeout as sleep } from 'node:timers/promises';

/** Clients that call all the time. */
export interface Load {
  /** Calls that came to what they should. */
  readonly done: number;
  /** What the others came to. */
  readonly lost: readonly string[];
  /** Resolves once each client has ended its last call. */
  stop(): Promise<void>;
}

/** Starts clients, each of which makes its call again and again, 10 ms apart. A call that rejects is lost. */
export function startLoad(clients: Readonly<Record<string, () => Promise<unknown>>>): Load {
  const lost: string[] = [];
  let done = 0;
  let going = true;
  const loop = async (name: string, call: () => Promise<unknown>): Promise<void> => {
    while (going) {
      try {
        await call();
        done += 1;
      } catch (error) {
        lost.push(`${name}: ${error instanceof Error ? `${error.message} ${String(error.cause ?? '')}` : String(error)}`);
      }
      await sleep(10);
    }
  };
  const loops = Object.entries(clients).map(([name, call]) => loop(name, call));
  return {
    get done() {
      return done;
    },
    lost,
    async stop() {
      going = false;
      await Promise.all(loops);
    },
  };
}
