import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Config } from '../config/schema/config.js';
import type { ConfigProblem } from '../errors/error.js';

/**
 * What is wrong with the certificates, keys and CAs that a config names. TLS itself takes a CA file without a certificate in silence,
 * and everybody would then be refused. Throws the system's error when a file cannot be read.
 */
export function certificateProblems({ listener, runtimes, telemetry }: Config): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const say = (where: string, fault: string | undefined): void => {
    if (fault !== undefined) problems.push({ where, message: fault });
  };
  const { tls } = listener;
  if (tls !== undefined) {
    const chain = readFileSync(tls.cert_file, 'utf8');
    const chain_fault = chainFault(chain);
    say('listener.tls.cert_file', chain_fault);
    say('listener.tls.key_file', keyFault(readFileSync(tls.key_file, 'utf8'), chain_fault === undefined ? chain : undefined));
    if (tls.client_ca_file !== undefined) say('listener.tls.client_ca_file', chainFault(readFileSync(tls.client_ca_file, 'utf8')));
  }
  for (const [name, runtime] of Object.entries(runtimes)) {
    if ('ca_file' in runtime && runtime.ca_file !== undefined)
      say(`runtimes.${name}.ca_file`, chainFault(readFileSync(runtime.ca_file, 'utf8')));
  }
  const ca = telemetry.tracing?.ca_file;
  if (ca !== undefined) say('telemetry.tracing.ca_file', chainFault(readFileSync(ca, 'utf8')));
  return problems;
}

function chainFault(pem: string): string | undefined {
  const blocks = pem.split(/(?=-----BEGIN )/).filter((part) => part.startsWith('-----BEGIN ') && part.includes('CERTIFICATE-----'));
  if (blocks.length === 0) return 'the file holds no certificate: it must be PEM, with -----BEGIN CERTIFICATE-----';
  for (const [index, block] of blocks.entries()) {
    try {
      new X509Certificate(block);
    } catch {
      return `certificate ${index + 1} of the file cannot be read`;
    }
  }
  return undefined;
}

function keyFault(pem: string, chain: string | undefined): string | undefined {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    return /ENCRYPTED/.test(pem) ? 'the key is encrypted; it must be stored without a passphrase' : 'the file holds no private key in PEM';
  }
  if (chain === undefined || new X509Certificate(chain).checkPrivateKey(key)) return undefined;
  return 'the key does not belong to the first certificate of cert_file';
}
