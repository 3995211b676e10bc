import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FakeIssuer, makeKey, startIssuer } from './support/fake-issuer.js';
import { type Bench, brief, openBench, RESOURCE } from './support/open.js';

describe('oauth-bearer audience and issuer', () => {
  let issuer: FakeIssuer;
  let other: FakeIssuer;
  let bench: Bench;
  before(async () => {
    issuer = await startIssuer('/a', [await makeKey('a1')]);
    other = await startIssuer('/b', [await makeKey('b1')]);
    bench = await openBench(issuer, { issuer: [issuer.url, other.url] });
  });
  after(async () => {
    await bench.close();
    await issuer.close();
    await other.close();
  });

  const ask = async (changes: Record<string, unknown>, by = issuer): Promise<string> =>
    brief(await bench.ask(await by.sign(bench.claims({ iss: by.url, ...changes }))));

  for (const aud of [RESOURCE, [RESOURCE], ['https://other.example', RESOURCE]])
    it(`accepts aud ${JSON.stringify(aud)}`, async () => {
      assert.equal(await ask({ aud }), 'identify');
    });

  const near: readonly unknown[] = [
    `${RESOURCE}/`,
    'HTTPS://mcp.example.com/mcp',
    'https://MCP.example.com/mcp',
    'https://mcp.example.com:443/mcp',
    'https://mcp.example.com/mcp?',
    'https://mcp.example.com/mcp#',
    'https://mcp.example.com',
    'https://mcp.example.com/',
    'https://mcp.example.com/mcp2',
    'https://mcp.example.com/MCP',
    'https://mcp.example.com/mcp/tools',
    'https://mcp.example.com.evil.test/mcp',
    'https://mcp.example.com/other/mcp',
    'http://mcp.example.com/mcp',
    `${RESOURCE} https://other.example`,
    ` ${RESOURCE}`,
    '',
    undefined,
    null,
    [],
    [[RESOURCE]],
    [RESOURCE, 7],
    { [RESOURCE]: true },
  ];
  for (const aud of near)
    it(`refuses aud ${JSON.stringify(aud)}`, async () => {
      assert.equal(await ask({ aud }), '401 TOKEN_INVALID');
    });

  it('configured audiences replace the default, and a slash variant must be listed', async () => {
    const listed = await openBench(issuer, { audience: [`${RESOURCE}/`, 'urn:mcp'] });
    const say = async (aud: unknown): Promise<string> => brief(await listed.ask(await listed.token({ aud })));
    assert.equal(await say(`${RESOURCE}/`), 'identify');
    assert.equal(await say('urn:mcp'), 'identify');
    assert.equal(await say(RESOURCE), '401 TOKEN_INVALID');
    await listed.close();
  });

  it('each issuer signs for itself alone', async () => {
    assert.equal(await ask({}, other), 'identify');
    assert.equal(await ask({ iss: other.url }, issuer), '401 TOKEN_INVALID');
    assert.equal(await ask({ iss: issuer.url }, other), '401 TOKEN_INVALID');
    const key = { ...(issuer.keys[0] as (typeof issuer.keys)[number]), kid: 'b1' };
    const forged = await issuer.sign(bench.claims({ iss: other.url }), {}, key);
    assert.equal(brief(await bench.ask(forged)), '401 TOKEN_INVALID');
  });

  it('the same subject of two issuers is two identities', async () => {
    const who = async (by: FakeIssuer): Promise<string> => {
      const decision = await bench.ask(await by.sign(bench.claims({ iss: by.url })));
      return decision.kind === 'identify' ? `${decision.identity.issuer}#${decision.identity.principal}` : brief(decision);
    };
    assert.equal(await who(issuer), `${issuer.url}#alice`);
    assert.equal(await who(other), `${other.url}#alice`);
  });

  it('the issuer is compared letter for letter', async () => {
    for (const iss of [
      `${issuer.url}/`,
      issuer.url.toUpperCase(),
      issuer.url.replace('127.0.0.1', 'localhost'),
      `${issuer.url}x`,
      '',
      undefined,
      [issuer.url],
    ])
      assert.equal(await ask({ iss }), '401 TOKEN_INVALID', String(iss));
  });
});
