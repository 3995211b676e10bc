// The official conformance suite's client scenarios, run against our client. Those of authorization are not: the client is given
// a token, it fetches none.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runClientScenario } from '../support/e2e/conformance/suite.js';
import { repositoryPath } from '../support/repository.js';

/** Checks that pass in each. */
const SCENARIOS = {
  initialize: 1,
  tools_call: 2,
  'elicitation-sep1034-client-defaults': 5,
  'sse-retry': 3,
  'request-metadata': 8,
  'sep-2322-client-request-state': 5,
  'http-standard-headers': 9,
  'http-custom-headers': 18,
  'http-invalid-tool-headers': 12,
  'json-schema-ref-no-deref': 1,
  'json-schema-2020-12-preservation': 9,
};

describe('the client scenarios of the conformance suite', () => {
  for (const [scenario, count] of Object.entries(SCENARIOS))
    it(scenario, { timeout: 130_000 }, async () => {
      const { checks, passed } = await runClientScenario(scenario, repositoryPath('dist/test/support/e2e/conformance/client.js'));
      assert.deepEqual(
        [...checks].filter(([, status]) => status !== 'SUCCESS' && status !== 'SKIPPED'),
        [],
      );
      assert.equal(passed, count);
    });
});
