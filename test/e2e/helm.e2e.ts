// The Helm chart, rendered by Helm for each file of ci/. Needs helm: .ci/run builds it into .tmp/bin.
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { folderWith } from '../support/config-files.js';
import { checkTypes } from '../support/e2e/kubernetes/check-types.js';
import { CHART, helm, render } from '../support/e2e/kubernetes/helm.js';
import { assertInvariants } from '../support/e2e/kubernetes/invariants.js';
import { type Manifest, theOnly } from '../support/e2e/kubernetes/manifest.js';
import { validateConfig } from '../support/e2e/kubernetes/validate.js';

const names = readdirSync(join(CHART, 'ci')).sort();
const ci = (name: string): string => join(CHART, 'ci', `${name}-values.yaml`);
const rendered = new Map<string, readonly Manifest[]>();
const of = (name: string): readonly Manifest[] => rendered.get(`${name}-values.yaml`) ?? [];
const WARNINGS = ['listener.host: plaintext HTTP outside loopback', 'ops.host: the ops listener does not authenticate callers'];

before(async () => {
  for (const name of names) rendered.set(name, await render([join(CHART, 'ci', name)]));
});

describe('helm lint', () => {
  it('finds nothing, with the defaults and with each file of ci/', async () => {
    assert.match(await helm('lint', '--strict', CHART), /1 chart\(s\) linted, 0 chart\(s\) failed/);
    for (const name of names)
      assert.match(await helm('lint', '--strict', CHART, '--values', join(CHART, 'ci', name)), /, 0 chart\(s\) failed/);
  });
});

describe('what the chart renders', () => {
  for (const name of names) {
    it(`${name}: runs unprivileged, is probed on the ops port, ends in time`, () => assertInvariants(rendered.get(name) ?? []));

    if (name.startsWith('existing')) continue;
    it(`${name}: holds a config that portcullis validate accepts`, async () => {
      const manifests = rendered.get(name) ?? [];
      const { data } = theOnly(manifests, 'ConfigMap', /^(rel-portcullis|gate)$/);
      const grace_s = Number(theOnly(manifests, 'Deployment').spec.template.spec.terminationGracePeriodSeconds);
      const warnings = await validateConfig(data?.['portcullis.yaml'] ?? '', grace_s);
      const expected = name.startsWith('direct-tls') ? WARNINGS.slice(1) : WARNINGS;
      assert.equal(warnings.length, expected.length, warnings.join('\n'));
      for (const [index, text] of expected.entries()) assert.ok(warnings[index]?.includes(text), warnings[index]);
    });
  }

  it('is what the Kubernetes API knows, field by field', async () => {
    const all = [...rendered.values()].flat();
    assert.ok(all.length >= 25, `${all.length}`);
    const kinds = new Set(all.map(({ kind }) => kind));
    for (const kind of ['HTTPRoute', 'Ingress', 'PodMonitor', 'ServiceMonitor', 'PrometheusRule', 'HorizontalPodAutoscaler'])
      assert.ok(kinds.has(kind), kind);
    assert.deepEqual(await checkTypes(all), []);
    const broken = structuredClone(theOnly(of('minimal'), 'Deployment'));
    broken.spec.template.spec.containers[0].readynessProbe = {};
    assert.match((await checkTypes([broken])).join(), /readynessProbe/);
  });

  it('goes where the values say', () => {
    const production = of('production');
    assert.equal(theOnly(production, 'Deployment').spec.replicas, undefined);
    assert.equal(theOnly(production, 'Deployment').spec.template.spec.terminationGracePeriodSeconds, 80);
    assert.deepEqual(theOnly(production, 'HTTPRoute').spec.hostnames, ['mcp.example.com', 'tickets.example.com']);
    assert.deepEqual(theOnly(production, 'HorizontalPodAutoscaler').spec.behavior.scaleDown.policies, [
      { type: 'Pods', value: 1, periodSeconds: 120 },
    ]);
    assert.equal(theOnly(production, 'PodDisruptionBudget').spec.minAvailable, 2);
    const groups: readonly { readonly rules: readonly { readonly alert: string; readonly labels: object }[] }[] = theOnly(
      production,
      'PrometheusRule',
    ).spec.groups;
    const rules = groups.flatMap((group) => group.rules);
    const source = parse(readFileSync(join(CHART, 'files/rules.yaml'), 'utf8')).groups.flatMap(
      (group: { rules: readonly object[] }) => group.rules,
    );
    assert.equal(rules.length, source.length - 1);
    assert.ok(!rules.some(({ alert }) => alert === 'PortcullisVersionsDiffer'));
    assert.deepEqual(rules[0]?.labels, { severity: 'critical', team: 'platform' });
    assert.deepEqual(
      theOnly(of('ingress'), 'Ingress').spec.rules.map(({ host }: { host: string }) => host),
      ['mcp.example.com'],
    );
    assert.deepEqual(theOnly(of('direct-tls'), 'NetworkPolicy').spec.ingress, [{ ports: [{ protocol: 'TCP', port: 'https' }] }]);
    const egress: readonly { readonly ports: readonly { readonly port: number }[] }[] = theOnly(of('tools'), 'NetworkPolicy').spec.egress;
    assert.deepEqual(
      egress.map(({ ports }) => ports.map(({ port }) => port)),
      [[53, 53], [4318], [443]],
    );
    assert.equal(theOnly(of('tools'), 'Deployment').spec.template.spec.volumes.at(-1).emptyDir.sizeLimit, '1Gi');
    const config = theOnly(of('existing-config'), 'Deployment').spec.template.spec.volumes[0];
    assert.deepEqual(config, { name: 'config', configMap: { name: 'portcullis-config' } });
    assert.equal(
      of('existing-config').some(({ kind }) => kind === 'ConfigMap'),
      false,
    );
  });
});

