import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Claims } from '../../src/contract/claims.js';
import type { HeaderView } from '../../src/contract/head.js';
import { readClaims } from '../../src/dialect/claims.js';
import { SERVED_REVISIONS } from '../../src/dialect/methods.js';
import type { ProtocolFault } from '../../src/errors/error.js';

/** A header view over name, value pairs; counts how often it is asked. */
function view(...raw: string[]): HeaderView & { asked: number } {
  const all = (name: string): string[] => raw.filter((_, i) => i % 2 === 1 && raw[i - 1]!.toLowerCase() === name);
  return {
    asked: 0,
    raw,
    all,
    get(name) {
      this.asked++;
      const values = all(name);
      return values.length === 1 ? values[0] : undefined;
    },
  };
}

function claims(raw: readonly string[], http_method = 'POST'): Claims {
  const outcome = readClaims(view(...raw), http_method);
  assert.equal(outcome.ok, true, JSON.stringify(outcome));
  return (outcome as { value: Claims }).value;
}

function fault(raw: readonly string[], http_method = 'POST'): ProtocolFault {
  const outcome = readClaims(view(...raw), http_method);
  assert.equal(outcome.ok, false, JSON.stringify(outcome));
  return (outcome as { fault: ProtocolFault }).fault;
}

const VERSION = ['MCP-Protocol-Version', '2026-07-28'];
const CALL = [...VERSION, 'Mcp-Method', 'tools/call'];
const named = (value: string): string[] => [...CALL, 'Mcp-Name', value];
const wrap = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;

test('no version header is legacy 2025-03-26, undeclared; each served revision is read', () => {
  assert.deepEqual(claims(['Mcp-Method', 'tools/call', 'Mcp-Name', 'x']), {
    era: 'legacy',
    revision: '2025-03-26',
    declared: false,
    method: undefined,
    name: undefined,
  });
  for (const revision of SERVED_REVISIONS.slice(1)) {
    assert.deepEqual(claims(['mcp-protocol-version', revision]), {
      era: 'legacy',
      revision,
      declared: true,
      method: undefined,
      name: undefined,
    });
  }
  assert.deepEqual(claims(named('read_file')), {
    era: 'modern',
    revision: '2026-07-28',
    declared: true,
    method: 'tools/call',
    name: 'read_file',
  });
  assert.deepEqual(claims([...VERSION, 'Mcp-Method', 'tools/list', 'Mcp-Name', 'unbound']).name, undefined);
});

test('a version that is not served is told with the modern revisions and the one requested', () => {
  for (const requested of ['1900-01-01', 'not-a-version', '2026-07-29', '2026-07-28x', 'V2026-07-28']) {
    for (const http_method of ['POST', 'GET', 'DELETE']) {
      const { code, data } = fault(['MCP-Protocol-Version', requested], http_method);
      assert.deepEqual([code, data], ['UNSUPPORTED_VERSION', { supported: ['2026-07-28'], requested }]);
    }
  }
  assert.deepEqual(fault(['MCP-Protocol-Version', 'x'.repeat(500)]).data?.requested, `${'x'.repeat(64)}…`);
});

test('a repeated, folded, empty or unprintable version is a header mismatch', () => {
  assert.equal(fault(['MCP-Protocol-Version', '2025-11-25', 'mcp-protocol-version', '2026-07-28']).code, 'HEADER_MISMATCH');
  assert.equal(fault([...VERSION, ...VERSION, 'Mcp-Method', 'ping']).detail, 'MCP-Protocol-Version must come once.');
  for (const value of ['', '2025-11-25, 2026-07-28', '2026-07-28é', '2026-07-28\x01']) {
    assert.equal(fault(['MCP-Protocol-Version', value]).code, 'HEADER_MISMATCH', value);
  }
});

test('an unknown version can be deferred to the body, as a modern claim that names nothing', () => {
  const outcome = readClaims(view('MCP-Protocol-Version', 'v999', 'Mcp-Method', 'tools/call', 'Mcp-Name', 'x'), 'POST', 'defer');
  assert.deepEqual(outcome, { ok: true, value: { era: 'modern', revision: 'v999', declared: true, method: undefined, name: undefined } });
});

test('a missing Mcp-Method can be deferred to the body; what comes beside it must still be unambiguous', () => {
  const defer = (...raw: string[]) => readClaims(view(...VERSION, ...raw), 'POST', 'defer');
  const nameless = { ok: true, value: { era: 'modern', revision: '2026-07-28', declared: true, method: undefined, name: undefined } };
  assert.deepEqual(defer(), nameless);
  assert.deepEqual(defer('Mcp-Name', 'read_file'), nameless);
  assert.equal(defer('Mcp-Method', '').ok, false);
  assert.equal(defer('Mcp-Method', 'ping', 'Mcp-Method', 'ping').ok, false);
  assert.equal(defer('Mcp-Param-A', '1', 'mcp-param-a', '2').ok, false);
});

