import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ClientError, connect, loadTransport } from '../../src/client.js';
import { makeLog } from '../../src/testing.js';
import { repositoryPath } from '../support/repository.js';

const folder = repositoryPath('test/support/transports');
const load = (how: string) => loadTransport('file:./misbehaving.mjs', { folder, options: { how } });

/** What a client has of a transport that misbehaves like this: the answer of a call, or where it ended. */
async function outcome(how: string): Promise<string> {
  const client = await connect({ transport: await load(how) }, { start_timeout_ms: 200, timeout_ms: 2_000, timeout_max_ms: 100 }).catch(
    (error: ClientError) => error,
  );
  if (client instanceof Error) return `connect ${client.code}: ${client.message}`;
  const called = await client.callTool('any').catch((error: ClientError) => error);
  await client.close();
  if (called instanceof Error) return `call ${called.code}: ${called.message}`;
  return JSON.stringify(called.content);
}

const OK = '[{"type":"text","text":"ok"}]';

describe('the transport contract', () => {
  for (const [how, wanted] of Object.entries({
    nothing: OK,
    'start throws': 'connect UNREACHABLE: no cable',
    'start rejects': 'connect UNREACHABLE: no cable',
    'start never ends': "connect TIMEOUT: the transport's start took more than 200 ms",
    'init fails': 'connect TRANSPORT: NO_KEY: there is no key',
    'init throws': 'connect UNREACHABLE: no init',
    'init returns nothing':
      "connect TRANSPORT: MISBEHAVED: the transport's init returned neither { ok: true, value } nor { ok: false, fault }",
    'versions throw': "connect TRANSPORT: MISBEHAVED: the transport's supportedProtocolVersions threw: which?",
    'versions are a number': 'connect TRANSPORT: MISBEHAVED: the transport\'s supportedProtocolVersions returned neither "all" nor a list',
    'versions are unknown': 'connect NO_COMMON_VERSION: the transport speaks no known revision, none of the legacy era',
    'send throws': "call TRANSPORT: MISBEHAVED: the transport's sendMessage threw: cut",
    'send rejects': "call TRANSPORT: MISBEHAVED: the transport's sendMessage threw: cut",
    'send returns nothing':
      "call TRANSPORT: MISBEHAVED: the transport's sendMessage returned neither { ok: true, value } nor { ok: false, fault }",
    'send returns true':
      "call TRANSPORT: MISBEHAVED: the transport's sendMessage returned neither { ok: true, value } nor { ok: false, fault }",
    'send fails without words': "call TRANSPORT: MISBEHAVED: the transport's sendMessage failed and gave no { code, message }",
    'send fails': 'call TRANSPORT: JAMMED: paper in tray 2',
    'encode throws': "call TRANSPORT: MISBEHAVED: the transport's encode threw: too round",
    'encode returns text': "call TRANSPORT: MISBEHAVED: the transport's encode returned no bytes",
    'receive gets junk': OK,
    'closes in a call': 'call TRANSPORT: FIRE: it burns',
    'closes without words': 'call ENDED: the transport ended',
    'answers twice': OK,
    'shutdown throws': OK,
    'shutdown never ends': OK,
  })) {
    it(how, async () => assert.equal(await outcome(how), wanted));
  }

  it('what cannot be parsed is dropped, and told in the log', async () => {
    for (const [how, why] of [
      ['parse throws', "the transport's parse threw: eaten"],
      ['parse returns no list', "the transport's parse returned no list of messages"],
    ] as const) {
      const log = makeLog();
      const client = await connect({ transport: await load(how) }, { log, timeout_ms: 200 });
      await client.callTool('any');
      assert.equal(await client.callTool('any').catch((error: ClientError) => error.code), 'TIMEOUT', how);
      assert.ok(
        log.lines.some(({ message }) => message === `dropped: ${why}`),
        how,
      );
      await client.close();
    }
  });

  it('a module that is none is told what it lacks', async () => {
    const told = (module: string, options?: Readonly<Record<string, unknown>>) =>
      loadTransport(module, { folder, ...(options === undefined ? {} : { options }) }).then(
        () => assert.fail('it loaded'),
        (error: Error) => error.message,
      );
    assert.equal(await told('misbehaving'), 'misbehaving: names no module; write npm:<package> or file:<path>');
    assert.match(await told('file:./none.mjs'), /^file:\.\/none\.mjs: could not be loaded: /);
    assert.match(
      await told('npm:no-such-package'),
      /"no-such-package" is not installed in or above .*; the gateway never installs anything$/,
    );
    assert.equal(await told('file:./contract-2.mjs'), 'file:./contract-2.mjs: speaks transport contract 2; here contract 1 is spoken');
    assert.match(await told('file:../third-party-gates/misbehaving.mjs'), /has no named export "transport"/);
    assert.equal(await told('file:./misbehaving.mjs'), 'options.how: is required');
    assert.match(await told('file:./misbehaving.mjs', { how: 'x' }), /^options\.how: must be one of nothing, /);
    assert.equal(await told('file:./misbehaving.mjs', { how: 'open throws' }), 'no door');
    assert.equal(await told('file:./misbehaving.mjs', { how: 'opens nothing' }), 'what misbehaving opened is not a transport');
    assert.equal(
      await told('file:./misbehaving.mjs', { how: 'opens half' }),
      'what misbehaving opened is not a transport: it has no shutdown()',
    );
    assert.equal(
      await told('file:./misbehaving.mjs', { how: 'opens a broken whole' }),
      'what misbehaving opened is not a transport: its parse is not a function',
    );
    await assert.rejects(
      connect({ transport: {} as never }),
      new TypeError('connect: the transport is not a transport: it has no start()'),
    );
  });
});