describe('a changed config', () => {
  const checksum = async (...more: readonly string[]): Promise<string> => {
    const deployment = theOnly(await render([ci('minimal')], more), 'Deployment');
    return deployment.spec.template.metadata.annotations['checksum/config'];
  };
  const gate = ['--set-json', 'config.gates.token.options={"issuer":"https://other.example.com"}'];
  const limit = ['--set', 'config.listener.limits.max_connections=5'];

  it('replaces the pods when only a restart puts it in force', async () => {
    const before = await checksum();
    assert.match(before, /^[0-9a-f]{64}$/);
    assert.equal(await checksum(...gate), before);
    assert.notEqual(await checksum(...limit), before);
  });

  it('always, or never, where the values say so', async () => {
    const always = ['--set', 'rollOnConfigChange=always'];
    assert.notEqual(await checksum(...always, ...gate), await checksum(...always));
    assert.equal(await checksum('--set', 'rollOnConfigChange=never'), undefined);
  });
});

describe('values that cannot work', () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['terminationGracePeriodSeconds=49'], /is 49, but a drain needs 50: .*drain_delay_ms 10000 \+ drain_timeout_ms 35000 \+ 5 s/],
    [['lifecycle.preStopSleepSeconds=10', 'terminationGracePeriodSeconds=59'], /is 59, but a drain needs 60/],
    [['config.listener.limits.drain_timeout_ms=35001', 'terminationGracePeriodSeconds=50'], /is 50, but a drain needs 51/],
    [
      ['config.listener.limits.drain_timeout_ms=${DRAIN}'],
      /config\.listener\.limits\.drain_timeout_ms is "\$\{DRAIN\}": the chart computes with it/,
    ],
    [['existingConfigMap=mine'], /terminationGracePeriodSeconds must be set with existingConfigMap/],
    [['config.listener.port=0'], /config\.listener\.port is 0/],
    [['config.listener.port=9090'], /config\.listener\.port and config\.ops\.port are the same/],
    [['config.listener.host=127.0.0.1'], /config\.listener\.host is 127\.0\.0\.1: other pods could not reach it/],
    [['config.ops.host=localhost'], /config\.ops\.host is localhost/],
    [['config.ops.enabled=false'], /config\.ops\.enabled is false/],
    [['config.routes=null'], /config\.routes is empty/],
    [['metrics.serviceMonitor.enabled=true', 'metrics.podMonitor.enabled=true'], /every pod would be scraped twice/],
    [['podDisruptionBudget.minAvailable=1'], /only one of minAvailable and maxUnavailable/],
    [['httpRoute.enabled=true'], /httpRoute\.parentRefs is empty/],
    [
      ['ingress.enabled=true', 'config.listener.public_url=${PUBLIC_URL}'],
      /ingress\.hosts is empty and config\.listener\.public_url names no host/,
    ],
    [['config.listener.limits.max_conections=5'], /additional properties 'max_conections' not allowed/],
    [['config.gates.token.options.isuer=x'], /additional properties 'isuer' not allowed/],
    [['replicas=3'], /additional properties 'replicas' not allowed/],
  ];
  for (const [sets, message] of cases) {
    it(sets.join(', '), async () => {
      await assert.rejects(
        render(
          [ci('minimal')],
          sets.flatMap((set) => ['--set', set]),
        ),
        message,
      );
    });
  }

  it('the grace period may be exactly what the drain needs, and more', async () => {
    for (const grace of [50, 51]) {
      const deployment = theOnly(await render([ci('minimal')], ['--set', `terminationGracePeriodSeconds=${grace}`]), 'Deployment');
      assert.equal(deployment.spec.template.spec.terminationGracePeriodSeconds, grace);
    }
  });
});

