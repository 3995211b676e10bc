// The official conformance suite through the bridge between protocol eras: the suite of 2026-07-28 against a server that is spoken to in 2025-11-25 alone, and
// the other way round. What the server behind can fulfil passes.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createGateway, type Gateway } from '../../src/index.js';
import { runSuite, type SuiteResult, scoredScenarios } from '../support/e2e/conformance/suite.js';
import { notPassing, toTable } from '../support/e2e/conformance/verdict.js';
import { repositoryPath } from '../support/repository.js';

/** What a server of the other era cannot fulfil, whoever stands between. */
const OUT_OF_REACH: Readonly<Record<string, readonly string[]>> = {
  // It wants the question under the key `user_name`. A legacy server's questions have no keys; the gateway's are q1, q2 and so on.
  '2026-07-28': ['input-required-result-basic-elicitation'],
  '2025-11-25': [],
};

let hosting: Gateway;
let front: Gateway;

before(async () => {
  const quiet = { host: '127.0.0.1', port: 0 };
  const telemetry = { log: { level: 'error' } };
  const module = repositoryPath('dist/test/support/conformance-server/server.js');
  hosting = await createGateway({
    listener: quiet,
    ops: { port: 0 },
    telemetry,
    runtimes: { server: { kind: 'hosted', module } },
    routes: [{ path: '/mcp', public: true, runtime: 'server' }],
  });
  await hosting.start();
  const url = `${hosting.url}/mcp`;
  front = await createGateway({
    listener: quiet,
    ops: { port: 0 },
    telemetry,
    runtimes: { modern: { kind: 'proxied', url, protocol: 'modern' }, legacy: { kind: 'proxied', url, protocol: 'legacy' } },
    routes: [
      { path: '/modern', public: true, runtime: 'modern' },
      { path: '/legacy', public: true, runtime: 'legacy' },
    ],
  });
  await front.start();
});

after(async () => {
  await front?.close();
  await hosting?.close();
});

for (const [revision, path] of [
  ['2026-07-28', '/legacy'],
  ['2025-11-25', '/modern'],
] as const)
  describe(`conformance suite, revision ${revision}, on a server of the other era`, () => {
    let scored: readonly string[];
    let through: SuiteResult;

    before(async () => {
      scored = await scoredScenarios(revision);
      through = await runSuite(`${front.url.replace('127.0.0.1', 'localhost')}${path}`, revision);
      console.log(toTable(revision, scored, through, through));
    });

    it('all required scenarios pass that the server behind can fulfil', () =>
      assert.deepEqual(notPassing(scored, through), OUT_OF_REACH[revision]));
  });
