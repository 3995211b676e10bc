// The client: `import { connect } from 'portcullis/client'`.
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
} from './client/options.js';
export type { Subscription, Wishes } from './client/subscription.js';
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
