import type { ProcessHost } from '../contract/process-host.js';

/**
 * The whole environment of a child process: PATH, HOME, LANG, TMPDIR and USER of its parent, and what is configured. Everything
 * else of the parent could be a secret of another part.
 */
export function childEnv(own: ProcessHost['env'], configured: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const inherited = INHERITED.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]] as const]));
  return { ...Object.fromEntries(inherited), ...configured };
}

const INHERITED = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'USER'];
