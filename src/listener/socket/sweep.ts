import type { Clock } from '../../contract/clock.js';
import type { Limits } from '../../contract/limits.js';
import type { ErrorCode } from '../../errors/codes.js';
import type { Connection } from './connection.js';

export interface SweepActions {
  refuse(connection: Connection, code: ErrorCode): void;
  late(connection: Connection): void;
}

/** White space that the parser skips without counting may come this far before the head is called a flood. */
const HEAD_SLACK_BYTES = 65_536;

/**
 * One timer for all deadlines of all connections: a healthy request pays nothing for them. A deadline is at most one tick
 * late; the tick is an eighth of the shortest limit, within 10 to 100 ms.
 */
export function startSweep(connections: ReadonlySet<Connection>, limits: Limits, clock: Clock, actions: SweepActions): { stop(): void } {
  const shortest = Math.min(
    limits.head_timeout_ms,
    limits.read_timeout_ms,
    limits.body_timeout_ms,
    limits.write_timeout_ms,
    limits.request_timeout_ms,
  );
  const tick = Math.max(10, Math.min(100, Math.floor(shortest / 8)));
  const timer = clock.interval(tick, () => {
    const now = clock.mono_ms();
    for (const connection of connections) checkDeadlines(connection, now, limits, actions);
  });
  return { stop: () => timer.cancel() };
}

function checkDeadlines(connection: Connection, now: number, limits: Limits, actions: SweepActions): void {
  switch (connection.phase) {
    case 'lingering':
      if (now >= connection.linger_until_ms) connection.socket.destroy();
      return;
    case 'idle':
      return checkIdle(connection, now, limits);
    case 'head':
      return checkHeadDeadline(connection, now, limits, actions);
    case 'body':
      return checkBodyDeadline(connection, now, limits, actions);
    case 'handshake':
      if (now - connection.head_at_ms >= limits.head_timeout_ms) connection.socket.destroy();
      return;
    default:
      connection.work?.tick(now);
  }
}

function checkIdle(connection: Connection, now: number, limits: Limits): void {
  const seen = connection.socket.bytesRead;
  if (seen !== connection.base) {
    // The first bytes of the next head, leading CRLFs too.
    connection.phase = 'head';
    connection.head_at_ms = connection.seen_at_ms = now;
    connection.seen_bytes = seen;
  } else if (now - connection.seen_at_ms >= limits.keep_alive_timeout_ms) {
    connection.dead = true;
    connection.socket.end();
    connection.phase = 'lingering';
    connection.linger_until_ms = now + 1000;
  }
}

function checkHeadDeadline(connection: Connection, now: number, limits: Limits, actions: SweepActions): void {
  const seen = noteReads(connection, now);
  if (now - connection.head_at_ms >= limits.head_timeout_ms || now - connection.seen_at_ms >= limits.read_timeout_ms) {
    actions.refuse(connection, 'HEAD_TIMEOUT');
  } else if (seen - connection.base > limits.max_header_bytes + HEAD_SLACK_BYTES) actions.refuse(connection, 'HEAD_TOO_LARGE');
}

function checkBodyDeadline(connection: Connection, now: number, limits: Limits, actions: SweepActions): void {
  noteReads(connection, now);
  if (connection.request?.complete === true) {
    connection.phase = 'running';
    connection.late = undefined;
  } else if (now - connection.body_at_ms >= limits.body_timeout_ms || now - connection.seen_at_ms >= limits.read_timeout_ms) {
    actions.late(connection);
  }
}

function noteReads(connection: Connection, now: number): number {
  const seen = connection.socket.bytesRead;
  if (seen !== connection.seen_bytes) {
    connection.seen_bytes = seen;
    connection.seen_at_ms = now;
  }
  return seen;
}
