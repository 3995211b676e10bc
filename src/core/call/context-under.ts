import type { JsonValue } from '../../contract/content.js';
import type { Ask, HandlerContext, InputRequired, LogLevel } from '../../contract/handler.js';
import type { HandlerToken } from '../wrap/wrapper.js';

/** The same call for a handler that may be given up before its call is: `cancelled` and `signal` are the token's. */
export class ContextUnder implements HandlerContext {
  readonly #call: HandlerContext;
  readonly #token: HandlerToken;

  constructor(call: HandlerContext, token: HandlerToken) {
    this.#call = call;
    this.#token = token;
  }

  get signal(): AbortSignal {
    return this.#token.signal;
  }

  get cancelled(): boolean {
    return this.#token.cancelled;
  }

  get identity(): HandlerContext['identity'] {
    return this.#call.identity;
  }

  get facts(): HandlerContext['facts'] {
    return this.#call.facts;
  }

  get era(): HandlerContext['era'] {
    return this.#call.era;
  }

  get revision(): string {
    return this.#call.revision;
  }

  get request_id(): string {
    return this.#call.request_id;
  }

  get client(): HandlerContext['client'] {
    return this.#call.client;
  }

  get responses(): HandlerContext['responses'] {
    return this.#call.responses;
  }

  get state(): HandlerContext['state'] {
    return this.#call.state;
  }

  progress(done: number, total?: number, message?: string): void {
    if (!this.#token.cancelled) this.#call.progress(done, total, message);
  }

  log(level: LogLevel, data: JsonValue, logger?: string): void {
    if (!this.#token.cancelled) this.#call.log(level, data, logger);
  }

  inputRequired(ask: Ask): InputRequired {
    return this.#call.inputRequired(ask);
  }

  under(token: HandlerToken): ContextUnder {
    return new ContextUnder(this, token);
  }
}
