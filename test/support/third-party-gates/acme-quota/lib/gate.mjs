// A gate as a third party publishes it: options of its own, a fact, a served path, something shared.
import { defineGate, Type } from 'portcullis/gate';

export const gate = defineGate({
  name: 'quota',
  contract: 1,
  options: Type.Object({
    tenants: Type.Record(Type.String(), Type.Integer({ minimum: 1 })),
    header: Type.String({ default: 'x-tenant' }),
  }),
  provides: ['tenant'],
  identifies: 'when_alone',
  codes: { TENANT_UNKNOWN: { status: 403, meaning: 'No such tenant.', remedy: 'Name a tenant.' } },
  open(options, host) {
    const used = host.shared('used', () => new Map());
    const path = `/.well-known/quota${host.route.path}`;
    return {
      serves: [path],
      async decide(head) {
        if (head.path === path)
          return { kind: 'serve', status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify([...used]) };
        const tenant = head.headers.get(options.header) ?? '';
        const count = (used.get(tenant) ?? 0) + 1;
        if (!Object.hasOwn(options.tenants, tenant)) return { kind: 'refuse', status: 403, code: 'TENANT_UNKNOWN' };
        if (count > options.tenants[tenant]) return { kind: 'refuse', status: 429, code: 'QUOTA', headers: { 'retry-after': '60' } };
        used.set(tenant, count);
        return { kind: 'identify', identity: { principal: tenant, issuer: 'quota', scopes: new Set() }, facts: { tenant } };
      },
    };
  },
});
