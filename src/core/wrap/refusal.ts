/**
 * A wrapper refused the call, or gave its handler up. The core answers a tool call with an `isError` result of this text, resources and
 * prompts with JSON-RPC error -32603. One frozen value for each text, without a stack: refusing is cheap.
 */
export class ComponentRefusal extends Error {
  override readonly name = 'ComponentRefusal';
  /** Told to the client. */
  readonly text: string;

  constructor(text: string) {
    super(text);
    this.text = text;
    this.stack = `ComponentRefusal: ${text}`;
    Object.freeze(this);
  }
}

export const TIMED_OUT = new ComponentRefusal('Component timed out');
export const NO_TIMEOUT_WORKER = new ComponentRefusal('Component timeout worker unavailable');
export const CONCURRENCY_LIMIT = new ComponentRefusal('Component concurrency limit reached');
export const RATE_LIMIT = new ComponentRefusal('Component rate limit reached');
export const RATE_KEYS = new ComponentRefusal('Component rate key capacity reached');
