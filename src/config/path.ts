/** Where a value stands in a config: mapping keys and list indexes from the root. */
export type Path = readonly (string | number)[];

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]{0,127}$/;
const MAX_SHOWN = 80;

/** The dotted form that problems show: `routes[0].gates[1]`. Keys that are not plain words are quoted and cut at 80 characters. */
export function toWhere(path: Path): string {
  let where = '';
  for (const step of path) {
    if (typeof step === 'number') where += `[${step}]`;
    else if (PLAIN_KEY.test(step)) where += where === '' ? step : `.${step}`;
    else where += `[${JSON.stringify(step.length > MAX_SHOWN ? `${step.slice(0, MAX_SHOWN)}…` : step)}]`;
  }
  return where;
}

/** Reads the dotted form back; `routes.0.path` is understood too. What cannot be read ends the path. */
export function fromWhere(where: string): Path {
  const path: (string | number)[] = [];
  let rest = where;
  while (rest !== '') {
    if (rest.startsWith('.')) rest = rest.slice(1);
    if (rest.startsWith('[')) {
      const end = endOfBracket(rest);
      if (end === -1) return path;
      const step = parseStep(rest.slice(1, end));
      if (step === undefined) return path;
      path.push(step);
      rest = rest.slice(end + 1);
    } else {
      const end = rest.search(/[.[]/);
      const word = end === -1 ? rest : rest.slice(0, end);
      if (word === '') return path;
      path.push(/^[0-9]{1,9}$/.test(word) ? Number(word) : word);
      rest = end === -1 ? '' : rest.slice(end);
    }
  }
  return path;
}

/** Where the `]` of a leading `[0]` or `["key"]` stands; brackets inside the quotes do not count. */
function endOfBracket(text: string): number {
  if (text[1] !== '"') return text.indexOf(']');
  for (let at = 2; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return text[at + 1] === ']' ? at + 1 : -1;
  }
  return -1;
}

function parseStep(text: string): string | number | undefined {
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  try {
    const key: unknown = JSON.parse(text);
    return typeof key === 'string' ? key : undefined;
  } catch {
    return undefined;
  }
}
