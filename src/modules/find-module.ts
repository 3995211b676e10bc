import type { Clock } from '../contract/clock.js';
import type { GateModule } from '../contract/gate.js';
import { didYouMean } from '../errors/did-you-mean.js';
import { importModule, inspect } from './import-module.js';

/** The number of the gate contract that this gateway speaks. */
export const CONTRACT = 1;

export type FoundModule = { readonly ok: true; readonly module: GateModule } | { readonly ok: false; readonly message: string };

/**
 * The gate module that `use` names: a built-in, `npm:package[/subpath]` installed in or above `folder`, or `file:path`
 * relative to `folder`. The module is the named export `gate`. Never rejects: the message tells the operator what to do.
 */
export async function findModule(
  use: string,
  builtins: Readonly<Record<string, GateModule>>,
  folder: string,
  clock: Clock,
): Promise<FoundModule> {
  if (!use.startsWith('npm:') && !use.startsWith('file:')) {
    const module = Object.hasOwn(builtins, use) ? builtins[use] : undefined;
    if (module !== undefined) return { ok: true, module };
    const names = Object.keys(builtins);
    return no(`is not a built-in gate${didYouMean(use, names) || '.'} Known: ${names.join(', ')}, npm:<package>, file:<path>`);
  }
  const imported = await importModule(use, folder, clock);
  if (!imported.ok) return imported;
  const { gate } = imported.space;
  const message = inspect(() => wrongShape(gate));
  return message === undefined ? { ok: true, module: gate as GateModule } : no(message);
}

const no = (message: string): FoundModule => ({ ok: false, message });

function wrongShape(gate: unknown): string | undefined {
  if (typeof gate !== 'object' || gate === null) return 'has no named export "gate" that is a gate module (see gates/README.md)';
  const module = gate as { readonly [K in keyof GateModule]?: unknown };
  if (module.contract !== CONTRACT) return `speaks gate contract ${String(module.contract)}; this gateway speaks contract ${CONTRACT}`;
  if (typeof module.name !== 'string' || module.name === '') return 'gate.name is not a string';
  if (typeof module.options !== 'object' || module.options === null) return 'gate.options is not a JSON Schema (Type.Object({ … }))';
  if (typeof module.open !== 'function') return 'gate.open is not a function';
  if (module.provides !== undefined && !isStrings(module.provides)) return 'gate.provides is not a list of strings';
  if (module.requires !== undefined && typeof module.requires !== 'function' && !isStrings(module.requires)) {
    return 'gate.requires is not a list of strings or a function of the options';
  }
  if (![undefined, 'always', 'when_alone'].includes(module.identifies as undefined) && typeof module.identifies !== 'function') {
    return 'gate.identifies is neither "always", "when_alone" nor a function of the options';
  }
  if (module.authorizes !== undefined && typeof module.authorizes !== 'boolean') return 'gate.authorizes is not a boolean';
  if (module.codes !== undefined && (typeof module.codes !== 'object' || module.codes === null)) return 'gate.codes is not an object';
  return undefined;
}

function isStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
