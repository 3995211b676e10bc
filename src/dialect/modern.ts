import { SERVER_INFO_KEY } from '../wire/rpc.js';
import type { Dialect } from './dialect.js';

/** MCP 2026-07-28: metadata in each request, `resultType` in each result, no handshake, questions inside results. */
export const REV_2026_07_28: Dialect = Object.freeze<Dialect>({
  revision: '2026-07-28',
  era: 'modern',
  methods: new Set([
    'server/discover',
    'tools/list',
    'tools/call',
    'resources/list',
    'resources/templates/list',
    'resources/read',
    'prompts/list',
    'prompts/get',
    'completion/complete',
    'subscriptions/listen',
  ]),
  items: { title: true, icons: true, tool_annotations: true, structured: 'any' },
  links: true,
  bad_arguments: 'tool_error',
  resource_not_found: -32602,
  asks: 'result',
  can_ask: () => true,
  status: (status) => status,
  result(members, meta, server_info, type = 'complete') {
    const head = members === '' ? '' : `${members},`;
    // A handler may add to `_meta`, but not say who answers.
    const own = meta === undefined ? '' : JSON.stringify({ ...meta, [SERVER_INFO_KEY]: undefined }).slice(1, -1);
    return `{"resultType":"${type}",${head}"_meta":{${own === '' ? '' : `${own},`}"${SERVER_INFO_KEY}":${server_info}}}`;
  },
  hints: ({ ttl_ms, scope }) => `"ttlMs":${ttl_ms},"cacheScope":"${scope}"`,
});
