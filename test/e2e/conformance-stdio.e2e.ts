// The official conformance suite against our own server over stdio behind the gateway: children are shared by modern clients, and
// legacy clients have a process each; what passes hosted passes here.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { runSuite, type SuiteResult, scoredScenarios } from '../support/e2e/conformance/suite.js';
import { notPassing, toTable } from '../support/e2e/conformance/verdict.js';
import { type RunningGateway, startCommand } from '../support/e2e/gateway.js';
import { repositoryPath } from '../support/repository.js';

/** Not scored by the suite: checks that pass in each. The server sees no headers; the gateway checks them. */
const HEADER_SCENARIOS = { 'http-header-validation': 14, 'http-custom-header-server-validation': 10 };

let gateway: RunningGateway;
let url: string;

before(async () => {
  const server = [process.execPath, repositoryPath('dist/src/main.js'), 'stdio', '-c', repositoryPath('config/conformance.yaml')];
  gateway = await startCommand(['run', '--port', '0', '--ops-port', '0', '--', ...server]);
  url = `${gateway.url.replace('127.0.0.1', 'localhost')}/mcp`;
});

after(async () => assert.equal(await gateway?.stop(), 0));

for (const [revision, scored_count] of [
  ['2026-07-28', 37],
  ['2025-11-25', 30],
] as const)
  describe(`conformance suite over stdio, revision ${revision}`, () => {
    let scored: readonly string[];
    let through: SuiteResult;

    before(async () => {
      scored = await scoredScenarios(revision);
      through = await runSuite(url, revision);
      console.log(toTable(revision, scored, through, through));
    });

    it(`all ${scored_count} required scenarios pass`, () => {
      assert.equal(scored.length, scored_count);
      assert.deepEqual(notPassing(scored, through), []);
    });

    if (revision === '2026-07-28')
      it('header validation passes in full', () => {
        for (const [scenario, count] of Object.entries(HEADER_SCENARIOS))
          assert.deepEqual([scenario, through.get(scenario)?.passed, through.get(scenario)?.failed], [scenario, count, 0]);
      });
  });
