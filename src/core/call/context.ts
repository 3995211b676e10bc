import type { Era } from '../../contract/claims.js';
import type { JsonValue } from '../../contract/content.js';
import type {
  Ask,
  ClientCapabilities,
  ClientInfo,
  HandlerContext,
  InputRequired,
  InputResponses,
  LogLevel,
} from '../../contract/handler.js';
import type { Facts, Identity } from '../../contract/identity.js';
import { notificationText } from '../../wire/rpc.js';
import type { HandlerToken, WrapContext } from '../wrap/wrapper.js';
import { ContextUnder } from './context-under.js';
import { isObject } from './params.js';
import type { CoreRequest, InputRound } from './request.js';

/** What a running call may do with the transport under it. */
export interface CallHost {
  readonly signal: AbortSignal;
  readonly cancelled: boolean;
  /** Sends one notification, whole JSON text, on the stream of this call; drops it when the client takes no stream. */
  notify(json: string): void;
  /** The same for progress: while the reader is slow only the latest is kept. */
  progress(json: string): void;
  /** The work makes progress: the deadline restarts. */
  progressed(): void;
}

/** One call as its handler sees it. */
export class CallContext implements HandlerContext, WrapContext {
  readonly #request: CoreRequest;
  readonly #host: CallHost;
  readonly #round: InputRound | undefined;
  #done = Number.NEGATIVE_INFINITY;
  #over = false;

  constructor(request: CoreRequest, host: CallHost, round: InputRound | undefined) {
    this.#request = request;
    this.#host = host;
    this.#round = round;
  }

  get identity(): Identity | undefined {
    return this.#request.identity;
  }

  get facts(): Facts {
    return this.#request.facts;
  }

  get signal(): AbortSignal {
    return this.#host.signal;
  }

  get cancelled(): boolean {
    return this.#host.cancelled;
  }

  get era(): Era {
    return this.#request.dialect.era;
  }

  get revision(): string {
    return this.#request.dialect.revision;
  }

  get request_id(): string {
    return this.#request.request_id;
  }

  get client(): HandlerContext['client'] {
    return clientOf(this.#request);
  }

  get responses(): InputResponses | undefined {
    return this.#round?.responses;
  }

  get state(): JsonValue | undefined {
    return this.#round?.state;
  }

  progress(done: number, total?: number, message?: string): void {
    if (this.#over || !Number.isFinite(done) || done <= this.#done) return;
    this.#done = done;
    this.#host.progressed();
    const token = this.#request.progress_token;
    if (token === undefined) return;
    const more = `${total !== undefined && Number.isFinite(total) ? `,"total":${total}` : ''}${message === undefined ? '' : `,"message":${JSON.stringify(message)}`}`;
    this.#host.progress(notificationText('notifications/progress', `{"progressToken":${token},"progress":${done}${more}}`));
  }

  log(level: LogLevel, data: JsonValue, logger?: string): void {
    if (this.#over || LEVELS.indexOf(level) < LEVELS.indexOf(wantedLevel(this.#request) ?? 'none')) return;
    const params = JSON.stringify(logger === undefined ? { level, data } : { level, logger, data });
    this.#host.notify(notificationText('notifications/message', params));
  }

  inputRequired(ask: Ask): InputRequired {
    return new Asking(ask);
  }

  under(token: HandlerToken): ContextUnder {
    return new ContextUnder(this, token);
  }

  /** The handler has returned: later progress and log messages are dropped. */
  end(): void {
    this.#over = true;
  }
}

/** The value that `context.inputRequired` makes; nothing else is taken for one. */
export class Asking implements InputRequired {
  readonly ask: Ask;

  constructor(ask: Ask) {
    this.ask = ask;
  }
}

/** What the client declared in this request, or at the handshake of its session. */
export function clientOf({ dialect, params, session }: CoreRequest): {
  readonly capabilities: ClientCapabilities;
  readonly info: ClientInfo | undefined;
} {
  if (dialect.era === 'legacy') return { capabilities: session?.client?.capabilities ?? {}, info: session?.client?.info };
  const meta = isObject(params._meta) ? params._meta : {};
  const capabilities = meta['io.modelcontextprotocol/clientCapabilities'];
  const info = meta['io.modelcontextprotocol/clientInfo'];
  return {
    capabilities: isObject(capabilities) ? capabilities : {},
    info: isObject(info) && typeof info.name === 'string' && typeof info.version === 'string' ? (info as unknown as ClientInfo) : undefined,
  };
}

/** True for a level of RFC 5424. */
export function isLogLevel(level: unknown): level is LogLevel {
  return typeof level === 'string' && LEVELS.indexOf(level) >= 0 && level !== 'none';
}

/** `none`, last, is above every level: nothing was asked for. */
export const LEVELS: readonly string[] = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency', 'none'];

/** From which level on a legacy client gets log messages until it sets another. */
export const FIRST_LEVEL = 'info';

/** From which level on the client gets log messages. Legacy revisions set it for a session. */
function wantedLevel({ dialect, params, session }: CoreRequest): string | undefined {
  if (dialect.era === 'legacy') return session?.log_level ?? FIRST_LEVEL;
  const level = isObject(params._meta) ? params._meta['io.modelcontextprotocol/logLevel'] : undefined;
  return typeof level === 'string' ? level : undefined;
}
