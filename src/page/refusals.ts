import { adviceOf } from '../explain/question.js';
import type { RecentRow } from '../status/recent.js';
import type { Status } from '../status/status.js';
import { type Html, html } from './html.js';
import { table } from './table.js';
import { moment, number, prose } from './words.js';

/** Who was refused and what failed, latest first. */
export function refusals({ recent, routes, at_ms }: Status): Html {
  if (recent.length === 0) return html`<p class="calm">No caller has been refused and no call has failed since the start.</p>`;
  const runtimes = new Map(routes.map(({ path, runtime }) => [path, runtime]));
  return table(
    'refusals',
    'Recent refusals and failed calls',
    [{ head: 'What' }, { head: 'Where' }, { head: 'Why' }, { head: 'Latest caller' }, { head: 'Count', numeric: true }, { head: 'Latest' }],
    recent.map((row) => [
      whatOf(row),
      whereOf(row, runtimes.get(row.route)),
      whyOf(row),
      callerOf(row),
      number(row.count),
      moment(row.last_at_ms, at_ms),
    ]),
  );
}

function whatOf({ kind, status, code }: RecentRow): Html {
  return html`<span class="status">${status}</span> <code>${code}</code>${kind === 'failed' && html` <small>call failed</small>`}`;
}

function whereOf({ route, gate, kind }: RecentRow, runtime: string | undefined): Html {
  const at = route === '' ? html`<span class="calm">no route</span>` : html`<code>${route}</code>`;
  if (kind === 'failed') return html`${at}<small class="line">runtime <code>${runtime ?? ''}</code></small>`;
  return html`${at}<small class="line">${gate === '' ? 'the listener' : html`gate <code>${gate}</code>`}</small>`;
}

function whyOf({ code, kind, gate }: RecentRow): Html {
  const { meaning, remedy } = adviceOf(code);
  if (meaning === '') return html`<small>${gate} says what this code means.</small>`;
  return html`${prose(meaning)}${kind === 'refused' && html`<small class="line">${prose(remedy)}</small>`}`;
}

function callerOf({ client_address, http_method, path, request_id }: RecentRow): Html {
  return html`<code>${client_address === '' ? '–' : client_address}</code>
<small class="line">${http_method} <code>${path}</code></small><small class="line">id <code>${request_id}</code></small>`;
}
