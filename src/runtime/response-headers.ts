import { util } from 'undici';
import { dropped } from './dropped-headers.js';

/** What an upstream's answer is, as far as its head tells. */
export type Media = 'json' | 'events' | 'other' | 'none';

/** The head of an upstream's answer, split into what is relayed and what is acted upon. */
export interface UpstreamHead {
  readonly status: number;
  /** Flat name, value list of the fields that reach the client; without content-type. */
  readonly relayed: readonly string[];
  readonly media: Media;
  readonly content_type: string;
  /** Exact body length in bytes if the upstream declared it. */
  readonly length: number | undefined;
  /** True when the body is not what its type says but a coding of it. */
  readonly encoded: boolean;
  /** The upstream's own `Mcp-Session-Id`. */
  readonly session: string | undefined;
}

/** Sorts the raw fields of an answer: hop-by-hop fields, fields that `Connection` lists and fields that only the gateway may set stay here. */
export function readUpstreamHead(status: number, raw: readonly Buffer[]): UpstreamHead {
  let relayed: string[] = [];
  let types = 0;
  let content_type = '';
  let length: number | undefined;
  let encoded = false;
  let session: string | undefined;
  let connection = '';
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = util.headerNameToString(raw[i] as Buffer);
    const value = raw[i + 1] as Buffer;
    switch (name) {
      case 'content-type':
        types += 1;
        content_type = toText(value);
        break;
      case 'content-length':
        length = Number(toText(value));
        break;
      case 'content-encoding':
        encoded ||= toText(value).toLowerCase() !== 'identity';
        break;
      case 'connection':
        connection = connection === '' ? toText(value) : `${connection},${toText(value)}`;
        break;
      case 'mcp-session-id':
        session ??= toText(value);
        break;
      case 'x-request-id':
        relayed.push('x-upstream-request-id', toText(value));
        break;
      default:
        if (!dropped(name)) relayed.push(name, toText(value));
    }
  }
  if (connection !== '' && !PLAIN_CONNECTION.has(connection.toLowerCase())) relayed = withoutListed(relayed, connection);
  return { status, relayed, media: types > 1 ? 'other' : mediaOf(content_type), content_type, length, encoded, session };
}

function toText(value: Buffer): string {
  return value.toString('latin1');
}

const PLAIN_CONNECTION: ReadonlySet<string> = new Set(['keep-alive', 'close']);

function mediaOf(content_type: string): Media {
  if (content_type === 'application/json') return 'json';
  if (content_type === '') return 'none';
  const semicolon = content_type.indexOf(';');
  const essence = (semicolon < 0 ? content_type : content_type.slice(0, semicolon)).trim().toLowerCase();
  return essence === 'application/json' ? 'json' : essence === 'text/event-stream' ? 'events' : 'other';
}

function withoutListed(fields: readonly string[], connection: string): string[] {
  const listed = new Set(connection.split(',').map((token) => token.trim().toLowerCase()));
  const kept: string[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = fields[i] as string;
    if (!listed.has(name === 'x-upstream-request-id' ? 'x-request-id' : name)) kept.push(name, fields[i + 1] as string);
  }
  return kept;
}
