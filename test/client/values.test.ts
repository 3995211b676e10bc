// Values of the options that end in a header field, an argument or an answer: whatever is not of the declared type is an error of the
// caller's, never the text that JavaScript makes of it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ClientError, type ConnectOptions, connect, type Target } from '../../src/client.js';
import { failure } from '../support/client-bench.js';
import { modern, startAnswers } from '../support/mcp-answers.js';

const NO_TEXT = [null, 0, 7, true, false, {}, [], ['t'], Symbol('t')] as const;

describe('a bearer callback', () => {
  const asks = async (token: unknown, run: (authorization: readonly (string | undefined)[], error: ClientError | undefined) => void) => {
    const server = await startAnswers(modern());
    try {
      for (const bearer of [() => token, async () => token]) {
        server.seen.length = 0;
        const error = await connect({ http: `${server.url}/mcp`, bearer: bearer as () => string }).then(
          (client) => client.close().then(() => undefined),
          (failed: ClientError) => failed,
        );
        run(
          server.seen.map(({ headers }) => headers.authorization),
          error,
        );
      }
    } finally {
      await server.close();
    }
  };

  it('that has no token yet sends none', () =>
    asks(undefined, (authorization, error) => assert.deepEqual([authorization, error], [[undefined], undefined])));

  for (const token of [...NO_TEXT, '', 'null\n', 'ü'])
    it(`that returns ${typeof token === 'object' ? JSON.stringify(token) : String(token)} fails the request, and nothing is sent`, () =>
      asks(token, (authorization, error) => {
        assert.deepEqual([authorization, error?.code], [[], 'CALLBACK_FAILED']);
        assert.match(error?.message ?? '', /^no token could be had: the bearer token (?:must be text|is empty|has characters)/);
      }));
});

describe('options of a target', () => {
  const http = 'http://127.0.0.1:1/mcp';
  const refused = (target: unknown, message: RegExp) =>
    assert.rejects(connect(target as Target), (error: Error) => error instanceof TypeError && message.test(error.message));

  it('that are not text are a TypeError before anything is sent', async () => {
    for (const value of NO_TEXT) {
      await refused({ http, bearer: value }, /^the bearer token must be text, not /);
      await refused({ http, headers: { 'x-key': value } }, /^headers: the value of "x-key" must be text, not /);
      await refused({ http, ca: value }, /^ca must be PEM text, not /);
      await refused({ stdio: { command: value } }, /^stdio: command must be text, not /);
      await refused({ stdio: { command: 'node', args: ['a', value] } }, /^stdio: args\[1\] must be text, not /);
      await refused({ stdio: { command: 'node', env: { KEY: value } } }, /^stdio: env\.KEY must be text, not /);
    }
    await refused({ http, bearer: '' }, /^the bearer token is empty$/);
    await refused({ http, headers: { 'x-key': undefined } }, /must be text, not undefined/);
  });
});

describe('a callback that answers questions', () => {
  const QUESTIONS = {
    elicit: { method: 'elicitation/create', params: { message: 'Who?' } },
    sample: { method: 'sampling/createMessage', params: {} },
    roots: { method: 'roots/list' },
  } as const;
  const asking = (question: object) =>
    modern((message) =>
      message.method === 'tools/call' && message.params.inputResponses === undefined
        ? { result: { resultType: 'input_required', inputRequests: { one: question } } }
        : undefined,
    );

  for (const [name, question] of Object.entries(QUESTIONS))
    it(`${name}: what is no ${name === 'roots' ? 'list' : 'object'} fails the call`, async () => {
      const server = await startAnswers(asking(question));
      for (const value of [undefined, null, 'text', 7, ...(name === 'roots' ? [{}] : [[]])]) {
        const client = await connect({ http: `${server.url}/mcp` }, { [name]: () => value } as ConnectOptions);
        const error = await failure(client.callTool('echo'));
        assert.equal(error.code, 'CALLBACK_FAILED', String(value));
        assert.match(error.message, new RegExp(`^the callback for ${question.method} failed: it returned `));
        await client.close();
      }
      assert.equal(server.messages.filter(({ method }) => method === 'tools/call').length, 5, 'no call was made again');
      await server.close();
    });
});
