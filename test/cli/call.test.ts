import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { runCli } from '../support/cli.js';
import { folderWith } from '../support/config-files.js';
import { ANSWERED, type Heard, modern, sendEvents, sendJson, startAnswers } from '../support/mcp-answers.js';
import { repositoryPath } from '../support/repository.js';

const TOOLS = [
  {
    name: 'echo',
    description: 'Says it again.\nAnd more.',
    inputSchema: { type: 'object', properties: { text: {}, loud: {} }, required: ['text'] },
  },
  { name: 'fails\u001b[31m', inputSchema: { type: 'object' } },
];
const CHALLENGE =
  'Bearer error="invalid_token", error_description="The token \\"x\\" has expired.", scope="files.read", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"';
let server: Heard;
let url: string;
const { folder, remove } = folderWith({ 'token.txt': 'good\n', 'old.txt': 'old' });

before(async () => {
  server = await startAnswers(
    modern((message, request, response) => {
      const { authorization } = request.headers;
      if (request.url === '/closed' && authorization !== 'Bearer good') {
        const headers: Record<string, string> =
          authorization === undefined
            ? { 'www-authenticate': 'Bearer resource_metadata="https://a.example/m"' }
            : { 'www-authenticate': CHALLENGE };
        sendJson(response, 401, { jsonrpc: '2.0', id: message.id, error: { code: -32600, message: 'Not you.' } }, headers);
        return ANSWERED;
      }
      if (request.url === '/keyed') {
        const headers = { 'www-authenticate': 'ApiKey header="x-api-key"' };
        sendJson(response, 401, { jsonrpc: '2.0', id: message.id, error: { code: -32600, message: 'No key.' } }, headers);
        return ANSWERED;
      }
      const { name, arguments: args } = message.params ?? {};
      if (name === 'fails\u001b[31m') return { result: { content: [{ type: 'text', text: 'no luck' }], isError: true } };
      if (args?.text === 'rpc') return { error: { code: -32602, message: 'Not this text.', data: { field: 'text' } } };
      if (args?.text === 'ask')
        return { result: { resultType: 'input_required', inputRequests: { a: { method: 'elicitation/create', params: {} } } } };
      if (args?.text === 'hang') return ANSWERED;
      if (args?.text !== 'steps') return undefined;
      const say = sendEvents(response);
      say({ method: 'notifications/progress', params: { progressToken: message.id, progress: 1, total: 2, message: 'half\u001b[2J' } });
      say({
        id: message.id,
        result: {
          content: [
            { type: 'text', text: 'done' },
            { type: 'image', data: 'AA==', mimeType: 'image/png' },
          ],
        },
      });
      return ANSWERED;
    }, TOOLS),
  );
  url = `${server.url}/mcp`;
});
after(async () => {
  remove();
  await server.close();
});
const run = (...args: readonly string[]) => runCli(['call', ...args], folder);

