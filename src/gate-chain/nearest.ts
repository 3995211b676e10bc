import { closest, distance } from 'fastest-levenshtein';

/** The one of `names` that `word` is probably meant to be: at most a third of its letters away, at least two, or the only one that goes on after it. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  if (names.length === 0 || word.length > 64) return undefined;
  const best = closest(word, names);
  if (distance(word, best) <= Math.max(2, Math.floor(word.length / 3))) return best;
  const longer = names.filter((name) => word.length > 2 && name.startsWith(`${word}_`));
  return longer.length === 1 ? longer[0] : undefined;
}
