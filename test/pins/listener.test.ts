import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolveConfig } from '../../src/config/load.js';
import { compileTemplate } from '../../src/core/uri-template.js';
import * as texts from '../../src/core/wrap/wrapper.js';
import { CODES } from '../../src/errors/codes.js';
import { LineFramer } from '../../src/wire/line.js';
import { scanMessage } from '../../src/wire/scan.js';
import { MINIMAL_CONFIG } from './minimal-config.js';

// Numbers and texts that callers and operators rely on, as literals: a constant that changes does not change here with it. What they do
// at the limit is tested where they are at home.

const { listener } = resolveConfig(MINIMAL_CONFIG, { folder: '/' }).config;
const { limits } = listener;

/** The JSON-RPC code and the id of the answer to a refused body; undefined when it is not refused. */
function refusalOf(body: string): { readonly code: number; readonly id: string | undefined } | undefined {
  const scanned = scanMessage(Buffer.from(body));
  return scanned.ok ? undefined : { code: CODES[scanned.fault.code].rpc, id: scanned.id };
}
const request = (id: string, params = '{}') => `{"jsonrpc":"2.0","id":${id},"method":"ping","params":${params}}`;
const text = (bytes: number) => `"${'é'.repeat(bytes / 2)}${'x'.repeat(bytes % 2)}"`;

describe('pins: Limits on message content', () => {
  it('an integer literal longer than 64 digits is -32700', () => {
    assert.equal(refusalOf(request('1', `{"x":${'9'.repeat(64)}}`)), undefined);
    assert.deepEqual(refusalOf(request('1', `{"x":${'9'.repeat(65)}}`)), { code: -32700, id: undefined });
  });

  it('an id is a string of at most 256 bytes or an int64; anything else is -32600 with a null id', () => {
    for (const id of [text(256), '9223372036854775807', '-9223372036854775808', '0', '""'])
      assert.equal(refusalOf(request(id)), undefined, id);
    for (const id of [text(257), '9223372036854775808', '-9223372036854775809', 'null', '1.5', 'true', '{}', '[]'])
      assert.deepEqual(refusalOf(request(id)), { code: -32600, id: undefined }, id);
  });

  it('a progressToken outside the same bounds is -32602', () => {
    const withToken = (token: string) => request('7', `{"_meta":{"progressToken":${token}}}`);
    for (const token of [text(256), '9223372036854775807', '-9223372036854775808'])
      assert.equal(refusalOf(withToken(token)), undefined, token);
    for (const token of [text(257), '9223372036854775808', '-9223372036854775809', '1.5', 'true'])
      assert.deepEqual(refusalOf(withToken(token)), { code: -32602, id: '7' }, token);
  });

  it('a template has at most 1 024 bytes and 32 variables', () => {
    assert.throws(() => compileTemplate(`{x}${'a'.repeat(1022)}`), { message: 'is longer than 1024 bytes' });
    assert.throws(() => compileTemplate(Array.from({ length: 33 }, (_, n) => `/{v${n}}`).join('')), {
      message: 'has more than 32 variables',
    });
    assert.deepEqual(compileTemplate(`{x}${'a'.repeat(1021)}`).variables, ['x']);
    assert.equal(compileTemplate(Array.from({ length: 32 }, (_, n) => `/{v${n}}`).join('')).variables.length, 32);
  });
});

describe('pins: Stdio, as far as it is wire', () => {
  it('a line of more than 2 000 000 bytes is refused before decoding; a leading byte order mark is ignored', () => {
    const seen: string[] = [];
    const framer = new LineFramer({
      onLine: (line) => seen.push(line.length < 9 ? Buffer.from(line).toString() : String(line.length)),
      onTooLong: () => seen.push('too long'),
    });
    framer.push(Buffer.from('\ufeff{}\n'));
    framer.push(Buffer.alloc(2_000_000, 'a'));
    framer.push(Buffer.from('\n'));
    framer.push(Buffer.alloc(2_000_001, 'a'));
    framer.push(Buffer.from('\n'));
    assert.deepEqual(seen, ['{}', '2000000', 'too long']);
  });
});

describe('pins: Native HTTP listener', () => {
  it('binds to 127.0.0.1 by default', () => {
    assert.equal(listener.host, '127.0.0.1');
  });

  it('has the limits that are documented', () => {
    const { max_header_bytes, max_body_bytes, max_connections, head_timeout_ms, read_timeout_ms, gate_timeout_ms, body_timeout_ms } =
      limits;
    const { max_subscriptions, drain_timeout_ms, request_timeout_ms } = limits;
    assert.deepEqual(
      {
        max_header_bytes,
        max_body_bytes,
        max_connections,
        head_timeout_ms,
        read_timeout_ms,
        gate_timeout_ms,
        body_timeout_ms,
        max_subscriptions,
        drain_timeout_ms,
      },
      {
        max_header_bytes: 32_768,
        max_body_bytes: 2_000_000,
        max_connections: 1_024,
        head_timeout_ms: 10_000,
        read_timeout_ms: 5_000,
        gate_timeout_ms: 10_000,
        body_timeout_ms: 10_000,
        max_subscriptions: 256,
        drain_timeout_ms: 5_000,
      },
    );
    assert.equal(request_timeout_ms, 30_000);
  });

  it('answers with the statuses that are documented', () => {
    const { METHOD_NOT_ALLOWED, GATE_FAILED, GATE_TIMEOUT, TOO_MANY_STREAMS, DRAINING, BODY_TIMEOUT, LENGTH_REQUIRED, UNAUTHENTICATED } =
      CODES;
    assert.equal(METHOD_NOT_ALLOWED.status, 405);
    assert.equal(GATE_FAILED.status, 500);
    assert.equal(GATE_TIMEOUT.status, 504);
    assert.equal(TOO_MANY_STREAMS.status, 503);
    assert.equal(DRAINING.status, 503);
    assert.equal(BODY_TIMEOUT.status, 408);
    assert.equal(LENGTH_REQUIRED.status, 411);
    assert.equal(UNAUTHENTICATED.status, 401);
  });

  it('what stops the process must leave it the drain and 5 000 ms more', () => {
    const warningsFor = (seconds: number) =>
      resolveConfig(MINIMAL_CONFIG, { folder: '/', env: { TERMINATION_GRACE_PERIOD_SECONDS: String(seconds) } }).warnings.length;
    const before = resolveConfig(MINIMAL_CONFIG, { folder: '/', env: {} }).warnings.length;
    assert.deepEqual([warningsFor(10) - before, warningsFor(9) - before], [0, 1]);
  });
});

describe('pins: Component limits', () => {
  it('has these failure texts and no other', () => {
    assert.deepEqual(
      Object.values(texts)
        .flatMap((value) => (value instanceof texts.ComponentRefusal ? [value.text] : []))
        .sort(),
      [
        'Component concurrency limit reached',
        'Component rate key capacity reached',
        'Component rate limit reached',
        'Component timed out',
        'Component timeout worker unavailable',
      ],
    );
  });
});
