// Clients of other people's SDKs, of every era, on servers of every era and kind through one gateway: each connects and has a call answered.
// `npm run e2e:interop [-- --write] [--go] [--rust] [words of clients]`. Compares with the table in docs/eras.md, or writes it.
import { readFile, writeFile } from 'node:fs/promises';
import { type Child, startChild } from '../../support/e2e/child.js';
import { startGateway } from '../../support/e2e/gateway.js';
import { repositoryPath } from '../../support/repository.js';
import { PARTNERS, type Partner, prepare, startDriver } from './partners.js';
import { type Cell, complaints, parseTable, type Table, writeTable } from './table.js';

const SERVERS = ['hosted', 'legacy', 'modern', 'dual', 'stdio-legacy', 'stdio-modern'] as const;
const AT_ONCE = 3;

const page_file = repositoryPath('docs/eras.md');
const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const flags = process.argv.slice(2).flatMap((word) => (word.startsWith('--') ? [word.slice(2)] : []));
const chosen = PARTNERS.filter(
  ({ name, flag }) => (flag === undefined || flags.includes(flag)) && (words.length === 0 || words.some((word) => name.includes(word))),
);

await prepare(flags);
const built = (name: string): string => repositoryPath(`dist/test/e2e/sdks/servers/${name}.js`);
const servers = [
  startChild([built('legacy'), 'http']),
  startChild([built('modern'), 'reject']),
  startChild([built('modern'), 'stateless']),
];
const urlOf = async (server: Child): Promise<string> => (await server.says(/listening on (\S+)/))[1] ?? '';
const [legacy, modern, dual] = await Promise.all(servers.map(urlOf));
const stdio = (...args: readonly string[]) => ({ kind: 'stdio', command: process.execPath, args });
const gateway = await startGateway(
  JSON.stringify({
    listener: { host: '127.0.0.1', port: 0 },
    ops: { port: 0 },
    runtimes: {
      hosted: { kind: 'hosted', module: built('hosted') },
      legacy: { kind: 'proxied', url: legacy },
      modern: { kind: 'proxied', url: modern },
      dual: { kind: 'proxied', url: dual },
      'stdio-legacy': stdio(built('legacy'), 'stdio'),
      'stdio-modern': stdio(repositoryPath('dist/test/support/stdio/server.js'), 'modern'),
    },
    routes: SERVERS.map((runtime) => ({ path: `/${runtime}`, public: true, runtime })),
  }),
);

const table = new Map<string, ReadonlyMap<string, Cell>>();
try {
  const queue = [...chosen];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let partner = queue.shift(); partner !== undefined; partner = queue.shift())
        table.set(`${partner.name}, ${partner.era}`, await rowOf(partner));
    }),
  );
} finally {
  await gateway.stop('SIGKILL');
  for (const server of servers) await server.stop('SIGKILL');
}
const ordered: Table = new Map(
  PARTNERS.flatMap(({ name, era }) => {
    const row = table.get(`${name}, ${era}`);
    return row === undefined ? [] : [[`${name}, ${era}`, row] as const];
  }),
);
for (const [row, cells] of ordered) console.log([row, ...SERVERS.map((server) => cells.get(server))].join(' | '));

const page = await readFile(page_file, 'utf8');
const committed = parseTable(page, 'interop');
if (flags.includes('write')) {
  const rows = PARTNERS.flatMap(({ name, era }): [string, ReadonlyMap<string, Cell>][] => {
    const cells = ordered.get(`${name}, ${era}`) ?? committed.get(`${name}, ${era}`);
    return cells === undefined ? [] : [[`${name}, ${era}`, cells]];
  });
  await writeFile(page_file, writeTable(page, new Map(rows), SERVERS, [], 'interop'));
}
const wrong = complaints(ordered, flags.includes('write') ? ordered : committed, []);
for (const line of wrong) console.log(`NOT OK ${line}`);
process.exitCode = wrong.length === 0 && ordered.size > 0 ? 0 : 1;

/** Each server in turn, by a new client each. */
async function rowOf(partner: Partner): Promise<ReadonlyMap<string, Cell>> {
  const driver = startDriver(partner);
  const cells = new Map<string, Cell>();
  try {
    for (const server of SERVERS) {
      const opened = await driver.open(`${gateway.url}/${server}`, {});
      const said = opened.kind === 'ok' ? await driver.call('echo', `to ${server}`) : opened;
      const good = said.kind === 'ok' && said.text === `to ${server}`;
      if (!good) console.log(`${partner.name}, ${partner.era}, ${server}: ${said.kind} ${said.text}`);
      cells.set(server, good ? 'yes' : 'ends');
      if (opened.kind === 'ok') await driver.close();
    }
  } finally {
    driver.stop();
  }
  return cells;
}
