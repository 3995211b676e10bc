import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, startProgram } from './child.js';
import { currentNode } from './current-node.js';
import type { ImageTree } from './image-tree.js';
import { until } from './until.js';

/** A process that runs as one in a container does. */
export interface Contained {
  /** Its pid on this machine; inside it is 1. */
  readonly pid: number;
  readonly child: Child;
  /** A line of /proc/PID/status. */
  status(key: string): string;
  signal(name: NodeJS.Signals): void;
}

const NODE = currentNode();

// $1 root, $2 node, $3 uid, $4 gid, $5 working directory, then the program. The image's own libraries are this machine's.
const SCRIPT = `
set -e
root=$1 node=$2 uid=$3 gid=$4 workdir=$5
shift 5
mount --make-rprivate /
mount --bind "$root" "$root"
for folder in usr/lib usr/lib64; do
  mount --bind "/$folder" "$root/$folder"
  mount -o remount,bind,ro "$root/$folder"
done
mount --bind "$node" "$root/nodejs/bin/node"
mount --bind "$(command -v setpriv)" "$root/setpriv"
mount -t tmpfs tmpfs "$root/dev"
for device in null zero random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mount -o remount,ro "$root/dev"
mount -t proc proc "$root/proc"
mount -t tmpfs -o size=64m,mode=1777 tmpfs "$root/tmp"
mount -o remount,bind,ro "$root"
exec unshare --root="$root" --wd="$workdir" /setpriv --reuid "$uid" --regid "$gid" --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all -- "$@"
`;

/** Gives an image tree what an engine would mount into it, and the runtime that its base image has. Once for each tree. */
export function prepareTree({ root }: ImageTree): void {
  for (const folder of ['dev', 'proc', 'tmp', 'usr/lib', 'usr/lib64', 'nodejs/bin']) mkdirSync(join(root, folder), { recursive: true });
  for (const folder of ['lib', 'lib64']) symlinkSync(`usr/${folder}`, join(root, folder));
  for (const file of ['nodejs/bin/node', 'setpriv']) writeFileSync(join(root, file), '');
}

/**
 * Runs a program of an image as PID 1 of a PID namespace, as the image's user without capabilities, with the image as a root that is
 * read-only but for /tmp. It keeps this machine's network. Needs root, unshare and setpriv.
 */
export async function startContained(image: ImageTree, program: readonly string[]): Promise<Contained> {
  const child = startProgram('unshare', argumentsOf(image, program));
  let pid = 0;
  let ended = false;
  void child.ended.then(() => (ended = true));
  await until('the contained process', () => {
    pid = childOf(child.pid) ?? 0;
    return ended || pid !== 0;
  });
  return {
    pid,
    child,
    status: (key) => new RegExp(`^${key}:\\s*(.*)$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '',
    signal: (name) => void process.kill(pid, name),
  };
}

/** Runs a program so, to its end; resolves with its exit code, null after 30 s, and what it wrote. */
export async function runContained(
  image: ImageTree,
  program: readonly string[],
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = startProgram('unshare', argumentsOf(image, program));
  const code = await Promise.race([child.ended, sleep(30_000, 'late' as const, { ref: false })]);
  if (code === 'late') await child.stop('SIGKILL');
  return { code: code === 'late' ? null : code, output: child.output };
}

function argumentsOf({ root, user, workdir, env }: ImageTree, program: readonly string[]): readonly string[] {
  const [uid = '', gid = ''] = user.split(':');
  return [
    '--mount',
    '--pid',
    '--fork',
    '--kill-child',
    '--',
    'env',
    '-i',
    `PATH=${process.env.PATH}`,
    ...env,
    'sh',
    '-c',
    SCRIPT,
    'container',
    root,
    NODE,
    uid,
    gid,
    workdir,
    ...program,
  ];
}

function childOf(pid: number): number | undefined {
  try {
    const [first = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    return first === '' ? undefined : Number(first);
  } catch {
    return undefined;
  }
}
