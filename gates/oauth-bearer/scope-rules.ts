import type { Options } from './options.js';

/** The scopes a call needs: `required_scopes`, and for `tools/call` those of every `tool_scopes` pattern that fits the tool. */
export type ScopeRules = (method: string | undefined, name: string | undefined) => readonly string[];

export function createScopeRules({ required_scopes, tool_scopes }: Pick<Options, 'required_scopes' | 'tool_scopes'>): ScopeRules {
  const patterns = Object.entries(tool_scopes).map(([pattern, scopes]) => ({ fits: compileGlob(pattern), scopes }));
  return (method, name) => {
    if (patterns.length === 0 || method !== 'tools/call' || name === undefined) return required_scopes;
    let needed: Set<string> | undefined;
    for (const { fits, scopes } of patterns) {
      if (!fits(name)) continue;
      needed ??= new Set(required_scopes);
      for (const scope of scopes) needed.add(scope);
    }
    return needed === undefined ? required_scopes : [...needed];
  };
}

/** The scopes granted together with all that they imply, directly or through others. */
export function withImplied(granted: Iterable<string>, implied: Options['implied_scopes']): ReadonlySet<string> {
  const scopes = new Set(granted);
  // A Set is walked in order of insertion, what is added on the way included.
  for (const scope of scopes) if (Object.hasOwn(implied, scope)) for (const narrower of implied[scope] ?? []) scopes.add(narrower);
  return scopes;
}

/** `*` matches any run of characters, also none; everything else matches itself. Time is linear in the text. */
export function compileGlob(pattern: string): (text: string) => boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return (text) => text === first;
  const inner = parts.filter((part) => part !== '');
  return (text) => {
    const end = text.length - last.length;
    if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
    let from = first.length;
    for (const part of inner) {
      const found = text.indexOf(part, from);
      if (found === -1 || found + part.length > end) return false;
      from = found + part.length;
    }
    return true;
  };
}
