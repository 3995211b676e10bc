import { atKey, atValue, type Finding } from './finding.js';
import type { Path } from './path.js';
import type { Config } from './schema/config.js';
import type { GateConfig } from './schema/gates.js';
import type { ListenerConfig } from './schema/listener.js';
import type { OpsConfig } from './schema/ops.js';
import type { RouteConfig } from './schema/routes.js';
import type { RuntimeConfig } from './schema/runtimes.js';
import type { TelemetryConfig } from './schema/telemetry.js';

/** Entries by name; undefined where the named entry is invalid, which has been reported already. */
export type Entries<T> = ReadonlyMap<string, T | undefined>;

/** The parts of a config that the schema found sound, for rules that look across parts. */
export interface View {
  readonly listener: ListenerConfig | undefined;
  readonly ops: OpsConfig | undefined;
  readonly gates: Entries<GateConfig>;
  readonly runtimes: Entries<RuntimeConfig>;
  readonly routes: readonly { readonly at: Path; readonly route: RouteConfig }[];
  readonly telemetry: TelemetryConfig | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder that relative file names start at. */
  readonly folder: string;
  /** Dotted keys whose values came from references: messages never repeat them. */
  readonly referenced: ReadonlySet<string>;
}

/** Where rules tell what they found. */
export class Report {
  readonly errors: Finding[] = [];
  readonly warnings: Finding[] = [];

  error(path: Path, message: string): void {
    this.errors.push(atValue(path, message));
  }

  /** Something is missing in, or wrong about, the whole of `path`. */
  errorAtKey(path: Path, message: string): void {
    this.errors.push(atKey(path, message));
  }

  warn(path: Path, message: string): void {
    this.warnings.push(atKey(path, message));
  }
}

/** A rule that no single value can break. */
export type Rule = (view: View, report: Report) => void;

/** Cuts a checked value down to what is sound. An unknown key alone does not make its neighbours unsound. */
export function viewOf(value: unknown, findings: readonly Finding[], scope: Pick<View, 'env' | 'folder' | 'referenced'>): View {
  const config = (isMapping(value) ? value : {}) as Partial<Config>;
  const broken = findings.filter((finding) => finding.mild !== true).map((finding) => finding.path);
  const sound = (path: Path) => !broken.some((other) => startsWith(other, path) || startsWith(path, other));
  const entries = <T>(section: 'gates' | 'runtimes'): Entries<T> =>
    new Map(
      Object.entries(isMapping(config[section]) ? config[section] : {}).map(([name, entry]) => [
        name,
        sound([section, name]) ? (entry as T) : undefined,
      ]),
    );
  const routes = Array.isArray(config.routes) ? (config.routes as readonly RouteConfig[]) : [];
  return {
    listener: sound(['listener']) ? config.listener : undefined,
    ops: sound(['ops']) ? config.ops : undefined,
    gates: entries<GateConfig>('gates'),
    runtimes: entries<RuntimeConfig>('runtimes'),
    routes: routes.flatMap((route, index) => (sound(['routes', index]) ? [{ at: ['routes', index], route }] : [])),
    telemetry: sound(['telemetry']) ? config.telemetry : undefined,
    env: scope.env,
    folder: scope.folder,
    referenced: scope.referenced,
  };
}

function startsWith(path: Path, start: Path): boolean {
  return path.length >= start.length && start.every((step, index) => path[index] === step);
}

function isMapping(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
