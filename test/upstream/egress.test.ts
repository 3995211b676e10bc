import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { buildConnector, Pool } from 'undici';
import { makeClock } from '../../src/testing.js';
import { egressFrom } from '../../src/upstream/egress.js';
import { type Issued, issue } from '../gates/mtls/certificates.js';
import { startConnectProxy } from '../support/connect-proxy.js';
import { until } from '../support/e2e/until.js';
import { modernCall, openProxied, realClock } from '../support/proxied-bench.js';
import { startUpstream } from '../support/upstream.js';

const proxyOf = (env: Record<string, string>, url: string): string | undefined => egressFrom(env, makeClock()).proxyFor(url);

describe('which targets go through the egress proxy', () => {
  const HTTPS_PROXY = 'http://user:secret@proxy.test:3128';

  it('https targets outside loopback, and nothing else', () => {
    const table: readonly (readonly [url: string, through: boolean])[] = [
      ['https://mcp.example.com/mcp', true],
      ['https://10.1.2.3/mcp', true],
      ['https://[2001:db8::1]/mcp', true],
      ['http://mcp.example.com/mcp', false],
      ...['localhost', 'LOCALHOST', 'a.localhost', '127.0.0.1', '127.9.9.9', '[::1]', '[::ffff:127.0.0.1]'].map(
        (host) => [`https://${host}:8443/mcp`, false] as const,
      ),
    ];
    for (const [url, through] of table) assert.equal(proxyOf({ HTTPS_PROXY }, url), through ? 'http://proxy.test:3128' : undefined, url);
    for (const env of [{}, { HTTPS_PROXY: '' }, { HTTP_PROXY: HTTPS_PROXY }, { ALL_PROXY: HTTPS_PROXY }])
      assert.equal(proxyOf(env, 'https://mcp.example.com/'), undefined, JSON.stringify(env));
  });

  it('both cases of a name are read, upper case first; the scheme may be left out', () => {
    assert.equal(proxyOf({ https_proxy: 'a.test:1' }, 'https://x.test'), 'http://a.test:1');
    assert.equal(proxyOf({ HTTPS_PROXY: 'https://b.test', https_proxy: 'a.test:1' }, 'https://x.test'), 'https://b.test');
    assert.equal(proxyOf({ HTTPS_PROXY: '', https_proxy: 'a.test:1' }, 'https://x.test'), 'http://a.test:1');
    assert.equal(proxyOf({ https_proxy: 'a.test:1', no_proxy: 'x.test' }, 'https://x.test'), undefined);
    assert.equal(proxyOf({ https_proxy: 'a.test:1', NO_PROXY: 'y.test', no_proxy: 'x.test' }, 'https://x.test'), 'http://a.test:1');
  });

  it('NO_PROXY excludes names, names below, addresses, blocks and ports', () => {
    const table: readonly (readonly [entry: string, excluded: readonly string[], through: readonly string[]])[] = [
      ['example.com', ['example.com', 'a.example.com', 'EXAMPLE.com.', 'example.com:8443'], ['notexample.com', 'example.com.test']],
      ['.example.com', ['a.example.com', 'b.a.example.com'], ['example.com', 'aexample.com']],
      ['*.example.com', ['a.example.com'], ['example.com']],
      ['Example.COM', ['example.com'], []],
      ['example.com:8443', ['example.com:8443', 'a.example.com:8443'], ['example.com']],
      ['example.com:443', ['example.com'], ['example.com:8443']],
      ['10.0.0.0/8', ['10.1.2.3'], ['11.1.2.3', 'example.com']],
      ['192.0.2.1', ['192.0.2.1', '192.0.2.1:99'], ['192.0.2.10']],
      ['192.0.2.1:99', ['192.0.2.1:99'], ['192.0.2.1']],
      ['2001:db8::/32', ['[2001:db8::7]'], ['[2001:db9::7]', '192.0.2.1']],
      ['[2001:db8::1]:99', ['[2001:db8::1]:99'], ['[2001:db8::1]']],
      ['2001:db8::1', ['[2001:db8::1]'], ['[2001:db8::2]']],
      ['*', ['example.com', '10.0.0.1'], []],
      [' a.test , b.test c.test', ['a.test', 'b.test', 'c.test'], ['d.test']],
      ['', [], ['example.com']],
    ];
    for (const [NO_PROXY, excluded, through] of table) {
      for (const host of excluded) assert.equal(proxyOf({ HTTPS_PROXY, NO_PROXY }, `https://${host}/`), undefined, `${NO_PROXY}: ${host}`);
      for (const host of through)
        assert.notEqual(proxyOf({ HTTPS_PROXY, NO_PROXY }, `https://${host}/`), undefined, `${NO_PROXY}: ${host}`);
    }
  });
});

