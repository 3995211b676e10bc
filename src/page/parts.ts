import { stringify } from 'yaml';
import type { Status } from '../status/status.js';
import { keys, reloads, traffic } from './facts.js';
import { type Html, html } from './html.js';
import { refusals } from './refusals.js';
import { gates, routes } from './routes.js';
import { runtimes } from './runtimes.js';
import { summary } from './summary.js';

/** Large configs take long to write: each is written once. */
const TEXTS = new WeakMap<object, string>();

/** One section of the page. */
export interface Part {
  /** Its element's id. */
  readonly id: string;
  readonly title: string;
  /** Half as wide where there is room. */
  readonly narrow?: true;
  render(status: Status): Html;
}

/** The sections in the order in which an on-call engineer reads them. Each is re-rendered, and sent when it has changed. */
export const PARTS: readonly Part[] = [
  { id: 'summary', title: 'Now', render: summary },
  { id: 'refusals', title: 'Refused and failed', render: refusals },
  { id: 'runtimes', title: 'Runtimes', render: runtimes },
  { id: 'routes', title: 'Routes', render: routes },
  { id: 'gates', title: 'Gates', narrow: true, render: gates },
  { id: 'traffic', title: 'Connections', narrow: true, render: traffic },
  { id: 'keys', title: 'Signing keys', narrow: true, render: keys },
  { id: 'reloads', title: 'Reloads', narrow: true, render: reloads },
  { id: 'config', title: 'Config', render: settings },
];

/** Every section as HTML text by id. */
export function renderParts(status: Status): ReadonlyMap<string, string> {
  return new Map(PARTS.map(({ id, render }) => [id, render(status).toString()]));
}

/** The config in force. */
function settings({ config }: Status): Html {
  return html`${config.warnings.length > 0 && html`<ul class="errors">${config.warnings.map((warning) => html`<li>${warning}</li>`)}</ul>`}
<details><summary>Show the config in force, defaults filled and secrets hidden</summary>
<pre tabindex="0" aria-label="Config in force">${textOf(config.values)}</pre></details>`;
}

function textOf(values: object): string {
  const known = TEXTS.get(values);
  if (known !== undefined) return known;
  const text = stringify(values, { lineWidth: 0, aliasDuplicateObjects: false });
  TEXTS.set(values, text);
  return text;
}
