import type { Audit, AuditEvent } from '../contract/audit.js';
import type { Clock } from '../contract/clock.js';
import type { Counter } from '../contract/metrics.js';
import type { AuditSink } from './audit-sink.js';
import { pseudonymOf } from './redact.js';

/** Limits on waiting lines and UTF-16 units, those being written included; further lines are dropped and counted. */
const MAX_LINES = 10_000;
const MAX_UNITS = 4_194_304;
const MAX_BATCH_LINES = 500;
const MAX_TEXT = 256;

export interface AuditOptions {
  readonly sink: AuditSink;
  readonly clock: Clock;
  /** `sha256` writes a pseudonym instead of issuer and principal: equal callers stay equal, guessable names can be guessed. */
  readonly principal: 'as_is' | 'sha256';
  /** True: requests that were admitted get a line too. */
  readonly admissions: boolean;
  /** `metrics.counter('audit_dropped_total', …)`. */
  readonly dropped: Counter;
  /** Told when the sink failed; `lines` were lost with it. */
  readonly failed: (error: unknown, lines: number) => void;
}

export interface ClosableAudit extends Audit {
  /** Writes what waits, at the latest until `deadline_ms`; the rest is counted as dropped. */
  close(deadline_ms: number): Promise<void>;
}

/** One JSON line for each decision. A separate loop writes to the sink: however slow it is, no request waits for it. */
export function createAudit(options: AuditOptions): ClosableAudit {
  const { sink, clock, dropped } = options;
  let queue: string[] = [];
  let lines = 0;
  let units = 0;
  let closed = false;
  let writing: Promise<void> | undefined;

  const writeAll = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.slice(0, MAX_BATCH_LINES);
      queue = queue.slice(MAX_BATCH_LINES);
      const text = batch.join('');
      try {
        await sink.write(text);
      } catch (error) {
        if (!closed) dropped.add(undefined, batch.length);
        options.failed(error, batch.length);
      }
      lines -= batch.length;
      units -= text.length;
    }
    writing = undefined;
  };

  return {
    decided(event) {
      if (event.verdict === 'admitted' && !options.admissions) return;
      const line = toLine(event, options);
      if (closed || lines >= MAX_LINES || units + line.length > MAX_UNITS) {
        dropped.add();
        return;
      }
      queue.push(line);
      lines += 1;
      units += line.length;
      writing ??= Promise.resolve().then(writeAll);
    },
    async close(deadline_ms) {
      if (closed) return;
      const late = deadline(clock, deadline_ms);
      await Promise.race([writing, late.passed]);
      closed = true;
      if (lines > 0) dropped.add(undefined, lines);
      queue = [];
      await Promise.race([sink.close().catch((error: unknown) => options.failed(error, 0)), late.passed]);
      late.cancel();
    },
  };
}

function toLine(event: AuditEvent, options: AuditOptions): string {
  const line = {
    time: new Date(options.clock.now_ms()).toISOString(),
    request_id: event.request_id,
    route: event.route,
    gate: event.gate,
    verdict: event.verdict,
    code: event.code,
    status: event.status,
    ...caller(event.identity, options.principal),
    method: cut(event.method),
    tool: event.tool === undefined ? undefined : cut(event.tool),
    client_address: event.client_address,
    trace_id: event.trace_id,
  };
  return `${JSON.stringify(line)}\n`;
}

function caller(identity: AuditEvent['identity'], how: AuditOptions['principal']): Readonly<Record<string, string>> {
  if (identity === undefined) return {};
  if (how === 'as_is') return { issuer: cut(identity.issuer), principal: cut(identity.principal) };
  return { principal: pseudonymOf(identity) };
}

const cut = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

function deadline(clock: Clock, delay_ms: number): { readonly passed: Promise<void>; cancel(): void } {
  let timer = { cancel() {} };
  const passed = new Promise<void>((resolve) => {
    timer = clock.timer(delay_ms, resolve);
  });
  return { passed, cancel: () => timer.cancel() };
}
