// What the mtls scripts share: certificates, an upstream that remembers what it was sent, the gateway, a TLS terminator, a client.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, request as plainRequest } from 'node:http';
import { Agent, request as tlsRequest } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { createGateway } from '../../src/index.js';
import { type Issued, issue, type Wish } from '../gates/mtls/certificates.js';

const DAY_MS = 86_400_000;
const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();

export interface Pki {
  readonly folder: string;
  readonly ca: Issued;
  readonly stranger_ca: Issued;
  /** spiffe://corp.example/alice, which every script allows. */
  readonly alice: Issued;
  /** spiffe://corp.example/mallory, of the same CA, not allowed. */
  readonly mallory: Issued;
  /** alice's names, of the same CA, ended yesterday. */
  readonly late: Issued;
  /** alice's names, of another CA. */
  readonly forged: Issued;
}

/** Writes ca.pem, server.pem, server.key and server-all.pem (key and certificate) into a new folder. */
export async function makePki(): Promise<Pki> {
  const make = (wish: Wish): Promise<Issued> => issue({ not_before: inDays(-2), not_after: inDays(2), ...wish });
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-mtls-e2e-'));
  const ca = await make({ subject: 'O=Corp,CN=Corp client CA', ca: true });
  const stranger_ca = await make({ subject: 'O=Other,CN=Other client CA', ca: true });
  const server = await make({ issuer: ca, subject: 'CN=localhost', dns: ['localhost'] });
  const alice = { subject: 'O=Corp,CN=alice', uri: ['spiffe://corp.example/alice'], dns: ['alice.corp.example'] };
  await writeFile(join(folder, 'ca.pem'), ca.pem);
  await writeFile(join(folder, 'server.pem'), server.pem);
  await writeFile(join(folder, 'server.key'), server.key_pem);
  await writeFile(join(folder, 'server-all.pem'), server.key_pem + server.pem);
  return {
    folder,
    ca,
    stranger_ca,
    alice: await make({ ...alice, issuer: ca }),
    mallory: await make({ issuer: ca, subject: 'O=Corp,CN=mallory', uri: ['spiffe://corp.example/mallory'] }),
    late: await make({ ...alice, issuer: ca, not_before: inDays(-3), not_after: inDays(-1) }),
    forged: await make({ ...alice, issuer: stranger_ca }),
  };
}

/** Runs one script: everything it defers ends in reverse order, the exit code says whether all checks held. */
export async function script(name: string, run: (rig: Rig) => Promise<void>): Promise<void> {
  const rig = new Rig();
  try {
    await run(rig);
  } catch (error) {
    rig.fail(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    await rig.end();
  }
  console.log(`${name}: ${rig.held} checks held, ${rig.failures} failed`);
  process.exitCode = rig.failures === 0 && rig.held > 0 ? 0 : 1;
}

export class Rig {
  held = 0;
  failures = 0;
  readonly #ends: (() => unknown)[] = [];

  defer(end: () => unknown): void {
    this.#ends.push(end);
  }

  check(what: string, actual: unknown, expected: unknown): void {
    const [a, e] = [JSON.stringify(actual), JSON.stringify(expected)];
    if (a === e) this.held += 1;
    else this.fail(`${what}\n  expected ${e}\n  got      ${a}`);
  }

  fail(message: string): void {
    this.failures += 1;
    console.error(`NOT OK ${message}`);
  }

  async end(): Promise<void> {
    for (const end of this.#ends.reverse()) {
      try {
        await end();
      } catch (error) {
        this.fail(`clean-up: ${String(error)}`);
      }
    }
  }

  async pki(): Promise<Pki> {
    const pki = await makePki();
    this.defer(() => rm(pki.folder, { recursive: true, force: true }));
    return pki;
  }

  /** An MCP server of the modern era that answers `tools/list` and remembers the headers of the last request. */
  async upstream(): Promise<{ readonly url: string; last(): IncomingHttpHeaders | undefined; readonly count: number }> {
    let last: IncomingHttpHeaders | undefined;
    let count = 0;
    const server = createServer((request, response) => {
      count += 1;
      last = request.headers;
      request.resume().on('end', () => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { resultType: 'complete', tools: [] } });
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.defer(() => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    });
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
      last: () => last,
      get count() {
        return count;
      },
    };
  }

  /** A gateway with one mtls gate before one proxied route, which forwards the identity. */
  async gateway(options: object, listener: object = {}): Promise<Running> {
    const upstream = await this.upstream();
    const gateway = createGateway({
      listener: { port: 0, ...listener },
      ops: { port: 0 },
      gates: { cert: { use: 'mtls', options } },
      runtimes: { main: { kind: 'proxied', protocol: 'as_is', url: upstream.url } },
      routes: [{ path: '/mcp', gates: ['cert'], runtime: 'main', forward_identity: { header: 'x-portcullis-identity' } }],
    });
    await gateway.start();
    this.defer(() => gateway.close());
    const ops_url = gateway.ops_url ?? '';
    return {
      port: Number(new URL(gateway.url).port),
      upstream,
      principal() {
        const identity = upstream.last()?.['x-portcullis-identity'];
        const { iss, sub } = JSON.parse(Buffer.from(String(identity), 'base64url').toString() || '{}') as { iss?: string; sub?: string };
        return `${iss}#${sub}`;
      },
      async ignored() {
        const page = await (await fetch(`${ops_url}/metrics`)).text();
        return Number(/^portcullis_gate_identity_headers_ignored_total\{[^}]*\} (\d+)/m.exec(page)?.[1] ?? 0);
      },
    };
  }

  /** Starts a tool and waits until it accepts on `port`. It is ended by its own process id. */
  async terminator(command: string, args: readonly string[], port: number): Promise<void> {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-8_000)));
    this.defer(() => stop(child));
    for (let i = 0; i < 200; i += 1) {
      if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}:\n${output}`);
      if (await accepts(port)) return;
      await sleep(50);
    }
    throw new Error(`${command} does not accept on port ${port} after 10 s:\n${output}`);
  }
}

export interface Running {
  readonly port: number;
  readonly upstream: { last(): IncomingHttpHeaders | undefined; readonly count: number };
  /** `issuer#principal` that the upstream was told last. */
  principal(): string;
  /** Identity header lines that were not believed, as the metrics page says. */
  ignored(): Promise<number>;
}

