import { distance } from 'fastest-levenshtein';

const MAX_LENGTH = 64;

/** The candidate that a misspelt word was most likely meant to be; undefined when none is near. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  const plain = fold(word);
  let best: string | undefined;
  let least = (word.length <= 3 ? 1 : Math.max(2, Math.floor(word.length / 3))) + 1;
  for (const candidate of candidates) {
    if (candidate === word || candidate.length > MAX_LENGTH) continue;
    const far = distance(plain, fold(candidate));
    if (far < least) {
      least = far;
      best = candidate;
    }
  }
  return best;
}

/** `; did you mean x?`, or nothing. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const found = nearest(word, candidates);
  return found === undefined ? '' : `; did you mean ${found}?`;
}

/** `maxConnections` and `max-connections` are `max_connections`. */
function fold(word: string): string {
  return word
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();
}
