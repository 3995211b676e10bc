import type { ScenarioResult, SuiteResult } from './suite.js';

/** Scenarios that failed a check, or passed none. */
export function notPassing(scenarios: readonly string[], result: SuiteResult): readonly string[] {
  return scenarios.filter((scenario) => {
    const { passed, failed } = result.get(scenario) ?? { passed: 0, failed: 1 };
    return failed > 0 || passed === 0;
  });
}

/** Checks that succeed direct and not through the gateway. */
export function lostOnTheWay(direct: SuiteResult, through: SuiteResult): readonly string[] {
  const lost: string[] = [];
  for (const [scenario, { checks }] of direct) {
    for (const [check, status] of checks) {
      const seen = through.get(scenario)?.checks.get(check);
      if (status === 'SUCCESS' && seen !== 'SUCCESS') lost.push(`${scenario} ${check}: ${seen}`);
    }
  }
  return lost;
}

/** The results as text, one scenario a line: checks that pass of those that have a verdict, direct and through the gateway. */
export function toTable(title: string, scored: readonly string[], direct: SuiteResult, through: SuiteResult): string {
  const names = [...scored, ...[...direct.keys()].filter((name) => !scored.includes(name))];
  const width = Math.max(...names.map((name) => name.length), title.length);
  const rows = names.map((name) => {
    const note = scored.includes(name) ? '' : 'not scored';
    return `${name.padEnd(width)}  ${cell(direct.get(name))} ${cell(through.get(name))} ${note}`.trimEnd();
  });
  return [`\n${title.padEnd(width)}  direct     through`, ...rows, ''].join('\n');
}

function cell(result: ScenarioResult | undefined): string {
  if (result === undefined) return 'not run'.padEnd(10);
  const { checks, passed, failed } = result;
  const warned = passed + failed === 0 && checks.size > 0;
  return (warned ? 'warned' : `${passed} of ${passed + failed}`).padEnd(10);
}
