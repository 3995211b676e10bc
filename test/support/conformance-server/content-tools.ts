import { setTimeout as sleep } from 'node:timers/promises';
import { type EmbeddedResource, ToolError } from '../../../src/server.js';
import { object, PNG, type Tools, text, WAV } from './feature.js';

const STEP_MS = 20;

const embedded = (uri: string, mimeType: string, content: string): EmbeddedResource => ({
  type: 'resource',
  resource: { uri, mimeType, text: content },
});

/** Tools that answer at once, with progress or log messages on the way, or by failing. */
export const CONTENT_TOOLS: Tools = {
  test_simple_text: { run: () => 'This is a simple text response for testing.' },
  test_image_content: { run: () => ({ content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] }) },
  test_audio_content: { run: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }) },
  test_embedded_resource: {
    run: () => ({ content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')] }),
  },
  test_multiple_content_types: {
    run: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'image', data: PNG, mimeType: 'image/png' },
        embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  },
  test_tool_with_logging: {
    async run(_input, context) {
      for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        context.log('info', line);
        await sleep(STEP_MS, undefined, { signal: context.signal });
      }
      return 'Tool with logging executed successfully';
    },
  },
  test_tool_with_progress: {
    async run(_input, context) {
      for (const done of [0, 50, 100]) {
        context.progress(done, 100);
        await sleep(STEP_MS, undefined, { signal: context.signal });
      }
      return 'Tool with progress executed successfully';
    },
  },
  test_error_handling: {
    run() {
      throw new ToolError('This tool intentionally returns an error for testing');
    },
  },
  test_logging_tool: {
    run(_input, context) {
      context.log('info', 'delivered only when the request asks for this level');
      return 'logged';
    },
  },
  test_streaming_elicitation: { run: () => 'no request was sent on this stream' },
  test_x_mcp_header: {
    input: object({ region: { type: 'string', 'x-mcp-header': 'Region' }, level: { type: 'integer' } }),
    run: ({ region }) => `region=${String(region)}`,
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
    run: (input) => text(JSON.stringify(input)),
  },
};
