// The official conformance suite against a conformant server, direct and behind a proxied route: what passes direct passes through.
// Prints the table; `npm run conformance` runs only this.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { type Child, startChild } from '../support/e2e/child.js';
import { runSuite, type SuiteResult, scoredScenarios } from '../support/e2e/conformance/suite.js';
import { lostOnTheWay, notPassing, toTable } from '../support/e2e/conformance/verdict.js';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { repositoryPath } from '../support/repository.js';

/** Not scored by the suite, and what a gateway is most likely to get wrong: checks that pass in each. */
const HEADER_SCENARIOS = { 'http-header-validation': 14, 'http-custom-header-server-validation': 10 };

let fixture: Child;
let gateway: RunningGateway;
let direct_url: string;
let through_url: string;

before(async () => {
  fixture = startChild([repositoryPath('dist/test/support/e2e/conformance/server.js')]);
  [, direct_url = ''] = await fixture.says(/listening on (\S+)/);
  gateway = await startGateway(`
listener: { host: 127.0.0.1, port: 0 }
ops: { port: 0 }
runtimes: { fixture: { kind: proxied, url: "${direct_url.replace('localhost', '127.0.0.1')}" } }
routes: [{ path: /mcp, public: true, runtime: fixture }]
`);
  through_url = `${gateway.url.replace('127.0.0.1', 'localhost')}/mcp`;
});

after(async () => {
  await gateway?.stop();
  await fixture?.stop();
});

for (const [revision, scored_count] of [
  ['2026-07-28', 37],
  ['2025-11-25', 30],
] as const)
  describe(`conformance suite, revision ${revision}`, () => {
    let scored: readonly string[];
    let direct: SuiteResult;
    let through: SuiteResult;

    before(async () => {
      scored = await scoredScenarios(revision);
      [direct, through] = await Promise.all([runSuite(direct_url, revision), runSuite(through_url, revision)]);
      console.log(toTable(revision, scored, direct, through));
    });

    it(`the fixture passes all ${scored_count} required scenarios direct`, () => {
      assert.equal(scored.length, scored_count);
      assert.deepEqual(notPassing(scored, direct), []);
    });

    it('README.md states the number of required scenarios', () =>
      assert.match(
        readFileSync(repositoryPath('README.md'), 'utf8'),
        new RegExp(`${scored_count} of ${scored_count} in (MCP )?${revision}`),
      ));

    it(`all ${scored_count} required scenarios pass through the gateway`, () => assert.deepEqual(notPassing(scored, through), []));

    it('every check that succeeds direct succeeds through the gateway, scored or not', () =>
      assert.deepEqual(lostOnTheWay(direct, through), []));

    if (revision === '2026-07-28')
      it('header validation passes in full, direct and through the gateway', () => {
        for (const [scenario, count] of Object.entries(HEADER_SCENARIOS)) {
          assert.deepEqual([scenario, direct.get(scenario)?.passed, direct.get(scenario)?.failed], [scenario, count, 0]);
          assert.deepEqual([scenario, through.get(scenario)?.passed, through.get(scenario)?.failed], [scenario, count, 0]);
        }
      });
  });
