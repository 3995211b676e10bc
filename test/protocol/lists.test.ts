import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ProtocolGateway, startProtocolGateway } from '../support/protocol/gateway.js';
import { as, LISTS, names } from '../support/protocol/lists.js';

let gateway: ProtocolGateway;
before(async () => {
  gateway = await startProtocolGateway();
});
after(() => gateway.close());

describe('what a server offers', () => {
  it('TOOL-02 RES-02 PROM-02 COMP-02 LOG-01 a capability is told where there is a component, and only there', async () => {
    const { capabilities } = (await gateway.ask('server/discover')).message.result;
    assert.deepEqual(Object.keys(capabilities).sort(), ['completions', 'extensions', 'logging', 'prompts', 'resources', 'tools']);
    for (const [method, member] of LISTS) assert.equal((await names(gateway, method, member)).length > 0, true, method);
  });

  it('TOOL-03 RES-03 PROM-03 CACH-10 lists tell what there is for the caller', async () => {
    const admin_only = { tools: 'for_admins', prompts: 'for_admins', resources: 'for admins' };
    for (const [method, member] of LISTS.slice(0, 3)) {
      const hidden = admin_only[member as keyof typeof admin_only];
      const of_ada = await names(gateway, method, member, as('ada'));
      assert.ok(of_ada.includes(hidden), method);
      for (const options of [as('bob'), {}])
        assert.deepEqual(
          await names(gateway, method, member, options),
          of_ada.filter((name) => name !== hidden),
        );
    }
  });

  it('TOOL-04 RES-04 PROM-04 lists are the same on every connection and whatever was asked before', async () => {
    for (const [method, member] of LISTS) {
      const first = await names(gateway, method, member);
      await names(gateway, method, member, as('ada'));
      await gateway.ask('tools/call', { name: 'crash' });
      const fresh = { headers: { connection: 'close' } };
      assert.deepEqual(await names(gateway, method, member, fresh), first, method);
      assert.deepEqual(await names(gateway, method, member), first, method);
    }
  });
});
