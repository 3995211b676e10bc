import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { parse } from 'yaml';
import { exportedName, METRICS, type MetricName } from '../../src/telemetry/names.js';
import { dashboardExpressions } from '../support/dashboard.js';
import { repositoryPath } from '../support/repository.js';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const text = (name: string): string => readFileSync(repositoryPath(name), 'utf8');
const rules: readonly Rule[] = parse(text('deploy/prometheus/rules.yaml')).groups.flatMap(({ rules }: { rules: readonly Rule[] }) => rules);
const dashboard = text('deploy/grafana/dashboard.json');
const runbook = text('docs/runbook.md');
/** Labels that a scrape or an aggregation adds. */
const SCRAPED = ['job', 'instance', 'namespace', 'le'];

describe('deploy/prometheus/rules.yaml', () => {
  it('has alerts with a name of their own, a severity and a runbook', () => {
    assert.ok(rules.length >= 20);
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
    for (const { alert, labels, annotations } of rules) {
      assert.match(alert, /^Portcullis[A-Z]/);
      assert.ok(['critical', 'warning', 'info'].includes(labels.severity ?? ''), alert);
      assert.deepEqual(Object.keys(annotations).sort(), ['description', 'runbook_url', 'summary'], alert);
      assert.equal(annotations.runbook_url, `docs/runbook.md#${alert.toLowerCase()}`);
    }
  });

  for (const { alert, expr } of rules) {
    it(`${alert} asks for metrics and labels that exist`, () => checkNames(expr));
  }

  it('shows only labels that the expression keeps', () => {
    for (const { alert, expr, annotations } of rules) {
      const shown = [...`${annotations.summary} ${annotations.description}`.matchAll(/\$labels\.(\w+)/g)].map((match) => match[1] ?? '');
      const kept = [...expr.matchAll(/\bby \(([^)]*)\)/g)].map((match) => (match[1] ?? '').split(/,\s*/)).at(0);
      for (const label of shown) assert.ok(kept === undefined || kept.includes(label), `${alert}: ${label}`);
    }
  });
});

describe('docs/runbook.md', () => {
  it('has one section for each alert, in the order of the rules', () => {
    const sections = [...runbook.matchAll(/^### (Portcullis\w+)$/gm)].map((match) => match[1]);
    assert.deepEqual(
      sections,
      rules.map(({ alert }) => alert),
    );
  });

  it('says in each what it means, how to look and what to do', () => {
    for (const section of runbook.split(/^### /m).slice(1)) {
      for (const part of ['**Meaning.**', '**Look.**', '**Do.**'])
        assert.ok(section.includes(part), `${section.split('\n', 1)[0]}: ${part}`);
    }
  });

  it('names only metrics that exist', () => {
    const known = new Set(names().flatMap((name) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]));
    for (const [, name = ''] of runbook.matchAll(/`(portcullis_[a-z_]+)[`{]/g)) assert.ok(known.has(name), name);
  });
});

describe('deploy/grafana/dashboard.json', () => {
  const expressions = dashboardExpressions(dashboard);

  it('asks for metrics and labels that exist', () => {
    assert.ok(expressions.length >= 60);
    for (const { expr } of expressions) checkNames(expr);
  });

  it('shows every metric of the gateway', () => {
    const all = expressions.map(({ expr }) => expr).join('\n');
    assert.deepEqual(
      names().filter((name) => !new RegExp(`\\b${name}(_bucket|_count|_sum)?\\b`).test(all)),
      [],
    );
  });

  it('has panels with ids of their own that do not overlap', () => {
    const { panels } = JSON.parse(dashboard);
    assert.equal(new Set(panels.map(({ id }: { id: number }) => id)).size, panels.length);
    const taken = new Set<string>();
    for (const { title, gridPos } of panels) {
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          assert.ok(x < 24 && !taken.has(`${x} ${y}`), `${title} overlaps`);
          taken.add(`${x} ${y}`);
        }
      }
    }
  });
});

describe('copies for Helm and kustomize', async () => {
  const { deployCopies } = await import(pathToFileURL(repositoryPath('scripts/deploy-copies.mjs')).href);
  for (const [name, wanted] of Object.entries<string>(deployCopies(text('deploy/prometheus/rules.yaml'), dashboard))) {
    it(`${name} is what npm run print writes`, () => {
      assert.ok(existsSync(repositoryPath(name)), `${name} is missing: npm run print`);
      assert.ok(text(name) === wanted, `${name} is stale: npm run print`);
    });
  }
});

function names(): readonly string[] {
  return Object.keys(METRICS).map((name) => exportedName(name as MetricName));
}

/** Every metric of an expression is in the table, with each label that is asked for. */
function checkNames(expr: string): void {
  const known = new Map(Object.keys(METRICS).map((name) => [exportedName(name as MetricName), METRICS[name as MetricName]]));
  let found = 0;
  const plain = expr.replace(/\b(?:by|on|without)\s*\([^)]*\)/g, '');
  for (const [, name = '', selector = ''] of plain.matchAll(/\b((?:portcullis|mcp|nodejs|process)_[a-z_]+)\b(?:\{([^}]*)\})?/g)) {
    const row = known.get(name) ?? known.get(name.replace(/_(bucket|count|sum)$/, ''));
    assert.ok(row !== undefined, `${name} is not in src/telemetry/names.ts`);
    found++;
    for (const [, label = ''] of selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)) {
      assert.ok(SCRAPED.includes(label) || (row.labels as readonly string[]).includes(label), `${name} has no label ${label}`);
    }
  }
  assert.ok(found > 0 || expr.startsWith('up{'), expr);
}
