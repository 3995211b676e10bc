import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkDecision, recall, remember } from '../../src/gate-chain/decision.js';

const PROVIDES: ReadonlySet<string> = new Set(['groups']);

function decisionOf(scopes = new Set(['read', 'write'])) {
  const identity = Object.freeze({ principal: 'alice', issuer: 'x', scopes });
  return Object.freeze({ kind: 'identify', identity, facts: Object.freeze({ groups: Object.freeze(['ops']) }) });
}

function learn(answer: unknown, provides: ReadonlySet<string> | undefined = PROVIDES) {
  const decision = checkDecision(answer, provides);
  assert.equal(decision.kind, 'identify');
  if (decision.kind === 'identify') remember(answer, provides, decision);
  return decision;
}

describe('a decision that was checked before', () => {
  test('is the same object again, with its identity whole and frozen', () => {
    const answer = decisionOf();
    const decision = learn(answer);
    const known = recall(answer, PROVIDES);
    assert.equal(known?.decision, decision);
    assert.deepEqual(
      { ...known?.identity, scopes: undefined },
      { principal: 'alice', issuer: 'x', scopes: undefined, facts: { groups: ['ops'] } },
    );
    assert.deepEqual([...(known?.identity.scopes ?? [])], ['read', 'write']);
    assert.equal(Object.isFrozen(known?.identity), true);
    assert.notEqual(known?.identity.scopes, answer.identity.scopes);
  });

  test('is not known to a gate that may write other facts', () => {
    const answer = decisionOf();
    learn(answer);
    assert.equal(recall(answer, new Set(['groups'])), undefined);
    assert.equal(recall(answer, undefined), undefined);
  });

  test('is checked anew when the gate changed its scopes', () => {
    const scopes = new Set(['read', 'write']);
    const answer = decisionOf(scopes);
    learn(answer);
    scopes.delete('write');
    assert.equal(recall(answer, PROVIDES), undefined);
    scopes.add('admin');
    assert.equal(recall(answer, PROVIDES), undefined);
    assert.deepEqual([...(learn(answer) as { identity: { scopes: ReadonlySet<string> } }).identity.scopes], ['read', 'admin']);
    assert.deepEqual([...(recall(answer, PROVIDES)?.identity.scopes ?? [])], ['read', 'admin']);
  });

  const loose: Readonly<Record<string, object>> = {
    'the decision': { ...decisionOf() },
    'the identity': Object.freeze({ ...decisionOf(), identity: { ...decisionOf().identity } }),
    'the facts': Object.freeze({ ...decisionOf(), facts: { groups: [] } }),
    'a getter': Object.freeze({
      kind: 'identify',
      get identity() {
        return decisionOf().identity;
      },
    }),
  };
  for (const [name, answer] of Object.entries(loose)) {
    test(`is not kept when ${name} could change`, () => {
      learn(answer);
      assert.equal(recall(answer, PROVIDES), undefined);
    });
  }

  test('is nothing that is no object', () => {
    for (const answer of [undefined, null, 'identify', 1]) assert.equal(recall(answer, PROVIDES), undefined);
  });
});
