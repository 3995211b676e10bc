// A collector that is dead, hangs or comes back costs no request; without tracing its SDK is never loaded.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startChild } from '../support/e2e/child.js';
import { freePort } from '../support/e2e/everything-server.js';
import { startGateway } from '../support/e2e/gateway.js';
import { ofRequest, tracedConfig } from '../support/e2e/traced-gateway.js';
import { until } from '../support/e2e/until.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import { startCollector } from '../support/otlp-collector.js';
import { repositoryPath } from '../support/repository.js';
import { tool, whole } from '../support/send.js';
import type { Upstream } from '../support/upstream.js';

let upstream: Upstream;

before(async () => {
  upstream = await startMcpUpstream();
});

after(() => upstream?.close());

it('without telemetry.tracing the SDK is never loaded; with it, it is', async () => {
  const loaded = async (telemetry: object): Promise<string | undefined> => {
    const script = `
      import Module from 'node:module';
      import { createGateway } from '${repositoryPath('dist/src/index.js')}';
      const listener = { port: 0 };
      const runtimes = { server: { kind: 'proxied', url: 'http://127.0.0.1:1/mcp' } };
      const routes = [{ path: '/mcp', public: true, runtime: 'server' }];
      const gateway = createGateway({ listener, ops: { enabled: false }, runtimes, routes, telemetry: ${JSON.stringify(telemetry)} });
      await gateway.start();
      console.log('SDK files:', Object.keys(Module._cache).filter((file) => file.includes('opentelemetry/sdk-trace')).length > 0);
      await gateway.close();`;
    const child = startChild(['--input-type=module', '-e', script]);
    const [, found] = await child.says(/SDK files: (\w+)/);
    await child.ended;
    return found;
  };
  assert.equal(await loaded({}), 'false');
  assert.equal(await loaded({ tracing: { endpoint: 'http://127.0.0.1:1/v1/traces' } }), 'true');
});

describe('a collector that is not there', () => {
  async function survives(endpoint: string): Promise<void> {
    const own = await startGateway(tracedConfig(upstream.url, endpoint));
    try {
      for (let round = 0; round < 3; round++) {
        const answers = await Promise.all(Array.from({ length: 300 }, () => whole(`${own.url}/mcp`, tool('echo'))));
        assert.ok(answers.every(({ status }) => status === 200));
      }
      await until('spans are given up', async () => (await own.metric('portcullis_trace_spans_dropped_total')) > 0, 30_000);
      assert.equal(await own.metric('portcullis_trace_spans_exported_total'), 0);
      const warnings = own.output.split('\n').filter((line) => line.includes('spans were not exported'));
      assert.equal(warnings.length, 1, 'one warning');
      const begun = performance.now();
      assert.equal(await own.stop(), 0);
      assert.ok(performance.now() - begun < 15_000, 'the drain does not wait for it');
    } finally {
      await own.stop('SIGKILL');
    }
  }

  it('dead: no request fails, spans are dropped and counted, one warning is written', async () => {
    await survives(`http://127.0.0.1:${await freePort()}/v1/traces`);
  });

  it('hanging: the same', async () => {
    const hanging = await startCollector(() => true);
    await survives(hanging.endpoint);
    await hanging.close();
  });

  it('one that comes back gets what had waited', async () => {
    let up = false;
    const flaky = await startCollector((response) => {
      if (!up) response.writeHead(503, { 'retry-after': '0' }).end();
      return !up;
    });
    const own = await startGateway(tracedConfig(upstream.url, flaky.endpoint));
    const answer = await whole(`${own.url}/mcp`, tool('echo'));
    await until('an export has failed', () => flaky.headers.length > 0);
    up = true;
    await flaky.saw(2, ofRequest(answer.headers['x-request-id']));
    assert.equal(await own.metric('portcullis_trace_spans_dropped_total'), 0);
    await own.stop();
    await flaky.close();
  });
});
