import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { CallSummary, GateDecision } from 'portcullis/gate';
import { makeContext, makeHead, makeIdentity } from 'portcullis/testing';
import { compileGlob, createScopeRules, withImplied } from '../../../gates/oauth-bearer/scope-rules.js';
import { type FakeIssuer, startIssuer } from './support/fake-issuer.js';
import { type Bench, brief, challenge, METADATA, openBench } from './support/open.js';

describe('oauth-bearer scopes', () => {
  let issuer: FakeIssuer;
  let bench: Bench;
  let tools: Bench;
  before(async () => {
    issuer = await startIssuer();
    bench = await openBench(issuer, { required_scopes: ['a:read', 'a:call'] });
    tools = await openBench(issuer, {
      required_scopes: ['mcp.read'],
      tool_scopes: { 'delete_*': ['files.write'], '*_all': ['files.bulk', 'mcp.read'], drop: ['admin'] },
    });
  });
  after(async () => {
    await bench.close();
    await tools.close();
    await issuer.close();
  });

  const forms: readonly (readonly [Record<string, unknown>, string])[] = [
    [{ scope: 'a:read a:call' }, 'identify'],
    [{ scope: 'a:call  a:read x' }, 'identify'],
    [{ scope: ['a:read', 'a:call'] }, 'identify'],
    [{ scp: ['a:read', 'a:call'] }, 'identify'],
    [{ scp: 'a:read a:call' }, 'identify'],
    [{ scope: 'a:read', scp: ['a:call'] }, 'identify'],
    [{}, '403 SCOPE_INSUFFICIENT'],
    [{ scope: 'a:read' }, '403 SCOPE_INSUFFICIENT'],
    [{ scope: 'a:readx a:call' }, '403 SCOPE_INSUFFICIENT'],
    [{ scope: 'A:READ a:call' }, '403 SCOPE_INSUFFICIENT'],
    [{ scope: 'a:read,a:call' }, '403 SCOPE_INSUFFICIENT'],
    [{ scope: 'a:read" a:call' }, '403 SCOPE_INSUFFICIENT'],
    [{ scope: { 'a:read': true, 'a:call': true } }, '403 SCOPE_INSUFFICIENT'],
    [{ scope: [['a:read', 'a:call']] }, '403 SCOPE_INSUFFICIENT'],
  ];
  for (const [claims, expected] of forms)
    it(`${JSON.stringify(claims)} is ${expected}`, async () => {
      const decision = await bench.ask(await bench.token(claims));
      assert.equal(brief(decision), expected);
      if (decision.kind === 'refuse') assert.equal(decision.about, 'caller');
      if (decision.kind === 'refuse')
        assert.equal(challenge(decision), `Bearer error="insufficient_scope", scope="a:read a:call", resource_metadata="${METADATA}"`);
    });

  it('a modern call is challenged with all scopes that its tool needs, with and without a token', async () => {
    const call = { claims: { method: 'tools/call', name: 'delete_all' } };
    assert.equal(
      challenge(await tools.ask(undefined, call)),
      `Bearer resource_metadata="${METADATA}", scope="mcp.read files.write files.bulk"`,
    );
    const decision = await tools.ask(await tools.token({ scope: 'mcp.read files.write' }), call);
    assert.equal(brief(decision), '403 SCOPE_INSUFFICIENT');
    assert.equal(decision.kind === 'refuse' && decision.about, 'call');
    assert.equal(
      challenge(decision),
      `Bearer error="insufficient_scope", scope="mcp.read files.write files.bulk", resource_metadata="${METADATA}"`,
    );
  });

  it('first_challenge all: every 401 names required_scopes and all of tool_scopes, each once; 400 and 403 name those of the call', async () => {
    const options = {
      first_challenge: 'all',
      required_scopes: ['mcp.read'],
      tool_scopes: { 'delete_*': ['files.write'], '*_all': ['files.bulk', 'mcp.read'], drop: ['admin'] },
      dpop: 'accept',
    };
    const all = await openBench(issuer, options);
    const bound = await openBench(issuer, { ...options, dpop: 'require' });
    const call = { claims: { method: 'tools/call', name: 'delete_one' } };
    const scope = (decision: GateDecision): string | undefined => /scope="([^"]*)"/.exec(challenge(decision) ?? '')?.[1];
    const every = 'mcp.read files.write files.bulk admin';
    const rows: readonly (readonly [string, GateDecision, string])[] = [
      ['401 TOKEN_REQUIRED', await all.ask(undefined), every],
      ['401 TOKEN_REQUIRED', await all.ask(undefined, call), every],
      ['401 TOKEN_INVALID', await all.ask('a.b.c', call), every],
      ['401 TOKEN_INVALID', await all.ask(await all.token({ exp: 1 })), every],
      ['401 DPOP_PROOF_INVALID', await bound.ask(await bound.token()), every],
      ['400 TOKEN_REQUEST_INVALID', await all.ask('a b', call), 'mcp.read files.write'],
      ['403 SCOPE_INSUFFICIENT', await all.ask(await all.token({ scope: 'mcp.read' }), call), 'mcp.read files.write'],
      ['403 SCOPE_INSUFFICIENT', await all.ask(await all.token()), 'mcp.read'],
    ];
    for (const [told, decision, scopes] of rows) assert.deepEqual([brief(decision), scope(decision)], [told, scopes]);
    assert.deepEqual(
      JSON.parse(
        ((await all.gate.decide(makeHead({ path: '/.well-known/oauth-protected-resource/mcp' }), makeContext())) as { body: string }).body,
      ).scopes_supported,
      ['mcp.read'],
    );
    await all.close();
    await bound.close();
  });

  it('one remembered token is judged anew for each tool', async () => {
    const token = await tools.token({ scope: 'mcp.read files.write' });
    const ask = async (method: string, name?: string): Promise<string> => brief(await tools.ask(token, { claims: { method, name } }));
    assert.equal(await ask('tools/call', 'delete_one'), 'identify');
    assert.equal(await ask('tools/call', 'drop'), '403 SCOPE_INSUFFICIENT');
    assert.equal(await ask('tools/call', 'dropx'), 'identify');
    assert.equal(await ask('tools/list'), 'identify');
    assert.equal(await ask('prompts/get', 'drop'), 'identify');
  });

  it('a challenge with as many scopes as may be configured can be sent', async () => {
    const all = Array.from({ length: 16 }, (_, i) => `${i}`.padEnd(255, '"'));
    const wide = await openBench(issuer, { required_scopes: all, dpop: 'accept' });
    const scope = all.join(' ').replaceAll('"', '\\"');
    assert.equal(challenge(await wide.ask(undefined)), `Bearer resource_metadata="${METADATA}", scope="${scope}"`);
    assert.equal(brief(await wide.ask(await wide.token())), '403 SCOPE_INSUFFICIENT');
    await wide.close();
  });

  it('only a gate with tool_scopes has a second look', () => {
    assert.equal(bench.gate.decideCall, undefined);
    assert.equal(typeof tools.gate.decideCall, 'function');
  });

  it('a legacy call is judged from its body', async () => {
    const token = await tools.token({ scope: 'mcp.read' });
    const head = makeHead({ headers: { authorization: `Bearer ${token}` }, claims: { era: 'legacy', revision: '2025-11-25' } });
    const context = makeContext({ identity: makeIdentity({ scopes: new Set(['mcp.read']) }) });
    assert.equal(brief(await tools.gate.decide(head, makeContext())), 'identify');
    const judge = async (name: string, method = 'tools/call', given = context) => {
      const call: CallSummary = { era: 'legacy', revision: '2025-11-25', method, name };
      return tools.gate.decideCall?.(call, head, given) ?? assert.fail('the gate must have a second look');
    };
    const refused = await judge('delete_all');
    assert.equal(
      challenge(refused),
      `Bearer error="insufficient_scope", scope="mcp.read files.write files.bulk", resource_metadata="${METADATA}"`,
    );
    assert.equal(brief(await judge('read_one')), 'pass');
    assert.equal(brief(await judge('drop', 'prompts/get')), 'pass');
    assert.equal(brief(await judge('read_one', 'tools/call', makeContext())), '401 TOKEN_REQUIRED');
  });

  it('scope rules keep the order and name each scope once', () => {
    const rules = createScopeRules({ required_scopes: ['r'], tool_scopes: { 'a*': ['x', 'r'], '*b': ['y', 'x'] } });
    assert.deepEqual(rules('tools/call', 'ab'), ['r', 'x', 'y']);
    assert.deepEqual(rules('tools/call', 'c'), ['r']);
    assert.deepEqual(rules('tools/call', undefined), ['r']);
    assert.deepEqual(rules(undefined, 'ab'), ['r']);
  });

  it('a broader scope stands for the narrower ones it implies, also through others and in circles', async () => {
    const implied_scopes = { admin: ['a:call', 'staff'], staff: ['a:read'], 'a:read': ['admin'] };
    const wide = await openBench(issuer, { required_scopes: ['a:read', 'a:call'], implied_scopes });
    assert.equal(brief(await wide.ask(await wide.token({ scope: 'admin' }))), 'identify');
    assert.equal(brief(await wide.ask(await wide.token({ scope: 'a:call' }))), '403 SCOPE_INSUFFICIENT');
    await wide.close();
    assert.deepEqual([...withImplied(['staff', 'x'], implied_scopes)], ['staff', 'x', 'a:read', 'admin', 'a:call']);
    assert.deepEqual([...withImplied(['constructor'], {})], ['constructor']);
  });

  const globs: readonly (readonly [string, string, boolean])[] = [
    ['drop', 'drop', true],
    ['drop', 'Drop', false],
    ['*', '', true],
    ['delete_*', 'delete_', true],
    ['delete_*', 'xdelete_a', false],
    ['*_all', '_all', true],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'acb', false],
    ['*ab*ab*', 'abab', true],
    ['*ab*ab*', 'aba', false],
    ['a.c', 'abc', false],
    ['a**b', 'ab', true],
    ['[ab]', 'a', false],
  ];
  for (const [pattern, text, expected] of globs)
    it(`glob ${pattern} ${expected ? 'fits' : 'does not fit'} ${JSON.stringify(text)}`, () => {
      assert.equal(compileGlob(pattern)(text), expected);
    });

  it('a glob full of stars is linear', () => {
    const started = process.hrtime.bigint();
    assert.equal(compileGlob('*a*a*a*a*a*a*a*a*b')('a'.repeat(50_000)), false);
    assert.ok(Number(process.hrtime.bigint() - started) / 1e6 < 100);
  });
});
