import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mount } from '../../src/mount/mount.js';
import { server } from '../support/doors-server.js';

describe('pins: mounts', () => {
  it('have the limits that are documented', () => {
    const { max_subscriptions, body_timeout_ms, max_body_bytes, read_timeout_ms, request_timeout_ms } = new Mount(server, {}).settings;
    assert.deepEqual(
      { max_subscriptions, body_timeout_ms, max_body_bytes, read_timeout_ms, request_timeout_ms },
      { max_subscriptions: 256, body_timeout_ms: 10_000, max_body_bytes: 2_000_000, read_timeout_ms: 5_000, request_timeout_ms: 30_000 },
    );
  });

  it('refuse Transfer-Encoding unless it is accepted, and no Content-Length, with 411', () => {
    const judge = (fields: Readonly<Record<string, string>>, chunked_requests: 'accept' | 'refuse' = 'refuse') => {
      const all = (name: string) => (fields[name] === undefined ? [] : [fields[name]]);
      return new Mount(server, { chunked_requests }).judge('POST', { get: (name) => fields[name], all, raw: [] })?.status;
    };
    assert.equal(judge({}), 411);
    assert.equal(judge({ 'transfer-encoding': 'chunked' }), 411);
    assert.equal(judge({ 'transfer-encoding': 'chunked', 'content-length': '2' }), 411);
    assert.equal(judge({ 'transfer-encoding': 'chunked' }, 'accept'), undefined);
    assert.equal(judge({}, 'accept'), 411);
    assert.equal(judge({ 'content-length': '2000001' }), 413);
    assert.equal(judge({ 'content-length': '2000000' }), undefined);
  });
});
