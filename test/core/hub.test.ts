import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Change, Wanted } from '../../src/contract/changes.js';
import { createHub } from '../../src/core/hub.js';

const wanted = (uris: readonly string[] = [], lists: Partial<Wanted> = {}): Wanted => ({
  tools: false,
  prompts: false,
  resources: false,
  ...lists,
  uris: new Set(uris),
});

describe('the hub', () => {
  const open = (hub: ReturnType<typeof createHub>, what: Wanted) => {
    const stop = new AbortController();
    return { stop, source: hub.open(what, { identity: undefined, signal: stop.signal })[Symbol.asyncIterator]() };
  };

  it('gives each subscription what it wants, and nothing else', async () => {
    const hub = createHub();
    const a = open(hub, wanted(['x:1'], { tools: true }));
    const b = open(hub, wanted(['x:1', 'x:2']));
    hub.resourceUpdated('x:3');
    hub.promptsChanged();
    hub.toolsChanged();
    hub.resourceUpdated('x:1');
    assert.deepEqual((await a.source.next()).value, { kind: 'tools' });
    assert.deepEqual((await a.source.next()).value, { kind: 'resource', uri: 'x:1' });
    assert.deepEqual((await b.source.next()).value, { kind: 'resource', uri: 'x:1' });
    const waiting = b.source.next();
    hub.resourceUpdated('x:2');
    assert.deepEqual((await waiting).value, { kind: 'resource', uri: 'x:2' });
    assert.equal(hub.subscribers, 2);
  });

  it('keeps for a reader that is behind each kind and each URI once', async () => {
    const hub = createHub();
    const { source } = open(hub, wanted(['x:1', 'x:2'], { tools: true, prompts: true, resources: true }));
    for (let i = 0; i < 1000; i++) {
      hub.toolsChanged();
      hub.promptsChanged();
      hub.resourcesChanged();
      hub.resourceUpdated(`x:${i % 3}`);
    }
    hub.end();
    const seen: Change[] = [];
    for (;;) {
      const { done, value } = await source.next();
      if (done === true) break;
      seen.push(value);
    }
    assert.deepEqual(seen, [
      { kind: 'tools' },
      { kind: 'prompts' },
      { kind: 'resources' },
      { kind: 'resource', uri: 'x:1' },
      { kind: 'resource', uri: 'x:2' },
    ]);
  });

  it('forgets a subscription that is aborted, returned or ended, and ends late ones at once', async () => {
    const hub = createHub();
    const aborted = open(hub, wanted(['x:1']));
    const returned = open(hub, wanted(['x:1']));
    const ended = open(hub, wanted(['x:1']));
    const waiting = aborted.source.next();
    aborted.stop.abort('client');
    assert.deepEqual(await waiting, { done: true, value: undefined });
    assert.equal(hub.subscribers, 2);
    await returned.source.return?.();
    assert.equal(hub.subscribers, 1);
    hub.end();
    assert.equal((await ended.source.next()).done, true);
    assert.equal(hub.subscribers, 0);
    assert.equal((await open(hub, wanted(['x:1'])).source.next()).done, true);
    assert.equal(hub.subscribers, 0);
  });
});
