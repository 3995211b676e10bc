import type { Explanation, Step } from '../explain/explain.js';
import { type Html, html } from './html.js';
import { mark, prose, type Tone } from './words.js';

/** What would happen to the request, and why. */
export function explanationOf(explanation: Explanation): Html {
  const { outcome, status, code, why, remedy, steps, headers } = explanation;
  const words = outcome === 'admitted' ? 'Admitted' : outcome === 'served' ? `Served ${status}` : `Refused ${status} ${code}`;
  const fields = Object.entries(headers).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map((one) => [name, one]),
  );
  return html`<h3 tabindex="-1">${mark(outcome === 'refused' ? 'bad' : 'good', words)}</h3>
<p>${why}</p>${remedy !== '' && html`<p>${prose(remedy)}</p>`}
<ol class="steps">${steps.map(stepOf)}</ol>
${callerOf(explanation)}
${fields.length > 0 && html`<details open><summary>Header fields of the answer</summary><pre tabindex="0" aria-label="Header fields">${fields.map(([name, value]) => `${name}: ${value}\n`)}</pre></details>`}`;
}

/** Why the explanation is missing. */
export function noExplanation(why: string): Html {
  return html`<h3 tabindex="-1">${mark('warn', 'Not asked')}</h3><p>${why}</p>`;
}

function stepOf({ by, verdict, code, milliseconds }: Step): Html {
  const said = code === '' ? verdict : `${verdict} ${code}`;
  return html`<li>${mark(TONES[verdict], by)} <span>${said}</span> <small>${milliseconds.toFixed(1)} ms</small></li>`;
}

const TONES: Readonly<Record<Step['verdict'], Tone>> = {
  ok: 'good',
  pass: 'good',
  identify: 'good',
  serve: 'good',
  refuse: 'bad',
  timeout: 'bad',
  failed: 'bad',
};

function callerOf({ identity, facts }: Explanation): Html | undefined {
  if (identity === undefined) return undefined;
  const { issuer, principal, client, scopes, expires_at_ms } = identity;
  const rows: readonly (readonly [string, string])[] = [
    ['Issuer', issuer],
    ['Principal', principal],
    ...(client === undefined ? [] : [['Client', client] as const]),
    ['Scopes', scopes.length === 0 ? 'none' : scopes.join(' ')],
    ...(expires_at_ms === undefined ? [] : [['Until', new Date(expires_at_ms).toISOString()] as const]),
    ...(facts.length === 0 ? [] : [['Facts', facts.join(', ')] as const]),
  ];
  return html`<dl class="caller">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd><code>${value}</code></dd></div>`)}</dl>`;
}
