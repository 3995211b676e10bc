// The two requests that everything here is measured with, as bytes on the wire. Spelled as a client of revision 2026-07-28 does.
const CLIENT = '"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}';
const META = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",${CLIENT}}`;

const CALL_BODY = `{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"get_weather","arguments":{"location":"Seattle, WA","unit":"celsius","days":3},${META}}}`;
const LISTEN_BODY = `{"jsonrpc":"2.0","id":17,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},${META}}}`;

/** What the upstream answers to the call. */
export const CALL_ANSWER =
  '{"jsonrpc":"2.0","id":17,"result":{"resultType":"complete","content":[{"type":"text","text":"Seattle: light rain, 11 to 14 degrees, wind from the south-west at 4 metres a second; drier from Thursday on."}],"isError":false}}';

/** The first event of the upstream's answer to the subscription; nothing follows it. */
export const LISTEN_EVENT =
  'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":17},"notifications":{"toolsListChanged":true}}}\n\n';

/** A tools/call. Without a token no Authorization is sent. */
export function callRequest(token?: string): string {
  return request(CALL_BODY, 'tools/call', ['Mcp-Name: get_weather'], token);
}

/** The same call in revision 2025-11-25, without a session. */
export function legacyCallRequest(): string {
  const body = CALL_BODY.replace(`,${META}`, '');
  return [
    'POST /mcp HTTP/1.1',
    'Host: 127.0.0.1',
    'User-Agent: bench/1.0',
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    'MCP-Protocol-Version: 2025-11-25',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}

/** What a legacy client is told of the upstream's answer when the server is a modern one. */
export const LEGACY_ANSWER = CALL_ANSWER.replace('"resultType":"complete",', '');

/** A subscriptions/listen. */
export function listenRequest(token: string): string {
  return request(LISTEN_BODY, 'subscriptions/listen', [], token);
}

function request(body: string, method: string, fields: readonly string[], token: string | undefined): string {
  return [
    'POST /mcp HTTP/1.1',
    'Host: 127.0.0.1',
    'User-Agent: bench/1.0',
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    'MCP-Protocol-Version: 2026-07-28',
    `Mcp-Method: ${method}`,
    ...fields,
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}
