import { median } from '../parts/median.js';
import { Missing } from '../parts/tool.js';
import { ownMicros, residentKib } from '../parts/usage.js';
import type { Measured, RequestTable } from '../requests.js';
import type { Contender, Ground, Row } from '../rows/row.js';
import { openSessions, type Sessions } from './sessions.js';

export interface StdioAmounts {
  readonly sessions: number;
  /** Length of the warm-up of each row. */
  readonly warm_up_s: number;
  readonly rounds: number;
  /** Length of one round. */
  readonly seconds: number;
}

/** Measures bridges side by side. CPU is that of the bridge's own process, without its children; RSS is with them. */
export async function measureStdio(rows: readonly Row[], ground: Ground, amounts: StdioAmounts): Promise<RequestTable> {
  const skipped: string[] = [];
  const entries: Entry[] = [];
  try {
    for (const row of rows) {
      try {
        const contender = await row.open(ground);
        const sessions = await openSessions(contender.port, ground.issued.token, amounts.sessions);
        entries.push({ row, contender, sessions, found: [] });
        await sessions.round(amounts.warm_up_s);
      } catch (error) {
        if (!(error instanceof Missing)) throw error;
        skipped.push(`${row.name}: ${error.message}`);
      }
    }
    for (let round = 0; round < amounts.rounds; round++) {
      for (let turn = 0; turn < entries.length; turn++) {
        const { row, contender, sessions, found } = entries[(round + turn) % entries.length] as Entry;
        const before = ownMicros(contender.child.pid);
        const { requests, seconds, p50_us, p99_us } = await sessions.round(amounts.seconds);
        const cpu_us = (ownMicros(contender.child.pid) - before) / requests;
        found.push({ name: row.name, cpu_us, p50_us, p99_us, per_second: requests / seconds, rss_kib: residentKib(contender.child.pid) });
      }
    }
    return { measured: entries.map(({ row, found }) => middle(row.name, found)), skipped };
  } finally {
    for (const { sessions } of entries) sessions.close();
    await Promise.all(entries.map(({ contender }) => contender.child.close()));
  }
}

interface Entry {
  readonly row: Row;
  readonly contender: Contender;
  readonly sessions: Sessions;
  readonly found: Measured[];
}

function middle(name: string, found: readonly Measured[]): Measured {
  const of = (key: Exclude<keyof Measured, 'name'>): number => median(found.map((round) => round[key]));
  return { name, cpu_us: of('cpu_us'), p50_us: of('p50_us'), p99_us: of('p99_us'), per_second: of('per_second'), rss_kib: of('rss_kib') };
}
