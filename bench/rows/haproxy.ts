import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, startChild, untilListening } from '../parts/child.js';
import { AUDIENCE, ISSUER } from '../parts/issuer.js';
import { findTool } from '../parts/tool.js';
import type { Row } from './row.js';

/** HAProxy with one thread; it verifies signature, issuer, audience and expiry of each request's token. */
export const haproxy: Row = {
  name: 'HAProxy, RS256 verified each time',
  guarded: true,
  async open({ upstream_port, issued, folder }) {
    const command = findTool('haproxy', ['/usr/sbin/haproxy'], 'apt-get install haproxy');
    const home = folder('haproxy');
    const port = await freePort();
    writeFileSync(join(home, 'issuer.pem'), issued.public_pem);
    writeFileSync(join(home, 'haproxy.cfg'), config(port, upstream_port, join(home, 'issuer.pem')));
    const child = startChild(command, ['-db', '-f', join(home, 'haproxy.cfg')]);
    await untilListening(port);
    return { port, child };
  },
};

const config = (port: number, upstream: number, pem: string): string => `
global
  nbthread 1
  maxconn 4096
defaults
  mode http
  timeout connect 5s
  timeout client 75s
  timeout server 75s
  http-reuse always
frontend in
  bind 127.0.0.1:${port}
  http-request deny deny_status 403 unless { src 127.0.0.0/8 10.0.0.0/8 }
  http-request set-var(txn.bearer) http_auth_bearer
  http-request set-var(txn.alg) var(txn.bearer),jwt_header_query('$.alg')
  http-request set-var(txn.exp) var(txn.bearer),jwt_payload_query('$.exp','int')
  http-request set-var(txn.now) date()
  http-request deny deny_status 401 unless { var(txn.alg) -m str RS256 }
  http-request deny deny_status 401 unless { var(txn.bearer),jwt_payload_query('$.iss') -m str ${ISSUER} }
  http-request deny deny_status 401 unless { var(txn.bearer),jwt_payload_query('$.aud') -m str ${AUDIENCE} }
  http-request deny deny_status 401 if { var(txn.exp),sub(txn.now) -m int lt 0 }
  http-request deny deny_status 401 unless { var(txn.bearer),jwt_verify(txn.alg,"${pem}") -m int 1 }
  default_backend mcp
backend mcp
  server upstream 127.0.0.1:${upstream} pool-max-conn 64
`;
