import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { Hearing, type RawUpstream, rawUpstream } from '../support/raw-upstream.js';

const informational = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n';
const WIRES: Readonly<Record<string, readonly [wire: string, outcome: string]>> = {
  length: ['HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 5\r\n\r\nhello', '200 hello'],
  chunked: ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nhel\r\n2\r\nlo\r\n0\r\nT: x\r\n\r\n', '200 hello'],
  'nothing in it': ['HTTP/1.1 204 No Content\r\n\r\n', '204 '],
  'a length of 0': ['HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n', '202 '],
  'the end of the connection': ['HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello', '200 hello'],
  'a length after 1xx': [`${informational}HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello`, '200 hello'],
  'chunks after 1xx': [`${informational}HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`, '500 hello'],
};

/** Writes `parts` so that each is one read of the other side's. */
async function writeApart(socket: Socket, parts: readonly string[]): Promise<void> {
  for (const part of parts) {
    socket.write(part, 'latin1');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

describe('upstream: an answer cut anywhere', () => {
  let up: RawUpstream;
  let parts: readonly string[] = [];
  let ends = false;
  before(async () => {
    up = await rawUpstream((socket) => void writeApart(socket, parts).then(() => ends && socket.end()));
  });
  after(() => up.close());

  for (const [name, [wire, outcome]] of Object.entries(WIRES)) {
    const closes = name === 'the end of the connection';
    it(`ended by ${name}: in two reads, at every byte, it is the same answer`, async () => {
      ends = closes;
      const before_count = up.accepted.length;
      for (let cut = 0; cut <= wire.length; cut++) {
        parts = [wire.slice(0, cut), wire.slice(cut)].filter((part) => part !== '');
        assert.equal(await up.ask('{}').done, outcome, `cut at ${cut}`);
      }
      assert.ok(up.accepted.length - before_count <= (closes ? wire.length + 1 : 1), 'connections');
    });

    it(`ended by ${name}: byte by byte`, async () => {
      ends = closes;
      parts = [...wire];
      assert.equal(await up.ask('{}').done, outcome);
    });

    it(`ended by ${name}: lost at any byte it is CLOSED, never a shorter answer`, async () => {
      ends = true;
      for (let cut = 0; cut < wire.length; cut++) {
        parts = cut === 0 ? [] : [wire.slice(0, cut)];
        const heard = up.ask('{}', new Hearing());
        const want = closes && cut >= wire.length - 5 ? `200 ${'hello'.slice(0, cut - wire.length + 5)}` : 'CLOSED';
        assert.equal(await heard.done, want, `cut at ${cut}`);
      }
    });
  }
});
