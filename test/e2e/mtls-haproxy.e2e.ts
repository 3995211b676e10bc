// A real HAProxy terminates TLS in front of the gateway, with the config of docs/mtls.md.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ask, documented, findTool, freePort, resumingAgent, script } from './mtls-rig.js';

await script('mtls-haproxy', async (rig) => {
  const haproxy = findTool('haproxy', 'HAPROXY', 'apt-get install haproxy');
  const pki = await rig.pki();
  const { ca, alice, mallory, late, forged } = pki;
  const options = { source: 'haproxy', cert_header: 'x-ssl-cert', verify_header: 'x-ssl-verify', spiffe_trust_domains: ['corp.example'] };
  const gateway = await rig.gateway(
    { ...options, allow: { spiffe_ids: ['spiffe://corp.example/alice'] } },
    { trusted_proxies: ['127.0.0.1/32'] },
  );

  const start = async (change: (config: string) => string): Promise<number> => {
    const port = await freePort();
    const file = join(pki.folder, `haproxy-${port}.cfg`);
    const timeouts = 'defaults\n  timeout connect 5s\n  timeout client 30s\n  timeout server 30s\n';
    await writeFile(file, `${timeouts}${change(await documented('haproxy', pki.folder, port, gateway.port))}`);
    await rig.terminator(haproxy, ['-f', file, '-db'], port);
    return port;
  };
  const port = await start((config) => config);
  const b64 = alice.der.toString('base64');
  const good = ['X-SSL-Cert', b64, 'X-SSL-Verify', '0'];

  rig.check('alice', await ask({ port, ca, as: alice }), '200');
  rig.check('the upstream is told who calls', gateway.principal(), 'mtls#spiffe://corp.example/alice');
  rig.check(
    'the certificate headers stay here',
    [gateway.upstream.last()?.['x-ssl-cert'], gateway.upstream.last()?.['x-ssl-verify']],
    [undefined, undefined],
  );
  const agent = resumingAgent();
  rig.check('alice, first connection', await ask({ port, ca, as: alice, agent }), '200');
  rig.check('alice, resumed session', await ask({ port, ca, as: alice, agent }), '200 resumed');
  const calls = gateway.upstream.count;
  rig.check('no certificate', await ask({ port, ca }), 'REQUIRED');
  rig.check('no certificate, forged headers', await ask({ port, ca, lines: good }), 'REQUIRED');
  rig.check('no certificate, doubled headers', await ask({ port, ca, lines: [...good, ...good] }), 'REQUIRED');
  rig.check('no certificate, _ spelling', await ask({ port, ca, lines: ['x_ssl_cert', b64, 'x_ssl_verify', '0'] }), 'MALFORMED');
  rig.check('alice with a _ spelling', await ask({ port, ca, as: alice, lines: ['x_ssl_cert', b64] }), 'MALFORMED');
  rig.check('mallory', await ask({ port, ca, as: mallory }), 'NOT_ALLOWED');
  rig.check('mallory, forged headers', await ask({ port, ca, as: mallory, lines: good }), 'NOT_ALLOWED');
  rig.check('another CA, refused in the handshake', await ask({ port, ca, as: forged }), 'closed');
  rig.check('expired, refused in the handshake', await ask({ port, ca, as: late }), 'closed');
  rig.check('nothing of it is counted as ignored', await gateway.ignored(), 0);

  const lenient = await start((config) => config.replace('verify optional', 'verify optional ca-ignore-err all crt-ignore-err all'));
  rig.check('errors ignored: alice', await ask({ port: lenient, ca, as: alice }), '200');
  rig.check('errors ignored: another CA', await ask({ port: lenient, ca, as: forged }), 'UNVERIFIED');
  rig.check('errors ignored: expired', await ask({ port: lenient, ca, as: late }), 'UNVERIFIED');

  const adding = await start((config) => config.replaceAll('set-header', 'add-header').replaceAll(/.*del-header.*\n/g, ''));
  rig.check('headers added instead of set: mallory forges', await ask({ port: adding, ca, as: mallory, lines: good }), 'MALFORMED');

  rig.check('past HAProxy, from a stranger', await ask({ port: gateway.port, local_address: '127.0.0.2', lines: good }), 'REQUIRED');
  rig.check('the stranger’s two headers are counted', await gateway.ignored(), 2);
  rig.check('the upstream saw nothing of the refused', gateway.upstream.count, calls + 1);
});
