/** The successful response that ends a subscription early (MCP 2026-07-28 Subscriptions, "Graceful Closure"). `id` is raw JSON text. */
export function listenEnd(id: string): string {
  return `{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":${id}}}}`;
}
