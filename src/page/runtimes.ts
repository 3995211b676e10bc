import type { Health } from '../contract/runtime.js';
import type { RuntimeStatus } from '../status/runtime-status.js';
import type { Status } from '../status/status.js';
import { type Content, type Html, html } from './html.js';
import { table } from './table.js';
import { bytes, counts, mark, NOTHING, number, type Tone } from './words.js';

/** Which upstream or child is down, and what each does. */
export function runtimes({ runtimes: all }: Status): Html {
  return table(
    'runtimes',
    'Runtimes',
    [{ head: 'Runtime' }, { head: 'Health' }, { head: 'Now' }, { head: 'Since the start' }, { head: 'Processes' }],
    all.map((runtime) => [
      html`<code>${runtime.name}</code> <small>${runtime.kind}</small>`,
      mark(TONES[runtime.health], runtime.health),
      html`${nowOf(runtime)}${eraOf(runtime)}`,
      sinceOf(runtime),
      processesOf(runtime),
    ]),
  );
}

const TONES: Readonly<Record<Health, Tone>> = { ready: 'good', starting: 'warn', degraded: 'bad', stopped: 'bad' };

function nowOf({ connections, load, children }: RuntimeStatus): string {
  if (connections !== undefined) {
    const { running = 0, free = 0, pending = 0, queued = 0 } = connections;
    return `${number(running)} running, ${number(free)} free${pending > 0 ? `, ${number(pending)} connecting` : ''}${queued > 0 ? `, ${number(queued)} waiting` : ''}`;
  }
  if (load !== undefined) return `${number(load.running)} running, ${number(load.queued)} queued`;
  if (children !== undefined) return `${number(children.pending)} pending, ${number(children.sessions)} sessions`;
  return NOTHING;
}

function eraOf({ era }: RuntimeStatus): Content {
  if (era === undefined) return '';
  const said =
    era.verdict === undefined
      ? 'era unknown'
      : era.verdict === 'modern'
        ? `modern server, ${number(era.bridged)} sessions of legacy clients`
        : `legacy server, ${number(era.leased)} sessions for modern clients, ${number(era.held)} calls held for an answer`;
  return html`<span class="line"><small>${said}: ${era.reason}</small></span>`;
}

function sinceOf({ answers, restarts }: RuntimeStatus): Content {
  const parts: Content[] = [];
  if (Object.keys(answers).length > 0) parts.push(answered(answers));
  if (Object.keys(restarts).length > 0) parts.push(html`restarts: ${counts(restarts)}`);
  return parts.length === 0 ? NOTHING : parts.map((part) => html`<span class="line">${part}</span>`);
}

function answered(answers: RuntimeStatus['answers']): string {
  return Object.entries(answers)
    .map(([answer, count]) => (answer === 'error' ? `${number(count)} without an answer` : `${number(count)} × ${answer}`))
    .join(', ');
}

function processesOf({ children }: RuntimeStatus): Content {
  const { processes = [] } = children ?? {};
  if (processes.length === 0) return NOTHING;
  const list = processes.map(({ pid, rss_bytes }) => html`<span class="line">pid ${pid} <small>${bytes(rss_bytes)}</small></span>`);
  if (processes.length <= FEW) return list;
  const all = processes.reduce((sum, { rss_bytes }) => sum + rss_bytes, 0);
  return html`<details><summary>${number(processes.length)} processes, ${bytes(all)}</summary>${list}</details>`;
}

/** More than these are folded away. */
const FEW = 4;
