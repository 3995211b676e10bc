import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { folderWith } from '../config-files.js';
import { until } from './until.js';

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

export interface RuleState {
  readonly name: string;
  readonly health: string;
  /** inactive, pending or firing. */
  readonly state: string;
  readonly lastError?: string;
}

/** A real Prometheus that scrapes each second and evaluates rules each second. */
export interface RunningPrometheus {
  /** The answer to an instant query; rejects with what Prometheus says when it cannot read the expression. */
  query(expression: string): Promise<readonly Sample[]>;
  rules(): Promise<readonly RuleState[]>;
  stop(): Promise<void>;
}

/** Starts it for targets (host:port) of one job. */
export async function startPrometheus(job: string, targets: readonly string[], rules: string): Promise<RunningPrometheus> {
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yaml'],
    scrape_configs: [{ job_name: job, static_configs: [{ targets }] }],
  };
  const { folder, remove } = folderWith({ 'prometheus.yml': JSON.stringify(config), 'rules.yaml': rules });
  const port = await freePort();
  const child = spawn('prometheus', [
    `--config.file=${folder}/prometheus.yml`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]);
  let said = '';
  child.stderr.on('data', (chunk) => (said = `${said}${chunk}`.slice(-4000)));
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await Promise.race([once(child, 'close'), sleep(5000, undefined, { ref: false }).then(() => child.kill('SIGKILL'))]);
    }
    remove();
  };
  const ask = async (path: string): Promise<never> => {
    const answer = await (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json();
    const { status, error, data } = answer as { readonly status: string; readonly error?: string; readonly data: never };
    if (status !== 'success') throw new Error(`${path}: ${error}`);
    return data;
  };
  try {
    await until(
      'prometheus is up',
      () =>
        fetch(`http://127.0.0.1:${port}/-/ready`).then(
          ({ ok }) => ok,
          () => false,
        ),
      30_000,
    );
  } catch (error) {
    await stop();
    throw new Error(said, { cause: error });
  }
  return {
    query: async (expression) =>
      ((await ask(`query?query=${encodeURIComponent(expression)}`)) as { readonly result: readonly Sample[] }).result,
    rules: async () =>
      ((await ask('rules')) as { readonly groups: readonly { readonly rules: readonly RuleState[] }[] }).groups.flatMap(
        (group) => group.rules,
      ),
    stop,
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
