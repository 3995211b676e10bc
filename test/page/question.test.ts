import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readQuestion } from '../../src/page/question.js';

const form = (fields: Readonly<Record<string, string>>): string => new URLSearchParams(fields).toString();

function faultOf(fields: Readonly<Record<string, string>>): string {
  const read = readQuestion(form(fields));
  return 'fault' in read ? read.fault : 'none';
}

describe('the Explain form', () => {
  it('becomes the question of portcullis explain; empty fields are left out', () => {
    const read = readQuestion(
      form({
        route: ' /mcp ',
        token: 'Bearer abc',
        method: '',
        tool: 'read',
        address: '192.0.2.1',
        http_method: 'get',
        header: 'X-Api-Key: k\r\n\r\nx-a:1:2',
      }),
    );
    assert.ok('question' in read);
    const { question, asked } = read;
    assert.deepEqual(question, {
      path: '/mcp',
      http_method: 'GET',
      method: undefined,
      tool: 'read',
      revision: undefined,
      token: 'abc',
      certificate: undefined,
      address: '192.0.2.1',
      via: undefined,
      headers: [
        ['X-Api-Key', 'k'],
        ['x-a', '1:2'],
      ],
    });
    assert.deepEqual(asked, { route: '/mcp', tool: 'read', address: '192.0.2.1', http_method: 'get' });
  });

  it('says what is wrong with a field and never repeats what it holds', () => {
    for (const [fields, fault] of [
      [{}, /^Route is needed/],
      [{ route: 'mcp' }, /^Route is needed/],
      [{ route: '/mcp', tken: 'SECRET' }, /^There is a field that is not known; the fields are route, method, /],
      [{ route: '/mcp', token: 'SEC\nRET' }, /^The field token must be one line/],
      [{ route: '/mcp', token: `SECRET${'x'.repeat(40_000)}` }, /^The field token is too long/],
      [{ route: '/mcp', tool: 'x'.repeat(3000) }, /^The field tool is too long/],
      [{ route: '/mcp', address: 'SECRET' }, /^Client address must be one/],
      [{ route: '/mcp', address: '10.0.0.0/8' }, /^Client address must be one/],
      [{ route: '/mcp', via: 'SECRET' }, /^The address of the proxy/],
      [{ route: '/mcp', http_method: 'SECRET METHOD' }, /^HTTP method must be/],
      [{ route: '/mcp', certificate: 'SECRET' }, /^The certificate cannot be read/],
      [{ route: '/mcp', header: 'SECRET' }, /^Header fields are written/],
      [{ route: '/mcp', header: 'a b: SECRET' }, /^Header fields are written/],
      [{ route: '/mcp', header: 'a: 1\n'.repeat(65) }, /^There may be at most 64/],
    ] as const) {
      assert.match(faultOf(fields as Readonly<Record<string, string>>), fault);
      assert.doesNotMatch(faultOf(fields as Readonly<Record<string, string>>), /SECRET|tken/);
    }
  });

  it('shows again what is no secret, and nothing that is too long', () => {
    const read = readQuestion(form({ route: '/mcp', token: 'T\nU', header: 'a: b', certificate: 'c', tool: 'x'.repeat(3000) }));
    assert.deepEqual(read.asked, { route: '/mcp' });
  });
});