/** The block of docs/mtls.md in the language `name`, for this folder, this port and this gateway. */
export async function documented(name: string, folder: string, port: number, gateway_port: number): Promise<string> {
  const page = await readFile(new URL('../../../docs/mtls.md', import.meta.url), 'utf8');
  const start = page.indexOf(`\`\`\`${name}\n`);
  const end = page.indexOf('\n```\n', start);
  if (start === -1 || end === -1) throw new Error(`docs/mtls.md has no ${name} block`);
  const block = page.slice(start + name.length + 4, end + 1);
  return block.replaceAll('/etc/tls', folder).replaceAll('8443', String(port)).replaceAll('8080', String(gateway_port));
}

/** The tool's path, from a variable of the environment or PATH; an Error that says how to get it when it is not there. */
export function findTool(name: string, variable: string, hint: string): string {
  const given = process.env[variable];
  const places =
    given === undefined ? [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'].map((folder) => join(folder, name)) : [given];
  const found = places.find((path) => existsSync(path));
  if (found === undefined) throw new Error(`${name} is not installed: ${hint}, or name it in ${variable}`);
  return found;
}

export async function freePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export interface Ask {
  readonly port: number;
  /** Client certificate; none when left out. */
  readonly as?: Issued;
  /** Header lines beside those of a modern `tools/list`: name, value, name, value … */
  readonly lines?: readonly string[];
  /** CA that the server must have; left out: plaintext. */
  readonly ca?: Issued;
  readonly local_address?: string;
  /** Keeps TLS sessions from one request to the next. */
  readonly agent?: Agent;
}

/** An agent that opens a connection for each request and resumes the TLS session of the one before. */
export const resumingAgent = (): Agent => new Agent({ keepAlive: false, maxCachedSessions: 10 });

/** `200`, the refusal's code without the common prefix, another status with its text, or `closed` when there was no answer. */
export function ask({ port, as, lines = [], ca, local_address, agent }: Ask): Promise<string> {
  const meta = '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}';
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{${meta}}}`;
  const headers = [
    ...['Host', 'localhost', 'Content-Type', 'application/json', 'Accept', 'application/json, text/event-stream'],
    ...['MCP-Protocol-Version', '2026-07-28', 'Mcp-Method', 'tools/list', 'Content-Length', String(body.length)],
    ...(lines.includes('Connection') ? [] : ['Connection', 'close']),
    ...lines,
  ];
  const common = {
    host: '127.0.0.1',
    port,
    path: '/mcp',
    method: 'POST',
    headers,
    ...(local_address === undefined ? {} : { localAddress: local_address }),
  };
  const identity = as === undefined ? {} : { cert: as.pem, key: as.key_pem };
  return new Promise((resolve) => {
    const request =
      ca === undefined
        ? plainRequest({ ...common, agent: false })
        : tlsRequest({ ...common, ca: ca.pem, servername: 'localhost', ...identity, agent: agent ?? false });
    request.setTimeout(10_000, () => request.destroy());
    request.on('error', () => resolve('closed'));
    request.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('error', () => resolve('closed'));
      const resumed = (response.socket as Partial<TLSSocket>).isSessionReused?.() === true ? ' resumed' : '';
      response.on('end', () => resolve(toWord(response.statusCode ?? 0, text) + resumed));
    });
    request.end(body);
  });
}

function toWord(status: number, text: string): string {
  if (status === 200) return '200';
  const code = /"code":"([A-Z_]+)"/.exec(text)?.[1];
  return code === undefined ? `${status} ${text.slice(0, 200)}` : code.replace('CLIENT_CERTIFICATE_', '');
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await ended;
  clearTimeout(late);
}