describe('NOTES', () => {
  const { folder, remove } = folderWith({});
  const chart = join(folder, 'portcullis');
  before(() => {
    cpSync(CHART, chart, { recursive: true });
    const notes = readFileSync(join(CHART, 'templates/NOTES.txt'), 'utf8');
    const text = `{{- define "notes" -}}${notes}{{- end }}\napiVersion: v1\nkind: Notes\nmetadata: { name: notes }\ndata: { text: {{ include "notes" . | toJson }} }\n`;
    writeFileSync(join(chart, 'templates/notes.yaml'), text);
  });
  after(remove);
  const notes = async (name: string, ...more: readonly string[]): Promise<string> =>
    theOnly(await render([ci(name)], more, chart), 'Notes').data?.text ?? '';

  it('tell the discovery document, a client’s configuration and what may be wrong', async () => {
    const text = await notes('minimal');
    assert.match(text, /^ {2}https:\/\/mcp\.example\.com\/files\/mcp$/m);
    assert.match(text, /discovery: https:\/\/mcp\.example\.com\/\.well-known\/oauth-protected-resource\/files\/mcp$/m);
    const snippet = JSON.parse(/^ {2}\{\n[\s\S]*?^ {2}\}$/m.exec(text)?.[0] ?? '');
    assert.deepEqual(snippet, { mcpServers: { rel: { type: 'http', url: 'https://mcp.example.com/files/mcp' } } });
    assert.match(text, /A terminating pod has 50 s; its drain needs 50 s at most\./);
    assert.match(text, /WARNING: there are several replicas and config\.listener\.sessions\.keys is empty/);
  });

  it('warn of nothing where nothing is wrong', async () => {
    const text = await notes('production');
    assert.doesNotMatch(text, /WARNING/);
    assert.match(text, /discovery: https:\/\/tickets\.example\.com\/\.well-known\/oauth-protected-resource\/mcp$/m);
  });

  it('serve other ways to install as well', async () => {
    assert.match(await notes('existing-config'), /It reads the ConfigMap portcullis-config\./);
    const plain = join(folder, 'plain-values.yaml');
    writeFileSync(
      plain,
      readFileSync(ci('minimal'), 'utf8')
        .replace(/^ +public_url: .*\n/m, '')
        .replace('listener:', 'listener: {}'),
    );
    const text = theOnly(await render([plain], [], chart), 'Notes').data?.text ?? '';
    assert.match(text, /port-forward service\/rel-portcullis 8080:80/);
    assert.match(text, /"url": "http:\/\/127\.0\.0\.1:8080\/files\/mcp"/);
    assert.match(text, /WARNING: config\.listener\.public_url is not set/);
  });
});
