// The official conformance suite against the server of config/conformance.yaml, hosted in the gateway, and against the same behind
// a second gateway. Prints the tables.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { runSuite, runSuite01, type SuiteResult, scoredScenarios } from '../support/e2e/conformance/suite.js';
import { lostOnTheWay, notPassing, toTable } from '../support/e2e/conformance/verdict.js';
import { type RunningGateway, startGateway } from '../support/e2e/gateway.js';
import { repositoryPath } from '../support/repository.js';

/** Not scored by the suite: checks that pass in each. */
const HEADER_SCENARIOS = { 'http-header-validation': 14, 'http-custom-header-server-validation': 10 };

let hosting: RunningGateway;
let front: RunningGateway;
let hosted_url: string;
let through_url: string;

before(async () => {
  const config = readFileSync(repositoryPath('config/conformance.yaml'), 'utf8');
  hosting = await startGateway(config.replace(/port: \d+/g, 'port: 0').replace('../dist', repositoryPath('dist')));
  front = await startGateway(`
listener: { host: 127.0.0.1, port: 0 }
ops: { port: 0 }
runtimes: { fixture: { kind: proxied, url: "${hosting.url}/mcp" } }
routes: [{ path: /mcp, public: true, runtime: fixture }]
`);
  [hosted_url, through_url] = [urlOf(hosting), urlOf(front)];
});

after(async () => {
  await front?.stop();
  await hosting?.stop();
});

for (const [title, scenario_count, run, scenarios] of [
  ['revision 2026-07-28', 37, (url: string) => runSuite(url, '2026-07-28'), () => scoredScenarios('2026-07-28')],
  ['revision 2025-11-25', 30, (url: string) => runSuite(url, '2025-11-25'), () => scoredScenarios('2025-11-25')],
  ['suite 0.1.16', 30, runSuite01, (result: SuiteResult) => [...result.keys()]],
] as const)
  describe(`conformance of a hosted server, ${title}`, () => {
    let scored: readonly string[];
    let hosted: SuiteResult;
    let through: SuiteResult;

    before(async () => {
      [hosted, through] = await Promise.all([run(hosted_url), run(through_url)]);
      scored = await scenarios(hosted);
      console.log(toTable(title, scored, hosted, through));
    });

    it(`all ${scenario_count} scenarios pass`, () => {
      assert.equal(scored.length, scenario_count);
      assert.deepEqual(notPassing(scored, hosted), []);
    });

    it(`all ${scenario_count} scenarios pass behind a second gateway`, () => {
      assert.deepEqual(notPassing(scored, through), []);
    });

    it('every check that succeeds direct succeeds behind a second gateway, scored or not', () =>
      assert.deepEqual(lostOnTheWay(hosted, through), []));

    if (title.includes('2026-07-28'))
      it('the ten scenarios of tasks pass, direct and behind a second gateway', () => {
        for (const result of [hosted, through]) {
          const tasks = [...result].filter(([scenario]) => scenario.startsWith('tasks-'));
          assert.equal(tasks.length, 10);
          assert.deepEqual(
            tasks.filter(([, { failed }]) => failed > 0).map(([scenario]) => scenario),
            [],
          );
        }
      });

    if (title.includes('2026-07-28'))
      it('header validation passes in full, direct and behind a second gateway', () => {
        for (const [scenario, count] of Object.entries(HEADER_SCENARIOS)) {
          assert.deepEqual([scenario, hosted.get(scenario)?.passed, hosted.get(scenario)?.failed], [scenario, count, 0]);
          assert.deepEqual([scenario, through.get(scenario)?.passed, through.get(scenario)?.failed], [scenario, count, 0]);
        }
      });
  });

it('no handler failed and nothing broke on the way', () => {
  for (const { output } of [hosting, front]) {
    const messages = output
      .split('\n')
      .filter((line) => line.includes('"level":"error"') || line.includes('a handler failed'))
      .map((line) => (JSON.parse(line) as { readonly message: string }).message);
    assert.deepEqual(messages, []);
  }
});

/** The suite checks the Host of a loopback name. */
function urlOf({ url }: RunningGateway): string {
  return `${url.replace('127.0.0.1', 'localhost')}/mcp`;
}
