/**
 * Where the first answer in `bytes` ends. 0: it is not whole yet. -1: it is not a 200 with a Content-Length, which is all that a
 * proxy should make of the upstream's answer; who answers itself may send chunks.
 */
export function answerEnd(bytes: Buffer, chunks = false): number {
  const head = bytes.indexOf('\r\n\r\n');
  if (head < 0) return 0;
  const text = bytes.toString('latin1', 0, head).toLowerCase();
  if (chunks && text.includes('\r\ntransfer-encoding: chunked')) return bytes.subarray(-LAST.length).equals(LAST) ? bytes.length : 0;
  const field = text.indexOf('\r\ncontent-length:');
  if (field < 0 || !text.startsWith('http/1.1 200')) return -1;
  const end = head + 4 + Number.parseInt(text.slice(field + 17), 10);
  return end <= bytes.length ? end : 0;
}

const LAST = Buffer.from('\r\n0\r\n\r\n');
