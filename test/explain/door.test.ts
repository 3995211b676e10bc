import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { runCli } from '../support/cli.js';
import { folderWith } from '../support/config-files.js';

const { folder, remove } = folderWith({
  'portcullis.yaml': `listener: { public_url: https://mcp.example.com, allowed_hosts: [mcp.example.com], allowed_origins: [app.example.com] }
gates: { edge: { use: ip-allow, options: { allow: [127.0.0.0/8] } } }
runtimes:
  a: { kind: proxied, url: "http://127.0.0.1:1/mcp" }
  ui: { kind: http, url: "http://127.0.0.1:1/" }
routes:
  - { path: /mcp, gates: [edge], runtime: a }
  - { path: /ui, gates: [edge], runtime: ui }
`,
});

/** Outcome, status and code of `explain` for a request. */
async function asked(...args: readonly string[]): Promise<readonly unknown[]> {
  const { stdout } = await runCli(['explain', '--json', '--route', ...args], folder);
  const { outcome, status, code } = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
  return [outcome, status, code];
}

describe('explain, at the door', () => {
  after(remove);

  it('says what the listener says before a gate is asked', async () => {
    const admitted = ['admitted', 0, ''];
    assert.deepEqual(await asked('/mcp'), admitted);
    assert.deepEqual(await asked('/mcp', '--header', 'Origin: https://evil.example'), ['refused', 403, 'ORIGIN_NOT_ALLOWED']);
    assert.deepEqual(await asked('/mcp', '--header', 'Origin: https://app.example.com'), admitted);
    assert.deepEqual(await asked('/mcp', '--header', 'Host: 10.0.0.1'), ['refused', 403, 'HOST_NOT_ALLOWED']);
    assert.deepEqual(await asked('/mcp', '--header', 'Accept: text/html'), ['refused', 406, 'NOT_ACCEPTABLE']);
    assert.deepEqual(await asked('/mcp', '--header', 'Content-Type: text/plain'), ['refused', 415, 'MEDIA_TYPE']);
    assert.deepEqual(await asked('/mcp', '--header', 'Content-Length: 2000001'), ['refused', 413, 'BODY_TOO_LARGE']);
    assert.deepEqual(await asked('/mcp', '--header', 'Mcp-Method: tools/call'), ['refused', 400, 'HEADER_MISMATCH']);
    assert.deepEqual(await asked('/mcp', '--http-method', 'PUT'), ['refused', 405, 'METHOD_NOT_ALLOWED']);
    assert.deepEqual(await asked('/mcp', '--http-method', 'GET'), ['refused', 405, 'METHOD_NOT_ALLOWED']);
    assert.deepEqual(await asked('/mcp', '--http-method', 'GET', '--revision', '2025-11-25'), admitted);
    assert.deepEqual(await asked('/ui/a', '--http-method', 'PUT'), admitted);
    assert.deepEqual(await asked('/ui/a', '--header', 'Origin: https://evil.example'), ['refused', 403, 'ORIGIN_NOT_ALLOWED']);
  });

  it('names the rule and what to do', async () => {
    const { code, stdout } = await runCli(['explain', '--route', '/mcp', '--header', 'Origin: https://evil.example'], folder);
    assert.equal(code, 1);
    assert.match(stdout, /^✗ headers +refuse ORIGIN_NOT_ALLOWED/m);
    assert.match(stdout, /^ {2}Add the origin to listener\.allowed_origins if it may call\.$/m);
  });
});
