import { CODES, type ErrorCode } from './codes.js';

export interface ErrorDetail {
  /** Why, in words for the client: what was found, what was expected. No token, internal host or stack. */
  readonly detail?: string;
  /** More members of `error.data`. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Overrides the table's status; only for UPSTREAM_ANSWER. */
  readonly status?: number;
  readonly cause?: unknown;
}

/** An error that is sent to the HTTP client. Status, JSON-RPC code and message come from the table in codes.ts. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly rpc: number;
  readonly data: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(code: ErrorCode, detail: ErrorDetail = {}) {
    const row = CODES[code];
    super(
      detail.detail === undefined ? row.message : `${row.message} ${detail.detail}`,
      detail.cause === undefined ? undefined : { cause: detail.cause },
    );
    this.code = code;
    this.status = detail.status ?? row.status;
    this.rpc = row.rpc;
    this.data = detail.data;
    this.headers = detail.headers;
  }
}

/** One thing that is wrong in a config. `where` is a dotted key such as `listener.limits.max_connections`. */
export interface ConfigProblem {
  readonly where: string;
  readonly message: string;
  /** Path of the route that `where` is about, as it may be shown. */
  readonly route?: string;
  readonly file?: string;
  /** 1-based. */
  readonly line?: number;
  readonly column?: number;
  /** The source line and a caret under the place. */
  readonly excerpt?: string;
}

/** Told to the operator at start, all problems at once; the process exits 78. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(
      problems
        .map(
          (p) =>
            `${p.file === undefined ? '' : `${p.file}:${p.line ?? 1}:${p.column ?? 1} `}${placeOf(p)}${p.where === '' ? '' : ': '}${p.message}${p.excerpt === undefined ? '' : `\n${p.excerpt}`}`,
        )
        .join('\n'),
    );
    this.problems = problems;
  }
}

/** `where` of a problem as people read it: a route's number with its path, `routes[7] (/files/mcp).gates`. */
export function placeOf({ where, route }: ConfigProblem): string {
  return route === undefined ? where : where.replace(ROUTE, `$& (${route.replaceAll('$', '$$$$')})`);
}

/**
 * The problem with the paths of the routes that it names, in its place and in its message. `pathOf` gives what the config has at
 * `routes[index].path`, whatever it is.
 */
export function withRoutePaths(problem: ConfigProblem, pathOf: (index: number) => unknown): ConfigProblem {
  const shown = (entry: string): string | undefined => {
    const path = pathOf(Number(entry.slice(7, -1)));
    return typeof path === 'string' && PRINTABLE.test(path) ? path : undefined;
  };
  const own = ROUTE.exec(problem.where)?.[0];
  const route = problem.route ?? (own === undefined ? undefined : shown(own));
  const message = problem.message.replace(NAMED_ROUTE, (entry) => {
    const path = shown(entry);
    return path === undefined ? entry : `${entry} (${path})`;
  });
  return route === undefined ? { ...problem, message } : { ...problem, message, route };
}

const PLAIN = /^[A-Za-z_][A-Za-z0-9_-]{0,127}$/;
const MAX_SHOWN = 80;
const ROUTE = /^routes\[\d{1,9}\]/;
const NAMED_ROUTE = /\broutes\[\d{1,9}\](?! \()/g;
const PRINTABLE = /^[\x21-\x7e]{1,200}$/;

/** A fault told to the JSON-RPC peer, as a value: wire and dialect return it, they do not throw. */
export interface ProtocolFault {
  readonly code: ErrorCode;
  readonly detail?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A value or a fault. */
export type Outcome<T, F = ProtocolFault> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: F };

/** `base` with one more step, as problems show places: `gates.token.options.keys[0]`. Names that are not plain words are quoted, cut at 80 characters. */
export function within(base: string, step: string | number): string {
  if (typeof step === 'number') return `${base}[${step}]`;
  if (PLAIN.test(step)) return base === '' ? step : `${base}.${step}`;
  return `${base}[${JSON.stringify(step.length > MAX_SHOWN ? `${step.slice(0, MAX_SHOWN)}…` : step)}]`;
}
