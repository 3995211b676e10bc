import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { issue } from '../../../gates/mtls/certificates.js';
import { folderWith } from '../../config-files.js';
import { repositoryPath } from '../../repository.js';

const DAY_MS = 86_400_000;
const SECRETS = '/run/secrets/portcullis/';

/**
 * Runs `portcullis validate` on a config as a pod would see it, with a placeholder for each secret file and variable that it
 * names. Returns its warnings; throws with what it says when it refuses.
 */
export async function validateConfig(text: string, grace_s: number): Promise<readonly string[]> {
  const names = [...text.matchAll(new RegExp(`${SECRETS}([\\w.-]+)`, 'g'))].map((match) => match[1] ?? '');
  const { pem, key_pem } = await issue({ subject: 'CN=placeholder', not_before: at(-DAY_MS), not_after: at(DAY_MS) });
  const placeholder = (name: string): string =>
    name.endsWith('.crt') ? pem : name.endsWith('.key') ? key_pem : randomBytes(32).toString('base64');
  const secrets = Object.fromEntries(names.map((name) => [`secrets/${name}`, placeholder(name)]));
  const { folder, remove } = folderWith({ ...secrets, 'portcullis.yaml': text.replaceAll(SECRETS, './secrets/') });
  const env = {
    PATH: process.env.PATH ?? '',
    TERMINATION_GRACE_PERIOD_SECONDS: String(grace_s),
    ISSUER: 'https://id.example.com',
    PROBE_KEY_SHA256: '0'.repeat(64),
  };
  try {
    const args = [repositoryPath('dist/src/main.js'), 'validate', '--config', `${folder}/portcullis.yaml`];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env });
    if (!stdout.startsWith('OK ')) throw new Error(stdout);
    return stderr.split('\n').filter((line) => line !== '');
  } finally {
    remove();
  }
}

function at(offset_ms: number): string {
  return new Date(Date.now() + offset_ms).toISOString();
}
