import type { RequestHead } from 'portcullis/gate';
import type { Evidence } from './certificate.js';
import { Fault, malformed } from './codes.js';
import { type CertificateChain, fromBase64, fromPercentPem, MAX_CHAIN, single } from './encoding.js';
import type { MtlsOptions } from './options.js';
import { readXfcc } from './xfcc.js';

/** The source that the options name. They have passed checkRules, so the source's required options are present. */
export function createSource(options: MtlsOptions): Source {
  const { cert_header = '', verify_header = '', verified_header = { name: '', value: '' } } = options;
  switch (options.source) {
    case 'direct':
      return createDirect();
    case 'xfcc':
      return {
        fields: ['x-forwarded-client-cert'],
        read: ([cert]) => cert,
        decode: (text) => readXfcc(text, options.hops, options.text_identity),
      };
    case 'rfc9440':
      return createRfc9440(verified_header);
    case 'nginx':
      return createNginx(cert_header, verify_header);
    case 'ingress-nginx':
      return createIngressNginx();
    case 'traefik':
      return createTraefik();
    case 'haproxy':
      return createHaproxy(cert_header, verify_header);
    case 'alb':
      return createAlb(options.mode);
  }
}

/** ingress-nginx with `auth-tls-pass-certificate-to-upstream: "true"`: nginx with fixed header names. */
function createIngressNginx(): Source {
  return createNginx('ssl-client-cert', 'ssl-client-verify');
}

/**
 * nginx: `$ssl_client_escaped_cert` and `$ssl_client_verify` in headers of the operator's choice. Only `SUCCESS` verifies:
 * with `optional_no_ca` nginx sends the certificate with `FAILED:reason`. Without a certificate the flag is `NONE`.
 */
function createNginx(cert_header: string, verify_header: string): Source {
  return {
    fields: [cert_header.toLowerCase(), verify_header.toLowerCase()],
    read: ([cert, verify]) => readFlagged(cert, verify, 'SUCCESS', 'NONE'),
    decode: (text) => toEvidence(single(fromPercentPem(text))),
  };
}

/**
 * AWS Application Load Balancer. In verify mode it checks the chain and sends the leaf; in passthrough mode it checks
 * nothing but the possession of the key and sends all that the client presented, leaf first: the gate checks the chain.
 * Both are URL-encoded PEM in which `+`, `=` and `/` stand for themselves.
 */
function createAlb(mode: 'verify' | 'passthrough'): Source {
  return {
    fields: [mode === 'verify' ? 'x-amzn-mtls-clientcert-leaf' : 'x-amzn-mtls-clientcert'],
    read: ([cert]) => cert,
    decode: (text) => toEvidence(mode === 'verify' ? single(fromPercentPem(text)) : fromPercentPem(text)),
  };
}

/** The TLS connection itself: `authorized` first, the certificate second (node:tls hands out unverified ones too). */
function createDirect(): Source {
  return {
    fields: [],
    read(_values, head) {
      const { tls } = head.peer;
      const certificate = tls?.certificate;
      if (tls?.authorized !== true) {
        if (certificate === undefined) return undefined;
        return new Fault('CLIENT_CERTIFICATE_UNVERIFIED', 'This listener could not verify it: it is not of a client CA, or not valid now.');
      }
      return certificate === undefined ? undefined : Buffer.from(certificate).toString('latin1');
    },
    decode: (text) => toEvidence([Buffer.from(text, 'latin1')]),
  };
}

/**
 * HAProxy: `ssl_c_der,base64` and `ssl_c_verify` in headers of the operator's choice. `0` is X509_V_OK; HAProxy says `0`
 * without a certificate too, so the flag alone says nothing.
 */
function createHaproxy(cert_header: string, verify_header: string): Source {
  return {
    fields: [cert_header.toLowerCase(), verify_header.toLowerCase()],
    read: ([cert, verify]) => readFlagged(cert, verify, '0', '0'),
    decode(text) {
      const der = fromBase64(text);
      return der instanceof Fault ? der : toEvidence([der]);
    },
  };
}

/**
 * RFC 9440 `Client-Cert`: one structured-field byte sequence, `:base64:`, without parameters. Some terminators fill it
 * although verification failed, so a flag header with an exact value is required beside it. `Client-Cert-Chain` is not
 * read: the terminator has verified the chain.
 */
function createRfc9440(verified: { readonly name: string; readonly value: string }): Source {
  return {
    fields: ['client-cert', verified.name.toLowerCase()],
    read([cert, flag]) {
      if (cert === undefined || flag === verified.value) return cert;
      return new Fault('CLIENT_CERTIFICATE_UNVERIFIED', 'The TLS terminator does not say that it verified it.');
    },
    decode(text) {
      if (text.length < 3 || !text.startsWith(':') || !text.endsWith(':')) {
        return malformed('Client-Cert is not one byte sequence between colons.');
      }
      const der = fromBase64(text.slice(1, -1));
      return der instanceof Fault ? der : toEvidence([der]);
    },
  };
}

/**
 * Traefik's PassTLSClientCert with `pem: true`: base64 DER without armour, the client's certificate first, `,` between it
 * and its issuers. Traefik sends no flag and leaves a client's own copy alone on a connection without a certificate: its
 * TLS options must say `RequireAndVerifyClientCert`.
 */
function createTraefik(): Source {
  return {
    fields: ['x-forwarded-tls-client-cert'],
    read: ([cert]) => cert,
    decode: (text) => toEvidence(fromList(text)),
  };
}

function fromList(text: string): CertificateChain | Fault {
  const parts = text.split(',', MAX_CHAIN + 1);
  if (parts.length > MAX_CHAIN) return malformed(`There are more than ${MAX_CHAIN} certificates.`);
  const chain: Buffer[] = [];
  for (const part of parts) {
    const der = fromBase64(part);
    if (der instanceof Fault) return der;
    chain.push(der);
  }
  return chain as [Buffer, ...Buffer[]];
}

/** One way in which a TLS terminator hands a client certificate over. Pure: what it reads depends on the head alone. */
export interface Source {
  /** Lower-case names of the header fields it reads; none for a source that reads the connection itself. */
  readonly fields: readonly string[];
  /**
   * Cheap, for each request: the text that holds the certificate, undefined when the client presented none, or why it is
   * not believed. `values` belong to `fields`, one each.
   */
  read(values: readonly (string | undefined)[], head: RequestHead): string | undefined | Fault;
  /** Dear, once for each new text: what it holds. */
  decode(text: string): Evidence | Fault;
}

/** A decoded chain as evidence; a fault stays one. */
function toEvidence(chain: CertificateChain | Fault): Evidence | Fault {
  return chain instanceof Fault ? chain : { kind: 'chain', chain };
}

/** The certificate text of a source with a flag: it counts only when the flag is exactly `good`; `idle` is the flag without a certificate. */
function readFlagged(cert: string | undefined, flag: string | undefined, good: string, idle: string): string | undefined | Fault {
  if (cert === undefined) {
    return flag === undefined || flag === idle ? undefined : malformed('The verification header came without the certificate header.');
  }
  return flag === good ? cert : new Fault('CLIENT_CERTIFICATE_UNVERIFIED', 'The TLS terminator does not say that it verified it.');
}
