import { type Content, type Html, html } from './html.js';
import { NOTHING } from './words.js';

export interface Column {
  readonly head: string;
  /** Numbers stand right, digits under digits. */
  readonly numeric?: true;
}

/**
 * A table with a caption for screen readers. Below 700 px each row becomes a block, every cell under the name of its column; the
 * roles keep it a table then. The first cell of a row is its header.
 */
export function table(name: string, caption: string, columns: readonly Column[], rows: readonly (readonly Content[])[]): Html {
  return html`<table role="table" class="${name}">
<caption class="unseen">${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map(
    ({ head, numeric }) => html`<th role="columnheader" scope="col"${numeric === true && NUMERIC}>${head}</th>`,
  )}</tr></thead>
<tbody role="rowgroup">${rows.map((cells) => html`<tr role="row">${cells.map((cell, at) => toCell(columns[at] as Column, cell, at))}</tr>\n`)}</tbody>
</table>`;
}

function toCell({ head, numeric }: Column, cell: Content, at: number): Html {
  if (at === 0) return html`<th role="rowheader" scope="row" data-label="${head}"${numeric === true && NUMERIC}>${cell}</th>`;
  // On a phone empty cells are omitted.
  const kind = cell === NOTHING ? html` class="none${numeric === true && ' number'}"` : numeric === true && NUMERIC;
  return html`<td role="cell" data-label="${head}"${kind}><div>${cell}</div></td>`;
}

const NUMERIC = html` class="number"`;
