import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Config } from '../config/schema/config.js';
import type { Clock, Timer } from '../contract/clock.js';
import type { Log } from '../contract/log.js';
import { ConfigError } from '../errors/error.js';
import type { TlsSettings } from '../listener/socket/admission.js';
import { certificateProblems } from './certificates.js';

const RENEW_MS = 10_000;

/** Reads certificate, key and client CA; undefined on a plaintext listener. Throws the system's error when a file cannot be read. */
export function tlsSettings(config: Config): TlsSettings | undefined {
  const { tls } = config.listener;
  if (tls === undefined) return undefined;
  const ca = tls.client_ca_file === undefined ? undefined : readFileSync(tls.client_ca_file);
  return {
    cert: readFileSync(tls.cert_file),
    key: readFileSync(tls.key_file),
    minVersion: tls.min_version,
    ...(ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: tls.client_certificates === 'require' }),
  };
}

/**
 * Looks at the files every ten seconds, by content, and hands over what changed: rotated certificates need no restart. Files that
 * are broken or do not belong together change nothing; that is said once for each such content.
 */
export function watchTls(config: Config, clock: Clock, log: Log, renew: (settings: TlsSettings) => void): Timer | undefined {
  if (config.listener.tls === undefined) return undefined;
  let seen = digest(tlsSettings(config));
  return clock.interval(RENEW_MS, () => {
    try {
      const settings = tlsSettings(config);
      const now = digest(settings);
      if (settings === undefined || now === seen) return;
      seen = now;
      const problems = certificateProblems({ ...config, runtimes: {} });
      if (problems.length > 0) throw new ConfigError(problems);
      renew(settings);
      log.info({}, 'TLS certificates were renewed');
    } catch (error) {
      log.error({ error: String(error) }, 'the new TLS files cannot be used; the old ones stay');
    }
  });
}

function digest(settings: TlsSettings | undefined): string {
  const hash = createHash('sha256');
  for (const part of [settings?.cert, settings?.key, settings?.ca]) hash.update(part === undefined ? '' : String(part)).update('\0');
  return hash.digest('hex');
}
