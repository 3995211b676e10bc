import type { HeaderList } from '../../contract/runtime.js';
import { listedIn } from '../../wire/field.js';
import { essenceOf } from '../../wire/media.js';
import { dropped } from '../shared/static-headers.js';

/** What an upstream's answer is, as far as its head tells. */
export type Media = 'json' | 'events' | 'other' | 'none';

/** The head of an upstream's answer, split into the fields to relay and the fields to act upon. */
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

/** Sorts the fields of an answer, names in lower case: hop-by-hop fields, fields that `Connection` lists and fields that only the gateway may set stay here. */
export function readUpstreamHead(status: number, fields: HeaderList, length: number | undefined): UpstreamHead {
  let relayed: string[] = [];
  let types = 0;
  let content_type = '';
  let encoded = false;
  let session: string | undefined;
  let connection = '';
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = fields[i] as string;
    const value = fields[i + 1] as string;
    switch (name) {
      case 'content-type':
        types += 1;
        content_type = value;
        break;
      case 'content-encoding':
        encoded ||= value.toLowerCase() !== 'identity';
        break;
      case 'connection':
        connection = connection === '' ? value : `${connection},${value}`;
        break;
      case 'mcp-session-id':
        session ??= value;
        break;
      case 'x-request-id':
        relayed.push('x-upstream-request-id', value);
        break;
      default:
        if (name !== 'content-length' && !dropped(name)) relayed.push(name, value);
    }
  }
  if (connection !== '' && !PLAIN_CONNECTION.has(connection.toLowerCase())) relayed = withoutListed(relayed, connection);
  return { status, relayed, media: types > 1 ? 'other' : mediaOf(content_type), content_type, length, encoded, session };
}

const PLAIN_CONNECTION: ReadonlySet<string> = new Set(['keep-alive', 'close']);

function mediaOf(content_type: string): Media {
  if (content_type === 'application/json') return 'json';
  if (content_type === '') return 'none';
  const essence = essenceOf(content_type);
  return essence === 'application/json' ? 'json' : essence === 'text/event-stream' ? 'events' : 'other';
}

function withoutListed(fields: readonly string[], connection: string): string[] {
  const listed = new Set(listedIn(connection));
  const kept: string[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = fields[i] as string;
    if (!listed.has(name === 'x-upstream-request-id' ? 'x-request-id' : name)) kept.push(name, fields[i + 1] as string);
  }
  return kept;
}
