// The API for servers: `import { defineServer } from 'portcullis/server'`.
export type { Change, ChangeContext, ChangeSource, Hub, Published, Wanted } from './contract/changes.js';
export type { Era } from './contract/claims.js';
export type { Clock } from './contract/clock.js';
export type {
  Annotations,
  AudioContent,
  CompletionResult,
  ContentBlock,
  EmbeddedResource,
  Icon,
  ImageContent,
  JsonSchema,
  JsonValue,
  Meta,
  PromptMessage,
  PromptResult,
  ResourceContents,
  ResourceLink,
  ResourceResult,
  TextContent,
  ToolResult,
} from './contract/content.js';
export type {
  Ask,
  ClientCapabilities,
  ClientInfo,
  ElicitRequest,
  HandlerContext,
  InputRequest,
  InputRequired,
  InputResponses,
  LogLevel,
  RootsRequest,
  SampleRequest,
} from './contract/handler.js';
export type { HttpPrepared, HttpRequest, HttpResponse, HttpStream } from './contract/http.js';
export type { Facts, Identity } from './contract/identity.js';
export type { Log } from './contract/log.js';
export { type Static, type TSchema, Type } from './contract/options.js';
export type {
  Awaitable,
  Caching,
  CompletionDefinition,
  CompletionInput,
  CompletionTarget,
  ComponentView,
  ComponentWrapper,
  ExtensionDefinition,
  ExtensionMethod,
  Policy,
  PromptArgument,
  PromptDefinition,
  ReadAnswer,
  ResourceDefinition,
  Server,
  ServerDefinition,
  TemplateDefinition,
  ToolAnnotations,
  ToolDefinition,
} from './contract/server.js';
export type { SchemaInput, SchemaOutput, StandardIssue, StandardResult, StandardSchema } from './contract/standard-schema.js';
export type { ServerTasks, TaskChange, TaskRecord, TaskStatus, TaskStore, ToolTask } from './contract/tasks.js';
export { RpcError, ToolError } from './core/call/run-handler.js';
export { defineServer } from './core/define/define-server.js';
export {
  acceptedContent,
  defineTool,
  elicit,
  elicitUrl,
  listRoots,
  type StructuredResult,
  sample,
  type ToolAnswer,
  type ToolSchema,
  type TypedTool,
} from './core/define/questions.js';
export { createDispatch, type Dispatch, type DispatchAnswer, type DispatchContext, type DispatchMessage } from './core/dispatch.js';
export { createHttpHandler, type HttpHandler, type HttpHandlerOptions } from './core/http/handler.js';
export { createHub } from './core/hub.js';
export { type ConcurrencyOptions, withConcurrency } from './core/wrap/concurrency.js';
export { type RateLimitOptions, withRateLimit } from './core/wrap/rate-limit.js';
export { type TimeoutOptions, withTimeout } from './core/wrap/timeout.js';
export { createExecutor } from './executor/bounded.js';
export type { Executor, ExecutorOptions } from './executor/executor.js';
export { systemClock } from './system-clock.js';
export { type StdioEnd, type StdioOptions, serveStdio } from './transport/stdio.js';
