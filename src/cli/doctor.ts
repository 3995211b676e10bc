import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { LoadedConfig } from '../config/load.js';
import type { Finding } from '../doctor/check.js';
import { examine } from '../doctor/examine.js';
import { examineOutside } from '../doctor/remote-checks.js';
import { ConfigError } from '../errors/error.js';
import { isCertificate } from '../explain/terminator.js';
import { systemClock } from '../system-clock.js';
import { egressFrom } from '../upstream/egress.js';
import { isVisible } from '../wire/field.js';
import { plain } from './call/printed.js';
import { loadCheckedConfig } from './checked-config.js';
import { type ConfigOption, toField, withConfigOption } from './config-option.js';
import { CliExit, EXIT, stoppedBy, usageError } from './exit.js';
import type { RunIo } from './run-io.js';

interface DoctorOptions extends ConfigOption {
  readonly url?: string;
  readonly opsUrl?: string;
  readonly caFile?: string;
  readonly tokenFile?: string;
  readonly certificate?: string;
  readonly header?: readonly (readonly [string, string])[];
  readonly gracePeriod?: number;
  readonly preStop: number;
  readonly timeout: number;
  readonly json?: true;
}

/** `portcullis doctor`: looks at a config and all that it needs, or from outside at a gateway that runs. Exit 1 when something is broken. */
export function registerDoctor(program: Command, io: RunIo): void {
  withConfigOption(
    program
      .command('doctor')
      .description('look at a config and everything it needs, or with --url at a running gateway, and say what to do'),
  )
    .option('--url <url>', 'look at a running gateway instead: the URL that clients dial for a route')
    .option('--ops-url <url>', 'with --url: its ops listener, whose /readyz is asked')
    .option('--ca-file <file>', 'with --url: PEM of the certificate authorities that it must chain to')
    .option('--certificate <file>', 'PEM of a client certificate for the handshakes, handed over as the TLS terminator of the config would')
    .option('--token-file <file>', 'file with an access token for the handshakes; it is never printed')
    .addOption(
      new Option('--header <name:value>', 'header field of the handshakes, e.g. an API key; repeat for several').argParser(toField),
    )
    .addOption(
      new Option('--grace-period <s>', 'seconds from the preStop hook to SIGKILL (default: what the environment says)').argParser(toNumber),
    )
    .addOption(new Option('--pre-stop <s>', 'with --grace-period: seconds of the preStop hook').argParser(toNumber).default(0))
    .addOption(new Option('--timeout <ms>', 'for each check').argParser(toNumber).default(5000))
    .option('--json', 'print JSON')
    .action((options: DoctorOptions) => doctor(options, io));
}

async function doctor(options: DoctorOptions, io: RunIo): Promise<void> {
  if (options.url !== undefined && options.config !== undefined) throw usageError('give --config or --url');
  if (options.url !== undefined && options.certificate !== undefined) throw usageError('--certificate goes with --config');
  if (options.url === undefined && (options.opsUrl ?? options.caFile) !== undefined)
    throw usageError('--ops-url and --ca-file go with --url');
  if (options.timeout < 1) throw usageError('--timeout is at least 1');
  const token = options.tokenFile === undefined ? undefined : readText(options.tokenFile, io).trim();
  if (token !== undefined && !isVisible(token)) throw usageError(`${options.tokenFile} does not hold one token`);
  const credentials = { token, headers: Object.fromEntries(options.header ?? []) };
  if (options.url !== undefined) {
    if (!/^https?:\/\//i.test(options.url) || !URL.canParse(options.url)) throw usageError('--url is an http:// or https:// URL');
    const ca = options.caFile === undefined ? undefined : readText(options.caFile, io);
    return tell(
      await examineOutside({ url: options.url, ops_url: options.opsUrl, ca, ...credentials }, systemClock, options.timeout),
      options,
      io,
    );
  }
  const certificate = options.certificate === undefined ? undefined : readText(options.certificate, io);
  if (certificate !== undefined && !isCertificate(certificate)) throw usageError(`${options.certificate} holds no certificate in PEM`);
  const loaded = await load(options, io);
  const grace = options.gracePeriod ?? io.env.TERMINATION_GRACE_PERIOD_SECONDS;
  const stop = new AbortController();
  let stopped: string | undefined;
  const release = io.onSignal((signal) => {
    stopped ??= signal;
    stop.abort();
  });
  const findings = await examine(loaded, {
    ...credentials,
    certificate,
    stop: stop.signal,
    clock: systemClock,
    egress: egressFrom(io.env, systemClock),
    timeout_ms: options.timeout,
    grace: grace === undefined ? undefined : String(grace),
    // The environment tells what is left after the preStop hook.
    pre_stop_s: options.gracePeriod === undefined ? 0 : options.preStop,
    limits: processLimits(),
  }).finally(release);
  if (stopped !== undefined) throw stoppedBy(stopped);
  tell(findings, options, io);
}

/** Throws ConfigError, which exits 78; with --json the error is printed here. */
async function load(options: DoctorOptions, io: RunIo): Promise<LoadedConfig> {
  try {
    return await loadCheckedConfig(options, io);
  } catch (error) {
    if (options.json !== true || !(error instanceof ConfigError)) throw error;
    const findings = error.problems.map(
      (problem): Finding => ({ check: 'config', verdict: 'fail', message: new ConfigError([problem]).message }),
    );
    io.stdout(toJson(findings));
    throw new CliExit(EXIT.config);
  }
}

function tell(findings: readonly Finding[], { json }: DoctorOptions, io: RunIo): void {
  io.stdout(json === true ? toJson(findings) : toText(findings));
  if (findings.some(({ verdict }) => verdict === 'fail')) throw new CliExit(EXIT.refused);
}

function toJson(findings: readonly Finding[]): string {
  return `${JSON.stringify({ ok: findings.every(({ verdict }) => verdict !== 'fail'), checks: findings }, null, 2)}\n`;
}

function toText(findings: readonly Finding[]): string {
  const width = Math.min(48, Math.max(...findings.map(({ check }) => check.length)));
  const lines = findings.flatMap(({ check, verdict, message, remedy }) => [
    `${verdict.padEnd(4)}  ${check.padEnd(width)}  ${plain(message)}`,
    ...(remedy === undefined ? [] : [`${' '.repeat(6)}${plain(remedy)}`]),
  ]);
  const count = (verdict: Finding['verdict']): number => findings.filter((finding) => finding.verdict === verdict).length;
  return `${lines.join('\n')}\n\n${count('ok')} ok, ${count('warn')} to look at, ${count('fail')} failed\n`;
}

function readText(file: string, io: RunIo): string {
  try {
    return readFileSync(resolve(io.cwd, file), 'utf8');
  } catch (error) {
    throw usageError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Linux alone tells them in a file. */
function processLimits(): string | undefined {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return undefined;
  }
}

function toNumber(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('write a whole number.');
  return Number(text);
}
