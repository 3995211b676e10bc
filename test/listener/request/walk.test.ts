import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { type Profiler, Session } from 'node:inspector/promises';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { createGateway } from '../../../src/index.js';
import { repositoryPath } from '../../support/repository.js';

const BODY = JSON.stringify({
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: {
    name: 'echo',
    arguments: { a: 1 },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'walk', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
});
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'echo',
  'content-length': BODY.length,
};
/** A timer's, which a busy machine runs within every call. */
const SWEEP = 'listener/socket/sweep.ts';
/** To the gateway, whose id is 1. */
const DISCOVERED = '{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{},"resultType":"complete"}}';
const ANSWER = '{"jsonrpc":"2.0","id":7,"result":{"content":[],"resultType":"complete"}}';

describe('the walk of a call through the files', () => {
  it('is what the README beside the code says, and at most 40 files', async () => {
    const ran = await filesOfOneCall();
    const page = readFileSync(repositoryPath('src/listener/request/README.md'), 'utf8');
    const table = paragraphAt(page, '| step');
    const leaves = paragraphAt(page, 'Leaves that');
    const named = namedIn(table);
    assert.deepEqual([...new Set([...named, ...namedIn(leaves)])].sort(), ran);
    assert.ok(named.size <= 40, `${named.size} files`);
  });
});

const paragraphAt = (page: string, start: string): string => page.slice(page.indexOf(start)).split('\n\n')[0] as string;

/** Paths below `src` in a text; the listener's rooms are named without `listener/`. */
function namedIn(text: string): Set<string> {
  const paths = [...text.matchAll(/`([a-z/-]+\.ts)`/g)].map((match) => match[1] as string);
  return new Set(paths.map((path) => (/^(socket|request)\//.test(path) ? `listener/${path}` : path)));
}

/** The files below `src` with a function that runs for each warm call on a proxied route behind a gate. */
async function filesOfOneCall(): Promise<string[]> {
  const upstream = createServer((incoming, response) => {
    const answer = incoming.headers['mcp-method'] === 'server/discover' ? DISCOVERED : ANSWER;
    incoming
      .resume()
      .on('end', () => response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length }).end(answer));
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const gateway = await createGateway({
    listener: { host: '127.0.0.1', port: 0 },
    ops: { port: 0 },
    telemetry: { log: { level: 'error' } },
    gates: { ip: { use: 'ip-allow', options: { allow: ['127.0.0.1/32'] } } },
    runtimes: { up: { kind: 'proxied', url: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp` } },
    routes: [{ path: '/mcp', runtime: 'up', gates: ['ip'], public: true }],
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const session = new Session();
  try {
    await gateway.start();
    const url = new URL('/mcp', gateway.url);
    const call = async (): Promise<void> => {
      const sent = request(url, { agent, method: 'POST', headers: HEADERS });
      sent.end(BODY);
      const [response] = await once(sent, 'response');
      const parts: Buffer[] = [];
      for await (const part of response) parts.push(part);
      assert.equal(Buffer.concat(parts).toString(), ANSWER);
    };
    for (let i = 0; i < 5; i++) await call();
    session.connect();
    await session.post('Profiler.enable');
    const calls: Set<string>[] = [];
    for (let i = 0; i < 5; i++) {
      await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
      await call();
      const { result } = await session.post('Profiler.takePreciseCoverage');
      calls.push(filesIn(result));
    }
    // Other tests' work and timers run now and then; what belongs to a call runs each time.
    const [first, ...others] = calls as [Set<string>, ...Set<string>[]];
    return [...first].filter((file) => file !== SWEEP && others.every((other) => other.has(file))).sort();
  } finally {
    session.disconnect();
    agent.destroy();
    await gateway.close();
    upstream.close();
  }
}

function filesIn(scripts: readonly Profiler.ScriptCoverage[]): Set<string> {
  const ran = scripts.filter(({ functions }) =>
    functions.some(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0),
  );
  return new Set(ran.flatMap(({ url }) => /\/dist\/src\/(.*)\.js$/.exec(url)?.[1] ?? []).map((path) => `${path}.ts`));
}
