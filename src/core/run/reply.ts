import type { AnswerWriter, Exchange, HeaderList } from '../../contract/runtime.js';
import type { Reply } from '../call/request.js';

/** Sends an answer whole: as JSON, or as the last event of the stream that had begun. `id` is raw JSON text. */
export function sendReply(
  exchange: Exchange,
  writer: AnswerWriter | undefined,
  id: string,
  reply: Exclude<Reply, { readonly kind: 'ask' }>,
): void {
  const member = reply.kind === 'result' ? 'result' : 'error';
  const json = `{"jsonrpc":"2.0","id":${id},"${member}":${reply.json}}`;
  const outcome = reply.kind === 'result' ? reply.outcome : 'rpc_error';
  const rpc = reply.kind === 'error' ? reply.rpc : undefined;
  if (writer === undefined) {
    exchange.respond(reply.kind === 'error' ? reply.status : 200, JSON_HEADERS, Buffer.from(json), outcome, rpc);
    return;
  }
  writer.write(Buffer.from(`event: message\ndata: ${json}\n\n`));
  writer.end('source', outcome, rpc);
}

const JSON_HEADERS: HeaderList = ['content-type', 'application/json'];