describe('through the egress proxy', () => {
  let ca: Issued;
  let leaf: Issued;
  before(async () => {
    ca = await issue({ ca: true, subject: 'CN=Test CA' });
    leaf = await issue({ issuer: ca, dns: ['mcp.test'] });
  });
  const cert = (of: Issued) => ({ key: of.key_pem, cert: of.pem });
  const RESULT = '{"jsonrpc":"2.0","id":1,"result":{}}';

  /** One upstream behind one proxy. Every call goes to `https://mcp.test/mcp`. */
  const rig = async (of: Issued = leaf, proxy_tls?: Issued) => {
    const upstream = await startUpstream(
      (_request, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(RESULT),
      cert(of),
    );
    const proxy = await startConnectProxy(upstream.port, proxy_tls === undefined ? undefined : cert(proxy_tls));
    const env = { HTTPS_PROXY: proxy.url.replace('//', '//user:p%40ss@') };
    const bench = await openProxied('https://mcp.test/mcp', { ca: ca.pem, connections: 1 }, { egress: egressFrom(env, realClock) });
    const call = async (): Promise<string> => {
      const { by, error } = await bench.send(modernCall('ping')).done;
      return error?.code ?? by;
    };
    const close = async (): Promise<void> => {
      await bench.runtime.close(1000);
      await proxy.close();
      await upstream.close();
    };
    return { upstream, proxy, bench, call, close };
  };

  it('calls reach an https upstream by one tunnel, with credentials for the proxy alone', async () => {
    const { upstream, proxy, call, close } = await rig();
    for (let i = 0; i < 3; i++) assert.equal(await call(), 'respond');
    const credential = `Proxy-Authorization: Basic ${Buffer.from('user:p@ss').toString('base64')}`;
    assert.deepEqual(proxy.asked, [`CONNECT mcp.test:443 HTTP/1.1\r\nHost: mcp.test:443\r\n${credential}\r\n\r\n`]);
    assert.equal(upstream.seen.length, 3);
    for (const { headers } of upstream.seen) assert.equal(headers['proxy-authorization'], undefined);
    assert.equal(upstream.seen[0]?.headers.host, 'mcp.test');
    await close();
  });

  it('TLS is verified end to end: a certificate of another name or authority is refused and no byte of a request is sent', async () => {
    const wrong = await issue({ issuer: ca, dns: ['other.test'] });
    const stranger = await issue({ dns: ['mcp.test'] });
    for (const of of [wrong, stranger]) {
      const { upstream, proxy, call, close } = await rig(of);
      assert.equal(await call(), 'UPSTREAM_UNREACHABLE');
      assert.deepEqual([proxy.asked.length, upstream.seen.length], [1, 0]);
      await close();
    }
  });

  it('a proxy that refuses, breaks HTTP or closes fails the call, and the log says so without address or credential', async () => {
    const { proxy, bench, call, close } = await rig();
    const table = [
      ['HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n', 'PROXY_REFUSED_407'],
      ['HTTP/1.0 403 Forbidden\r\n\r\nno', 'PROXY_REFUSED_403'],
      ['SSH-2.0-x\r\n\r\n', 'PROXY_BROKEN'],
      ['x'.repeat(20_000), 'PROXY_BROKEN'],
    ] as const;
    for (const [answer, reason] of table) {
      proxy.answer = answer;
      assert.equal(await call(), 'UPSTREAM_UNREACHABLE');
      assert.equal(bench.log.lines.at(-1)?.fields.reason, reason);
    }
    await proxy.close();
    assert.equal(await call(), 'UPSTREAM_UNREACHABLE');
    assert.equal(bench.log.lines.at(-1)?.fields.reason, 'PROXY_UNREACHABLE');
    const logged = JSON.stringify(bench.log.lines);
    for (const secret of ['p@ss', 'p%40ss', '127.0.0.1', 'Basic']) assert.ok(!logged.includes(secret), secret);
    await close();
  });

  it('a proxy that says nothing is given up after 10 s', async () => {
    const clock = makeClock();
    const proxy = await startConnectProxy(1);
    proxy.answer = '';
    const open = egressFrom({ HTTPS_PROXY: proxy.url }, clock).tunnel('https://mcp.test/') ?? assert.fail();
    const failed = new Promise((done) => open((error) => done((error as { code?: string } | null)?.code)));
    await until('the proxy was asked', () => proxy.asked.length === 1);
    clock.advance(10_000);
    assert.equal(await failed, 'PROXY_TIMEOUT');
    assert.equal(clock.pending, 0);
    await proxy.close();
  });

  it('a call that ends while the tunnel is being opened gives the attempt up', async () => {
    const { proxy, bench, close } = await rig();
    proxy.answer = '';
    const exchange = bench.send(modernCall('ping'));
    await until('the proxy was asked', () => proxy.asked.length === 1);
    exchange.cancel('client');
    await bench.runtime.close(0);
    await until('nothing is being opened', () => bench.runtime.stats().pending === 0);
    await close();
  });

  it('a proxy of an unknown scheme fails what needs it: nothing goes out directly', async () => {
    for (const HTTPS_PROXY of ['socks5://127.0.0.1:1', 'http://', 'a b']) {
      const bench = await openProxied('https://mcp.test/mcp', { ca: ca.pem }, { egress: egressFrom({ HTTPS_PROXY }, realClock) });
      const { error } = await bench.send(modernCall('ping')).done;
      assert.equal(error?.code, 'UPSTREAM_UNREACHABLE');
      assert.equal(bench.log.lines[0]?.fields.reason, 'PROXY_UNREACHABLE');
      await bench.runtime.close(0);
    }
  });

  it('undici’s connectors take the same tunnel, with their own TLS', async () => {
    const { upstream, proxy, close } = await rig();
    const egress = egressFrom({ https_proxy: proxy.url }, realClock);
    const ask = async (authority: string): Promise<string> => {
      const pool = new Pool('https://mcp.test', { connect: egress.connector(buildConnector({ ca: authority })) });
      try {
        return String((await pool.request({ path: '/jwks', method: 'GET' })).statusCode);
      } catch (error) {
        return (error as { code: string }).code;
      } finally {
        await pool.destroy();
      }
    };
    assert.equal(await ask(ca.pem), '200');
    const other = await issue({ ca: true, subject: 'CN=Other CA' });
    assert.equal(await ask(other.pem), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    proxy.answer = 'HTTP/1.1 407 No\r\n\r\n';
    assert.equal(await ask(ca.pem), 'PROXY_REFUSED_407');
    assert.deepEqual([upstream.seen.map(({ url }) => url), proxy.asked.length], [['/jwks'], 3]);
    await close();
  });
});
