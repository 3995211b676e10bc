import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { distance } from 'fastest-levenshtein';
import { homesOf } from '../../src/config/schema/homes.js';
import { LimitsSchema } from '../../src/config/schema/limits.js';
import { didYouMean, nearest } from '../../src/errors/did-you-mean.js';

const KEYS = Object.keys(LimitsSchema.properties);

describe('did you mean', () => {
  it('finds what was meant and keeps silent otherwise', () => {
    assert.equal(nearest('max_conections', KEYS), 'max_connections');
    assert.equal(nearest('max-connections', KEYS), 'max_connections');
    assert.equal(nearest('maxConnections', KEYS), 'max_connections');
    assert.equal(nearest('prot', ['host', 'port']), 'port');
    assert.equal(nearest('proxy', ['http', 'proxied']), 'proxied');
    assert.equal(nearest('stop', ['url', 'stop_timeout_ms']), 'stop_timeout_ms');
    assert.equal(nearest('stop', ['stop_timeout_ms', 'stop_signal']), undefined);
    assert.equal(nearest('zzz', KEYS), undefined);
    assert.equal(nearest('ab', ['cd']), undefined);
    assert.equal(nearest('x'.repeat(65), [`${'x'.repeat(64)}`]), undefined);
    assert.equal(didYouMean('hots', ['host']), '; did you mean host?');
    assert.equal(didYouMean('hots', []), '');
  });

  it('undoes one wrong letter of any known key (property)', () => {
    fc.assert(
      fc.property(fc.constantFrom(...KEYS), fc.nat(), fc.constantFrom('drop', 'double', 'replace'), (key, at, how) => {
        const i = at % key.length;
        const middle = { drop: '', double: `${key[i]}${key[i]}`, replace: '#' }[how];
        const typo = key.slice(0, i) + middle + key.slice(i + 1);
        if (KEYS.includes(typo)) return;
        const found = nearest(typo, KEYS) ?? '';
        assert.ok(found === key || distance(typo, found) === 1, `${typo}: ${found}`);
      }),
    );
  });

  it('knows where a key belongs', () => {
    assert.deepEqual(homesOf('max_connections'), ['listener.limits']);
    assert.deepEqual(homesOf('headers'), ['runtimes.NAME of kind proxied', 'runtimes.NAME of kind http', 'telemetry.tracing']);
    assert.deepEqual(homesOf('forward_identity'), ['routes[]']);
    assert.deepEqual(homesOf('port'), ['listener', 'ops']);
    assert.deepEqual(homesOf('nothing'), []);
  });
});
