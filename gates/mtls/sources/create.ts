import type { MtlsOptions } from '../options.js';
import { createAlb } from './alb.js';
import { createDirect } from './direct.js';
import { createHaproxy } from './haproxy.js';
import { createIngressNginx } from './ingress-nginx.js';
import { createNginx } from './nginx.js';
import { createRfc9440 } from './rfc9440.js';
import type { Source } from './source.js';
import { createTraefik } from './traefik.js';
import { createXfcc } from './xfcc.js';

/** The source that the options name. They have passed checkRules, so what a source needs is there. */
export function createSource(options: MtlsOptions): Source {
  const { cert_header = '', verify_header = '', verified_header = { name: '', value: '' } } = options;
  switch (options.source) {
    case 'direct':
      return createDirect();
    case 'xfcc':
      return createXfcc(options.hops, options.text_identity);
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
