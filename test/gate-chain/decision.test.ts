import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { checkDecision } from '../../src/gate-chain/decision.js';
import { DecisionFault } from '../../src/gate-chain/headers.js';

const identity = { principal: 'alice', issuer: 'x', scopes: new Set(['a']) };
const refuse = { kind: 'refuse', status: 403, code: 'NO' };
const serve = { kind: 'serve', status: 200, body: '' };
const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);

describe('a decision that is none', () => {
  const rows: readonly (readonly [value: unknown, fault: string])[] = [
    [undefined, 'returned undefined'],
    [null, 'returned null'],
    ['pass', 'returned string'],
    [() => {}, 'returned function'],
    [{}, 'kind is none of pass, identify, refuse, serve'],
    [[], 'kind is none of pass, identify, refuse, serve'],
    [{ kind: 'PASS' }, 'kind is none of pass, identify, refuse, serve'],
    [{ kind: 'pass', facts: [] }, 'facts is not a plain object'],
    [{ kind: 'pass', facts: 'x' }, 'facts is not a plain object'],
    [{ kind: 'pass', facts: new Map() }, 'facts is not a plain object'],
    [{ kind: 'pass', facts: { a: () => {} } }, 'facts hold something that is not a JSON value'],
    [{ kind: 'pass', facts: { a: 1n } }, 'facts hold something that is not a JSON value'],
    [{ kind: 'pass', facts: { a: Number.NaN } }, 'facts hold something that is not a JSON value'],
    [{ kind: 'pass', facts: { a: new Date() } }, 'facts hold something that is not a JSON value'],
    [{ kind: 'pass', facts: { a: deep(40) } }, 'facts nest too deep'],
    [{ kind: 'pass', facts: { a: Array.from({ length: 10_000 }, () => 1) } }, 'facts hold too many values'],
    [{ kind: 'pass', facts: { b: 1 } }, "fact b is not in the module's provides"],
    [{ kind: 'identify' }, 'identity is not an object'],
    [{ kind: 'identify', identity: { ...identity, principal: '' } }, 'identity.principal is not a string of 1 to 1024 characters'],
    [
      { kind: 'identify', identity: { ...identity, principal: 'a'.repeat(1_025) } },
      'identity.principal is not a string of 1 to 1024 characters',
    ],
    [{ kind: 'identify', identity: { ...identity, principal: 'a\nb' } }, 'identity.principal holds a control character'],
    [{ kind: 'identify', identity: { ...identity, principal: 'a\ud800' } }, 'identity.principal holds half a character'],
    [{ kind: 'identify', identity: { ...identity, issuer: '\udc00a' } }, 'identity.issuer holds half a character'],
    [{ kind: 'identify', identity: { ...identity, client: '\udc00\ud800' } }, 'identity.client holds half a character'],
    [{ kind: 'identify', identity: { ...identity, principal: ['alice'] } }, 'identity.principal is not a string of 1 to 1024 characters'],
    [{ kind: 'identify', identity: { ...identity, issuer: undefined } }, 'identity.issuer is not a string of 1 to 1024 characters'],
    [{ kind: 'identify', identity: { ...identity, scopes: ['a'] } }, 'identity.scopes is not a Set'],
    [{ kind: 'identify', identity: { ...identity, scopes: undefined } }, 'identity.scopes is not a Set'],
    [{ kind: 'identify', identity: { ...identity, scopes: new Set([1]) } }, 'a scope is not a string'],
    [
      { kind: 'identify', identity: { ...identity, scopes: new Set(Array.from({ length: 1_001 }, (_, i) => String(i))) } },
      'there are too many scopes',
    ],
    [{ kind: 'identify', identity: { ...identity, client: null } }, 'identity.client is not a string of 1 to 1024 characters'],
    [
      { kind: 'identify', identity: { ...identity, expires_at_ms: Number.POSITIVE_INFINITY } },
      'identity.expires_at_ms is not a finite number',
    ],
    [{ kind: 'identify', identity: { ...identity, expires_at_ms: '1' } }, 'identity.expires_at_ms is not a finite number'],
    [{ ...refuse, status: 200 }, 'refuse with a status that cannot refuse'],
    [{ ...refuse, status: 302 }, 'refuse with a status that cannot refuse'],
    [{ ...refuse, status: '403' }, 'refuse with a status that cannot refuse'],
    [{ ...refuse, code: 'no' }, 'code is not upper snake case of 2 to 64 characters'],
    [{ ...refuse, code: 'N' }, 'code is not upper snake case of 2 to 64 characters'],
    [{ ...refuse, code: '1NO' }, 'code is not upper snake case of 2 to 64 characters'],
    [{ ...refuse, code: '_NO' }, 'code is not upper snake case of 2 to 64 characters'],
    [{ ...refuse, code: 'NO\n' }, 'code is not upper snake case of 2 to 64 characters'],
    [{ ...refuse, code: 'A'.repeat(65) }, 'code is not upper snake case of 2 to 64 characters'],
    [{ ...refuse, message: 7 }, 'message is not a string of 1 to 1024 characters'],
    [{ ...refuse, message: 'a\r\nb' }, 'message holds a control character'],
    [{ ...refuse, about: 'it' }, 'about is neither call nor caller'],
    [{ ...refuse, about: null }, 'about is neither call nor caller'],
    [{ ...refuse, status: 401, about: 'call' }, 'a 401 is about the caller, not about the call'],
    [{ ...refuse, headers: ['a', 'b'] }, 'headers is not an object'],
    [{ ...refuse, headers: { 'a b': 'c' } }, 'a header name is not a token'],
    [{ ...refuse, headers: { '': 'c' } }, 'a header name is not a token'],
    [{ ...refuse, headers: { ä: 'c' } }, 'a header name is not a token'],
    [{ ...refuse, headers: { a: 'b\r\nc: d' } }, 'header a has a value that cannot be sent'],
    [{ ...refuse, headers: { a: 'b\0' } }, 'header a has a value that cannot be sent'],
    [{ ...refuse, headers: { a: '\u0100' } }, 'header a has a value that cannot be sent'],
    [{ ...refuse, headers: { a: 7 } }, 'header a has a value that cannot be sent'],
    [{ ...refuse, headers: { a: ['b', 'c\n'] } }, 'header a has a value that cannot be sent'],
    [{ ...refuse, headers: { a: 'b', A: 'c' } }, 'header a is there twice, in two spellings'],
    [{ ...refuse, headers: { a: Array.from({ length: 65 }, () => 'b') } }, 'headers are too many or too long'],
    [{ ...refuse, headers: { a: 'b'.repeat(16_384) } }, 'headers are too many or too long'],
    ...[
      'Connection',
      'content-length',
      'Transfer-Encoding',
      'keep-alive',
      'te',
      'trailer',
      'upgrade',
      'proxy-connection',
      'x-request-id',
      'date',
      'content-encoding',
      'content-type',
    ].map((name) => [{ ...refuse, headers: { [name]: 'x' } }, `a gate may not set ${name.toLowerCase()}`] as const),
    [{ ...serve, status: 199 }, 'serve with a status outside 200 to 599'],
    [{ ...serve, status: 600 }, 'serve with a status outside 200 to 599'],
    [{ ...serve, status: 200.5 }, 'serve with a status outside 200 to 599'],
    [{ ...serve, body: undefined }, 'body is not a string of at most 1 Mi characters'],
    [{ ...serve, body: Buffer.from('a') }, 'body is not a string of at most 1 Mi characters'],
    [{ ...serve, body: 'a'.repeat(1_048_577) }, 'body is not a string of at most 1 Mi characters'],
    [{ ...serve, status: 204, body: 'a' }, 'status 204 has no body'],
    [{ ...serve, headers: { 'content-length': '0' } }, 'a gate may not set content-length'],
  ];
  for (const [i, [value, fault]] of rows.entries()) {
    test(`${i}: ${fault}`, () => {
      assert.throws(
        () => checkDecision(value, new Set(['a'])),
        (error) => error instanceof DecisionFault && error.message === fault,
      );
    });
  }
});

