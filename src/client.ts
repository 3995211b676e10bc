// The client: `import { connect } from 'portcullis/client'`.

import type { Transport, TransportHost } from './contract/transport.js';
import { findTransport } from './modules/find-transport.js';
import { SILENT } from './silent-log.js';
import { systemClock } from './system-clock.js';

export type { Client, CompletionQuestion } from './client/client.js';
export { ClientError, type ClientErrorCode } from './client/client-error.js';
export { connect, type Target } from './client/connect.js';
export type {
  Agreement,
  Callbacks,
  CallOptions,
  ConnectOptions,
  ElicitAnswer,
  LogMessage,
  Progress,
  Prompt,
  Resource,
  ResourceTemplate,
  Root,
  ServerInfo,
  Tool,
  ToolResult,
} from './client/options.js';
export type { Subscription, SubscriptionFilter } from './client/subscription.js';
export type {
  AudioContent,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  ResourceContents,
  ResourceLink,
  TextContent,
} from './contract/content.js';
export type { CompletionTarget } from './contract/server.js';
export type {
  RawMessage,
  SendOptions,
  Transport,
  TransportFault,
  TransportHost,
  TransportModule,
  TransportOptions,
  TransportOutcome,
  TransportState,
  WireMessage,
} from './contract/transport.js';
export type { Bearer } from './transport/http-target.js';
export { createMemoryTransport } from './transport/memory.js';
export { createStdioTransport, type StdioTransportOptions } from './transport/stdio-client.js';
export { createHttpTransport, type HttpTransportOptions } from './transport/streamable-http.js';

/** Of `loadTransport`. */
export interface LoadTransportOptions extends Partial<TransportHost> {
  /** The transport's own, checked against its schema. Default: none. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Where `npm:` and `file:` start. Default: the working folder. */
  readonly folder?: string;
}

/**
 * Loads a third party's transport, `npm:package[/subpath]` or `file:path`, for `connect({ transport })`. Rejects with ConfigError when
 * the module or its options are not right, with TypeError when what it opens is not a transport.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict';
 * import { loadTransport } from 'portcullis/client';
 *
 * await assert.rejects(loadTransport('npm:no-such-transport', { options: { port: 7000 } }), /no-such-transport/);
 * ```
 */
export async function loadTransport(module: string, options: LoadTransportOptions = {}): Promise<Transport> {
  const { folder = '.', log = SILENT, clock = systemClock } = options;
  const open = await findTransport({ module, options: options.options ?? {}, folder, clock, where: { module, options: 'options' } });
  return open({ log, clock });
}
