import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryPath } from '../repository.js';
import { startChild } from './child.js';

/** A gateway that runs as a process of its own. */
export interface RunningGateway {
  /** Base URL without a trailing slash. */
  readonly url: string;
  readonly ops_url: string;
  readonly pid: number;
  /** What it has logged so far. */
  readonly output: string;
  /** Sum of the samples of one metric whose labels include all of `labels`. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  /** Ends it, SIGTERM by default, and resolves with its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Runs `portcullis run -c` on a config text and resolves once the gateway serves. Give `listener` and `ops` the port 0. */
export async function startGateway(config: string, env: Readonly<Record<string, string>> = {}): Promise<RunningGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-e2e-'));
  const file = join(folder, 'portcullis.yaml');
  await writeFile(file, config);
  return startCommand(['run', '-c', file], env, () => rm(folder, { recursive: true, force: true }));
}

/** Runs a command line that serves and resolves once it does. `ended` runs after it has ended. */
export async function startCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  ended: () => Promise<void> = async () => undefined,
): Promise<RunningGateway> {
  const child = startChild([repositoryPath('dist/src/main.js'), ...args], env);
  const stop = async (signal?: NodeJS.Signals): Promise<number | null> => {
    const code = await child.stop(signal);
    await ended();
    return code;
  };
  try {
    const [, url, ops_url] = await child.says(/"url":"([^"]+)".*"ops":"([^"]+)".*listens on/);
    return {
      url: url as string,
      ops_url: ops_url as string,
      pid: child.pid,
      get output() {
        return child.output;
      },
      metric: (name, labels = {}) => readMetric(`${ops_url}/metrics`, name, labels),
      stop,
    };
  } catch (error) {
    await stop('SIGKILL');
    throw error;
  }
}

/** Sums the samples of a Prometheus page that have this name and these labels. */
export async function readMetric(page_url: string, name: string, labels: Readonly<Record<string, string>>): Promise<number> {
  const page = await (await fetch(page_url)).text();
  let sum = 0;
  for (const line of page.split('\n')) {
    const [series = '', value = ''] = line.split(/ (?=[^ ]*$)/);
    if (series !== name && !series.startsWith(`${name}{`)) continue;
    if (Object.entries(labels).every(([label, wanted]) => series.includes(`${label}="${wanted}"`))) sum += Number(value);
  }
  return sum;
}
