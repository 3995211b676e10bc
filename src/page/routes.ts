import type { RouteStatus } from '../status/route-status.js';
import type { Status } from '../status/status.js';
import { type Html, html } from './html.js';
import { table } from './table.js';
import { counts, mark, number, total } from './words.js';

/** What is served: each path, the gates before it in order, and what goes on behind them. */
export function routes({ routes: all, runtimes }: Status): Html {
  const health = new Map(runtimes.map((runtime) => [runtime.name, runtime.health]));
  return table(
    'routes',
    'Routes',
    [
      { head: 'Route' },
      { head: 'Gates, in order' },
      { head: 'Runtime' },
      { head: 'In flight', numeric: true },
      { head: 'Streams' },
      { head: 'Requests', numeric: true },
    ],
    all.map((route) => [
      html`<code>${route.path}</code><small class="line">${route.url}</small>`,
      gatesOf(route),
      html`<code>${route.runtime}</code>${health.get(route.runtime) !== 'ready' && html` ${mark('bad', health.get(route.runtime) ?? '')}`}`,
      number(route.in_flight),
      counts(route.streams),
      html`${number(total(route.requests))}${troubles(route)}`,
    ]),
  );
}

/** The state of every gate of the config. */
export function gates({ gates: all }: Status): Html {
  if (all.length === 0) return html`<p class="calm">The config has no gates: everybody is let in.</p>`;
  return table(
    'gates',
    'Gates',
    [{ head: 'Gate' }, { head: 'Passed', numeric: true }, { head: 'Refused', numeric: true }, { head: 'Failed or late', numeric: true }],
    all.map(({ name, use, passed, refused, failed }) => [
      html`<code>${name}</code> <small>${use}</small>`,
      number(passed),
      number(refused),
      failed > 0 ? html`<span class="bad">${number(failed)}</span>` : '0',
    ]),
  );
}

function gatesOf(route: RouteStatus): Html {
  const chain = route.gates.map((gate) => html`<li><code>${gate}</code></li>`);
  return html`<ol class="chain">${chain}${(route.public || chain.length === 0) && html`<li class="public">public</li>`}</ol>`;
}

function troubles({ requests }: RouteStatus): Html | undefined {
  const { ok: _, ...others } = requests;
  return total(others) === 0 ? undefined : html`<small class="line">${counts(others).replaceAll('_', ' ')}</small>`;
}
