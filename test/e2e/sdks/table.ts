/** What one client made of one refusal. Worse ones have lower ranks. */
export const CELLS = { yes: 3, 'yes, silent': 2, ends: 1 } as const;

/** A cell of the table; `–` where the client's era can't meet the refusal. */
export type Cell = keyof typeof CELLS | '–';

/** Row name to column name to cell. */
export type Table = ReadonlyMap<string, ReadonlyMap<string, Cell>>;

/** A reason for cells that are not `yes`; `clients` and `refusals` are patterns over whole names. */
export interface Reason {
  readonly clients: RegExp;
  readonly refusals: RegExp;
  readonly why: string;
}

/** Takes the committed table out of a page; `mark` is its name there. Throws when the page has no markers. */
export function parseTable(page: string, mark = 'refusals'): Table {
  const [, marked] = split(page, mark);
  const rows = marked
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.replace(/<sup>.*?<\/sup>/, '').trim()),
    );
  const [head = [], , ...body] = rows;
  return new Map(body.map(([name = '', ...cells]) => [name, new Map(cells.map((cell, n) => [head[n + 1] ?? '', cell as Cell]))]));
}

/** Puts a table and the reasons of its cells into a page, between the markers. */
export function writeTable(page: string, table: Table, columns: readonly string[], reasons: readonly Reason[], mark = 'refusals'): string {
  const used = reasons.filter(({ clients, refusals }) =>
    [...table].some(([row, cells]) => clients.test(row) && [...cells].some(([column, cell]) => refusals.test(column) && isLost(cell))),
  );
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rows = [...table].map(([row, cells]) =>
    line([
      row,
      ...columns.map((column) => {
        const cell = cells.get(column) ?? '–';
        const at = used.findIndex(({ clients, refusals }) => clients.test(row) && refusals.test(column));
        return isLost(cell) && at >= 0 ? `${cell}<sup>${at + 1}</sup>` : cell;
      }),
    ]),
  );
  const notes = used.map(({ why }, n) => `${n + 1}. ${why}`);
  const [before, , after] = split(page, mark);
  const text = [line(['client', ...columns]), line(['client', ...columns].map(() => '---')), ...rows, '', ...notes].join('\n').trimEnd();
  return `${before}${from(mark)}\n${text}\n${to(mark)}${after}`;
}

/** What is worse in `now` than in `committed`, and cells that are lost without a reason; one line each. Rows that did not run are not looked at. */
export function complaints(now: Table, committed: Table, reasons: readonly Reason[]): readonly string[] {
  const lines: string[] = [];
  for (const [row, cells] of now)
    for (const [column, cell] of cells) {
      const was = committed.get(row)?.get(column);
      if (was === undefined) lines.push(`${row}, ${column}: ${cell}, not in docs/clients.md`);
      else if (rank(cell) < rank(was)) lines.push(`${row}, ${column}: ${cell}, was ${was}`);
      if (isLost(cell) && !reasons.some(({ clients, refusals }) => clients.test(row) && refusals.test(column)))
        lines.push(`${row}, ${column}: ${cell}, without a reason`);
    }
  return lines;
}

const isLost = (cell: Cell): boolean => cell !== 'yes' && cell !== '–';
const rank = (cell: Cell): number => (cell === '–' ? 4 : CELLS[cell]);

const from = (mark: string): string => `<!-- ${mark}: from -->`;
const to = (mark: string): string => `<!-- ${mark}: to -->`;

function split(page: string, mark: string): readonly [string, string, string] {
  const [begins, ends] = [page.indexOf(from(mark)), page.indexOf(to(mark))];
  if (begins < 0 || ends < begins) throw new Error(`the page has no ${from(mark)} … ${to(mark)}`);
  return [page.slice(0, begins), page.slice(begins + from(mark).length, ends), page.slice(ends + to(mark).length)];
}
