import { readFileSync } from 'node:fs';

/**
 * Resident bytes of a process and its descendants, as /proc tells them; 0 where there is no /proc. At most 64 processes are looked at:
 * a server that a launcher such as npx runs is its grandchild.
 */
export function residentBytes(pid: number): number {
  const pids = [pid];
  let pages = 0;
  for (let i = 0; i < pids.length; i++) {
    pages += Number(read(`/proc/${pids[i]}/statm`).split(' ')[1] ?? 0);
    const children = read(`/proc/${pids[i]}/task/${pids[i]}/children`).trim();
    for (const child of children === '' ? [] : children.split(' ')) if (pids.length < MAX_PROCESSES) pids.push(Number(child));
  }
  return pages * PAGE_BYTES;
}

const MAX_PROCESSES = 64;
const PAGE_BYTES = 4096;

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