test('anything at all is a sound decision or a DecisionFault', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary', maxLength: 4 }),
    fc.constantFrom('x-a', 'a\r\nb', '__proto__', 'constructor'),
  );
  const headers = fc.dictionary(text, fc.oneof(text, fc.array(text), fc.anything()));
  const shaped = fc.record({
    kind: fc.constantFrom('pass', 'identify', 'refuse', 'serve'),
    facts: fc.option(fc.oneof(fc.dictionary(text, fc.jsonValue()), fc.anything()), { nil: undefined }),
    identity: fc.record({
      principal: text,
      issuer: text,
      scopes: fc.oneof(fc.constant(new Set(['a'])), fc.anything()),
      client: fc.option(text, { nil: undefined }),
    }),
    status: fc.constantFrom(200, 204, 401, 403, 500),
    code: fc.oneof(fc.constant('NO'), text),
    headers: fc.option(headers, { nil: undefined }),
    body: fc.oneof(text, fc.anything()),
  });
  let sound = 0;
  fc.assert(
    fc.property(fc.oneof(fc.anything(), shaped, shaped), (value) => {
      try {
        const checked = checkDecision(value, undefined);
        sound += 1;
        if (checked.kind === 'refuse' || checked.kind === 'serve') {
          for (const [name, lines] of Object.entries(checked.headers ?? {})) {
            assert.match(name, /^[!#$%&'*+.^_`|~0-9a-z-]+$/);
            for (const line of typeof lines === 'string' ? [lines] : lines) assert.match(line, /^[\t\x20-\x7e\x80-\xff]*$/);
          }
        } else if (checked.facts !== undefined) assert.ok(Object.isFrozen(checked.facts));
      } catch (error) {
        if (!(error instanceof DecisionFault)) throw error;
      }
    }),
    { numRuns: 3_000 },
  );
  assert.ok(sound > 100, `${sound} sound decisions`);
});

