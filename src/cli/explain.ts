import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { whyNotCidr } from '../config/format/network.js';
import { type Explanation, explain } from '../explain/explain.js';
import type { Question } from '../explain/question.js';
import { isCertificate } from '../explain/terminator.js';
import { systemClock } from '../system-clock.js';
import { located } from './checked-config.js';
import { type ConfigOption, loadNamedConfig, toField, withConfigOption } from './config-option.js';
import { CliExit, EXIT, usageError } from './exit.js';
import type { CliIo } from './run-io.js';

interface ExplainOptions extends ConfigOption {
  readonly route: string;
  readonly tokenFile?: string;
  readonly certificate?: string;
  readonly address?: string;
  readonly via?: string;
  readonly method?: string;
  readonly tool?: string;
  readonly revision?: string;
  readonly httpMethod?: string;
  readonly header?: readonly (readonly [string, string])[];
  readonly json?: boolean;
}

/** `portcullis explain`: which gate or rule decides about a request, step by step. Exit 0 when it is admitted or served, 1 when refused. */
export function registerExplain(program: Command, io: CliIo): void {
  withConfigOption(program.command('explain').description('say which gate or rule decides about a request, and why'))
    .requiredOption('--route <path>', 'path that the client dials, e.g. /files/mcp')
    .option('--token-file <file>', 'file with the bearer token; it is never printed')
    .option('--certificate <file>', 'PEM file of the client certificate, handed over as the terminators of the config would')
    .addOption(new Option('--address <ip>', 'the client’s address (default: 127.0.0.1)').argParser(toAddress))
    .addOption(new Option('--via <ip>', 'address of the proxy in front of us, if there is one').argParser(toAddress))
    .option('--method <name>', 'MCP method (default: tools/list, with --tool tools/call)')
    .option('--tool <name>', 'tool of a tools/call')
    .option('--revision <date>', 'protocol revision (default: 2026-07-28)')
    .option('--http-method <name>', 'HTTP method (default: POST)')
    .addOption(new Option('--header <name:value>', 'one more header field; repeat for several').argParser(toField))
    .option('--json', 'print JSON')
    .action(async (options: ExplainOptions) => {
      const loaded = loadNamedConfig(options, io);
      const explanation = await explain(loaded, toQuestion(options, io), systemClock).catch((error: unknown) => {
        throw located(error, loaded);
      });
      io.stdout(options.json === true ? `${JSON.stringify(explanation, null, 2)}\n` : toText(explanation));
      if (explanation.outcome === 'refused') throw new CliExit(EXIT.refused);
    });
}

function toQuestion(options: ExplainOptions, io: CliIo): Question {
  const { route, tokenFile, certificate, httpMethod, header, address, via, method, tool, revision } = options;
  return {
    path: route,
    http_method: httpMethod,
    method,
    tool,
    revision,
    address,
    via,
    headers: header,
    token: tokenFile === undefined ? undefined : readText(tokenFile, io).trim(),
    certificate: certificate === undefined ? undefined : readCertificate(certificate, io),
  };
}

function readCertificate(file: string, io: CliIo): string {
  const pem = readText(file, io);
  if (!isCertificate(pem)) throw usageError(`${file} holds no certificate in PEM`);
  return pem;
}

function readText(file: string, io: CliIo): string {
  try {
    return readFileSync(resolve(io.cwd, file), 'utf8');
  } catch (error) {
    throw usageError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

function toAddress(text: string): string {
  if (text.includes('/') || whyNotCidr(text) !== undefined) throw new InvalidArgumentError('write one IPv4 or IPv6 address.');
  return text;
}

function toText(explanation: Explanation): string {
  const { steps, outcome, status, code, why, remedy, headers, identity, facts } = explanation;
  const lines = steps.map(
    ({ by, verdict, code: said, milliseconds }) =>
      `${mark(verdict)} ${by.padEnd(20)} ${verdict}${said === '' ? '' : ` ${said}`} (${milliseconds.toFixed(1)} ms)`,
  );
  lines.push('', outcome === 'admitted' ? 'ADMITTED' : outcome === 'served' ? `SERVED ${status}` : `REFUSED ${status} ${code}`, `  ${why}`);
  if (remedy !== '') lines.push(`  ${remedy}`);
  for (const [name, value] of Object.entries(headers)) lines.push(`  ${name}: ${typeof value === 'string' ? value : value.join(' | ')}`);
  if (identity !== undefined) {
    lines.push(
      `  issuer ${identity.issuer}, principal ${identity.principal}${identity.client === undefined ? '' : `, client ${identity.client}`}`,
    );
    lines.push(
      `  scopes ${identity.scopes.join(' ') || '(none)'}${identity.expires_at_ms === undefined ? '' : `, until ${new Date(identity.expires_at_ms).toISOString()}`}`,
    );
  }
  if (facts.length > 0) lines.push(`  facts ${facts.join(', ')}`);
  return `${lines.join('\n')}\n`;
}

function mark(verdict: string): string {
  return verdict === 'refuse' || verdict === 'timeout' || verdict === 'failed' ? '✗' : '✓';
}
