import { closest, distance } from 'fastest-levenshtein';

/** The one of `names` that `word` is probably a misspelling of: at most a third of its letters away, at least two. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  if (names.length === 0 || word.length > 64) return undefined;
  const best = closest(word, names);
  return distance(word, best) <= Math.max(2, Math.floor(word.length / 3)) ? best : undefined;
}
