import type { Json, ProtocolGateway } from './gateway.js';

/** Of a client that answers every question. */
export const CAPABILITIES = { elicitation: {}, sampling: {}, roots: {} };

/** One request of each kind that has a result. */
export const REQUESTS = [
  ['server/discover', {}],
  ['tools/list', {}],
  ['tools/call', { name: 'echo', arguments: { text: 'x' } }],
  ['tools/call', { name: 'echo', arguments: {} }],
  ['tools/call', { name: 'ask' }],
  ['tools/call', { name: 'structured', arguments: { good: true } }],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['resources/read', { uri: 'test://bytes' }],
  ['resources/read', { uri: 'test://ask' }],
  ['prompts/list', {}],
  ['prompts/get', { name: 'media' }],
  ['prompts/get', { name: 'ask' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: '' } }],
  ['subscriptions/listen', { notifications: {} }],
] as const;

/** Requests that fail, each in its own way. */
export const FAILING = [
  ['none', {}],
  ['tools/call', { name: 'none' }],
  ['tools/call', { name: 'crash' }],
  ['tools/call', { name: 'structured', arguments: { good: false } }],
  ['resources/read', { uri: 'test://none' }],
  ['prompts/get', { name: 'none' }],
  ['prompts/get', { name: 'greet' }],
  ['tools/list', { cursor: 'no cursor' }],
  ['completion/complete', {}],
  ['subscriptions/listen', {}],
] as const;

/** Every message that comes of all of these, and of a call that tells its progress and logs. */
export async function everyMessage(gateway: ProtocolGateway): Promise<Json[]> {
  const all: Json[] = [];
  for (const [method, params] of [...REQUESTS, ...FAILING])
    all.push(...(await gateway.ask(method, params, { capabilities: CAPABILITIES, meta: { progressToken: 1 } })).messages);
  all.push(...(await gateway.ask('tools/call', { name: 'steps' }, { meta: { progressToken: 1, ...LOG_ALL } })).messages);
  return all;
}

const LOG_ALL = { 'io.modelcontextprotocol/logLevel': 'debug' };
