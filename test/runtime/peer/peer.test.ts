import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Handshake } from '../../../src/runtime/peer/handshake.js';
import { readIncoming } from '../../../src/runtime/peer/incoming.js';
import { Peer, type PendingRequest } from '../../../src/runtime/peer/peer.js';
import { bridgedReplyMapper } from '../../../src/runtime/peer/reply-mapper.js';
import { createBackoff } from '../../../src/runtime/peer/spawner.js';
import { makeClock } from '../../../src/testing.js';
import type { Pipe } from '../../../src/transport/process-handle.js';
import { modernCall } from '../../support/proxied-bench.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A peer on a pipe that is held in the hand. */
function open(max_pending = 4) {
  const sent: string[] = [];
  const junk: string[] = [];
  const ends: string[] = [];
  const refused: string[] = [];
  const pipe: Pipe & { full: boolean } = {
    full: false,
    send: (line) => !pipe.full && sent.push(Buffer.from(line).toString()) > 0,
    onMessage: () => undefined,
    onTooLong: () => undefined,
    onClose: () => undefined,
    close: () => undefined,
  };
  const peer = new Peer(pipe, {
    max_pending,
    junk: (reason) => void junk.push(reason),
    refused: (method) => void refused.push(method),
    ended: (end) => void ends.push(end),
  });
  const told: string[] = [];
  const waiting = (name: string): PendingRequest => ({
    answered: (_line, { outcome }) => void told.push(`${name} answered ${outcome}`),
    noticed: (_line, kind) => void told.push(`${name} ${kind}`),
    lost: (code) => void told.push(`${name} lost ${code}`),
  });
  return { peer, pipe, sent, junk, ends, refused, told, waiting, says: (text: string) => pipe.onMessage(bytes(text)) };
}

