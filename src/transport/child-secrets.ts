import type { ProcessHost } from '../contract/process-host.js';

const INHERITED = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'USER'];

/** Names of variables that carry a secret. */
const SECRET = /key|token|secret|passw|pwd|^pw$|_pw$|credential|auth|dsn/i;
/** Shorter texts would be found everywhere. */
const MIN_CHARS = 8;

/** Replaces the secrets that a child was given, in what it writes: servers print their settings when they fail. Undefined: it was given none. */
export function hideSecrets(env: Readonly<Record<string, string>>): ((text: string) => string) | undefined {
  const secrets = Object.entries(env)
    .filter(([name, value]) => SECRET.test(name) && value.length >= MIN_CHARS)
    .map(([, value]) => value)
    // One that holds another goes first.
    .sort((a, b) => b.length - a.length);
  if (secrets.length === 0) return undefined;
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text);
}

/**
 * The whole environment of a child process: PATH, HOME, LANG, TMPDIR and USER of its parent, and what is configured. Everything
 * else of the parent could be a secret of another part.
 */
export function childEnv(own: ProcessHost['env'], configured: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const inherited = INHERITED.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]] as const]));
  return { ...Object.fromEntries(inherited), ...configured };
}
