import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';

/** What references are resolved against. */
export interface TemplateScope {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder that relative `${file:…}` names start at. */
  readonly folder: string;
}

/** `referenced` is true when at least one reference was replaced: the value must then never be shown. */
export type Resolved =
  | { readonly ok: true; readonly value: string; readonly referenced: boolean }
  | { readonly ok: false; readonly message: string };

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MAX_FILE_BYTES = 65_536;
const FORMS = '${NAME}, ${NAME:-default}, ${NAME:?message} or ${file:/path}; a literal ${ is written $${';

/**
 * Replaces `${NAME}`, `${NAME:-default}`, `${NAME:?message}` and `${file:/path}` in one text; `$${` becomes `${`. What comes in
 * is never looked at again. Unset without a default, blank, or unreadable fails, and the message names the variable or the
 * file, never a value. A default applies to unset and to empty, as in a shell. Files: at most 64 KiB of UTF-8.
 */
export function resolveTemplate(text: string, scope: TemplateScope): Resolved {
  let value = '';
  let referenced = false;
  let at = 0;
  for (;;) {
    const dollar = text.indexOf('${', at);
    if (dollar === -1) return { ok: true, value: value + text.slice(at), referenced };
    if (dollar > at && text[dollar - 1] === '$') {
      value += `${text.slice(at, dollar - 1)}\${`;
      at = dollar + 2;
      continue;
    }
    const end = text.indexOf('}', dollar);
    if (end === -1) return { ok: false, message: `a \${ is not closed; write ${FORMS}` };
    const part = resolveReference(text.slice(dollar + 2, end), scope);
    if (!part.ok) return part;
    value += text.slice(at, dollar) + part.value;
    referenced = true;
    at = end + 1;
  }
}

function resolveReference(reference: string, scope: TemplateScope): Resolved {
  if (reference.startsWith('file:')) return readSecret(reference.slice(5), scope.folder);
  const colon = reference.indexOf(':');
  const name = colon === -1 ? reference : reference.slice(0, colon);
  const operator = colon === -1 ? '' : reference.slice(colon, colon + 2);
  if (!NAME.test(name) || (operator !== '' && operator !== ':-' && operator !== ':?')) {
    return { ok: false, message: `this reference is not understood; write ${FORMS}` };
  }
  const rest = reference.slice(name.length + 2);
  const found = Object.hasOwn(scope.env, name) ? scope.env[name] : undefined;
  if (found === undefined || found === '') {
    if (operator === ':-') return { ok: true, value: rest, referenced: true };
    const state = found === undefined ? 'is not set' : 'is empty';
    if (operator === ':?' && rest !== '') return { ok: false, message: `environment variable ${name} ${state}: ${rest}` };
    return { ok: false, message: `environment variable ${name} ${state}; set it, or write \${${name}:-default}` };
  }
  if (found.trim() === '') return { ok: false, message: `environment variable ${name} holds only white space` };
  return { ok: true, value: found, referenced: true };
}

function readSecret(name: string, folder: string): Resolved {
  if (name === '' || name.includes('\0')) return { ok: false, message: 'the reference ${file:…} names no file' };
  const file = resolve(folder, name);
  const fail = (reason: string): Resolved => ({ ok: false, message: `file ${file} ${reason}` });
  try {
    const stat = statSync(file);
    if (!stat.isFile()) return fail('is not a regular file');
    if (stat.size > MAX_FILE_BYTES) return fail(`is larger than ${MAX_FILE_BYTES} bytes`);
    const bytes = readFileSync(file);
    if (bytes.length > MAX_FILE_BYTES) return fail(`is larger than ${MAX_FILE_BYTES} bytes`);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '');
    if (text.trim() === '') return fail('is empty or holds only white space');
    return { ok: true, value: text, referenced: true };
  } catch (error) {
    return fail(fileFault(error));
  }
}

/** Why a file cannot be read, in words. */
export function fileFault(error: unknown): string {
  const code = (error as { readonly code?: unknown } | null)?.code;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'may not be read by this user';
  if (code === 'EISDIR') return 'is a folder';
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'is not UTF-8 text';
  return `cannot be read (${typeof code === 'string' ? code : 'unknown error'})`;
}
