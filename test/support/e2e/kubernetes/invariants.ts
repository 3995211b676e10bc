import assert from 'node:assert/strict';
import { type Manifest, theOnly } from './manifest.js';

/** What holds for every way to install: who the pod runs as, where it is probed, which ports are which, how it ends. */
export function assertInvariants(manifests: readonly Manifest[]): void {
  const deployment = theOnly(manifests, 'Deployment');
  const pod = deployment.spec.template.spec;
  const container = pod.containers[0];
  assertUnprivileged(pod, container);
  assertProbes(container);
  assertServices(manifests, deployment);
  for (const { name } of container.volumeMounts)
    assert.ok(
      pod.volumes.some((volume: { name: string }) => volume.name === name),
      name,
    );
  assert.deepEqual(deployment.spec.strategy.rollingUpdate, { maxSurge: 1, maxUnavailable: 0 });
  const pre_stop = container.lifecycle?.preStop.sleep.seconds ?? 0;
  const told = container.env.find(({ name }: { name: string }) => name === 'TERMINATION_GRACE_PERIOD_SECONDS').value;
  assert.equal(Number(told) + pre_stop, pod.terminationGracePeriodSeconds);
}

// biome-ignore lint/suspicious/noExplicitAny: parts of manifests.
type Part = any;

function assertUnprivileged(pod: Part, container: Part): void {
  assert.deepEqual(pod.securityContext, {
    runAsNonRoot: true,
    runAsUser: 65532,
    runAsGroup: 65532,
    fsGroup: 65532,
    seccompProfile: { type: 'RuntimeDefault' },
  });
  assert.deepEqual(container.securityContext, {
    allowPrivilegeEscalation: false,
    privileged: false,
    readOnlyRootFilesystem: true,
    runAsNonRoot: true,
    capabilities: { drop: ['ALL'] },
  });
  assert.equal(pod.automountServiceAccountToken, false);
  assert.equal(pod.enableServiceLinks, false);
  for (const key of ['hostNetwork', 'hostPID', 'hostIPC']) assert.equal(pod[key], undefined);
  assert.ok(container.resources.limits.memory !== undefined);
  const writable = container.volumeMounts.filter(({ readOnly }: { readOnly?: boolean }) => readOnly !== true);
  assert.deepEqual(
    writable.map(({ mountPath }: { mountPath: string }) => mountPath),
    ['/tmp'],
  );
}

function assertProbes(container: Part): void {
  const paths = { startupProbe: '/startupz', livenessProbe: '/livez', readinessProbe: '/readyz' };
  for (const [probe, path] of Object.entries(paths)) assert.deepEqual(container[probe].httpGet, { path, port: 'ops' }, probe);
  const { livenessProbe, startupProbe } = container;
  assert.ok(livenessProbe.periodSeconds * livenessProbe.failureThreshold >= 30, 'a busy moment is no death');
  assert.ok(startupProbe.periodSeconds * startupProbe.failureThreshold >= 30);
}

/** Ports of services are ports of the container, and traffic never reaches the ops port. */
function assertServices(manifests: readonly Manifest[], deployment: Manifest): void {
  const labels: Readonly<Record<string, string>> = deployment.spec.template.metadata.labels;
  const ports: readonly string[] = deployment.spec.template.spec.containers[0].ports.map(({ name }: { name: string }) => name);
  assert.deepEqual(ports.slice(1), ['ops']);
  const services = manifests.filter(({ kind }) => kind === 'Service');
  const targets = services.map(({ spec }) => spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort).join());
  assert.deepEqual([...targets].sort(), [ports[0], 'ops'].sort());
  assert.equal(theOnly(manifests, 'Service', /-ops$/).spec.type, 'ClusterIP');
  const selectors = manifests.flatMap(({ kind, spec }) => {
    if (kind === 'Service') return [spec.selector];
    if (kind === 'Deployment' || kind === 'PodDisruptionBudget' || kind === 'PodMonitor') return [spec.selector.matchLabels];
    return kind === 'NetworkPolicy' ? [spec.podSelector.matchLabels] : [];
  });
  for (const selector of selectors) {
    assert.ok(Object.keys(selector).length >= 2);
    for (const [key, value] of Object.entries(selector)) assert.equal(labels[key], value, key);
  }
}
