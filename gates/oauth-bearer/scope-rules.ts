import type { Options } from './options.js';

/** The scopes a call needs: `required_scopes`, and for `tools/call` those of every `tool_scopes` pattern that fits the tool. */
export type ScopeRules = (method: string | undefined, name: string | undefined) => readonly string[];

export function createScopeRules({ required_scopes, tool_scopes }: Pick<Options, 'required_scopes' | 'tool_scopes'>): ScopeRules {
  const patterns = Object.entries(tool_scopes);
  return (method, name) => {
    if (patterns.length === 0 || method !== 'tools/call' || name === undefined) return required_scopes;
    const more = patterns.filter(([pattern]) => matchesGlob(pattern, name)).flatMap(([, scopes]) => scopes);
    return more.length === 0 ? required_scopes : [...new Set([...required_scopes, ...more])];
  };
}

/** `*` matches any run of characters, also none; everything else matches itself. Time is linear in pattern and text. */
export function matchesGlob(pattern: string, text: string): boolean {
  const parts = pattern.split('*');
  const first = parts.shift() ?? '';
  const last = parts.pop();
  if (last === undefined) return text === first;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let from = first.length;
  const end = text.length - last.length;
  for (const part of parts) {
    const found = text.indexOf(part, from);
    if (found === -1 || found + part.length > end) return false;
    from = found + part.length;
  }
  return true;
}
