import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RouteTable } from '../../src/route/table.js';

describe('the other spelling of a path', () => {
  const table = new RouteTable([
    { path: '/mcp', prefix: false },
    { path: '/slash/', prefix: false },
    { path: '/', prefix: false },
    { path: '/ui', prefix: true },
  ]);

  it('differs by a slash at the end', () => {
    assert.equal(table.beside('/mcp/'), '/mcp');
    assert.equal(table.beside('/slash'), '/slash/');
  });

  it('is that of an exact route alone', () => {
    for (const path of ['/mcp', '/mcp//', '/MCP/', '', '/other', '/ui/', '/ui/x/'])
      assert.equal(table.beside(path), path === '' ? '/' : undefined, path);
  });
});
