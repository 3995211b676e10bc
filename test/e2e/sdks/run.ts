// What the clients of other people's SDKs make of a refusal: after it, does the same client object still get an answer?
// `npm run e2e:sdks [-- --write] [--go] [--rust] [words of clients]`. Compares with the table in docs/clients.md, or writes it.
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { type RunningGateway, startGateway } from '../../support/e2e/gateway.js';
import { until } from '../../support/e2e/until.js';
import { repositoryPath } from '../../support/repository.js';
import { PARTNERS, prepare } from './partners.js';
import { admit, type Patient } from './patient.js';
import { REASONS } from './reasons.js';
import { COLUMNS, DEAD_UPSTREAM, DRAIN, REFUSALS, toConfig } from './refusals.js';
import { type Cell, complaints, parseTable, type Table, writeTable } from './table.js';
import { startUpstream } from './upstream.js';

/** As many clients at a time as leave each some CPU on two cores. */
const AT_ONCE = 3;

const page_file = repositoryPath('docs/clients.md');
const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const flags = process.argv.slice(2).flatMap((word) => (word.startsWith('--') ? [word.slice(2)] : []));
const chosen = PARTNERS.filter(
  ({ name, flag }) => (flag === undefined || flags.includes(flag)) && (words.length === 0 || words.some((word) => name.includes(word))),
);

const started = performance.now();
const since = (): string => `${((performance.now() - started) / 1000).toFixed(1)} s`;
await prepare(flags);
console.log(`prepared after ${since()}`);

const upstream = await startUpstream();
const digest = (key: string): string => createHash('sha256').update(key).digest('hex');
const config = toConfig(upstream.url, digest);
const [first, second] = await Promise.all([startGateway(config), startGateway(config)]);
let patients: readonly Patient[] = [];
try {
  await spend(first);
  patients = await Promise.all(chosen.map((partner) => admit(partner, portOf(first))));
  const queue = [...patients];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let patient = queue.shift(); patient !== undefined; patient = queue.shift())
        for (const refusal of REFUSALS) await patient.meet(refusal);
    }),
  );
  await together(DEAD_UPSTREAM, upstream.down, upstream.up);
  const drained = async (): Promise<void> => {
    for (const { hop } of patients) hop.target = portOf(second);
    await first.stop();
  };
  const held = async (): Promise<void> => until('every call half sent', () => patients.every(({ hop }) => hop.met_count > 0));
  await Promise.all([together(DRAIN), held().then(drained)]);
} finally {
  for (const patient of patients) await patient.close();
  await Promise.all([first.stop('SIGKILL'), second.stop('SIGKILL'), upstream.down()]);
}
console.log(`ran ${patients.length} clients in ${since()}`);

const table: Table = new Map(
  patients.map(({ partner, findings }) => [
    `${partner.name}, ${partner.era}`,
    new Map(COLUMNS.map((column): [string, Cell] => [column, findings.find(({ refusal }) => refusal === column)?.cell ?? '–'])),
  ]),
);
await writeFile(
  repositoryPath('.tmp/sdks/findings.json'),
  JSON.stringify(
    patients.map(({ partner, findings }) => ({ client: `${partner.name}, ${partner.era}`, findings })),
    null,
    1,
  ),
);
for (const [row, cells] of table) console.log([row, ...COLUMNS.map((column) => cells.get(column))].join(' | '));

const page = await readFile(page_file, 'utf8');
const committed = parseTable(page);
if (flags.includes('write')) {
  const names = PARTNERS.map(({ name, era }) => `${name}, ${era}`);
  const rows = names.flatMap((name): [string, ReadonlyMap<string, Cell>][] => {
    const cells = table.get(name) ?? committed.get(name);
    return cells === undefined ? [] : [[name, cells]];
  });
  await writeFile(page_file, writeTable(page, new Map(rows), COLUMNS, REASONS));
  console.log('docs/clients.md is written');
}
const wrong = complaints(table, flags.includes('write') ? table : committed, REASONS);
for (const line of wrong) console.log(`NOT OK ${line}`);
process.exitCode = wrong.length === 0 && patients.length > 0 ? 0 : 1;

/** All clients meet one refusal at the same time: `before` runs when every one is ready, `after` when every one has its outcome. */
async function together(
  refusal: typeof DRAIN,
  before: () => Promise<void> = async () => undefined,
  after: () => Promise<void> = async () => undefined,
): Promise<void> {
  const [ready, over] = [meeting(patients.length, before), meeting(patients.length, after)];
  await Promise.all(patients.map((patient) => patient.meet(refusal, { ready, over })));
}

/** A point where `count` wait for each other; `then` runs once, when the last one has come. */
function meeting(count: number, then: () => Promise<void>): () => Promise<void> {
  let missing = count;
  let release: () => void = () => undefined;
  const all = new Promise<void>((resolve) => void (release = resolve));
  const done = all.then(then);
  return () => {
    missing -= 1;
    if (missing === 0) release();
    return done;
  };
}

/** Uses up the one request of the rate gate. */
async function spend(gateway: RunningGateway): Promise<void> {
  const headers = { 'content-type': 'application/json', accept: 'application/json', 'x-api-key': 'caller' };
  const post = (): Promise<Response> =>
    fetch(`${gateway.url}/spent`, { method: 'POST', headers, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' });
  await until('the rate gate to refuse', async () => (await post()).status === 429);
}

function portOf(gateway: RunningGateway): number {
  return Number(new URL(gateway.url).port);
}
