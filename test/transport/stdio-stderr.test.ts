import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { makeClock, makeLog } from '../../src/testing.js';
import { listenToStderr } from '../../src/transport/stdio-stderr.js';

test('a child that prints its settings does not print its secrets', async () => {
  const stderr = new PassThrough();
  const log = makeLog();
  const env = {
    PATH: '/usr/bin',
    REGION: 'eu-central-1',
    API_TOKEN: 'hunter2-hunter2',
    DB_PASSWORD: 'p4ss w0rd $&',
    LONG_KEY: 'k'.repeat(280),
    PIN_KEY: '1234',
  };
  const { lines } = listenToStderr(stderr, { log, clock: makeClock(), pid: 1, env });
  stderr.write(`settings: ${JSON.stringify(env)}\n`);
  stderr.write(`url https://x:hunter2-hunter2@db and hunter2-hunter2\n${'.'.repeat(290)}${env.DB_PASSWORD}\n`);
  stderr.end();
  await new Promise((resolve) => stderr.on('end', resolve));
  const text = JSON.stringify([lines, log.lines]);
  assert.match(text, /eu-central-1/);
  assert.match(text, /1234/, 'too short to be told apart from other text');
  assert.match(text, /url https:\/\/x:\[redacted\]@db and \[redacted\]/);
  assert.doesNotMatch(text, /hunter2|p4ss|kkkk/);
});
