import { readFileSync, writeFileSync } from 'node:fs';
import { findTool } from '../../e2e/mtls-rig.js';
import { folderWith } from '../config-files.js';
import { repositoryPath } from '../repository.js';
import { type Child, startProgram } from './child.js';
import { freePort } from './everything-server.js';
import { until } from './until.js';

/** A real HAProxy. */
export interface RunningHaproxy {
  /** Its frontend's URL. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Runs the config of docs/scale-out.md with replicas on 127.0.0.1, 127.0.0.2 and 127.0.0.3, each on these two ports. */
export async function startHaproxy(traffic_port: number, ops_port: number): Promise<RunningHaproxy> {
  const command = findTool('haproxy', 'HAPROXY', 'apt-get install haproxy');
  const port = await freePort();
  const block = /^```haproxy\n(.*?)^```$/ms.exec(readFileSync(repositoryPath('docs/scale-out.md'), 'utf8'))?.[1] ?? '';
  const { folder, remove } = folderWith({});
  const config = block
    .replace('bind :8443', `bind 127.0.0.1:${port}`)
    .replaceAll('9090', String(ops_port))
    .replaceAll(/10\.0\.0\.(\d):8080/g, `127.0.0.$1:${traffic_port}`);
  writeFileSync(`${folder}/haproxy.cfg`, config);
  const child: Child = startProgram(command, ['-db', '-f', `${folder}/haproxy.cfg`]);
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    await child.stop();
    remove();
  };
  try {
    await until('HAProxy answers', () =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    );
  } catch (error) {
    await stop();
    throw new Error(child.output, { cause: error });
  }
  return { url, stop };
}
