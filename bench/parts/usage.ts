import { readdirSync, readFileSync } from 'node:fs';

/** CPU time that a process and its children have used so far, in µs, all threads together. */
export function cpuMicros(pid: number): number {
  return family(pid).reduce((sum, member) => sum + threadMicros(member), 0);
}

/** CPU time of the process alone, in µs, all threads together. */
export function ownMicros(pid: number): number {
  return threadMicros(pid);
}

/** Resident memory of a process and its children, in KiB. Pages that they share count for each. */
export function residentKib(pid: number): number {
  return family(pid).reduce((sum, member) => sum + statusKib(member), 0);
}

function family(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(family)];
}

/** `schedstat` counts nanoseconds on the processor; utime and stime of `stat`, which have ticks of 10 ms, are for kernels without it. */
function threadMicros(pid: number): number {
  let micros = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      micros += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1000;
    } catch {
      return tickMicros(pid);
    }
  }
  return micros;
}

function tickMicros(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

function statusKib(pid: number): number {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(found?.[1] ?? 0);
}
