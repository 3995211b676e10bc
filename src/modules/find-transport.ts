import type { Clock } from '../contract/clock.js';
import type { Transport, TransportHost, TransportModule } from '../contract/transport.js';
import { ConfigError } from '../errors/error.js';
import { wrongTransport } from '../transport/misbehaviour.js';
import { importModule, inspect } from './import-module.js';
import { checkOptions } from './options.js';

/** The number of the transport contract that is spoken here. */
const CONTRACT = 1;

/** Makes one transport of a module. Rejects when the module throws, or makes none. */
export type OpenTransport = (host: TransportHost) => Promise<Transport>;

/** How a config, or a program, names a transport, and where its problems are reported. */
export interface TransportSource {
  /** `npm:package[/subpath]` or `file:path`. */
  readonly module: string;
  readonly options: unknown;
  readonly clock: Clock;
  /** Where both start. */
  readonly folder: string;
  /** Dotted keys of `module` and `options`. */
  readonly where: { readonly module: string; readonly options: string };
}

/** Loads a transport's module and checks its options. Rejects with ConfigError that says what to do. */
export async function findTransport({ module: use, options, folder, clock, where }: TransportSource): Promise<OpenTransport> {
  const fail = (message: string) => new ConfigError([{ where: where.module, message }]);
  if (!/^(?:npm|file):./.test(use)) throw fail('names no module; write npm:<package> or file:<path>');
  const imported = await importModule(use, folder, clock);
  if (!imported.ok) throw fail(imported.message);
  const { transport } = imported.space;
  const wrong = inspect(() => wrongShape(transport));
  if (wrong !== undefined) throw fail(wrong);
  const module = transport as TransportModule;
  const checked = checkOptions(module.options ?? ({ type: 'object', properties: {} } as never), options, where.options);
  if (checked.problems.length > 0) throw new ConfigError(checked.problems);
  return async (host) => {
    const made: unknown = await module.open(checked.options as Readonly<Record<string, unknown>>, host);
    const problem = wrongTransport(made);
    if (problem !== undefined) throw new TypeError(`what ${module.name} opened ${problem}`);
    return made as Transport;
  };
}

function wrongShape(transport: unknown): string | undefined {
  if (typeof transport !== 'object' || transport === null)
    return 'has no named export "transport" that is a transport module (see docs/transports.md)';
  const module = transport as { readonly [K in keyof TransportModule]?: unknown };
  if (module.contract !== CONTRACT) return `speaks transport contract ${String(module.contract)}; here contract ${CONTRACT} is spoken`;
  if (typeof module.name !== 'string' || module.name === '') return 'transport.name is not a string';
  if (typeof module.open !== 'function') return 'transport.open is not a function';
  if (module.options !== undefined && (typeof module.options !== 'object' || module.options === null))
    return 'transport.options is not a JSON Schema';
  return undefined;
}
