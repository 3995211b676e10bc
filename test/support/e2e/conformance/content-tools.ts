import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerContext } from '@modelcontextprotocol/server';
import { type FixtureTools, object, PNG, text, WAV } from './feature.js';

const STEP_MS = 20;

const embedded = (uri: string, mimeType: string, content: string) =>
  ({ type: 'resource', resource: { uri, mimeType, text: content } }) as const;

const log = (context: ServerContext, data: string): Promise<void> =>
  context.mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } });

/** Tools that answer at once, with progress or log messages on the way, or by failing. */
export const CONTENT_TOOLS: FixtureTools = {
  test_simple_text: { run: async () => text('This is a simple text response for testing.') },
  test_image_content: { run: async () => ({ content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] }) },
  test_audio_content: { run: async () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }) },
  test_embedded_resource: {
    run: async () => ({ content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')] }),
  },
  test_multiple_content_types: {
    run: async () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'image', data: PNG, mimeType: 'image/png' },
        embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  },
  test_tool_with_logging: {
    async run(_args, context) {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await log(context, data);
        await sleep(STEP_MS);
      }
      return text('Tool with logging executed successfully');
    },
  },
  test_tool_with_progress: {
    async run(_args, context) {
      const progressToken = context.mcpReq._meta?.progressToken;
      if (progressToken === undefined) return text('no progress token');
      for (const progress of [0, 50, 100]) {
        await context.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
        await sleep(STEP_MS);
      }
      return text(String(progressToken));
    },
  },
  test_error_handling: {
    run: () => Promise.reject(new Error('This tool intentionally returns an error for testing')),
  },
  test_logging_tool: {
    async run(_args, context) {
      await context.mcpReq.log('info', 'delivered only when the request asks for this level');
      return text('logged');
    },
  },
  test_streaming_elicitation: { run: async () => text('no request was sent on this stream') },
  test_x_mcp_header: {
    input: object({ region: { type: 'string', 'x-mcp-header': 'Region' }, level: { type: 'integer' } }),
    run: async ({ region }) => text(`region=${String(region)}`),
  },
  test_reconnection: {
    async run(_args, context) {
      context.http?.closeSSE?.();
      await sleep(100);
      return text('The stream was closed before this result; it came after the client had returned.');
    },
  },
  json_schema_2020_12_tool: {
    input: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    run: async (args) => text(JSON.stringify(args)),
  },
};
