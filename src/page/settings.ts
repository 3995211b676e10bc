import { stringify } from 'yaml';
import type { Status } from '../assembly/status.js';
import { type Html, html } from './html.js';

/** The config in force. */
export function settings({ config }: Status): Html {
  return html`${config.warnings.length > 0 && html`<ul class="errors">${config.warnings.map((warning) => html`<li>${warning}</li>`)}</ul>`}
<details><summary>Show the config in force, defaults filled and secrets hidden</summary>
<pre tabindex="0" aria-label="Config in force">${textOf(config.values)}</pre></details>`;
}

/** Large configs take long to write: each is written once. */
const TEXTS = new WeakMap<object, string>();

function textOf(values: object): string {
  const known = TEXTS.get(values);
  if (known !== undefined) return known;
  const text = stringify(values, { lineWidth: 0, aliasDuplicateObjects: false });
  TEXTS.set(values, text);
  return text;
}
