// The kustomizations, rendered by kubectl, beside what Helm makes of the same. Needs kubectl and helm.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { checkTypes } from '../support/e2e/kubernetes/check-types.js';
import { CHART, render } from '../support/e2e/kubernetes/helm.js';
import { assertInvariants } from '../support/e2e/kubernetes/invariants.js';
import { type Manifest, parseManifests, theOnly } from '../support/e2e/kubernetes/manifest.js';
import { validateConfig } from '../support/e2e/kubernetes/validate.js';
import { repositoryPath } from '../support/repository.js';

const FOLDER = repositoryPath('deploy/kustomize');
const ROOTS = ['base', 'overlays/production', 'overlays/single'];
const rendered = new Map<string, readonly Manifest[]>();
const of = (root: string): readonly Manifest[] => rendered.get(root) ?? [];

before(async () => {
  for (const root of ROOTS) rendered.set(root, await kustomize(join(FOLDER, root)));
});

describe('kubectl kustomize', () => {
  for (const root of ROOTS) {
    it(`${root}: runs unprivileged, is probed on the ops port, ends in time`, () => assertInvariants(of(root)));

    it(`${root}: holds a config that portcullis validate accepts, with a drain that fits`, async () => {
      const { data } = theOnly(of(root), 'ConfigMap', /^portcullis-[a-z0-9]{10}$/);
      const grace_s = Number(theOnly(of(root), 'Deployment').spec.template.spec.terminationGracePeriodSeconds);
      const warnings = await validateConfig(data?.['portcullis.yaml'] ?? '', grace_s);
      assert.deepEqual(
        warnings.filter((line) => line.includes('TERMINATION_GRACE_PERIOD_SECONDS')),
        [],
      );
    });

    it(`${root}: mounts the config that it made`, () => {
      const { name } = theOnly(of(root), 'ConfigMap', /^portcullis-[a-z0-9]{10}$/).metadata;
      const { volumes } = theOnly(of(root), 'Deployment').spec.template.spec;
      assert.deepEqual(
        volumes.find((volume: { name: string }) => volume.name === 'config'),
        { name: 'config', configMap: { name } },
      );
    });
  }

  it('is what the Kubernetes API knows, field by field', async () => {
    assert.deepEqual(await checkTypes([...rendered.values()].flat()), []);
  });

  it('uses every component', () => {
    const kinds = new Set(of('overlays/production').map(({ kind }) => kind));
    assert.equal(readdirSync(join(FOLDER, 'components')).length, 6);
    for (const kind of ['HorizontalPodAutoscaler', 'HTTPRoute', 'PrometheusRule', 'ServiceMonitor']) assert.ok(kinds.has(kind), kind);
    assert.ok(theOnly(of('overlays/production'), 'ConfigMap', /dashboard/).metadata.labels?.grafana_dashboard === '1');
    assert.equal(theOnly(of('overlays/production'), 'Deployment').spec.replicas, undefined);
    assert.equal(
      of('overlays/single').some(({ kind }) => kind === 'PodDisruptionBudget'),
      false,
    );
  });
});

describe('kustomize beside Helm', () => {
  it('the base is what the chart makes of its defaults', async () => {
    const chart = await render([join(CHART, 'ci/minimal-values.yaml')], ['--set', 'fullnameOverride=portcullis']);
    for (const kind of ['Deployment', 'NetworkPolicy', 'PodDisruptionBudget', 'ServiceAccount']) {
      assert.deepEqual(comparable(theOnly(of('base'), kind)), comparable(theOnly(chart, kind)), kind);
    }
    for (const name of [/^portcullis$/, /-ops$/]) {
      assert.deepEqual(comparable(theOnly(of('base'), 'Service', name)), comparable(theOnly(chart, 'Service', name)));
    }
  });

  it('the components are what the chart makes of its values', async () => {
    const values = [
      'metrics.serviceMonitor.enabled=true',
      'metrics.prometheusRule.enabled=true',
      'autoscaling.enabled=true',
      'httpRoute.enabled=true',
    ];
    const more = ['--set', `fullnameOverride=portcullis,${values.join()}`, '--set-json', 'httpRoute.parentRefs=[{"name":"public"}]'];
    const chart = await render([join(CHART, 'ci/minimal-values.yaml')], [...more, '--set-json', 'existingSecrets=["portcullis"]']);
    for (const kind of ['ServiceMonitor', 'PrometheusRule', 'HorizontalPodAutoscaler', 'HTTPRoute']) {
      assert.deepEqual(comparable(theOnly(of('overlays/production'), kind)).spec, comparable(theOnly(chart, kind)).spec, kind);
    }
    const secrets = (manifests: readonly Manifest[]) => {
      const { volumes, containers } = theOnly(manifests, 'Deployment').spec.template.spec;
      return [volumes, containers[0].volumeMounts].map((list) => list.find(({ name }: { name: string }) => name === 'secrets'));
    };
    assert.deepEqual(secrets(of('overlays/production')), secrets(chart));
  });
});

async function kustomize(folder: string): Promise<readonly Manifest[]> {
  const { stdout } = await promisify(execFile)('kubectl', ['kustomize', folder], { maxBuffer: 64_000_000 });
  return parseManifests(stdout);
}

/** Without what Helm and kustomize each add in their own way: their labels, the release, checksums and hashes. */
function comparable({ kind, spec }: Manifest): { readonly kind: string; readonly spec: unknown } {
  const text = JSON.stringify({ kind, spec: spec ?? null })
    .replaceAll('"app.kubernetes.io/instance":"rel"', '"app.kubernetes.io/instance":"portcullis"')
    .replace(/"app\.kubernetes\.io\/version":"[^"]*",?/g, '')
    .replace(/"checksum\/config":"[^"]*",?/g, '')
    .replace(/"configMap":\{"name":"portcullis-[a-z0-9]{10}"\}/, '"configMap":{"name":"portcullis"}')
    .replace(/,\}/g, '}');
  return JSON.parse(text);
}
