// What oauth-bearer adds to a request whose token it remembers, in CPU time a decision: node dist/bench/gate-remembered.js
import type { GateContext, GateDecision, RequestHead } from 'portcullis/gate';
import { makeContext, makeHead, makeHost, openGate } from 'portcullis/testing';
import { gate as module } from '../gates/oauth-bearer/gate.js';
import { systemClock } from '../src/system-clock.js';
import { makeKey, startIssuer } from '../test/gates/oauth-bearer/support/fake-issuer.js';

const ROUNDS = 7;
const CALLS = 100_000;
const TOKENS = 1_000;

const issuer = await startIssuer('', [await makeKey('k1', 'RS256')]);
const shared: { close?(): Promise<void> }[] = [];
const host = makeHost({
  clock: { ...systemClock, advance: () => {}, pending: 0 },
  shared: <T extends { close?(): Promise<void> }>(_key: string, create: () => T): T => {
    const value = create();
    shared.push(value);
    return value;
  },
});
const options = {
  issuer: issuer.url,
  required_scopes: ['mcp.read'],
  tool_scopes: { 'delete_*': ['files.write'], '*_all': ['files.bulk'] },
};
const gate = await openGate(module, options, host);
const heads: RequestHead[] = [];
for (let i = 0; i < TOKENS; i += 1) {
  const now_s = Math.floor(Date.now() / 1000);
  const aud = makeContext().route.url;
  const claims = {
    iss: issuer.url,
    aud,
    sub: `user-${i}`,
    client_id: 'app',
    iat: now_s,
    exp: now_s + 3600,
    scope: 'mcp.read files.write',
    groups: ['ops'],
  };
  const authorization = `Bearer ${await issuer.sign(claims)}`;
  heads.push(
    makeHead({ headers: { authorization, host: 'h', accept: 'application/json' }, claims: { method: 'tools/call', name: 'read_file' } }),
  );
}
const context = makeContext();
const decide = (head: RequestHead, at: GateContext): GateDecision | Promise<GateDecision> => gate.decide(head, at);
const verifying = await measure(heads.length, async () => {
  for (const head of heads) if ((await decide(head, context)).kind !== 'identify') throw new Error('the token was refused');
});
const rounds: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  rounds.push(
    await measure(CALLS, () => {
      for (let i = 0; i < CALLS; i += 1)
        if (decide(heads[i % TOKENS] as RequestHead, context) instanceof Promise) throw new Error('the token was not remembered');
    }),
  );
}
console.log(`verified for the first time (RS256)        ${verifying.toFixed(1)} µs`);
console.log(`remembered (${TOKENS} tokens, 2 tool patterns)  ${(rounds.sort((a, b) => a - b)[ROUNDS >> 1] as number).toFixed(2)} µs`);
await gate.close?.();
for (const value of shared) await value.close?.();
await issuer.close();

async function measure(calls: number, run: () => void | Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}
