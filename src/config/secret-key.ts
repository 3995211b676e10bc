import type { Path } from './path.js';

const SECRET = /secret|passw|passphrase|token|credential|authorization|cookie|bearer|keys?$|[_-]auth$/i;
const HARMLESS = /[_-](files?|folder|urls?|uris?|header|claims?|names?|endpoint|types?|ms|s|bytes)$/i;

/**
 * True when the key of a text says that the text is a secret: `client_secret`, `x-api-key`, `sessions.keys[0]`,
 * `shared_secret.value`. Keys that say where a secret is kept (`key_file`, `token_endpoint`) are not.
 */
export function isSecretPath(path: Path): boolean {
  const keys = path.filter((step) => typeof step === 'string');
  const key = keys.at(-1);
  if (key === undefined) return false;
  if (key === 'value') return smells(keys.at(-2) ?? '');
  return smells(key);
}

function smells(key: string): boolean {
  return SECRET.test(key) && !HARMLESS.test(key);
}
