import { createHash, X509Certificate } from 'node:crypto';
import type { Config } from '../config/schema/config.js';

interface MtlsOptions {
  readonly source?: string;
  readonly cert_header?: string;
  readonly verify_header?: string;
  readonly verified_header?: { readonly name: string; readonly value: string };
  readonly shared_secret?: { readonly header: string; readonly value: string };
  readonly mode?: string;
}

/** The header fields in which the terminators of a config's `mtls` gates would hand over this verified certificate; flat name, value list. */
export function terminatorHeaders(config: Config, pem: string): readonly string[] {
  const certificate = new X509Certificate(pem);
  const fields = new Map<string, string>();
  for (const gate of Object.values(config.gates)) {
    if (gate.use !== 'mtls') continue;
    const options = gate.options as MtlsOptions;
    for (const [name, value] of handOver(options, certificate)) fields.set(name.toLowerCase(), value);
    if (options.shared_secret !== undefined) fields.set(options.shared_secret.header.toLowerCase(), options.shared_secret.value);
  }
  return [...fields].flat();
}

/** True for PEM text whose first certificate can be read. */
export function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
}

function handOver(options: MtlsOptions, certificate: X509Certificate): readonly (readonly [string, string])[] {
  const base64 = certificate.raw.toString('base64');
  const escaped = encodeURIComponent(certificate.toString());
  const { cert_header = '', verify_header = '' } = options;
  switch (options.source) {
    case 'xfcc':
      return [['x-forwarded-client-cert', `Hash=${createHash('sha256').update(certificate.raw).digest('hex')};Cert="${escaped}"`]];
    case 'rfc9440':
      return [
        ['client-cert', `:${base64}:`],
        ...(options.verified_header === undefined ? [] : [[options.verified_header.name, options.verified_header.value] as const]),
      ];
    case 'nginx':
      return [
        [cert_header, escaped],
        [verify_header, 'SUCCESS'],
      ];
    case 'ingress-nginx':
      return [
        ['ssl-client-cert', escaped],
        ['ssl-client-verify', 'SUCCESS'],
      ];
    case 'traefik':
      return [['x-forwarded-tls-client-cert', base64]];
    case 'haproxy':
      return [
        [cert_header, base64],
        [verify_header, '0'],
      ];
    case 'alb':
      return [
        [
          options.mode === 'passthrough' ? 'x-amzn-mtls-clientcert' : 'x-amzn-mtls-clientcert-leaf',
          escaped.replaceAll('%2B', '+').replaceAll('%2F', '/').replaceAll('%3D', '='),
        ],
      ];
    default:
      return [];
  }
}
