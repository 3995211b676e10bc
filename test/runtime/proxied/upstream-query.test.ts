import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { connect } from '../../../src/client.js';
import { resolveConfig } from '../../../src/config/load.js';
import { printConfig } from '../../../src/config/print.js';
import { createHttpTransport } from '../../../src/transport/streamable-http.js';
import { legacyBare, modernCall, openProxied } from '../../support/proxied-bench.js';
import { startUpstream } from '../../support/upstream.js';

const json = { 'content-type': 'application/json' };
const RESULT = '{"jsonrpc":"2.0","id":1,"result":{}}';

describe('a fixed query of an upstream’s URL', () => {
  it('is sent with every request, and a client’s own never shapes it', async () => {
    const upstream = await startUpstream((request, response) => {
      if (request.method === 'GET') response.writeHead(200, { 'content-type': 'text/event-stream' }).end();
      else response.writeHead(200, json).end(RESULT);
    });
    const bench = await openProxied(`${upstream.url}/mcp?project=abc&features=a%2Cb`);
    const call = modernCall('ping');
    await bench.send({ ...call, head: { ...call.head, query: 'project=evil' } }).done;
    await bench.send(legacyBare('get_stream')).done;
    assert.deepEqual(
      upstream.seen.map(({ method, url }) => `${method} ${url}`),
      ['POST /mcp?project=abc&features=a%2Cb', 'GET /mcp?project=abc&features=a%2Cb'],
    );
    await bench.runtime.close(0);
    await upstream.close();
  });

  it('is sent by the client and the transport too; a fragment is refused there', async () => {
    const upstream = await startUpstream((_request, response) => void response.writeHead(400, json).end('{}'));
    await assert.rejects(connect({ http: `${upstream.url}/mcp?project=abc` }, { start_timeout_ms: 5000 }));
    assert.ok(upstream.seen.length > 0);
    for (const { url } of upstream.seen) assert.equal(url, '/mcp?project=abc');
    assert.throws(
      () => createHttpTransport({ url: 'http://127.0.0.1/mcp?key=hunter2#x' }),
      (error: Error) => {
        assert.match(error.message, /must not have a fragment/);
        assert.doesNotMatch(error.message, /hunter2/);
        return true;
      },
    );
    assert.throws(
      () => createHttpTransport({ url: 'nope?key=hunter2' }),
      (error: Error) => !error.message.includes('hunter2'),
    );
    await upstream.close();
  });

  it('is shown nowhere: it may hold a key', () => {
    const loaded = resolveConfig(
      {
        runtimes: {
          a: { kind: 'proxied', url: 'https://u.test/mcp?key=hunter2' },
          b: { kind: 'proxied', url: 'https://u.test/${P}?k=${K}' },
        },
        routes: [
          { path: '/a', public: true, runtime: 'a' },
          { path: '/b', public: true, runtime: 'b' },
        ],
      },
      { folder: '.', env: { P: 'mcp', K: 'hunter3' } },
    );
    assert.equal(loaded.config.runtimes.b?.kind === 'proxied' && loaded.config.runtimes.b.url, 'https://u.test/mcp?k=hunter3');
    const shown = printConfig(loaded);
    assert.equal(parse(shown).runtimes.a.url, 'https://u.test/mcp?…');
    assert.doesNotMatch(shown, /hunter/);
  });
});
