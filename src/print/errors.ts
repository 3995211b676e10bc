import type { GateModule } from '../contract/gate.js';
import { CODES } from '../errors/codes.js';
import { code, GENERATED, page, table } from './schema-type.js';

const INTRO = `Every refusal that Portcullis itself gives has one of these codes. It is in \`error.data.code\` of the JSON-RPC body, in the log line and in the
metrics; \`error.data.request_id\` is the \`X-Request-Id\` of the answer and stands in the log line too. Messages never hold a token, a secret,
an internal host or a stack. A malformed head is answered in plain text: the client may not speak JSON-RPC.`;

const CONFIG = `Problems in the configuration are all reported together at startup, as \`file:line:column key: message\`; the process exits 78. The command line exits 64
for a wrong usage and 69 when an address cannot be bound.`;

/** docs/errors.md: the closed table and the refusal codes of the built-in gates. */
export function printErrors(builtins: Readonly<Record<string, GateModule>>): string {
  const rows = Object.entries(CODES).map(([name, row]) => [
    code(name),
    String(row.status),
    String(row.rpc),
    row.message,
    row.meaning,
    row.remedy,
  ]);
  const gates = Object.entries(builtins)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .filter(([, module]) => Object.keys(module.codes ?? {}).length > 0)
    .flatMap(([name, module]) => [
      `### ${code(name)}`,
      table(
        ['code', 'HTTP', 'meaning', 'what to do'],
        Object.entries(module.codes ?? {}).map(([key, row]) => [code(key), String(row.status), row.meaning, row.remedy]),
      ),
    ]);
  return page(
    '# Errors',
    GENERATED,
    INTRO,
    table(['code', 'HTTP', 'JSON-RPC', 'message', 'meaning', 'what to do'], rows),
    '## Refusals of the built-in gates',
    'JSON-RPC code -32600.',
    ...gates,
    '## Configuration and command line',
    CONFIG,
  );
}
