// The gateway terminates TLS itself; its client CA changes while it runs.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { thumbprint } from '../../gates/mtls/certificate.js';
import { escaped } from '../gates/mtls/certificates.js';
import { type Ask, ask, resumingAgent, script } from './mtls-rig.js';

await script('mtls-direct', async (rig) => {
  const pki = await rig.pki();
  const { ca, stranger_ca, alice, mallory, late, forged } = pki;
  const file = (name: string): string => join(pki.folder, name);
  const tls = { cert_file: file('server.pem'), key_file: file('server.key'), client_ca_file: file('ca.pem') };
  const options = { source: 'direct', spiffe_trust_domains: ['corp.example'], allow: { spiffe_ids: ['spiffe://corp.example/alice'] } };
  const gateway = await rig.gateway(options, { tls });
  const { port } = gateway;

  rig.check('alice', await ask({ port, ca, as: alice }), '200');
  rig.check('the upstream is told who calls', gateway.principal(), 'mtls#spiffe://corp.example/alice');
  const agent = resumingAgent();
  rig.check('alice, first connection', await ask({ port, ca, as: alice, agent }), '200');
  rig.check('alice, resumed session', await ask({ port, ca, as: alice, agent }), '200 resumed');
  rig.check('no certificate', await ask({ port, ca }), 'REQUIRED');
  rig.check('mallory', await ask({ port, ca, as: mallory }), 'NOT_ALLOWED');
  rig.check('another CA', await ask({ port, ca, as: forged }), 'UNVERIFIED');
  rig.check('expired', await ask({ port, ca, as: late }), 'UNVERIFIED');
  const header = ['X-Forwarded-Client-Cert', `Hash=${thumbprint(alice.der)};Cert="${escaped(alice.pem)}"`];
  rig.check('no certificate, a header', await ask({ port, ca, lines: header }), 'REQUIRED');
  rig.check('mallory, a header', await ask({ port, ca, as: mallory, lines: header }), 'NOT_ALLOWED');

  const becomes = async (what: string, question: Ask, answer: string): Promise<void> => {
    let last = '';
    for (let i = 0; i < 300 && last !== answer; i += 1) {
      if (i > 0) await sleep(100);
      last = await ask(question);
    }
    rig.check(what, last, answer);
  };
  await writeFile(file('ca.pem'), ca.pem + stranger_ca.pem);
  await becomes('a CA was added', { port, ca, as: forged }, '200');
  rig.check('the first CA still counts', await ask({ port, ca, as: alice }), '200');
  await writeFile(file('ca.pem'), stranger_ca.pem);
  await becomes('a CA was removed', { port, ca, as: alice }, 'UNVERIFIED');
  rig.check('a session of the removed CA is not resumed', await ask({ port, ca, as: alice, agent }), 'UNVERIFIED');
  rig.check('the added CA still counts', await ask({ port, ca, as: forged }), '200');
});
