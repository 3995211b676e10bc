import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gate as apiKey } from '../../gates/api-key/gate.js';
import { gate as forwardAuth } from '../../gates/forward-auth/gate.js';
import { gate as mtls } from '../../gates/mtls/gate.js';
import { gate as principalAllow } from '../../gates/principal-allow/gate.js';
import type { GateDecision, Identity } from '../../src/gate.js';
import { createGateway } from '../../src/index.js';
import { forwardedIdentity } from '../../src/runtime/shared/forwarded-identity.js';
import { makeClock, makeContext, makeHead, makeHost, openGate } from '../../src/testing.js';
import { folderWith } from '../support/config-files.js';
import { FIELD_NAMES } from '../support/field-names.js';
import { startMcpUpstream } from '../support/mcp-upstream.js';
import { tool, whole } from '../support/send.js';
import { closeServer, listen } from '../support/upstream.js';
import { escaped, issue } from './mtls/certificates.js';

let fields: Readonly<Record<string, string>> = {};
/** The last question, as bytes. */
let asked = '';
const service = createServer((request, response: ServerResponse) => {
  asked = request.headers['x-asks'] as string;
  response.writeHead(200, fields).end();
});
let url = '';
before(async () => {
  url = `http://127.0.0.1:${await listen(service)}/check`;
});
after(() => closeServer(service, []));

/** Asks forward-auth, whose service answers with these fields. */
async function forwarded(answer: Readonly<Record<string, string>>): Promise<GateDecision> {
  fields = answer;
  const options = { principal_header: 'x-user', scopes_header: 'x-scopes', groups_header: 'x-groups', client_header: 'x-client' };
  const gate = await openGate(forwardAuth, { url, identity: options, request_headers: ['x-asks'] }, makeHost());
  try {
    return await gate.decide(makeHead({ headers: { 'x-asks': answer['x-user'] ?? '' } }), makeContext());
  } finally {
    await gate.close?.();
  }
}

async function xfcc(value: string): Promise<GateDecision> {
  const options = { source: 'xfcc', text_identity: true, principal: 'subject' };
  const gate = await openGate(mtls, options, makeHost({ clock: makeClock(Date.parse('2026-06-01T00:00:00Z')) }));
  const hash = value.startsWith('Cert') ? '' : `Hash=${'a'.repeat(64)};`;
  const headers = { 'x-forwarded-client-cert': hash + value };
  return gate.decide(makeHead({ headers, peer: { trusted: true } }), makeContext());
}

async function key(bytes: string): Promise<GateDecision> {
  const keys = [...FIELD_NAMES.entries()].flatMap(([i, [, , name]]) =>
    name === undefined ? [] : [{ name: `key-${i}`, sha256: createHash('sha256').update(name).digest('hex') }],
  );
  const gate = await openGate(apiKey, { keys }, makeHost());
  return gate.decide(makeHead({ headers: { 'x-api-key': bytes } }), makeContext());
}

/** What a decision says of one name, or the refusal. */
function read(
  decision: GateDecision,
  pick: (identity: Omit<Identity, 'facts'>, facts: Readonly<Record<string, unknown>>) => unknown,
): unknown {
  if (decision.kind === 'identify') return pick(decision.identity, decision.facts ?? {});
  return decision.kind === 'refuse' ? `${decision.status} ${decision.code}` : decision.kind;
}

const BROKEN = '502 FORWARD_AUTH_BROKEN';
const MALFORMED = '403 CLIENT_CERTIFICATE_MALFORMED';

interface Source {
  readonly field: string;
  readonly of: (bytes: string) => Promise<unknown>;
  /** What a field that names nobody comes to. */
  readonly refusal: string;
  /** Fields whose names are ASCII by their own standard. */
  readonly ascii?: boolean;
}
const SOURCES: readonly Source[] = [
  { field: 'principal of forward-auth', of: async (x) => read(await forwarded({ 'x-user': x }), (who) => who.principal), refusal: BROKEN },
  {
    field: 'client of forward-auth',
    of: async (x) => read(await forwarded({ 'x-user': 'a', 'x-client': x }), (who) => who.client),
    refusal: BROKEN,
  },
  {
    field: 'scopes of forward-auth',
    of: async (x) => read(await forwarded({ 'x-user': 'a', 'x-scopes': `read ${x}` }), (who) => [...who.scopes][1]),
    refusal: BROKEN,
  },
  {
    field: 'groups of forward-auth',
    of: async (x) => read(await forwarded({ 'x-user': 'a', 'x-groups': `ops,\t${x} ` }), (_who, facts) => (facts.groups as string[])[1]),
    refusal: BROKEN,
  },
  { field: 'Subject of xfcc', of: async (x) => read(await xfcc(`Subject="${x}"`), (who) => who.principal), refusal: MALFORMED },
  {
    field: 'URI of xfcc',
    of: async (x) =>
      read(await xfcc(`Subject="a";URI=${x}`), (_who, { certificate }) => (certificate as { sans: { value: string }[] }).sans[0]?.value),
    refusal: MALFORMED,
    ascii: true,
  },
  {
    field: 'DNS of xfcc',
    of: async (x) =>
      read(await xfcc(`Subject="a";DNS=${x}`), (_who, { certificate }) => (certificate as { sans: { value: string }[] }).sans[0]?.value),
    refusal: MALFORMED,
    ascii: true,
  },
];

