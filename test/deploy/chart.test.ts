import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { repositoryPath } from '../support/repository.js';

type Values = Record<string, unknown>;

const CHART = 'deploy/helm/portcullis';
const text = (name: string): string => readFileSync(repositoryPath(`${CHART}/${name}`), 'utf8');
const defaults: Values = parse(text('values.yaml'));
const schema = JSON.parse(text('values.schema.json'));
const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);
const ci = readdirSync(repositoryPath(`${CHART}/ci`));

describe('the Helm chart', () => {
  it('has the version of the package', () => {
    const { version } = JSON.parse(readFileSync(repositoryPath('package.json'), 'utf8'));
    const chart = parse(text('Chart.yaml'));
    assert.equal(chart.version, version);
    assert.equal(chart.appVersion, version);
  });

  it('has a schema for exactly its values, and every value is used', () => {
    assert.deepEqual(Object.keys(schema.properties).sort(), [...Object.keys(defaults), 'global'].sort());
    const templates = readdirSync(repositoryPath(`${CHART}/templates`))
      .map((name) => text(`templates/${name}`))
      .join('\n');
    for (const key of Object.keys(defaults)) assert.match(templates, new RegExp(`\\.Values\\.${key}\\b`), key);
  });

  it('has defaults that its schema accepts', () => {
    assert.ok(validate(defaults), JSON.stringify(validate.errors));
  });

  for (const name of ci) {
    it(`ci/${name} is accepted by the schema`, () => {
      assert.ok(validate(merged(defaults, parse(text(`ci/${name}`)))), JSON.stringify(validate.errors));
    });
  }

  it('refuses what the gateway would refuse, and values that do not exist', () => {
    const base = parse(text('ci/minimal-values.yaml'));
    const refused: readonly Values[] = [
      { replicas: 2 },
      { config: { listener: { limits: { max_conections: 5 } } } },
      { config: { gates: { token: { use: 'oauth-bearer', options: { issuers: 'https://id.example.com' } } } } },
      { config: { listener: { port: 70_000 } } },
      { config: { telemetry: { log: { level: 'loud' } } } },
      { rollOnConfigChange: 'sometimes' },
      { readinessProbe: { httpGet: { path: '/' } } },
      { image: { digest: 'sha256:1' } },
    ];
    for (const values of refused) assert.equal(validate(merged(merged(defaults, base), values)), false, JSON.stringify(values));
    assert.ok(validate(merged(merged(defaults, base), { config: { listener: { limits: { max_connections: '${MAX}' } } } })));
  });

  it('has no pattern that RE2 refuses, which Helm uses', () => {
    const patterns = [...text('values.schema.json').matchAll(/"pattern": "(.*)"/g)].map((match) => match[1] ?? '');
    assert.ok(patterns.length > 10);
    for (const pattern of patterns) {
      assert.doesNotMatch(pattern, /\(\?[=!<]|\\\\[1-9]/, 'lookaround or back reference');
      for (const [, , to] of pattern.matchAll(/\{([0-9]+),([0-9]+)\}/g)) assert.ok(Number(to) <= 1_000, pattern);
    }
  });

  it('replaces pods for exactly the keys that the gateway cannot reload', () => {
    const [, source = ''] =
      /^function restartKeys[\s\S]*?= \[\n([\s\S]*?)\n {2}\];/m.exec(readFileSync(repositoryPath('src/assembly/reload.ts'), 'utf8')) ?? [];
    const keys = [...source.matchAll(/\['([a-z_.]+)',/g)].map((match) => (match[1] ?? '').replace('listener.', ''));
    const [, helper = ''] = /define "portcullis\.restartKeys"([\s\S]*?)end -/.exec(text('templates/_helpers.tpl')) ?? [];
    const rolled = [...helper.matchAll(/"([a-z_]+)" (?:\$listener|\.Values\.config)\.([a-z_]+)/g)].map((match) => match[2] ?? '');
    assert.ok(keys.length >= 8);
    assert.deepEqual([...rolled].sort(), [...keys].sort());
  });

  it('tells every value that can be set in README.md', () => {
    const readme = text('README.md');
    for (const key of Object.keys(defaults)) assert.ok(readme.includes(`\`${key}`), `README.md does not tell ${key}`);
  });
});

describe('pages about running it', () => {
  const page = (name: string): string => readFileSync(repositoryPath(name), 'utf8');
  const PAGES = [
    'docs/clients.md',
    'docs/identity-providers.md',
    'docs/kubernetes.md',
    'docs/runbook.md',
    'docs/threat-model.md',
    `${CHART}/README.md`,
  ];

  it('show only values that the chart accepts', () => {
    let found = 0;
    for (const [, block = ''] of PAGES.flatMap((name) => [...page(name).matchAll(/^```yaml\n(.*?)^```$/gms)])) {
      const values = parse(block);
      if (!isMapping(values) || !('config' in values)) continue;
      found++;
      assert.ok(validate(merged(defaults, values)), `${block}\n${JSON.stringify(validate.errors)}`);
    }
    assert.equal(found, 2);
  });

  it('name only error codes, alerts and limits that exist', () => {
    const codes = page('docs/errors.md');
    const rules = page('deploy/prometheus/rules.yaml');
    const reference = page('config/REFERENCE.md');
    for (const name of PAGES) {
      const said = page(name);
      for (const [, code = ''] of said.matchAll(/`([A-Z]+_[A-Z_]+)`/g)) {
        if (code !== 'TERMINATION_GRACE_PERIOD_SECONDS') assert.ok(codes.includes(`\`${code}\``), `${name}: ${code}`);
      }
      for (const [alert] of said.matchAll(/\bPortcullis[A-Z]\w+/g)) assert.ok(rules.includes(`alert: ${alert}\n`), `${name}: ${alert}`);
      for (const [, limit = ''] of said.matchAll(/`(?!portcullis_)(max_[a-z_]+|[a-z_]+_(?:ms|bytes))`/g)) {
        assert.ok(reference.includes(`${limit}\``), `${name}: ${limit}`);
      }
    }
  });

  it('link to files that exist', () => {
    for (const name of PAGES) {
      for (const [, link = ''] of page(name).matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
        if (!link.includes('://')) assert.ok(existsSync(join(dirname(repositoryPath(name)), link)), `${name}: ${link}`);
      }
    }
  });

  it('tell the drain budget as the chart computes it', () => {
    const rows = page('docs/kubernetes.md')
      .split('\n')
      .filter((line) => / \d+ s \|$/.test(line));
    assert.equal(rows.length, 3);
    for (const row of rows) {
      const [delay_ms = 0] = [...row.matchAll(/\| (\d+) 000/g)].map((match) => Number(match[1]) * 1000);
      assert.match(row, new RegExp(` ${(delay_ms + 35_000) / 1000 + 5} s \\|$`));
    }
  });
});

/** Merges as Helm does: mappings by key, everything else replaced, null taken out. */
function merged(base: Values, over: Values): Values {
  const result: Values = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const old = result[key];
    if (value === null) delete result[key];
    else result[key] = isMapping(old) && isMapping(value) ? merged(old, value) : value;
  }
  return result;
}

function isMapping(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
