/** `base` with one more step, as problems show places: `gates.token.options.keys[0]`. Names that are not plain words are quoted, cut at 80 characters. */
export function within(base: string, step: string | number): string {
  if (typeof step === 'number') return `${base}[${step}]`;
  if (PLAIN.test(step)) return base === '' ? step : `${base}.${step}`;
  return `${base}[${JSON.stringify(step.length > MAX_SHOWN ? `${step.slice(0, MAX_SHOWN)}…` : step)}]`;
}

const PLAIN = /^[A-Za-z_][A-Za-z0-9_-]{0,127}$/;
const MAX_SHOWN = 80;
