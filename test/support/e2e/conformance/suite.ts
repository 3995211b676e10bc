import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { repositoryPath } from '../../repository.js';
import { startChild } from '../child.js';
import { currentNode } from '../current-node.js';

/** What became of one scenario. Checks that only inform are left out. */
export interface ScenarioResult {
  /** Verdicts by `check id` and, from the second of an id on, `check id#n`: SUCCESS, FAILURE, WARNING, SKIPPED. */
  readonly checks: ReadonlyMap<string, string>;
  readonly passed: number;
  readonly failed: number;
}

/** Scenario results by name. */
export type SuiteResult = ReadonlyMap<string, ScenarioResult>;

/** Runs the official conformance suite's server scenarios of one requirement set, scored or not, against a URL. */
export function runSuite(url: string, revision: string): Promise<SuiteResult> {
  return run('@modelcontextprotocol/conformance', ['--url', url, '--requirements', revision]);
}

/** Runs all server scenarios that version 0.1.16 of the suite does not call pending against a URL. */
export function runSuite01(url: string): Promise<SuiteResult> {
  return run('conformance-0-1', ['--url', url, '--suite', 'active']);
}

/** Server scenarios that a revision requires, frozen by the suite. */
export async function scoredScenarios(revision: string): Promise<readonly string[]> {
  const file = packagePath('@modelcontextprotocol/conformance', `requirements/${revision}.yaml`);
  const set = parse(await readFile(file, 'utf8')) as { readonly server: readonly string[] };
  return set.server;
}

/** Runs one client scenario of the official suite; `program` is started with the URL of the suite's server as its last argument. */
export async function runClientScenario(scenario: string, program: string): Promise<ScenarioResult> {
  const args = ['client', '--command', `${process.execPath} ${program}`, '--scenario', scenario];
  const results = await runCommand('@modelcontextprotocol/conformance', args, /OVERALL: /, /^(.+)-\d{4}-\d\d-\d\dT/);
  const result = results.get(scenario);
  if (result === undefined) throw new Error(`the suite wrote no result of ${scenario}, but of ${[...results.keys()].join(', ')}`);
  return result;
}

function run(name: string, args: readonly string[]): Promise<SuiteResult> {
  return runCommand(name, ['server', ...args], /=== SUMMARY ===/, /^server-(.+)-\d{4}-\d\d-\d\dT/);
}

/** Runs the suite; `done` is what it says when it is. `named` finds the scenario in the name of a result's folder. */
async function runCommand(name: string, args: readonly string[], done: RegExp, named: RegExp): Promise<SuiteResult> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'));
  const child = startChild([packagePath(name, 'dist/index.js'), ...args, '-o', folder], {}, node());
  try {
    await child.says(done, 120_000);
    await child.ended;
    const results = new Map<string, ScenarioResult>();
    for (const result of await readdir(folder)) {
      const [, scenario] = named.exec(result) ?? [];
      if (scenario !== undefined) results.set(scenario, toResult(JSON.parse(await readFile(join(folder, result, 'checks.json'), 'utf8'))));
    }
    return results;
  } finally {
    await child.stop('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
}

interface Check {
  readonly id: string;
  readonly status: string;
}

function toResult(list: readonly Check[]): ScenarioResult {
  const checks = new Map<string, string>();
  for (const { id, status } of list) {
    if (status === 'INFO') continue;
    let key = id;
    for (let n = 2; checks.has(key); n++) key = `${id}#${n}`;
    checks.set(key, status);
  }
  const count = (wanted: string): number => [...checks.values()].filter((status) => status === wanted).length;
  return { checks, passed: count('SUCCESS'), failed: count('FAILURE') };
}

const packagePath = (name: string, file: string): string => repositoryPath(`node_modules/${name}/${file}`);

/** The suite needs Node 22; an older Node borrows the binary that `npm run node24` brings from the npm registry. */
function node(): string {
  const major = Number(process.versions.node.split('.', 1)[0]);
  return major >= 22 ? process.execPath : currentNode();
}
