import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
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

  it('tells every value that can be set in README.md', () => {
    const readme = text('README.md');
    for (const key of Object.keys(defaults)) assert.ok(readme.includes(`\`${key}`), `README.md does not tell ${key}`);
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
