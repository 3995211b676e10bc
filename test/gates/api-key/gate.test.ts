import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gate } from '../../../gates/api-key/gate.js';
import { makeContext, makeHead, makeHost, openGate } from '../../../src/testing.js';
import { configTable, decisionTable } from '../../support/gate-tables.js';

const folder = mkdtempSync(join(tmpdir(), 'portcullis-api-key-'));
after(() => rmSync(folder, { recursive: true }));
const hash = (key: string | Buffer): string => createHash('sha256').update(key).digest('hex');
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return `./${name}`;
};
const host = () => makeHost({ folder });
const key = (name: string, value: string) => ({ name, sha256: hash(value) });

configTable(
  gate,
  [
    ['a digest', { keys: [key('probe', 's3cret')] }, undefined],
    ['a file', { keys: [{ name: 'probe', sha256_file: file('plain', `${hash('a')}\n`) }] }, undefined],
    [
      'a file as sha256sum writes it',
      { keys: [{ name: 'probe', sha256_file: file('sum', `${hash('a').toUpperCase()}  -\n`) }] },
      undefined,
    ],
    ['a file that begins with a byte order mark', { keys: [{ name: 'a', sha256_file: file('bom', `\ufeff${hash('x')}\r\n`) }] }, undefined],
    ['no keys', { keys: [] }, 'options.keys: must NOT have fewer than 1 items'],
    ['neither digest nor file', { keys: [{ name: 'a' }] }, 'key "a": give either sha256_file or sha256'],
    ['digest and file', { keys: [{ ...key('a', 'a'), sha256_file: 'x' }] }, 'key "a": give either sha256_file or sha256'],
    [
      'a file that is not there',
      { keys: [{ name: 'a', sha256_file: 'gone' }] },
      `key "a": sha256_file ${join(folder, 'gone')} cannot be read (ENOENT)`,
    ],
    [
      'a file with the key itself',
      { keys: [{ name: 'a', sha256_file: file('raw', 's3cret\n') }] },
      `key "a": sha256_file ${join(folder, 'raw')} does not start with 64 hex digits`,
    ],
    ['a digest that is short', { keys: [{ name: 'a', sha256: 'abc' }] }, 'options.keys[0].sha256: must match pattern "^[0-9A-Fa-f]{64}$"'],
    [
      'the digest of nothing',
      { keys: [key('a', '')] },
      'key "a": this is the SHA-256 of nothing; hash the key without a newline: printf %s KEY | sha256sum',
    ],
    ['a name twice', { keys: [key('a', '1'), key('a', '2')] }, 'key "a" is there twice'],
    ['a key twice', { keys: [key('a', '1'), key('b', '1')] }, 'keys "a" and "b" are the same key'],
    ['a name with a space', { keys: [key('a b', '1')] }, 'options.keys[0].name: must match pattern "^[A-Za-z0-9._-]{1,64}$"'],
    [
      'a header with an underscore',
      { header: 'x_api_key', keys: [key('a', '1')] },
      'options.header: must match pattern "^[A-Za-z0-9!#$%&\'*+.^`|~-]{1,64}$"',
    ],
    ['a misspelt key', { keys: [{ name: 'a', sha256_fil: 'x' }] }, 'options.keys[0].sha256_fil: unknown key; did you mean sha256_file?'],
  ],
  host,
);

const options = { keys: [key('probe', 's3cret'), { name: 'cron', sha256_file: file('cron', hash('other')) }, key('umlaut', 'schlüssel')] };
const missing = '401 API_KEY_MISSING';
const invalid = '401 API_KEY_INVALID';
const send = (value: string | string[], name = 'X-Api-Key') => ({ headers: { [name]: value } });
decisionTable(
  gate,
  [
    ['the first key', options, send('s3cret'), {}, 'api-key#probe'],
    ['a key from a file', options, send('other'), {}, 'api-key#cron'],
    ['bytes outside ASCII, as Node reads them', options, send(Buffer.from('schlüssel').toString('latin1')), {}, 'api-key#umlaut'],
    ['no header', options, {}, {}, missing],
    ['an empty header', options, send(''), {}, missing],
    ['another key', options, send('s3creT'), {}, invalid],
    ['a prefix of a key', options, send('s3cre'), {}, invalid],
    ['the digest itself', options, send(hash('s3cret')), {}, invalid],
    ['a key with a space more', options, send('s3cret '), {}, invalid],
    ['two keys in one line', options, send('s3cret, other'), {}, invalid],
    ['the header twice', options, send(['s3cret', 's3cret']), {}, '400 API_KEY_REPEATED'],
    ['a bad and a good one', options, send(['bad', 's3cret']), {}, '400 API_KEY_REPEATED'],
    ['1 024 characters', options, send('a'.repeat(1_024)), {}, invalid],
    ['1 025 characters', options, send('a'.repeat(1_025)), {}, '431 API_KEY_TOO_LONG'],
    ['an underscore spelling', options, send('s3cret', 'x_api_key'), {}, missing],
    ['the key in the query', options, { query: 'x-api-key=s3cret' }, {}, missing],
    ['another header by config', { ...options, header: 'X-Probe' }, send('s3cret', 'x-probe'), {}, 'api-key#probe'],
  ],
  host,
);

test('api-key gives the scopes of the key and a challenge without the key', async () => {
  const gates = await openGate(gate, { keys: [{ ...key('probe', 's3cret'), scopes: ['read', 'call'] }] }, host());
  const admitted = await gates.decide(makeHead(send('s3cret')), makeContext());
  assert.ok(admitted.kind === 'identify');
  assert.deepEqual([...admitted.identity.scopes], ['read', 'call']);
  assert.deepEqual(await gates.decide(makeHead(send('wrong-key')), makeContext()), {
    kind: 'refuse',
    status: 401,
    code: 'API_KEY_INVALID',
    message: 'The API key is not valid.',
    headers: { 'www-authenticate': 'ApiKey header="x-api-key"' },
  });
});
