import { type Html, html } from './html.js';

/** Stands where there is nothing to say. */
export const NOTHING = '–';

/** `1 204 233`: groups of three with narrow spaces. */
export function number(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

/** `12.4 MiB`. */
export function bytes(value: number): string {
  let left = value;
  let unit = 0;
  while (left >= 1024 && unit < UNITS.length - 1) {
    left /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? left : left.toFixed(left < 100 ? 1 : 0)}\u00a0${UNITS[unit]}`;
}

/** `8 s`, `12 min`, `3 h`, `5 d`: how long, in the largest unit that has begun. */
export function duration(value_ms: number): string {
  const s = Math.max(0, Math.floor(value_ms / 1000));
  if (s < 60) return `${s}\u00a0s`;
  if (s < 3600) return `${Math.floor(s / 60)}\u00a0min`;
  if (s < 86_400) return `${Math.floor(s / 3600)}\u00a0h ${Math.floor((s % 3600) / 60)}\u00a0min`;
  return `${Math.floor(s / 86_400)}\u00a0d ${Math.floor((s % 86_400) / 3600)}\u00a0h`;
}

/** A moment as logs write it, UTC, and how long ago it was. The date is there when it is another day. */
export function moment(at_ms: number, now_ms: number): Html {
  const iso = new Date(at_ms).toISOString();
  const [day = '', time = ''] = iso.split('T');
  const today = new Date(now_ms).toISOString().startsWith(day);
  return html`<time datetime="${iso}">${today ? '' : `${day} `}${time.slice(0, 8)}</time> <small class="line inline">${duration(now_ms - at_ms)} ago</small>`;
}

/** `2 listen, 1 get`, or a dash. */
export function counts(values: Readonly<Record<string, number>>): string {
  const some = Object.entries(values).filter(([, count]) => count > 0);
  return some.length === 0 ? NOTHING : some.map(([name, count]) => `${number(count)} ${name}`).join(', ');
}

export function total(values: Readonly<Record<string, number>>): number {
  return Object.values(values).reduce((sum, count) => sum + count, 0);
}

/** A sentence of the error tables: text between backticks is code. */
export function prose(text: string): readonly (Html | string)[] {
  return text.split('`').map((piece, at) => (at % 2 === 1 ? html`<code>${piece}</code>` : piece));
}

export type Tone = 'good' | 'warn' | 'bad' | 'calm';

/** A state in words, with a mark whose shape and colour say the same. */
export function mark(tone: Tone, words: string): Html {
  return html`<span class="mark ${tone}"><span aria-hidden="true">${SHAPES[tone]}</span> ${words}</span>`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
const SHAPES: Readonly<Record<Tone, string>> = { good: '●', warn: '▲', bad: '■', calm: '○' };
