import type { SendOptions, ShutdownOptions, Transport, TransportFault, TransportOptions, TransportOutcome } from '../contract/transport.js';
import { systemProcess } from '../system-process.js';
import { errorObject, errorResponseText } from '../wire/rpc.js';
import { childEnv } from './child-secrets.js';
import { CLOSED, DONE } from './outcomes.js';
import type { PipeEnd, ProcessHandle } from './process-handle.js';
import { startChild } from './stdio-child.js';

/** Of `createStdioTransport`. Times in milliseconds, sizes in bytes. */
export interface StdioTransportOptions {
  /** A program, found by PATH; no shell reads it. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Default: that of this process. */
  readonly cwd?: string;
  /** Added to PATH, HOME, LANG, TMPDIR and USER, which are all that the program gets of this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Longest message of the server. A longer one is dropped; the request that it answers fails at once. Default 8 000 000. */
  readonly max_line_bytes?: number;
  /** From the end of its input until it is killed, with all that it started. Default 4 500. */
  readonly stop_timeout_ms?: number;
}

/**
 * MCP over the standard streams of a child process, every revision. The process is started by `start` and never outlives `shutdown`.
 * Throws TypeError for a command, an argument or a variable that is not text.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { type ClientError, connect, createStdioTransport } from 'portcullis/client';
 *
 * // A program that is no MCP server: it ends at once.
 * const transport = createStdioTransport({ command: process.execPath, args: ['--eval', '0'] });
 * const error = await connect({ transport }).catch((error: ClientError) => error);
 * assert.ok('code' in error && error.code === 'ENDED');
 * ```
 */
export function createStdioTransport(options: StdioTransportOptions): Transport {
  const { command, args = [], env = {} } = options;
  const texts = { command, ...Object.fromEntries(args.map((arg, at) => [`args[${at}]`, arg])) };
  // Node would write null into the environment as a word; undefined leaves a variable out.
  const variables = Object.entries(env).flatMap(([name, value]: [string, unknown]) =>
    value === undefined ? [] : [[`env.${name}`, value]],
  );
  for (const [name, value] of [...Object.entries(texts), ...variables] as [string, unknown][]) {
    if (typeof value !== 'string') throw new TypeError(`stdio: ${name} must be text, not ${value === null ? 'null' : typeof value}`);
  }
  return new StdioTransport(options);
}

class StdioTransport implements Transport {
  readonly #options: StdioTransportOptions;
  #child: ProcessHandle | undefined;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
  }

  start({ receive, closed, log, clock }: TransportOptions): Promise<void> {
    const { command, args = [], cwd = '.', env = {}, max_line_bytes = 8_000_000 } = this.#options;
    const child = startChild(
      { command, args, cwd, env: childEnv(systemProcess.env, env), max_line_bytes },
      {
        log,
        clock,
        // A client's server is not worth a guard process.
        host: { env: systemProcess.env, kill: systemProcess.kill },
        killed: () => undefined,
      },
    );
    child.pipe.onMessage = (line) => {
      if (line.length > 0) receive(line);
    };
    const broken = new Set<string>();
    // The answer cannot be delivered: an error takes its place, so that its caller does not wait.
    child.pipe.onTooLong = ({ answer: { kind, id } }, ended) => {
      if (kind !== 'response' || id === undefined) return;
      if (broken.has(id)) return void (ended && broken.delete(id));
      if (!ended) broken.add(id);
      const message = `The server's answer is longer than max_line_bytes (${max_line_bytes}).`;
      receive(Buffer.from(errorResponseText(id, errorObject(-32603, message))));
    };
    child.pipe.onClose = (end) => closed(endOf(command, end, child));
    this.#child = child;
    return Promise.resolve();
  }

  sendMessage(message: string, _options?: SendOptions): Promise<TransportOutcome<void>> {
    const sent = this.#child?.pipe.send(Buffer.from(message));
    if (sent === true) return Promise.resolve(DONE);
    const fault = sent === undefined ? CLOSED : { code: 'ENDED', message: 'the server does not read its input' };
    return Promise.resolve({ ok: false, fault });
  }

  async shutdown({ signal }: ShutdownOptions = {}): Promise<TransportOutcome<void>> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return DONE;
    child.pipe.close();
    const hurry = (): void => void child.stop(HURRIED_STOP_MS);
    signal?.addEventListener('abort', hurry, { once: true });
    if (signal?.aborted === true) hurry();
    await child.stop(this.#options.stop_timeout_ms ?? 4_500);
    signal?.removeEventListener('abort', hurry);
    return DONE;
  }

  supportedProtocolVersions(): 'all' {
    return 'all';
  }
}

/** From the end of its input until it is killed, once the caller no longer waits. */
const HURRIED_STOP_MS = 300;

/** Says how a server ended, with what it wrote last: it is the user's own program. */
function endOf(command: string, end: PipeEnd, { exit, last_words }: ProcessHandle): TransportFault {
  const words = last_words.slice(-3).join(' | ');
  const said = words === '' ? '' : `; it said: ${words}`;
  if (end === 'spawn') return { code: 'UNREACHABLE', message: `${command} cannot be started${said}` };
  const how =
    exit === undefined ? 'closed its streams' : exit.signal === null ? `ended with exit code ${exit.code}` : `was ended by ${exit.signal}`;
  return { code: 'ENDED', message: `${command} ${how}${said}` };
}
