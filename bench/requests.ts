import { request } from 'node:http';
import { callRequest } from './messages.js';
import type { Load, Round } from './parts/load.js';
import { median } from './parts/median.js';
import { Missing } from './parts/tool.js';
import { cpuMicros, residentKib } from './parts/usage.js';
import type { Contender, Ground, Row } from './rows/row.js';

export interface Amounts {
  /** Requests of warm-up … */
  readonly warm_up: number;
  /** … which a slow row does not finish. */
  readonly warm_up_most_s: number;
  readonly rounds: number;
  /** Length of one round. */
  readonly seconds: number;
}

/** What was measured of one row: medians over the rounds. */
export interface Measured {
  readonly name: string;
  readonly cpu_us: number;
  readonly p50_us: number;
  readonly p99_us: number;
  readonly per_second: number;
  readonly rss_kib: number;
}

export interface RequestTable {
  readonly measured: readonly Measured[];
  /** Rows that could not be measured, and why. */
  readonly skipped: readonly string[];
}

/**
 * Measures all rows side by side: each is warmed up by count, then they take turns, and each round begins with another one, so
 * that what else the machine does meets all of them alike.
 */
export async function measureRequests(rows: readonly Row[], ground: Ground, load: Load, amounts: Amounts): Promise<RequestTable> {
  const skipped: string[] = [];
  const entries: Entry[] = [];
  try {
    for (const row of rows) {
      const contender = await openRow(row, ground, skipped);
      if (contender !== undefined) entries.push({ row, contender, rounds: [] });
    }
    for (const { row, contender } of entries) {
      if (row.guarded) await mustRefuse(row, contender.port);
      const answer = row.own_answer === true ? (await callOnce(contender.port, ground.issued.token)).body : row.answer;
      await load.warmUp(contender.port, amounts.warm_up, amounts.warm_up_most_s, answer);
    }
    for (let round = 0; round < amounts.rounds; round++) {
      for (let turn = 0; turn < entries.length; turn++) {
        const { contender, rounds } = entries[(round + turn) % entries.length] as Entry;
        const before = cpuMicros(contender.child.pid);
        const result = await load.round(contender.port, amounts.seconds);
        const cpu_us = (cpuMicros(contender.child.pid) - before) / result.requests;
        rounds.push({ ...result, cpu_us, per_second: result.requests / result.seconds });
      }
    }
    return { measured: entries.map(toMeasured), skipped };
  } finally {
    await Promise.all(entries.map(({ contender }) => contender.child.close()));
  }
}

interface MeasuredRound extends Round {
  readonly cpu_us: number;
  readonly per_second: number;
}

interface Entry {
  readonly row: Row;
  readonly contender: Contender;
  readonly rounds: MeasuredRound[];
}

async function openRow(row: Row, ground: Ground, skipped: string[]): Promise<Contender | undefined> {
  try {
    return await row.open(ground);
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    skipped.push(`${row.name}: ${error.message}`);
    return undefined;
  }
}

function toMeasured({ row, contender, rounds }: Entry): Measured {
  const of = (key: keyof MeasuredRound): number => median(rounds.map((round) => round[key]));
  const rss_kib = residentKib(contender.child.pid);
  return { name: row.name, cpu_us: of('cpu_us'), p50_us: of('p50_us'), p99_us: of('p99_us'), per_second: of('per_second'), rss_kib };
}

/** A guard that lets everybody in would be cheap. */
async function mustRefuse(row: Row, port: number): Promise<void> {
  const { status } = await callOnce(port);
  if (status !== 401) throw new Error(`${row.name} answered ${status} instead of 401 to a call without a token`);
}

/** One call on a connection of its own. */
function callOnce(port: number, token?: string): Promise<{ readonly status: number | undefined; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const [head = '', body = ''] = callRequest(token).split('\r\n\r\n');
    const fields = head
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(': ', 2) as [string, string]);
    const call = request({ port, host: '127.0.0.1', path: '/mcp', method: 'POST', agent: false, headers: Object.fromEntries(fields) });
    call.on('response', (response) => {
      let said = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        said += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode, body: said }));
    });
    call.on('error', reject);
    call.end(body);
  });
}