test('a modern POST needs Mcp-Method once, and Mcp-Name once for the methods that name something', () => {
  assert.equal(fault(VERSION).detail, 'Mcp-Method is missing; revision 2026-07-28 needs it on every request.');
  assert.equal(fault([...CALL, 'Mcp-Method', 'tools/call']).detail, 'Mcp-Method must come once.');
  assert.equal(fault([...named('read_file'), 'mcp-name', 'delete_all']).detail, 'Mcp-Name must come once.');
  assert.equal(fault(CALL).detail, 'Mcp-Name is missing; tools/call needs it to mirror params.name.');
  assert.equal(
    fault([...VERSION, 'Mcp-Method', 'resources/read']).detail,
    'Mcp-Name is missing; resources/read needs it to mirror params.uri.',
  );
  assert.equal(fault([...VERSION, 'Mcp-Method', 'prompts/get']).code, 'HEADER_MISMATCH');
  for (const method of ['', ' ', 'tools/cäll', 'tools\x00call'])
    assert.equal(fault([...VERSION, 'Mcp-Method', method]).code, 'HEADER_MISMATCH');
  for (const method of ['tools/list', 'Tools/Call', 'x']) assert.equal(claims([...VERSION, 'Mcp-Method', method]).method, method);
  assert.equal(claims(['mcp-protocol-version', ' 2026-07-28\t', 'MCP-METHOD', ' tools/call ', 'mcp-NAME', '  a b  ']).name, 'a b');
  assert.deepEqual(claims(VERSION, 'GET'), { era: 'modern', revision: '2026-07-28', declared: true, method: undefined, name: undefined });
});

test('Mcp-Name is decoded from the base64 sentinel, strictly', () => {
  assert.equal(claims(named('=?base64?Z3LDtsOfZQ==?=')).name, 'größe');
  assert.equal(claims(named(wrap('=?base64?eA==?='))).name, '=?base64?eA==?=');
  for (const text of ['', 'a', 'ab', 'abc', ' padded ', 'line1\nline2', '\ufeffx', '🜚']) assert.equal(claims(named(wrap(text))).name, text);
  for (const literal of ['=?BASE64?eA==?=', '=?base64?eA==', 'eA==?=', '=?base64?=', '=?base64?', 'SGVsbG8=', 'a\tb']) {
    assert.equal(claims(named(literal)).name, literal);
  }
  const broken = ['SGVsbG8', 'SGVs!!!bG8=', 'SGVsbG8 =', 'SGVsbG8=\t', 'SGVsbG9=', 'eB==', 'eA=', '=', '====', 'eA==eA==', 'SGVs-_8=', '?'];
  for (const base64 of broken) {
    assert.equal(fault(named(`=?base64?${base64}?=`)).detail, 'Mcp-Name is not strict base64 between =?base64? and ?=.', base64);
  }
  for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80]]) {
    assert.match(fault(named(`=?base64?${Buffer.from(bytes).toString('base64')}?=`)).detail ?? '', /is not UTF-8/);
  }
  for (const raw of ['größe', 'gr\xc3\xb6\xc3\x9fe', 'a\x00', 'a\x7f', 'a\rb']) {
    assert.equal(fault(named(raw)).detail, 'Mcp-Name has characters that must be base64-wrapped.');
  }
});

test('a name of 8 192 bytes passes, a longer one is refused, wrapped or not', () => {
  const most = 'x'.repeat(8192);
  assert.equal(claims(named(most)).name, most);
  assert.equal(claims(named(wrap(most))).name, most);
  for (const value of [`${most}x`, wrap(`${most}x`), wrap(most.repeat(8))]) {
    assert.equal(fault(named(value)).detail, 'Mcp-Name is longer than 8192 bytes.');
  }
});

test('Mcp-Param fields come once each and decode; what they say is the server’s business', () => {
  assert.equal(claims([...named('x'), 'Mcp-Param-Region', 'us-west1', 'Mcp-Param-Count', '42.0', 'mcp-param-T', wrap('größe')]).name, 'x');
  assert.equal(fault([...named('x'), 'Mcp-Param-Region', 'a', 'mcp-param-region', 'a']).detail, 'mcp-param-region must come once.');
  assert.equal(
    fault([...named('x'), 'Mcp-Param-A', '=?base64?SGVsbG8?=']).detail,
    'Mcp-Param-A is not strict base64 between =?base64? and ?=.',
  );
  assert.equal(fault([...named('x'), 'Mcp-Param-A', 'é']).code, 'HEADER_MISMATCH');
  assert.equal(
    claims(['MCP-Protocol-Version', '2025-11-25', 'Mcp-Param-A', 'e', 'Mcp-Param-B', 'e', 'Mcp-Name', 'a', 'Mcp-Name', 'b']).name,
    undefined,
  );
  for (const legacy of [[], ['MCP-Protocol-Version', '2025-11-25'], ['MCP-Protocol-Version', '2025-03-26']]) {
    for (const odd of [
      ['Mcp-Param-A', 'a', 'mcp-param-a', 'a'],
      ['Mcp-Param-A', 'é'],
      ['Mcp-Param-A', '=?base64?SGVsbG8?='],
    ]) {
      assert.equal(fault([...legacy, ...odd]).code, 'HEADER_MISMATCH', `${legacy} ${odd}`);
      for (const method of ['GET', 'DELETE']) assert.equal(readClaims(view(...legacy, ...odd), method).ok, true, 'nothing of it goes on');
    }
  }
});

test('a modern call asks for three headers', () => {
  const headers = view(...named('x'), ...Array.from({ length: 60 }, (_, i) => [`X-Header-${i}`, 'v']).flat());
  assert.equal(readClaims(headers, 'POST').ok, true);
  assert.equal(headers.asked, 3);
});

test('a request about a task may leave out Mcp-Name; where it is sent it is read as strictly as any', () => {
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    const head = [...VERSION, 'Mcp-Method', method];
    assert.equal(claims(head).name, undefined);
    assert.equal(claims([...head, 'Mcp-Name', wrap('größe')]).name, 'größe');
    assert.equal(fault([...head, 'Mcp-Name', 'a', 'Mcp-Name', 'a']).code, 'HEADER_MISMATCH');
    assert.equal(fault([...head, 'Mcp-Name', 'é']).code, 'HEADER_MISMATCH');
  }
});
