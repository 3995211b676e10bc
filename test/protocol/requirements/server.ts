import { page } from './requirement.js';

const META = 'Every request has the required fields of _meta.';

export const DISCOVER = page('server/discover', 'DISC', [[1, 'discovery', 'server', 'server/discover is there.']]);

export const TOOLS = page('server/tools', 'TOOL', [
  [1, 'user-interaction-model', 'client', META],
  [2, 'capabilities', 'server', 'Tools come with the tools capability.'],
  [3, 'capabilities', 'server', 'tools/list then tells the tools there are for the caller.'],
  [4, 'capabilities', 'server', 'The list depends on no connection and no other request of it.'],
  [5, 'calling-tools', 'client', 'A repeated request has another id.'],
  [6, 'tool', 'server', 'inputSchema is a JSON Schema, an object.'],
  [7, 'tool', 'client', 'Annotations of servers that are not trusted are not trusted.'],
  [8, 'x-mcp-header', 'server', 'The name is not empty.'],
  [9, 'x-mcp-header', 'server', 'It is a header token.'],
  [10, 'x-mcp-header', 'server', 'It has no control characters.'],
  [11, 'x-mcp-header', 'server', 'It is there once in a schema, whatever its case.'],
  [12, 'x-mcp-header', 'server', 'It is on integers, strings and booleans only.'],
  [13, 'x-mcp-header', 'server', 'Mirrored integers are in the safe range.'],
  [14, 'x-mcp-header', 'server', 'The annotated property is reached by properties alone.'],
  [15, 'x-mcp-header', 'client', 'A tool that breaks these rules is rejected.'],
  [16, 'x-mcp-header', 'client', 'Rejected tools are left out of the list.'],
  [17, 'output-schema', 'server', 'Structured results fit the output schema.'],
  [18, 'security-considerations', 'server', 'Inputs of tools are validated.'],
  [19, 'security-considerations', 'server', 'Access to tools is controlled.'],
  [20, 'security-considerations', 'server', 'The rate of calls is limited.'],
  [21, 'security-considerations', 'server', 'Outputs are sanitised.'],
]);

export const RESOURCES = page('server/resources', 'RES', [
  [1, 'resources', 'client', META],
  [2, 'capabilities', 'server', 'Resources come with the resources capability.'],
  [3, 'capabilities', 'server', 'resources/list then tells the resources there are for the caller.'],
  [4, 'capabilities', 'server', 'The list depends on no connection and no other request of it.'],
  [5, 'custom-uri-schemes', 'server', 'URIs are written as RFC 3986 says.'],
  [6, 'error-handling', 'server', 'A resource that is not there is -32602.'],
  [7, 'error-handling', 'server', 'It is never an empty list of contents.'],
  [8, 'security-considerations', 'server', 'URIs are validated.'],
  [9, 'security-considerations', 'server', 'Binary data is encoded.'],
  [10, 'security-considerations', 'author', 'Paths of files that are served lead nowhere else.'],
]);

export const PROMPTS = page('server/prompts', 'PROM', [
  [1, 'prompts', 'client', META],
  [2, 'capabilities', 'server', 'Prompts come with the prompts capability in server/discover.'],
  [3, 'capabilities', 'server', 'prompts/list then tells the prompts there are for the caller.'],
  [4, 'capabilities', 'server', 'The list depends on no connection and no other request of it.'],
  [5, 'image-content', 'server', 'Images are base64 and have their MIME type.'],
  [6, 'audio-content', 'server', 'Audio is base64 and has its MIME type.'],
  [7, 'embedded-resources', 'server', 'Embedded resources have a URI, a MIME type, and text or base64.'],
  [8, 'security', 'server', 'Inputs and outputs of prompts are validated.'],
]);

export const CACHING = page('server/utilities/caching', 'CACH', [
  [1, 'cacheable-results', 'server', 'Complete results of the six cacheable requests have caching hints.'],
  [2, 'cache-key', 'client', 'A kept result is for the same method and parameters alone.'],
  [3, 'cache-key', 'client', 'What came of a repeated request is not kept.'],
  [4, 'time-to-live-ttl-field', 'server', 'ttlMs is 0 or more.'],
  [5, 'freshness-calculation', 'client', 'Who polls does so with jitter and backoff.'],
  [6, 'cache-scope-field', 'client', 'What is private is not shared between authorisations.'],
  [7, 'interaction-with-pagination', 'server', 'All pages of a list have one cacheScope.'],
  [8, 'interaction-with-pagination', 'server', 'After a private page all are private.'],
  [9, 'security-considerations', 'server', 'What is public may be seen by every caller.'],
  [10, 'security-considerations', 'server', 'Each component has its own access control.'],
  [11, 'security-considerations', 'server', 'cacheScope is not that control.'],
]);

export const LOGGING = page('server/utilities/logging', 'LOG', [
  [1, 'capabilities', 'server', 'Log messages come with the logging capability.'],
  [2, 'per-request-log-level', 'server', 'A request without logLevel gets no log message.'],
  [3, 'per-request-log-level', 'server', 'Log messages come on the stream of their own request alone.'],
  [4, 'security', 'server', 'Log messages hold no secrets, personal data or internals: nothing but what a handler logs is sent.'],
]);

export const PAGINATION = page('server/utilities/pagination', 'PAGE', [
  [1, 'pagination', 'client', META],
  [2, 'pagination-model', 'client', 'No page size is assumed.'],
  [3, 'implementation-guidelines', 'client', 'Cursors are opaque.'],
  [4, 'implementation-guidelines', 'client', 'An empty cursor is a cursor.'],
]);

export const COMPLETION = page('server/utilities/completion', 'COMP', [
  [1, 'completion', 'client', META],
  [2, 'capabilities', 'server', 'Completion comes with the completions capability.'],
  [3, 'security', 'server', 'Inputs are validated.'],
  [4, 'security', 'server', 'The rate is limited.'],
  [5, 'security', 'server', 'Access to suggestions is controlled.'],
  [6, 'security', 'server', 'Completion tells nothing of what the caller may not see.'],
]);
