import { count, section } from './fields.js';

/** Every limit of the native listener, with the default that `docs` and the generated reference show. */
export const LimitsSchema = section(
  {
    max_connections: count(1024, 'Open connections. One accepted at the limit is closed without reading or writing a byte, and counted.'),
    head_timeout_ms: count(
      10_000,
      'From accept until the request head is complete, the TLS handshake included; on a kept-alive connection from the first byte of the next head. Then 408 and close.',
    ),
    read_timeout_ms: count(5_000, 'For each single read while a head or a body is awaited. Then 408 and close.'),
    max_header_bytes: count(
      32_768,
      'Bytes of the request head, the final CRLFCRLF included; body bytes that arrive with it do not count. Exactly this many pass, one more is 431 and close.',
    ),
    max_header_count: count(200, 'Header fields of one request. More are 431 and close.', { maximum: 1_000 }),
    max_body_bytes: count(
      2_000_000,
      'Bytes of one request body, checked against Content-Length before the body is read. More are 413 and close; a caller whom a gate identified gets the id of the call if the first 64 KiB hold it.',
    ),
    gate_timeout_ms: count(10_000, 'For each gate to decide, unless the gate sets its own timeout_ms. Then 504 and close.'),
    body_timeout_ms: count(
      10_000,
      'From the end of the head, or from admission by the last gate, until the body is complete. Then 408 and close.',
    ),
    request_timeout_ms: count(
      30_000,
      'For queueing and running one call; progress extends it, and so does a question that a legacy server asks on the stream of its call. Streams are not cut by it. Then a JSON-RPC error, with HTTP 504 if nothing was sent yet.',
    ),
    request_timeout_max_ms: count(300_000, 'The most that progress can extend request_timeout_ms to, in all.'),
    max_subscriptions: count(256, 'Open subscription streams. One more is 503 with the request id, and its source is closed.'),
    max_subscriptions_per_caller: count(
      32,
      'The same for one caller: a principal, or the address (of IPv6 the /64) of a caller whom no gate identified. One more is 503, TOO_MANY_STREAMS.',
    ),
    write_timeout_ms: count(5_000, 'Without progress on a blocked write. Then the stream is closed as slow_consumer, and counted.'),
    max_stream_buffer_bytes: count(262_144, 'Bytes queued for one slow reader. More close the stream as slow_consumer, and are counted.'),
    keep_alive_timeout_ms: count(
      75_000,
      'Idle time between requests of one connection. Then it is closed. Longer than the usual 60 s of load balancers.',
    ),
    sse_keepalive_ms: count(15_000, 'Silence on an open event stream before a comment line is sent, only between events. 0 turns it off.', {
      zero: true,
    }),
    drain_delay_ms: count(0, 'How long new work is still served after SIGTERM while readiness is already 503.', { zero: true }),
    drain_timeout_ms: count(5_000, 'How long a drain waits for open requests and streams. Those still open are then killed and counted.'),
  },
  {
    default: {},
    description: 'Limits of the native listener. All are whole numbers of at least 1, or of at least 0 where it says so.',
  },
);
