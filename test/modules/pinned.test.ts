import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtins } from '../../gates/index.js';
import { type ChainInput, checkChains, type GateConfig } from '../../src/gate-chain/load.js';
import { systemClock } from '../../src/system-clock.js';

// The option shapes that configs are written to: each built-in gate takes them as they stand here.
const mtls = { required: true, spiffe_trust_domains: ['corp.example'], principal: 'spiffe_id' };
const gates: Readonly<Record<string, GateConfig>> = {
  edge: { use: 'ip-allow', options: { allow: ['10.0.0.0/8', '2001:db8::/32'], deny: [] } },
  team: {
    use: 'principal-allow',
    options: {
      principals: ['https://id.example.com#alice'],
      clients: [],
      groups: { claim: 'groups', any: ['platform'], all: [] },
      spiffe_ids: [],
      facts: ['certificate'],
    },
  },
  calls: {
    use: 'method-allow',
    options: { methods: ['tools/*', 'server/discover'], tools: ['read_*'], prompts: [], resources: ['file:///public/*'] },
  },
  key: { use: 'api-key', options: { header: 'x-api-key', keys: [{ name: 'probe', sha256_file: './probe.sha256' }] } },
  ask: {
    use: 'forward-auth',
    options: {
      url: 'http://127.0.0.1:9000/check',
      timeout_ms: 2000,
      request_headers: ['authorization'],
      identity: { principal_header: 'x-user', scopes_header: 'x-scopes', groups_header: 'x-groups' },
    },
  },
  quota: { use: 'rate', options: { limit: 60, window_ms: 60_000, by: 'principal' } },
  token: { use: 'oauth-bearer', options: { issuer: 'https://id.example.com', clock_tolerance_s: 30 } },
  tokens: { use: 'oauth-bearer', options: { issuer: ['https://a.example', 'https://b.example'], required_scopes: ['mcp.read'] } },
  cert: {
    use: 'mtls',
    options: {
      ...mtls,
      source: 'xfcc',
      allow: { spiffe_ids: [], dns_sans: [], subjects: [], sha256: [] },
      shared_secret: { header: 'x-proxy-secret', value: 's3cret' },
      hops: 1,
      text_identity: false,
    },
  },
  nginx: { use: 'mtls', options: { source: 'nginx', cert_header: 'x-ssl-cert', verify_header: 'x-ssl-verify' } },
  rfc9440: { use: 'mtls', options: { source: 'rfc9440', verified_header: { name: 'x-client-verified', value: '1' } } },
  alb: { use: 'mtls', options: { source: 'alb', mode: 'verify' } },
};

const chains: readonly (readonly string[])[] = [
  ['cert', 'token', 'team', 'calls', 'quota'],
  ['token'],
  ['tokens', 'quota'],
  ['cert', 'team'],
  ['nginx', 'token'],
  ['rfc9440'],
  ['alb'],
  ['key', 'calls', 'quota'],
  ['ask', 'quota'],
  ['cert', 'ask'],
  ['calls'],
];
const input: ChainInput = {
  gates,
  listener_gates: ['edge'],
  routes: chains.map((names, i) => ({
    path: `/${i}/mcp`,
    url: `https://mcp.example.com/${i}/mcp`,
    runtime: 'r',
    gates: names,
    public: false,
  })),
  gate_timeout_ms: 10_000,
  public_url: 'https://mcp.example.com',
};

test('the pinned options and the chains that operators write have no problem', async () => {
  assert.deepEqual(await checkChains(input, { builtins, folder: '.', clock: systemClock }), []);
});

test('chains of built-in gates in a wrong order or company have one', async () => {
  const wrong = [
    ['team', 'cert', 'token'],
    ['quota', 'token'],
    ['token', 'key'],
    ['nginx', 'alb'],
    ['token', 'ask'],
  ];
  const routes = wrong.map((names, i) => ({ ...(input.routes[0] as ChainInput['routes'][number]), path: `/${i}`, gates: names }));
  const problems = await checkChains({ ...input, routes }, { builtins, folder: '.', clock: systemClock });
  assert.deepEqual(
    problems.map(({ where, message }) => `${where}: ${message}`),
    [
      'routes[0].gates[0]: gate "team" needs the fact "certificate" and an identity from a gate before it; put that gate first',
      'routes[1].gates[0]: gate "quota" needs an identity from a gate before it; put that gate first',
      'routes[2].gates: gates "token" and "key" both identify the caller; exactly one gate of a chain may',
      'routes[3].gates: gates "nginx" and "alb" would both identify the caller; exactly one gate of a chain may',
      'routes[4].gates: gates "token" and "ask" both identify the caller; exactly one gate of a chain may',
    ],
  );
});
