import type { AnswerOutcome, AnswerWriter, Exchange, HeaderList, MessageWriter } from '../../contract/runtime.js';
import type { BridgeDirection, EndReason } from '../../contract/telemetry.js';
import type { GatewayError } from '../../errors/error.js';

/**
 * The client's half of the first `initialize` on a modern server of which nobody knows whether it serves legacy revisions too. The server's answer tells: an error
 * that only a modern server gives is kept from the client, who is then served another way.
 */
export class FirstInitialize implements Exchange {
  readonly #client: Exchange;
  readonly #told: (serves: boolean) => boolean;

  /**
   * `told` runs once, unless the server did not answer at all. True after `false`: the client is served another way, and nothing was said to it; else it gets
   * the server's answer.
   */
  constructor(client: Exchange, told: (serves: boolean) => boolean) {
    this.#client = client;
    this.#told = told;
  }

  get accepts_events(): boolean {
    return this.#client.accepts_events;
  }

  get ended(): boolean {
    return this.#client.ended;
  }

  upstreamStarted(bridged?: BridgeDirection): void {
    this.#client.upstreamStarted(bridged);
  }

  upstreamResponded(): void {
    this.#client.upstreamResponded();
  }

  onCancel(cancel: (reason: EndReason) => void): void {
    this.#client.onCancel(cancel);
  }

  waitsFor(detail: string | undefined): void {
    this.#client.waitsFor(detail);
  }

  progressed(): void {
    this.#client.progressed();
  }

  inputRequested(): void {
    this.#client.inputRequested();
  }

  respond(status: number, headers: HeaderList, body: Uint8Array, outcome: AnswerOutcome, rpc_code?: number): void {
    if (rpc_code !== undefined && MODERN_CODES.has(rpc_code) && this.#told(false)) return;
    if (outcome === 'ok') this.#told(true);
    this.#client.respond(status, headers, body, outcome, rpc_code);
  }

  stream(status: number, headers: HeaderList, length: number | undefined): AnswerWriter {
    return this.#client.stream(status, headers, length);
  }

  events(headers: HeaderList): MessageWriter | undefined {
    this.#told(true);
    return this.#client.events(headers);
  }

  accept(status?: number, headers?: HeaderList): void {
    this.#client.accept(status, headers);
  }

  fail(error: GatewayError): void {
    if (error.code === 'UPSTREAM_ANSWER' && STATUSES.has(error.status) && this.#told(false)) return;
    this.#client.fail(error);
  }
}

/** -32020, -32022 and an unknown method: `initialize` is not of the modern revision. */
const MODERN_CODES: ReadonlySet<number> = new Set([-32020, -32022, -32601]);
/** Of answers without a JSON-RPC message. */
const STATUSES: ReadonlySet<number> = new Set([400, 404, 405]);
