import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { defineServer } from '../../src/server.js';
import { type ProtocolGateway, startProtocolGateway } from '../support/protocol/gateway.js';

let gateway: ProtocolGateway;
before(async () => {
  gateway = await startProtocolGateway();
});
after(() => gateway.close());

describe('resources', () => {
  it('RES-05 RES-08 a URI is an absolute URI of RFC 3986, declared or asked for', async () => {
    const define = (uri: string) => defineServer({ name: 's', version: '1', resources: [{ uri, name: 'r', read: () => '' }] });
    for (const uri of ['acme:x', 'acme+v1.0-x://a/b?c#d', 'file:///a']) define(uri);
    for (const uri of ['', 'x', '/a', '1a:x', 'a b:x', 'acme:a b', 'acme:ä', '://x']) assert.throws(() => define(uri), /absolute URI/, uri);
    for (const uri of ['', 'text', 'test://item/', 'test://item/a/b', 'test://item/a b', 'test://item/%zz', 'TEST://TEXT', 'test://text#'])
      assert.equal((await gateway.ask('resources/read', { uri })).message.error?.code, -32602, uri);
    for (const uri of [7, null, ['test://text']]) {
      const headers = { 'mcp-name': 'test://text' };
      assert.equal((await gateway.ask('resources/read', { uri }, { headers })).message.error?.code, -32602, JSON.stringify(uri));
    }
  });

  it('RES-06 RES-07 a resource that is not there is -32602 with its URI, also when a template would make it', async () => {
    for (const uri of ['test://none', 'test://item/none']) {
      const { status, message } = await gateway.ask('resources/read', { uri });
      assert.deepEqual(
        [status, message.error, message.result],
        [200, { code: -32602, message: 'Resource not found', data: { uri } }, undefined],
      );
    }
    assert.equal((await gateway.ask('resources/read', { uri: 'test://item/1' })).message.result.contents[0].text, 'item 1');
    const { error, result } = (await gateway.ask('resources/read', { uri: 'test://empty' })).message;
    assert.deepEqual([error?.code, result], [-32603, undefined]);
  });

  it('RES-09 bytes are base64', async () => {
    const [content] = (await gateway.ask('resources/read', { uri: 'test://bytes' })).message.result.contents;
    assert.deepEqual(Object.keys(content).sort(), ['blob', 'mimeType', 'uri']);
    assert.deepEqual(
      [...Buffer.from(content.blob, 'base64')],
      Array.from({ length: 256 }, (_, n) => n),
    );
  });
});