describe('a decision that is one', () => {
  test('is read once: what was checked is what is used', () => {
    let reads = 0;
    const sly = {
      kind: 'identify',
      get identity() {
        reads += 1;
        return { ...identity, principal: reads === 1 ? 'alice' : 'root' };
      },
    };
    const checked = checkDecision(sly, undefined);
    assert.equal(checked.kind === 'identify' && checked.identity.principal, 'alice');
    assert.equal(reads, 1);
  });

  test('has scopes of its own', () => {
    const scopes = new Set(['a']);
    const checked = checkDecision({ kind: 'identify', identity: { ...identity, scopes } }, undefined);
    scopes.add('admin');
    assert.ok(checked.kind === 'identify');
    assert.deepEqual([...checked.identity.scopes], ['a']);
    assert.equal(checked.identity.scopes.has('admin'), false);
  });

  test('keeps no property that the contract does not name', () => {
    const checked = checkDecision({ kind: 'identify', identity: { ...identity, admin: true, facts: { x: 1 } }, extra: 1 }, undefined);
    assert.deepEqual(Object.keys(checked), ['kind', 'identity', 'facts']);
    assert.ok(checked.kind === 'identify');
    assert.deepEqual(Object.keys(checked.identity), ['principal', 'issuer', 'scopes', 'client', 'expires_at_ms']);
  });

  test('takes facts that are frozen already as they are, and freezes the others', () => {
    const remembered = Object.freeze({ claims: 1 });
    const fresh = { list: [{ a: 1 }] };
    const checked = checkDecision({ kind: 'pass', facts: { remembered, fresh } }, undefined);
    assert.ok(checked.kind === 'pass' && checked.facts !== undefined);
    assert.equal(checked.facts.remembered, remembered);
    assert.ok(Object.isFrozen(checked.facts) && Object.isFrozen(fresh) && Object.isFrozen(fresh.list[0]));
  });

  test('may have every status that refuses, any token as a name and latin1 in values', () => {
    for (const status of [400, 401, 403, 404, 405, 406, 411, 413, 415, 421, 429, 431, 500, 502, 503, 504]) {
      assert.equal(checkDecision({ ...refuse, status }, undefined).kind, 'refuse');
    }
    const checked = checkDecision({ ...refuse, code: 'A1_', headers: { "X!#$%&'*+.^_`|~-9": 'ä\tb', b: [] } }, undefined);
    assert.deepEqual(checked.kind === 'refuse' && { ...checked.headers }, { "x!#$%&'*+.^_`|~-9": 'ä\tb', b: [] });
  });
});