describe('names from header fields', () => {
  for (const { field, of, refusal, ascii = false } of SOURCES)
    it(`${field}: ASCII and UTF-8 name somebody, everything else refuses`, async () => {
      for (const [what, bytes, name] of FIELD_NAMES) {
        const expected = name === undefined || (ascii && name !== bytes) ? refusal : name;
        assert.equal(await of(bytes), expected, what);
      }
    });

  it('api-key: a key is bytes, and its name comes from the config', async () => {
    for (const [i, [what, bytes, name]] of FIELD_NAMES.entries()) {
      const expected = name === undefined ? '401 API_KEY_INVALID' : `key-${i}`;
      assert.equal(
        read(await key(bytes), ({ principal }) => principal),
        expected,
        what,
      );
    }
  });

  it('what a client sends reaches the service byte for byte', async () => {
    for (const [what, bytes] of FIELD_NAMES) {
      await forwarded({ 'x-user': bytes });
      assert.equal(asked, bytes, what);
    }
  });

  it('a certificate names in UTF-8 whom its bytes name, whatever the header around it', async () => {
    for (const name of ['juergen', 'jürgen', '李小', 'x😀', 'voilà']) {
      const { pem } = await issue({ subject: `CN=${name}` });
      assert.equal(
        read(await xfcc(`Cert="${escaped(pem)}"`), (who) => who.principal),
        `CN=${name}`,
      );
    }
  });

  it('principal-allow knows them as the config writes them', async () => {
    for (const [what, bytes, name] of FIELD_NAMES) {
      if (name === undefined) continue;
      const decision = await forwarded({ 'x-user': bytes, 'x-groups': bytes });
      assert.ok(decision.kind === 'identify', what);
      const facts = decision.facts ?? {};
      const context = makeContext({ identity: { ...decision.identity, facts }, facts });
      const allowed = { principals: [`forward-auth#${name}`], groups: { any: [name] } };
      const verdict = await (await openGate(principalAllow, allowed, makeHost())).decide(makeHead(), context);
      assert.equal(verdict.kind, 'pass', what);
    }
  });

  it('the header that tells an upstream holds them in UTF-8', () => {
    for (const [what, , name] of FIELD_NAMES) {
      if (name === undefined) continue;
      const told = forwardedIdentity({ principal: name, issuer: name, scopes: new Set([name]), client: name, facts: {} });
      assert.match(told, /^[A-Za-z0-9_-]+$/);
      const claims = JSON.parse(Buffer.from(told, 'base64url').toString()) as object;
      assert.deepEqual(claims, { iss: name, sub: name, client_id: name, scope: name }, what);
    }
  });

  it('through a gateway: admitted by name, told upstream and written to the audit trail as it is spelt', async () => {
    const upstream = await startMcpUpstream();
    const files = folderWith({});
    const gates = {
      sso: { use: 'forward-auth', options: { url, request_headers: ['x-asks'], identity: { principal_header: 'x-user' } } },
      who: { use: 'principal-allow', options: { principals: ['forward-auth#jürgen', 'forward-auth#李小'] } },
    };
    const gateway = createGateway(
      {
        listener: { port: 0 },
        ops: { enabled: false },
        telemetry: { audit: { file: 'audit.log', admissions: true } },
        gates,
        runtimes: { server: { kind: 'proxied', protocol: 'as_is', url: `${upstream.url}/mcp` } },
        routes: [{ path: '/mcp', gates: ['sso', 'who'], runtime: 'server', forward_identity: { header: 'x-identity' } }],
      },
      { folder: files.folder },
    );
    await gateway.start();
    const call = async (bytes: string): Promise<number> => {
      fields = { 'x-user': bytes };
      return (await whole(`${gateway.url}/mcp`, tool('echo'))).status;
    };
    assert.deepEqual(
      [await call('j\xc3\xbcrgen'), await call('\xe6\x9d\x8e\xe5\xb0\x8f'), await call('j\xfcrgen'), await call('bob')],
      [200, 200, 502, 403],
    );
    const told = upstream.seen.map(({ headers }) => JSON.parse(Buffer.from(String(headers['x-identity']), 'base64url').toString()).sub);
    assert.deepEqual(told, ['jürgen', '李小']);
    await gateway.close();
    await upstream.close();
    const lines = readFileSync(join(files.folder, 'audit.log'), 'utf8').trim().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).principal),
      ['jürgen', '李小', undefined, 'bob'],
    );
    files.remove();
  });
});
