import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryPath } from '../../repository.js';
import type { Manifest } from './manifest.js';

/** Module of the type of each kind that our manifests may have. */
const MODULES: Readonly<Record<string, string>> = {
  'apps/v1 Deployment': 'kubernetes-types/apps/v1.js',
  'v1 Service': 'kubernetes-types/core/v1.js',
  'v1 ServiceAccount': 'kubernetes-types/core/v1.js',
  'v1 ConfigMap': 'kubernetes-types/core/v1.js',
  'policy/v1 PodDisruptionBudget': 'kubernetes-types/policy/v1.js',
  'autoscaling/v2 HorizontalPodAutoscaler': 'kubernetes-types/autoscaling/v2.js',
  'networking.k8s.io/v1 NetworkPolicy': 'kubernetes-types/networking/v1.js',
  'networking.k8s.io/v1 Ingress': 'kubernetes-types/networking/v1.js',
  'gateway.networking.k8s.io/v1 HTTPRoute': './custom-resources.js',
  'monitoring.coreos.com/v1 ServiceMonitor': './custom-resources.js',
  'monitoring.coreos.com/v1 PodMonitor': './custom-resources.js',
  'monitoring.coreos.com/v1 PrometheusRule': './custom-resources.js',
};

/**
 * Compiles manifests as TypeScript against the types of the Kubernetes API, without a cluster: unknown fields, wrong types and
 * unknown kinds are found. Returns what the compiler says, one line each; empty when all is well.
 */
export async function checkTypes(manifests: readonly Manifest[]): Promise<readonly string[]> {
  mkdirSync(repositoryPath('.tmp'), { recursive: true });
  const folder = mkdtempSync(repositoryPath('.tmp/manifests-'));
  try {
    const lines = manifests.map((manifest, index) => {
      const module = MODULES[`${manifest.apiVersion} ${manifest.kind}`];
      if (module === undefined) throw new Error(`there is no type for ${manifest.apiVersion} ${manifest.kind}`);
      const from = module.startsWith('.') ? repositoryPath('test/support/e2e/kubernetes/custom-resources.js') : module;
      return `export const m${index} = ${JSON.stringify(manifest)} satisfies import(${JSON.stringify(from)}).${manifest.kind};`;
    });
    const file = join(folder, 'manifests.mts');
    writeFileSync(file, lines.join('\n'));
    const options = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--pretty',
      'false',
    ];
    return await compile([...options, file]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function compile(args: readonly string[]): Promise<readonly string[]> {
  try {
    await promisify(execFile)(process.execPath, [repositoryPath('node_modules/typescript/bin/tsc'), ...args], { maxBuffer: 64_000_000 });
    return [];
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return `${stdout}${stderr}`
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.slice(0, 500));
  }
}
