import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { repositoryPath } from '../support/repository.js';

interface Awaited {
  /** The folder that brings it. */
  readonly folder: string;
  /** The test that pins it from then on. */
  readonly pins: string;
  /** What the guide says, with every number and text that has to be there as a literal. */
  readonly says: Readonly<Record<string, number | string>>;
}

/** What the Snodo guide says about parts that are not here yet. Each moves to a test of its own as soon as its folder is there. */
const AWAITED: readonly Awaited[] = [
  {
    folder: 'src/transport',
    pins: 'test/pins/stdio.test.ts',
    says: { write_timeout_ms: 5_000, max_line_bytes: 2_000_000, 'a longer message': -32600 },
  },
  {
    folder: 'src/client',
    pins: 'test/pins/client.test.ts',
    says: { pool_size: 4, pool_idle_timeout_ms: 30_000, pool_max_requests: 100 },
  },
  {
    folder: 'src/mount',
    pins: 'test/pins/mount.test.ts',
    says: {
      disconnect_probe_ms: 5_000,
      max_subscriptions: 256,
      max_subscriptions_per_caller: 32,
      body_timeout_ms: 10_000,
      'a late body': 408,
      'Transfer-Encoding, or no Content-Length': 411,
      max_body_bytes: 2_000_000,
      read_timeout_ms: 5_000,
      request_timeout_ms: 30_000,
    },
  },
];

describe('pins: what other parts will bring', () => {
  for (const { folder, pins, says } of AWAITED)
    it(`${folder}: ${Object.entries(says)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}`, () => {
      const built = existsSync(repositoryPath(folder));
      const pinned = existsSync(repositoryPath(pins));
      assert.ok(!built || pinned, `${folder} is there: pin ${JSON.stringify(says)} in ${pins}`);
      assert.ok(built || !pinned, `${pins} is there and ${folder} is not`);
    });
});
