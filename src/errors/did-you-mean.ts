import { distance } from 'fastest-levenshtein';

const MAX_LENGTH = 64;

/**
 * The candidate that a misspelt word was most likely meant to be: at most a third of its letters away (at least 2, of a word of up to
 * 3 letters 1), or the only one that begins with its three letters or more. Undefined: none is near, or the
 * word has more than 64 letters.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  const plain = fold(word);
  let best: string | undefined;
  let least = (word.length <= 3 ? 1 : Math.max(2, Math.floor(word.length / 3))) + 1;
  for (const candidate of candidates) {
    if (candidate === word || candidate.length > MAX_LENGTH) continue;
    const far = howFar(plain, fold(candidate));
    if (far < least) {
      least = far;
      best = candidate;
    }
  }
  if (best !== undefined) return best;
  const longer = candidates.filter((candidate) => word.length > 2 && candidate.startsWith(plain));
  return longer.length === 1 ? longer[0] : undefined;
}

/** `; did you mean x?`, or nothing. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const found = nearest(word, candidates);
  return found === undefined ? '' : `; did you mean ${found}?`;
}

/** Sharing the first half, at least three letters, is as near as two wrong letters: `proxy` is `proxied`. */
function howFar(word: string, candidate: string): number {
  const letters = distance(word, candidate);
  const shared = commonStart(word, candidate);
  return shared >= 3 && shared * 2 > candidate.length ? Math.min(letters, 2) : letters;
}

function commonStart(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

/** `maxConnections` and `max-connections` are `max_connections`. */
function fold(word: string): string {
  return word
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();
}
