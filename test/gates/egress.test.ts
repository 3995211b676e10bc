import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { builtins } from '../../gates/index.js';
import { createEndpoint } from '../../gates/oauth-bearer/endpoint.js';
import type { GateModule } from '../../src/gate.js';
import { makeHead, makeHost, openGate } from '../../src/testing.js';
import { createCollector } from '../../src/tracing/collector.js';
import { egressFrom } from '../../src/upstream/egress.js';
import { startConnectProxy } from '../support/connect-proxy.js';
import { until } from '../support/e2e/until.js';
import { realClock } from '../support/proxied-bench.js';

const signal = new AbortController().signal;
const REFUSAL = 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n';

describe('what gates and traces ask goes through the egress proxy', () => {
  const options: Readonly<Record<string, object>> = {
    'oauth-bearer': { issuer: 'https://id.test', audience: 'https://mcp.example.com/mcp' },
    'forward-auth': { url: 'https://auth.test/check' },
  };

  it('keys, metadata and verdicts: every gate that asks over the network', async () => {
    for (const [name, given] of Object.entries(options)) {
      const proxy = await startConnectProxy(1);
      proxy.answer = REFUSAL;
      const host = makeHost({ egress: egressFrom({ HTTPS_PROXY: proxy.url }, realClock) });
      const gate = await openGate(builtins[name] as GateModule, given as never, host);
      if (name === 'forward-auth') await gate.decide(makeHead({}), { route: host.route, signal, facts: {}, identity: undefined });
      await until(`${name} asked the proxy`, () => proxy.asked.length > 0);
      assert.match(proxy.asked[0] ?? '', /^CONNECT (?:id|auth)\.test:443 /);
      await until('the log says why', () => host.log.lines.some((line) => /answered 407|PROXY_REFUSED_407/.test(JSON.stringify(line))));
      await gate.close?.();
      await proxy.close();
    }
  });

  it('an endpoint of an authorization server says what the proxy did', async () => {
    const proxy = await startConnectProxy(1);
    proxy.answer = REFUSAL;
    for (const connections of [{ kind: 'close' }, { kind: 'keep', max: 1 }] as const) {
      const endpoint = createEndpoint(connections, egressFrom({ HTTPS_PROXY: proxy.url }, realClock));
      const asked = { method: 'POST', headers: {}, body: 'token=x', expects: 'json' } as const;
      await assert.rejects(endpoint.ask('https://id.test/introspect', asked, signal), {
        reason: 'unreachable',
        message: 'the connection failed: the egress proxy answered 407',
      });
      await endpoint.close();
    }
    await proxy.close();
  });

  it('spans', async () => {
    const proxy = await startConnectProxy(1);
    proxy.answer = REFUSAL;
    const egress = egressFrom({ HTTPS_PROXY: proxy.url }, realClock);
    const collector = createCollector({
      ...{ endpoint: 'https://otlp.test/v1/traces', headers: {}, ca: undefined },
      ...{ timeout_ms: 5000, clock: realClock, egress },
    });
    const why = 'the collector cannot be reached: PROXY_REFUSED_407';
    assert.deepEqual(await collector.send('{}', signal), { kind: 'later', after_ms: 0, why });
    await collector.close();
    await proxy.close();
  });
});