describe('a peer', () => {
  it('answers each request once, by the id that it was given; anything else is counted', () => {
    const { peer, told, junk, waiting, says } = open();
    assert.deepEqual([peer.open(waiting('a')), peer.open(waiting('b'))], [1, 2]);
    says('{"jsonrpc":"2.0","id":2,"result":{"isError":true}}');
    says('{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":""}}');
    says('{"jsonrpc":"2.0","id":1,"result":{}}');
    says('{"jsonrpc":"2.0","id":3,"result":{}}');
    says('{"jsonrpc":"2.0","id":"1","result":{}}');
    says('{"jsonrpc":"2.0","id":"01","result":{}}');
    says('');
    says('{"jsonrpc":"2.0","method":"notifications/x"}');
    assert.deepEqual(told, ['b answered tool_error', 'a answered rpc_error']);
    assert.deepEqual(junk, ['late', 'unknown_id', 'late', 'unknown_id', 'unheard']);
    assert.equal(peer.pending, 0);
  });

  it('takes the string of an id for the id: in answers, broken ones too, progress and events; a byte order mark is no part of a line', () => {
    const { peer, told, junk, waiting, says } = open(8);
    for (const name of ['a', 'b', 'c', 'd', 'e']) peer.open(waiting(name));
    says('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"1","progress":1}}');
    says('{"jsonrpc":"2.0","method":"notifications/x","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"2"}}}');
    says('{"jsonrpc":"2.0","id":"1","result":{}}');
    says('{"jsonrpc":"2.0","id":"2","error":{"code":-1,"message":""}}');
    says('{"jsonrpc":"2.0","id":"3","result":{},"Result":{}}');
    says('\ufeff{"jsonrpc":"2.0","id":4,"result":{}}');
    for (const id of ['"5 "', '"05"', '5.0', '"+5"', '"0x5"', '50', '"50"', '"five"']) says(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
    assert.deepEqual(told, ['a progress', 'b event', 'a answered ok', 'b answered rpc_error', 'c lost UPSTREAM_BROKEN', 'd answered ok']);
    assert.equal(peer.pending, 1);
    assert.equal(junk.length, 9);
  });

  it('bounds what waits, and forgets', () => {
    const { peer, told, waiting, says } = open(1);
    assert.equal(peer.open(waiting('a')), 1);
    assert.equal(peer.open(waiting('b')), undefined);
    peer.forget(1);
    assert.equal(peer.open(waiting('c')), 2);
    says('{"jsonrpc":"2.0","id":1,"result":{}}');
    assert.deepEqual(told, []);
  });

  it('its end is told once to each that waits, and nothing comes after it', () => {
    const { peer, pipe, told, ends, waiting, says } = open();
    peer.open(waiting('a'));
    peer.open(waiting('b'));
    pipe.onClose('crash');
    pipe.onClose('crash');
    says('{"jsonrpc":"2.0","id":1,"result":{}}');
    assert.deepEqual([told, ends], [['a lost UPSTREAM_ENDED', 'b lost UPSTREAM_ENDED'], ['crash']]);
    assert.deepEqual([peer.closed, peer.open(waiting('c')), peer.say('{}')], [true, undefined, false]);
  });

  it('a broken or ambiguous answer ends its call; what is too deep or too odd is never relayed', () => {
    const { peer, told, junk, waiting, says } = open();
    for (const name of ['a', 'b', 'c', 'd']) peer.open(waiting(name));
    says('{"jsonrpc":"2.0","id":1,"result":{},"error":null}');
    says('{"jsonrpc":"2.0","id":2,"result":{},"Result":{}}');
    says(`{"jsonrpc":"2.0","id":3,"result":${'['.repeat(200)}${']'.repeat(200)}}`);
    says('{"jsonrpc":"2.0","id":4,"result":{bad}}');
    assert.deepEqual(
      told,
      ['a', 'b', 'c', 'd'].map((name) => `${name} lost UPSTREAM_BROKEN`),
    );
    assert.deepEqual(junk, Array(4).fill('no_message'));
  });
});

describe('readIncoming', () => {
  it('tells apart what a peer may say', () => {
    const kinds = (text: string) => readIncoming(bytes(text));
    assert.deepEqual(kinds('{"jsonrpc":"2.0","id":5,"result":{}}'), { kind: 'response', id: '5', outcome: 'ok', rpc_code: undefined });
    assert.deepEqual(kinds('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}'), {
      kind: 'progress',
      id: '"t"',
    });
    assert.equal(kinds('{"jsonrpc":"2.0","method":"notifications/progress","params":{}}').kind, 'junk');
    assert.deepEqual(kinds('{"jsonrpc":"2.0","method":"n","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":3}}}'), {
      kind: 'event',
      id: '3',
    });
    assert.equal(kinds('{"jsonrpc":"2.0","id":"e1","method":"ping"}').kind, 'request');
    for (const junk of [
      'Starting...',
      '{"level":"info"}',
      '[]',
      '"x"',
      '{"jsonrpc":"2.0","id":null,"method":"x"}',
      '{"jsonrpc":"1.0","id":1,"result":{}}',
    ])
      assert.equal(kinds(junk).kind, 'junk', junk);
  });
});

describe('the bridged teller', () => {
  const handshake = { server_info: '{"name":"s","version":"1"}' } as Handshake;
  const tell = (method: string, line: string) => {
    const response = readIncoming(bytes(line));
    assert.ok(response.kind === 'response');
    const told = bridgedReplyMapper(handshake, () => 'state')({ ...modernCall(method), id: '"c"' }, bytes(line), response);
    return told === undefined ? undefined : [told.status, told.rpc_code, Buffer.from(told.body).toString()];
  };
  const info = '"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}';

  it('adds to results what the revision wants, and leaves the rest byte for byte', () => {
    assert.deepEqual(tell('tools/call', '{"jsonrpc":"2.0","id":1,"result":{}}'), [
      200,
      undefined,
      `{"jsonrpc":"2.0","id":"c","result":{"resultType":"complete","_meta":{${info}}}}`,
    ]);
    assert.deepEqual(tell('tools/list', '{"result": {"tools":[1.0], "_meta":{"k":1E1}},"id":1,"jsonrpc":"2.0"}'), [
      200,
      undefined,
      `{"result": {"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[1.0], "_meta":{"k":1E1,${info}}},"id":"c","jsonrpc":"2.0"}`,
    ]);
    assert.deepEqual(
      tell('tools/list', '{"jsonrpc":"2.0","id":1,"result":{"resultType":"odd","ttlMs":5,"cacheScope":"public","_meta":null}}'),
      [200, undefined, `{"jsonrpc":"2.0","id":"c","result":{"resultType":"complete","ttlMs":5,"cacheScope":"public","_meta":{${info}}}}`],
    );
  });

  it('turns codes and statuses, and has no answer where there is no result object', () => {
    const error = (code: number) => tell('resources/read', `{"jsonrpc":"2.0","id":1,"error":{"code":${code},"message":"m"}}`)?.slice(0, 2);
    assert.deepEqual(error(-32002), [200, -32602]);
    assert.deepEqual(error(-32601), [404, -32601]);
    assert.deepEqual(error(-32602), [200, -32602]);
    assert.equal(tell('tools/call', '{"jsonrpc":"2.0","id":1,"result":[]}'), undefined);
  });
});

describe('the back-off', () => {
  it('doubles from 250 ms to 30 s and forgets after a quiet minute', () => {
    const clock = makeClock();
    const backoff = createBackoff(clock);
    assert.deepEqual([backoff.wait_ms, backoff.troubled], [0, false]);
    const waits: number[] = [];
    for (let i = 0; i < 9; i++) {
      backoff.failed();
      waits.push(backoff.wait_ms);
      clock.advance(backoff.wait_ms);
    }
    assert.deepEqual(waits, [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    assert.deepEqual([backoff.wait_ms, backoff.troubled], [0, true]);
    clock.advance(60_001);
    assert.equal(backoff.troubled, false);
    backoff.failed();
    assert.equal(backoff.wait_ms, 250);
  });
});

describe('a question of a peer', () => {
  it('is counted by its method when it is refused; a ping is none', () => {
    const { peer, refused, sent, says } = open();
    for (const method of ['roots/list', 'elicitation/create', 'ping', 'made/up']) says(`{"jsonrpc":"2.0","id":1,"method":"${method}"}`);
    assert.deepEqual(refused, ['roots/list', 'elicitation/create', 'made/up']);
    assert.equal(sent.length, 4);
    peer.close('DRAINING');
  });
});