describe('portcullis call', () => {
  it('lists the tools, with nothing that drives a terminal', async () => {
    const { code, stdout } = await run(url);
    assert.equal(code, 0);
    assert.equal(stdout, 'new 2, modern 2026-07-28: 2 tools\n  echo  text, [loud]\n      Says it again.\n  fails [31m\n');
    assert.deepEqual(JSON.parse((await run(url, '--json')).stdout)[1], TOOLS[1]);
  });

  it('prints the result, and progress on standard error', async () => {
    assert.deepEqual(await run(url, 'echo', '{"text":"hi"}'), { code: 0, stdout: '{"text":"hi"}\n', stderr: '' });
    const image = '{"type":"image","data":"AA==","mimeType":"image/png"}';
    assert.deepEqual(await run(url, 'echo', '{"text":"steps"}'), { code: 0, stdout: `done\n${image}\n`, stderr: '[1/2] half [2J\n' });
    assert.equal(JSON.parse((await run(url, 'echo', '{"text":"hi"}', '--json')).stdout).content[0].text, '{"text":"hi"}');
  });

  it('ends with 1 when the tool failed, 76 when the server answered an error', async () => {
    assert.deepEqual(await run(url, 'fails\u001b[31m'), {
      code: 1,
      stdout: 'no luck\n',
      stderr: 'error: fails\u001b[31m answered that it failed\n',
    });
    const { code, stderr } = await run(url, 'echo', '{"text":"rpc"}');
    assert.deepEqual([code, stderr], [76, 'error: the server answered error -32602: Not this text.\n  data: {"field":"text"}\n']);
    const asked = await run(url, 'echo', '{"text":"ask"}');
    assert.deepEqual(
      [asked.code, asked.stderr],
      [76, 'error: the server asks for elicitation/create, which this client has no callback for; the command line cannot be asked\n'],
    );
  });

  it('ends with 69 when nobody answers', async () => {
    const nobody = await run('http://127.0.0.1:1/mcp');
    assert.deepEqual(
      [nobody.code, nobody.stderr],
      [69, 'error: cannot connect to http://127.0.0.1:1: nothing listens there (ECONNREFUSED)\n'],
    );
    const late = await run(url, 'echo', '{"text":"hang"}', '--timeout', '2000');
    assert.deepEqual([late.code, late.stderr], [69, 'error: tools/call was not answered within 2000 ms\n']);
  });

  it('explains a challenge, exit 77', async () => {
    const closed = `${server.url}/closed`;
    const bare = await run(closed);
    assert.equal(bare.code, 77);
    assert.equal(
      bare.stderr,
      'error: the server answered 401: Not you.\n  The server requires an access token: --token-file FILE.\n  Who gives tokens for it: https://a.example/m\n',
    );
    const { code, stderr } = await run(closed, '--token-file', 'old.txt');
    assert.equal(code, 77);
    assert.deepEqual(stderr.trim().split('\n'), [
      'error: the server answered 401: Not you.',
      '  The server does not take this token.',
      '  It says: invalid_token, The token "x" has expired.',
      '  Scopes that it needs: files.read',
      '  Who gives tokens for it: https://mcp.example.com/.well-known/oauth-protected-resource/mcp',
    ]);
    assert.equal((await run(closed, '--token-file', 'token.txt')).code, 0);
    assert.equal(
      (await run(`${server.url}/keyed`)).stderr,
      'error: the server answered 401: No key.\n  The server requires an API key: --header "x-api-key: KEY".\n',
    );
  });

  it('says what is wrong with the command line, exit 64', async () => {
    const usage = async (...args: readonly string[]) => {
      const { code, stderr, stdout } = await run(...args);
      assert.deepEqual([code, stdout], [64, ''], args.join(' '));
      return stderr.trimEnd();
    };
    assert.equal(await usage(), 'error: which server? portcullis call URL, or portcullis call -- COMMAND');
    assert.equal(await usage('mcp'), 'error: "mcp" is not an http:// or https:// URL; a command goes after --');
    assert.equal(await usage(url, 'ecko', '{}'), 'error: the server lists no tool "ecko"; did you mean echo? (there is echo, fails [31m)');
    assert.equal(
      await usage(url, 'echo', '{"a":1,}'),
      `error: the arguments are not JSON: Expected double-quoted property name, at 1:8\n  {"a":1,}\n         ^`,
    );
    assert.equal(await usage(url, 'echo', '{"a":'), `error: the arguments are not JSON: it ends too early, at 1:6\n  {"a":\n       ^`);
    assert.equal(await usage(url, 'echo', '[]'), 'error: the arguments must be a JSON object such as {"name":"value"}, not a list');
    assert.equal(await usage(url, 'echo', '{', '}'), 'error: more than a tool and its arguments; put the JSON in quotes');
    assert.equal(await usage(url, '--token-file', 'none'), 'error: --token-file none cannot be read (ENOENT)');
    assert.equal(await usage('--token-file', 'token.txt', '--', 'node'), 'error: --token-file, --header and --ca-file go with a URL');
    assert.equal(await usage('--', ''), 'error: a command goes after --');
    assert.match(await usage(url, '--timeout', '0'), /a time is a positive number of milliseconds/);
    assert.equal(await usage(url, '--header', 'host: x'), 'error: headers: host is set by the protocol');
  });

  it('calls a server over stdio, after --', async () => {
    const command = ['--', process.execPath, repositoryPath('dist/test/support/stdio/server.js')];
    const listed = await run('--json', ...command);
    assert.equal(listed.code, 0, listed.stderr);
    assert.ok(JSON.parse(listed.stdout).length > 0);
    const absent = await run('--', '/no/such/command');
    assert.deepEqual([absent.code, absent.stderr], [69, 'error: /no/such/command cannot be started\n']);
  });
});
