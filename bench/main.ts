// What a request and a stream cost, ours beside others, in one run: npm run bench [-- --quick]
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { callRequest, legacyCallRequest } from './messages.js';
import { killChildren, startChild } from './parts/child.js';
import { issueToken } from './parts/issuer.js';
import { type Load, startLoad } from './parts/load.js';
import { type Findings, goalLines, judge, requestTable, streamLine } from './report.js';
import { type Amounts, measureRequests } from './requests.js';
import { envoy, envoyRemembering } from './rows/envoy.js';
import { haproxy } from './rows/haproxy.js';
import { hosted, inProcess } from './rows/hosted.js';
import { httpProxy } from './rows/http-proxy.js';
import { nginx } from './rows/nginx.js';
import {
  openPortcullis,
  portcullis,
  portcullisLegacy,
  portcullisPublic,
  portcullisToLegacy,
  portcullisToModern,
} from './rows/portcullis.js';
import type { Ground } from './rows/row.js';
import { otherBridges, ourBridge } from './stdio/bridges.js';
import { measureStdio, type StdioAmounts } from './stdio/measure.js';
import { measureStreams } from './streams.js';

const ROWS = [portcullis, portcullisPublic, httpProxy, nginx, haproxy, envoy, envoyRemembering];
const CONNECTIONS = 32;
const FULL: Amounts = { warm_up: 40_000, warm_up_most_s: 30, rounds: 7, seconds: 2 };
const QUICK: Amounts = { warm_up: 4000, warm_up_most_s: 2, rounds: 2, seconds: 1 };
const STDIO: StdioAmounts = { sessions: 8, warm_up_s: 20, rounds: 5, seconds: 2 };
const STDIO_QUICK: StdioAmounts = { sessions: 4, warm_up_s: 1, rounds: 2, seconds: 1 };
const HOSTED_ROWS = [hosted, ...inProcess];
const NAMES = {
  guarded: portcullis.name,
  open: portcullisPublic.name,
  bare: httpProxy.name,
  haproxy: haproxy.name,
  to_legacy: portcullisToLegacy.name,
  legacy: portcullisLegacy.name,
  to_modern: portcullisToModern.name,
  hosted: hosted.name,
  sdk: 'SDK v2 handler',
  bridge: ourBridge.name,
  mcp_proxy: 'mcp-proxy',
};

const quick = process.argv.includes('--quick');
const amounts = quick ? QUICK : FULL;

const home = mkdtempSync(join(tmpdir(), 'portcullis-bench-'));
process.on('exit', () => {
  killChildren();
  rmSync(home, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

const findings = await measure();
const goals = judge(findings, NAMES);
const text = page(findings);
process.stdout.write(`${text}\n`);
if (!quick) writeFileSync(resolve('bench/RESULTS.md'), text);
process.exitCode = goals.some(({ kind, holds }) => kind === 'must' && holds !== true) ? 1 : 0;

async function measure(): Promise<Findings> {
  const upstream = startChild(process.execPath, [fileURLToPath(new URL('./parts/upstream.js', import.meta.url))], { channel: true });
  const { port: upstream_port } = await upstream.message<{ port: number }>();
  const issued = await issueToken();
  const load = startLoad(callRequest(issued.token), CONNECTIONS, home);
  const ground: Ground = {
    upstream_port,
    issued,
    folder(name) {
      const folder = join(home, name);
      mkdirSync(folder);
      return folder;
    },
  };
  const requests = await measureRequests(ROWS, ground, load, amounts);
  const between = await measureBetween(ground, load);
  const served = await measureRequests(HOSTED_ROWS, ground, load, { ...amounts, seconds: 1 });
  const streams = await measureStreams(ground, load, quick ? 500 : 4000, amounts);
  await load.close();
  await upstream.close();
  const bridged = await measureStdio([ourBridge, ...otherBridges], ground, quick ? STDIO_QUICK : STDIO);
  return { requests, between, served, bridged, streams, load: load.name };
}

/** What it costs that client and server are of different protocol eras, beside a call that is forwarded. */
async function measureBetween(ground: Ground, modern: Load): Promise<Findings['between']> {
  const to_legacy = await measureRequests(
    [{ ...portcullisPublic, open: (own) => openPortcullis(own, 'same-era', false) }, portcullisToLegacy],
    ground,
    modern,
    amounts,
  );
  const folder = ground.folder('legacy-load');
  const legacy = startLoad(legacyCallRequest(), CONNECTIONS, folder);
  const to_modern = await measureRequests([portcullisLegacy, portcullisToModern], ground, legacy, amounts);
  await legacy.close();
  return { to_legacy, to_modern };
}

function page({ requests, between, served, bridged, streams, load }: Findings): string {
  const { warm_up, warm_up_most_s, rounds, seconds } = amounts;
  return `# What a request and a stream cost

Written by \`npm run bench\`: node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}.

A modern \`tools/call\` with a token of RS256 on ${CONNECTIONS} kept-alive connections, from a process of its own (${load}), through each
proxy (one process, one worker or thread) to the same bare node:http upstream. ${warm_up} requests of warm-up each (at most ${warm_up_most_s} s), every answer
compared; then ${rounds} rounds of ${seconds} s in turn, medians. CPU is the time of the proxy's threads, user and system. The machine has work beside
this one: read the ratios, and only those of one run.

${requestTable(requests, NAMES.bare)}
${requests.skipped.map((why) => `\nSkipped: ${why}\n`).join('')}
The same call where client and server are of different protocol eras, beside one that is forwarded as it is: a modern client on a server of 2025-11-25 over a session of
the gateway, and a legacy client on a server of 2026-07-28.

${requestTable(between.to_legacy, NAMES.open)}
${requestTable(between.to_modern, NAMES.legacy)}
The same call served in process: our own core behind both gates, and what others pay for it without any.

${requestTable(served, NAMES.sdk)}

The same call through bridges to a server over stdio: ${STDIO.sessions} sessions of revision 2025-11-25, one call under way in each, ${STDIO.warm_up_s} s of
warm-up, medians of ${STDIO.rounds} rounds. CPU is that of the bridge's own process; RSS is with the servers that it started.

${requestTable(bridged, NAMES.mcp_proxy)}
${bridged.skipped.map((why) => `\nSkipped: ${why}\n`).join('')}
${streamLine(streams)}

${goalLines(goals)}
`;
}
