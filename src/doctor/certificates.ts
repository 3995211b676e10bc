import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import type { LoadedConfig } from '../config/load.js';
import type { Clock } from '../contract/clock.js';
import { type Check, type Finding, fail, ok, warn } from './check.js';

const DAY_MS = 86_400_000;
const SOON_DAYS = 14;

/** How long the certificates and CAs of the config are valid, and whether the own one has the name that clients dial. That key and certificate match, loading has shown. */
export function checkCertificates(loaded: LoadedConfig, clock: Clock): Check {
  const name = 'certificates';
  return {
    name,
    run() {
      const findings = filesOf(loaded).flatMap(([key, file]) => expiry(key, file, clock.now_ms()));
      const { tls, public_url } = loaded.config.listener;
      if (tls !== undefined && public_url?.startsWith('https:')) findings.push(...wrongName(tls.cert_file, new URL(public_url).hostname));
      return findings.length === 0 ? [ok(name, 'the config names none')] : findings;
    },
  };
}

function filesOf({ config, folder }: LoadedConfig): readonly (readonly [key: string, file: string])[] {
  const { listener, runtimes, gates } = config;
  const files: [key: string, file: string][] = [];
  const add = (key: string, file: unknown): void => {
    if (typeof file === 'string') files.push([key, resolve(folder, file)]);
  };
  add('listener.tls.cert_file', listener.tls?.cert_file);
  add('listener.tls.client_ca_file', listener.tls?.client_ca_file);
  for (const [name, runtime] of Object.entries(runtimes)) if ('ca_file' in runtime) add(`runtimes.${name}.ca_file`, runtime.ca_file);
  for (const [name, { use, options }] of Object.entries(gates))
    if (!use.includes(':')) add(`gates.${name}.options.ca_file`, options.ca_file);
  return files;
}

/** A chain is valid until its first certificate expires; of several CAs, each expired one is reported. */
function expiry(key: string, file: string, now_ms: number): Finding[] {
  const check = `certificates ${key}`;
  const all = blocks(file).map((pem) => new X509Certificate(pem));
  const days = (certificate: X509Certificate): number => Math.floor((Date.parse(certificate.validTo) - now_ms) / DAY_MS);
  const told = all.flatMap((certificate, index): Finding[] => {
    const which = all.length === 1 ? 'the certificate' : `certificate ${index + 1}`;
    if (Date.parse(certificate.validFrom) > now_ms)
      return [fail(check, `${which} is not valid before ${certificate.validFrom}`, 'Look at the clock of this machine, or wait.')];
    if (days(certificate) < 0) return [fail(check, `${which} has expired on ${certificate.validTo}`, `Renew ${file}.`)];
    if (days(certificate) < SOON_DAYS)
      return [
        warn(
          check,
          `${which} expires on ${certificate.validTo}, in ${days(certificate)} days`,
          `Renew ${file}; a running gateway takes it over.`,
        ),
      ];
    return [];
  });
  if (told.length > 0) return told;
  return [ok(check, `valid for ${Math.min(...all.map(days))} days more`)];
}

function wrongName(cert_file: string, host: string): readonly Finding[] {
  const certificate = new X509Certificate(readFileSync(cert_file));
  const name = host.replace(/^\[|\]$/g, '');
  if ((isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined) return [];
  return [
    fail(
      'certificates listener.tls.cert_file',
      `is not for ${host}, the host of listener.public_url`,
      'Get one for this name; clients refuse this one.',
    ),
  ];
}

function blocks(file: string): readonly string[] {
  return readFileSync(file, 'utf8').match(/-----BEGIN (?:TRUSTED )?CERTIFICATE-----[\s\S]*?-----END (?:TRUSTED )?CERTIFICATE-----/g) ?? [];
}
