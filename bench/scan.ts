// What one scan costs beside JSON.parse of the same bytes: node dist/bench/scan.js
import { scanMessage } from '../src/wire/scan.js';

const meta = '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}';
const call = (args: string): Buffer =>
  Buffer.from(`{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"get_weather","arguments":{${args}},${meta}}}`);
const rows = Array.from(
  { length: 90 },
  (_, i) => `{"id":${i},"title":"row number ${i}","tags":["a","b"],"score":${i}.25,"ok":true,"note":"größer"}`,
);
const cases = {
  '300 B': call('"location":"Seattle, WA","unit":"celsius","days":3,"detail":"hourly"'),
  '10 KB of fields': call(`"rows":[${rows.join(',')}]`),
  '2 MB of fields': call(`"rows":[${Array.from({ length: 220 }, () => rows.join(',')).join(',')}]`),
  '2 MB of one string': call(`"text":"${'plain text '.repeat(180_000)}"`),
  '2 MB of Cyrillic': call(`"text":"${'слово '.repeat(180_000)}"`),
};

/** Best mean of several rounds, in microseconds. */
function time(run: () => unknown, bytes: number): number {
  const count = Math.max(5, Math.round(4_000_000 / bytes));
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 8; round++) {
    const start = process.hrtime.bigint();
    for (let i = 0; i < count; i++) run();
    best = Math.min(best, Number(process.hrtime.bigint() - start) / 1000 / count);
  }
  return best;
}

for (const [name, body] of Object.entries(cases)) {
  if (!scanMessage(body).ok) throw new Error(`${name} is refused`);
  const scan = time(() => scanMessage(body), body.length);
  const parse = time(() => JSON.parse(body.toString()), body.length);
  console.log(
    `${name.padEnd(20)} ${body.length} B  scan ${scan.toFixed(2)} µs  JSON.parse ${parse.toFixed(2)} µs  ratio ${(scan / parse).toFixed(2)}`,
  );
}
