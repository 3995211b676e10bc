import type { RuntimeConfig } from '../config/schema/runtimes.js';
import type { Log } from '../contract/log.js';
import { type Finding, fail } from './check.js';

/** Listens to the log of a gateway for children that could not be started or ended by themselves. Their output is not kept: it may hold secrets. */
export class ChildEnds {
  readonly log: Log = this.#of(undefined);
  readonly #found = new Map<string, Readonly<Record<string, unknown>>>();

  /** One finding for each runtime; its first end tells most. */
  findings(runtimes: Readonly<Record<string, RuntimeConfig>>): readonly Finding[] {
    return [...this.#found].map(([name, end]) => {
      const runtime = runtimes[name];
      const command = runtime?.kind === 'stdio' ? runtime.command : name;
      if (end.how === undefined)
        return fail(`runtime ${name}`, `${command} could not be started (${end.code})`, REMEDIES[`${end.code}`] ?? LOOK);
      const { code, signal } = end;
      const how = typeof signal === 'string' ? signal : typeof code === 'number' ? `exit code ${code}` : `${end.how}`;
      return fail(
        `runtime ${name}`,
        `${command} ended by itself (${how})${end.answered === true ? '' : ' before it answered anything'}`,
        LOOK,
      );
    });
  }

  #of(runtime: string | undefined): Log {
    const keep = (fields: Readonly<Record<string, unknown>>, message: string): void => {
      if (runtime !== undefined && ENDS.has(message) && !this.#found.has(runtime)) this.#found.set(runtime, fields);
    };
    const ignore = (): void => undefined;
    const child: Log['child'] = (fields) => this.#of(typeof fields.runtime === 'string' ? fields.runtime : runtime);
    return { debug: ignore, info: ignore, warn: keep, error: keep, child };
  }
}

/** What the runtimes write, src/transport/stdio-child.ts and src/runtime/peer/spawner.ts. */
const ENDS: ReadonlySet<string> = new Set(['the command could not be started', 'the MCP server ended by itself']);

const LOOK = 'Run its command by hand; portcullis run logs what it writes to stderr.';

const REMEDIES: Readonly<Record<string, string>> = {
  ENOENT: 'Install the command or name it with its folder; it is looked for in PATH. cwd must exist, too.',
  EACCES: 'Make the file executable for this user (chmod +x).',
};
