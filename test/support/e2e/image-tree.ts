import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseDockerfile, type Stage } from '../dockerfile.js';
import { repositoryPath } from '../repository.js';

/** What an image of the Dockerfile holds, laid out in a folder of this machine. */
export interface ImageTree {
  /** Stands for `/` of the image. */
  readonly root: string;
  /** ENTRYPOINT and CMD. */
  readonly command: readonly string[];
  readonly workdir: string;
  /** Every variable, NAME=value. */
  readonly env: readonly string[];
  /** uid:gid. */
  readonly user: string;
  remove(): void;
}

const { stages } = parseDockerfile(readFileSync(repositoryPath('deploy/docker/Dockerfile'), 'utf8'));

/**
 * Does what the Dockerfile says for the stage `gateway`, without an engine: copies what it copies and runs what it runs, each
 * stage in a folder. Only `npm ci` of the build stage is spared: its packages are this repository's.
 */
export function layOutImage(): ImageTree {
  mkdirSync(repositoryPath('.tmp'), { recursive: true });
  const folder = mkdtempSync(repositoryPath('.tmp/image-'));
  const roots = new Map(stages.map(({ name }) => [name, join(folder, name)]));
  const rootOf = (name: string): string => roots.get(name) ?? '';
  for (const name of ['build', 'dependencies', 'app', 'gateway']) {
    const stage = stageOf(name);
    let workdir = '/';
    mkdirSync(rootOf(name));
    for (const { name: instruction, text } of stage.instructions) {
      if (instruction === 'WORKDIR') {
        workdir = text;
        mkdirSync(join(rootOf(name), workdir), { recursive: true });
      } else if (instruction === 'COPY') copy(text, rootOf(name), workdir, rootOf);
      else if (instruction === 'RUN') run(text, join(rootOf(name), workdir));
    }
  }
  const root = rootOf('gateway');
  const command = ['ENTRYPOINT', 'CMD'].flatMap((instruction) => JSON.parse(textOf(stageOf('gateway'), instruction)) as string[]);
  return {
    root,
    command,
    env: textOf(stageOf('gateway'), 'ENV').split(/\s+/),
    workdir: textOf(stageOf('gateway'), 'WORKDIR'),
    user: textOf(stageOf('gateway'), 'USER'),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

function copy(text: string, root: string, workdir: string, rootOf: (stage: string) => string): void {
  const words = text.split(/\s+/);
  const from = words[0]?.startsWith('--from=') === true ? rootOf(words.shift()?.slice(7) ?? '') : undefined;
  const to = words.pop() ?? '';
  const target = to.startsWith('/') ? join(root, to) : join(root, workdir, to);
  for (const source of words) {
    const file = from === undefined ? repositoryPath(source) : join(from, source);
    // A folder's content goes to the target; a file does too, unless the target is a folder.
    const into = to.endsWith('/') && source !== '/' ? join(target, basename(source)) : target;
    mkdirSync(dirname(into), { recursive: true });
    cpSync(file, into, { recursive: true });
  }
}

function run(text: string, cwd: string): void {
  if (text.startsWith('npm ci') && !text.includes('--omit=dev')) {
    symlinkSync(repositoryPath('node_modules'), join(cwd, 'node_modules'));
    return;
  }
  execFileSync('sh', ['-c', text], { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
}

function stageOf(name: string): Stage {
  const stage = stages.find((one) => one.name === name);
  if (stage === undefined) throw new Error(`the Dockerfile has no stage ${name}`);
  return stage;
}

function textOf(stage: Stage, instruction: string): string {
  return stage.instructions.findLast(({ name }) => name === instruction)?.text ?? '';
}
