import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { repositoryPath } from '../../repository.js';
import { type Manifest, parseManifests } from './manifest.js';

/** The chart’s folder. */
export const CHART = repositoryPath('deploy/helm/portcullis');
/** A release that the chart supports; a Helm that was built with go install knows none of its own. */
const KUBERNETES = '1.34.0';

/** `.tmp/bin/helm`, which .ci/run puts there, or the one on the PATH. */
const HELM = existsSync(repositoryPath('.tmp/bin/helm')) ? repositoryPath('.tmp/bin/helm') : 'helm';

/** Runs Helm; rejects with what it says when it fails. */
export async function helm(...args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(HELM, args, { maxBuffer: 64_000_000 });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
    throw new Error(`${stdout}${stderr}` || message);
  }
}

/** The objects that `helm template` renders for values files and `--set` or `--set-json` arguments. */
export async function render(files: readonly string[], more: readonly string[] = [], chart = CHART): Promise<readonly Manifest[]> {
  const values = files.flatMap((file) => ['--values', file]);
  return parseManifests(await helm('template', 'rel', chart, '--namespace', 'tools', '--kube-version', KUBERNETES, ...values, ...more));
}
