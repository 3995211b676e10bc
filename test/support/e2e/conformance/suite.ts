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

async function run(name: string, args: readonly string[]): Promise<SuiteResult> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'));
  const child = startChild([packagePath(name, 'dist/index.js'), 'server', ...args, '-o', folder], {}, node());
  try {
    await child.says(/=== SUMMARY ===/, 120_000);
    await child.ended;
    const results = new Map<string, ScenarioResult>();
    for (const result of await readdir(folder)) {
      const [, scenario] = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(result) ?? [];
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
