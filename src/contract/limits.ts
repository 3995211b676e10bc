/** The limits of `listener.limits`, all of them (config/REFERENCE.md has the defaults). Positive integers; 0 only for the two that say so. */
export interface Limits {
  readonly max_connections: number;
  readonly head_timeout_ms: number;
  readonly read_timeout_ms: number;
  readonly max_header_bytes: number;
  readonly max_header_count: number;
  readonly max_body_bytes: number;
  readonly gate_timeout_ms: number;
  readonly body_timeout_ms: number;
  readonly request_timeout_ms: number;
  readonly request_timeout_max_ms: number;
  readonly max_subscriptions: number;
  readonly max_subscriptions_per_caller: number;
  readonly write_timeout_ms: number;
  readonly max_stream_buffer_bytes: number;
  readonly keep_alive_timeout_ms: number;
  /** 0 turns keep-alive comments off. */
  readonly sse_keepalive_ms: number;
  /** 0: no delay between the signal and the closing of the listening socket. */
  readonly drain_delay_ms: number;
  readonly drain_timeout_ms: number;
}
