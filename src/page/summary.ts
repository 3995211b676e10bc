import type { Status } from '../status/status.js';
import { type Html, html } from './html.js';
import { duration, mark, number, type Tone, total } from './words.js';

/** What is known at a glance: does it serve, what is wrong, how much goes on. */
export function summary(status: Status): Html {
  const { drain, problems, at_ms } = status;
  const [tone, words] = verdictOf(status);
  return html`<p class="verdict" aria-live="polite">${mark(tone, words)}</p>
${drain.state !== 'serving' && drainOf(status)}
${
  problems.length === 0
    ? html`<p class="calm">Nothing is known to be wrong.</p>`
    : html`<ul class="problems">${problems.map(
        ({ level, part, what }) => html`<li>${mark(level, '')}<a href="#${part}">${what}</a></li>`,
      )}</ul>`
}
<dl class="numbers">
${figure('Connections', number(total(status.connections)), `of ${number(status.max_connections)}`)}
${figure('In flight', number(status.routes.reduce((sum, { in_flight }) => sum + in_flight, 0)), 'requests')}
${figure('Subscriptions', number(status.subscriptions.open), `of ${number(status.subscriptions.max)}`)}
${figure('Refused', number(recentOf(status)), latestOf(status))}
${figure('Up', duration(at_ms - status.started_at_ms), `Portcullis ${status.version}`)}
</dl>`;
}

function verdictOf({ ready, reason, drain, problems }: Status): readonly [Tone, string] {
  if (drain.state === 'closed') return ['bad', 'Closed'];
  if (drain.state !== 'serving') return ['warn', 'Draining'];
  if (!ready) return ['bad', `Not ready: ${reason}`];
  return problems.some(({ level }) => level === 'bad') ? ['bad', 'Serving, with trouble'] : ['good', 'Serving'];
}

function drainOf({ drain, at_ms }: Status): Html {
  const { of = drain.remaining, remaining, began_at_ms = at_ms, delay_ms, timeout_ms } = drain;
  const most = Math.max(of, remaining, 1);
  return html`<p class="drain"><label for="drained">${number(most - remaining)} of ${number(most)} connections are gone</label>
<progress id="drained" max="${most}" value="${most - remaining}"></progress>
<small>${duration(at_ms - began_at_ms)} of at most ${duration(delay_ms + timeout_ms)}</small></p>`;
}

function figure(name: string, value: string, note: string): Html {
  return html`<div><dt>${name}</dt><dd>${value} <small>${note}</small></dd></div>`;
}

function recentOf({ recent }: Status): number {
  return recent.reduce((sum, { kind, count }) => sum + (kind === 'refused' ? count : 0), 0);
}

function latestOf({ recent, at_ms }: Status): string {
  const latest = recent.find(({ kind }) => kind === 'refused');
  return latest === undefined ? 'since the start' : `latest ${duration(at_ms - latest.last_at_ms)} ago`;
}
