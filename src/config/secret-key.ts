import type { Path } from './path.js';

const SECRET = /secret|passw|passphrase|token|credential|authorization|cookie|bearer|sha256$|keys?$|(?:^|[_-])(?:auth|pass)$/i;
const HARMLESS = /[_-](files?|folder|urls?|uris?|header|claims?|names?|endpoint|types?|ms|s|bytes)$/i;

/** True for a text or number that must not be shown because of its key. Counts (`max_keys`) and switches are no secrets. */
export function isSecret(path: Path, value: unknown): boolean {
  if (typeof value === 'string') return isSecretPath(path);
  return typeof value === 'number' && !String(path.at(-1)).startsWith('max_') && isSecretPath(path);
}

/** An argument of a command line, hidden when its own name or that of the option before it says that it is a secret. */
export function shownArgument(args: readonly string[], index: number, hidden: string): string {
  const argument = args[index] as string;
  const [, named, value] = /^(-{0,2}[\w.-]+=)(.*)$/s.exec(argument) ?? [];
  if (named !== undefined && value !== '' && smells(named.slice(0, -1))) return named + hidden;
  const before = args[index - 1] ?? '';
  return /^--?[\w.-]+$/.test(before) && smells(before) && !argument.startsWith('--') ? hidden : argument;
}

/**
 * True when the key of a text says that the text is a secret: `client_secret`, `x-api-key`, `sessions.keys[0]`,
 * `shared_secret.value`. The digest of a key lets it be guessed. Static headers toward an upstream and variables of a
 * child always count: they are there to carry credentials. Keys that say where a secret is kept (`key_file`, `token_endpoint`) are not.
 */
function isSecretPath(path: Path): boolean {
  const keys = path.filter((step) => typeof step === 'string');
  const key = keys.at(-1);
  if (key === undefined) return false;
  if (keys[0] === 'telemetry' && keys[2] === 'headers') return true;
  if (keys[0] === 'runtimes' && (keys[2] === 'headers' || keys[2] === 'env')) return true;
  if (key === 'value') return smells(keys.at(-2) ?? '');
  return smells(key);
}

function smells(key: string): boolean {
  return SECRET.test(key) && !HARMLESS.test(key);
}
