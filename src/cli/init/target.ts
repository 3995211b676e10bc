import { createHash, randomBytes } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { resolveConfig } from '../../config/load.js';
import { ConfigError } from '../../errors/error.js';
import { gateProblems } from '../checked-config.js';
import { usageError } from '../exit.js';
import type { CliIo } from '../run-io.js';
import type { Answers } from './answers.js';
import { composeConfig } from './compose.js';

const SCHEMA = fileURLToPath(new URL('../../../../config/portcullis.schema.json', import.meta.url));

/** The file that `init` writes. `-` is standard output. */
export class Target {
  readonly #name: string;
  readonly #file: string;
  readonly #folder: string;
  readonly #io: CliIo;

  constructor(name: string, io: CliIo) {
    this.#name = name;
    this.#io = io;
    this.#file = resolve(io.cwd, name);
    this.#folder = name === '-' ? io.cwd : dirname(this.#file);
  }

  get exists(): boolean {
    return this.#name !== '-' && existsSync(this.#file);
  }

  /** Writes the config, if a start with it would succeed, and says what comes next. Throws CliExit; then nothing was written. */
  async write(answers: Answers): Promise<void> {
    const key = answers.callers.api_key === undefined ? undefined : this.#makeKey(answers.callers.api_key.sha256_file);
    try {
      const text = composeConfig(this.#fromFolder(answers), this.#schema());
      await this.#check(text);
      if (this.#name === '-') return this.#io.stdout(text);
      this.#save(this.#file, text, 0o666, this.exists ? 'w' : 'wx');
    } catch (error) {
      if (key !== undefined) rmSync(key.file);
      throw error;
    }
    this.#io.stdout(this.#next(answers, key?.key));
  }

  /** A fresh key, unless a file with the SHA-256 of one exists; only the hash is kept. */
  #makeKey(name: string): { readonly file: string; readonly key: string } | undefined {
    const file = resolve(this.#folder, name);
    if (existsSync(file)) return undefined;
    const key = randomBytes(32).toString('base64url');
    this.#save(file, `${createHash('sha256').update(key).digest('hex')}\n`, 0o600, 'wx');
    return { file, key };
  }

  async #check(text: string): Promise<void> {
    try {
      const loaded = resolveConfig(parse(text), { env: this.#io.env, folder: this.#folder });
      const problems = await gateProblems(loaded);
      if (problems.length > 0) throw new ConfigError(problems);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw usageError(`these answers make no config that can be served\n${error.message}`);
    }
  }

  #save(file: string, text: string, mode: number, flag: string): void {
    try {
      writeFileSync(file, text, { mode, flag });
    } catch (error) {
      throw usageError(`${file} cannot be written (${(error as NodeJS.ErrnoException).code})`);
    }
  }

  /** File names of the command line start at the working folder, those of a config at its own. */
  #fromFolder(answers: Answers): Answers {
    const { tls } = answers;
    if (tls === undefined) return answers;
    const moved = (file: string): string => (isAbsolute(file) ? file : dotted(relative(this.#folder, resolve(this.#io.cwd, file))));
    const { cert_file, key_file, client_ca_file: ca } = tls;
    return {
      ...answers,
      tls: { cert_file: moved(cert_file), key_file: moved(key_file), client_ca_file: ca === undefined ? ca : moved(ca) },
    };
  }

  /** Relative where the package is installed beside the config, so that the file can be shared. */
  #schema(): string {
    const near = relative(this.#folder, SCHEMA);
    return near.startsWith('..') || isAbsolute(near) ? SCHEMA : dotted(near);
  }

  #next({ callers }: Answers, key: string | undefined): string {
    const option = this.#name === 'portcullis.yaml' ? '' : ` -c ${this.#name}`;
    const made = key === undefined ? '' : `\nThe API key, which is shown this once: ${key}\nCallers send it as the header x-api-key.\n`;
    const kept =
      callers.api_key !== undefined && key === undefined ? `\nThe API key is the one of ${basename(callers.api_key.sha256_file)}.\n` : '';
    return `Wrote ${this.#name}.\n${made}${kept}\nNext:\n  portcullis validate${option}\n  portcullis run${option}\n`;
  }
}

function dotted(name: string): string {
  return name.startsWith('.') ? name : `./${name}`;
}
