import type { Status } from '../status/status.js';
import { type Html, html } from './html.js';
import { table } from './table.js';
import { counts, duration, mark, moment, NOTHING, number } from './words.js';

const PHASES: Readonly<Record<string, string>> = {
  handshake: 'TLS handshake',
  head: 'sending a head',
  gate: 'at a gate',
  body: 'sending a body',
  running: 'waiting for an answer',
  streaming: 'reading a stream',
  idle: 'idle',
  lingering: 'being closed',
};

/** Connections by what they are doing. */
export function traffic({ connections, max_connections, subscriptions }: Status): Html {
  const rows = Object.entries(connections).map(([phase, count]) => [PHASES[phase] ?? phase, number(count)]);
  return html`${
    rows.length === 0
      ? html`<p class="calm">No client is connected.</p>`
      : table('traffic', 'Connections by what they are doing', [{ head: 'Doing' }, { head: 'Now', numeric: true }], rows)
  }
<p class="calm">At most ${number(max_connections)} connections and ${number(subscriptions.max)} subscriptions.</p>`;
}

/** The signing keys of issuers and how old they are. */
export function keys({ keys: all }: Status): Html {
  if (all.length === 0) return html`<p class="calm">No gate fetches signing keys.</p>`;
  return table(
    'keys',
    'Signing keys',
    [{ head: 'Gate' }, { head: 'Keys', numeric: true }, { head: 'Age', numeric: true }, { head: 'Loads' }],
    all.map(({ gate, keys: count, age_s, overdue, loads }) => [
      html`<code>${gate}</code>`,
      count === 0 ? mark('bad', 'none') : number(count),
      age_s === undefined ? NOTHING : overdue ? mark('warn', duration(age_s * 1000)) : duration(age_s * 1000),
      counts(loads),
    ]),
  );
}

/** What reloads came to. */
export function reloads({ reloads: { succeeded, failed, last }, at_ms, config }: Status): Html {
  const file = config.file === undefined ? 'The config was given as an object.' : html`Config file <code>${config.file}</code>.`;
  if (last === undefined) return html`<p>${file}</p><p class="calm">It was not reloaded since the start.</p>`;
  return html`<p>${file}</p>
<p>${last.outcome === 'failed' ? mark('bad', 'The last reload was refused') : mark('good', 'The last reload succeeded')} ${moment(last.at_ms, at_ms)}</p>
${last.problems.length > 0 && html`<ul class="errors">${last.problems.map((problem) => html`<li><code>${problem}</code></li>`)}</ul>`}
${last.restart.length > 0 && html`<p>Only a restart puts in force: ${last.restart.map((key) => html`<code>${key}</code> `)}</p>`}
<p class="calm">${number(succeeded)} succeeded, ${number(failed)} failed since the start.</p>`;
}
