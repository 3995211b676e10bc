import { createNginx } from './nginx.js';
import type { Source } from './source.js';

/** ingress-nginx with `auth-tls-pass-certificate-to-upstream: "true"`: nginx with fixed header names. */
export function createIngressNginx(): Source {
  return createNginx('ssl-client-cert', 'ssl-client-verify');
}
