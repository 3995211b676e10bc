// A real nginx terminates TLS in front of the gateway, with the config of docs/mtls.md.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { escaped } from '../gates/mtls/certificates.js';
import { ask, documented, findTool, freePort, resumingAgent, script } from './mtls-rig.js';

await script('mtls-nginx', async (rig) => {
  const nginx = findTool('nginx', 'NGINX', 'apt-get install nginx');
  const pki = await rig.pki();
  const { ca, alice, mallory, late, forged } = pki;
  const options = { source: 'nginx', cert_header: 'x-ssl-cert', verify_header: 'x-ssl-verify', spiffe_trust_domains: ['corp.example'] };
  const gateway = await rig.gateway(
    { ...options, allow: { spiffe_ids: ['spiffe://corp.example/alice'] } },
    { trusted_proxies: ['127.0.0.1/32'] },
  );

  const start = async (change: (server: string) => string): Promise<number> => {
    const port = await freePort();
    const server = change(await documented('nginx', pki.folder, port, gateway.port));
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${pki.folder}/${port};`).join(' ');
    const file = join(pki.folder, `nginx-${port}.conf`);
    const main = `daemon off; master_process off; pid ${pki.folder}/${port}.pid; error_log stderr; events {} http { access_log off; ${paths}`;
    await writeFile(file, `${main}\n${server}\n}\n`);
    await rig.terminator(nginx, ['-c', file, '-p', pki.folder, '-e', 'stderr'], port);
    return port;
  };
  const port = await start((server) => server);
  const good = ['X-SSL-Cert', escaped(alice.pem), 'X-SSL-Verify', 'SUCCESS'];

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
  rig.check(
    'no certificate, _ spellings',
    await ask({ port, ca, lines: ['x_ssl_cert', escaped(alice.pem), 'x_ssl_verify', 'SUCCESS'] }),
    'REQUIRED',
  );
  rig.check('mallory', await ask({ port, ca, as: mallory }), 'NOT_ALLOWED');
  rig.check('mallory, forged headers', await ask({ port, ca, as: mallory, lines: good }), 'NOT_ALLOWED');
  rig.check(
    'mallory asks to delete the header',
    await ask({ port, ca, as: mallory, lines: ['Connection', 'close, x-ssl-cert', ...good] }),
    'NOT_ALLOWED',
  );
  rig.check('another CA, refused by nginx', (await ask({ port, ca, as: forged })).slice(0, 3), '400');
  rig.check('expired, refused by nginx', (await ask({ port, ca, as: late })).slice(0, 3), '400');
  rig.check('nothing of it is counted as ignored', await gateway.ignored(), 0);

  const lenient = await start((server) => server.replace('ssl_verify_client optional;', 'ssl_verify_client optional_no_ca;'));
  rig.check('optional_no_ca: alice', await ask({ port: lenient, ca, as: alice }), '200');
  rig.check('optional_no_ca: another CA', await ask({ port: lenient, ca, as: forged }), 'UNVERIFIED');

  const careless = await start((server) => server.replace('server {', 'server { underscores_in_headers on;'));
  rig.check('underscores on: a _ spelling', await ask({ port: careless, ca, lines: ['x_ssl_cert', escaped(alice.pem)] }), 'MALFORMED');
  rig.check(
    'underscores on: beside a certificate',
    await ask({ port: careless, ca, as: alice, lines: ['x_ssl_cert', escaped(alice.pem)] }),
    'MALFORMED',
  );

  rig.check('past nginx, from a stranger', await ask({ port: gateway.port, local_address: '127.0.0.2', lines: good }), 'REQUIRED');
  rig.check('the stranger’s two headers are counted', await gateway.ignored(), 2);
  rig.check('the upstream saw nothing of the refused', gateway.upstream.count, calls + 1);
});
