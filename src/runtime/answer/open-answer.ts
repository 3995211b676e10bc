import type { CallKind, HeaderList } from '../../contract/runtime.js';
import { bindingOf } from '../shared/session-seal.js';
import type { UpstreamHead } from './answer.js';
import { type Answer, type AnswerHost, withField } from './answer.js';
import { CollectedAnswer } from './collected-answer.js';
import { ErrorAnswer, failWithStatus } from './error-answer.js';
import { EventAnswer } from './event-answer.js';
import { JsonAnswer } from './json-answer.js';

/**
 * Decides from an answer's head what becomes of it (MCP Streamable HTTP, "Sending Messages"). A redirect, a challenge, a coded
 * body and a success of the wrong kind are refused here, before anything reached the client. Undefined: all is said, the body is of no use.
 */
export function openAnswer(host: AnswerHost, head: UpstreamHead): Answer | undefined {
  const { status } = head;
  const { kind } = host.call;
  const legacy = host.call.era === 'legacy';
  const session = legacy ? sealedSession(host, head) : undefined;
  if (status === 401 || status === 407 || (status === 403 && !judgesCaller(host, head))) host.fail('UPSTREAM_REFUSED', `status ${status}`);
  else if (status < 200 || (status >= 300 && status < 400) || status > 599) host.fail('UPSTREAM_BROKEN', `status ${status}`);
  else if (hasNoSuchMethod(kind, status)) failWithStatus(host, { ...head, status: 405 });
  else if (head.encoded) host.fail('UPSTREAM_BROKEN', 'Content-Encoding');
  else if (legacy && head.session !== undefined && session === undefined) host.fail('UPSTREAM_BROKEN', 'Mcp-Session-Id is not usable');
  else {
    const fields = session === undefined ? head.relayed : withField(head.relayed, 'mcp-session-id', session);
    if (status >= 400) return openError(host, head, fields);
    if (kind === 'notification' || kind === 'response') host.exchange.accept(202);
    else if (kind === 'session_end') {
      host.sessionEnded();
      host.exchange.accept(status === 202 || status === 204 ? status : 200);
    } else return openSuccess(host, head, fields);
  }
  return undefined;
}

function openSuccess(host: AnswerHost, head: UpstreamHead, fields: HeaderList): Answer | undefined {
  if (head.media === 'events' && host.call.kind === 'request' && !host.exchange.accepts_events) {
    return new CollectedAnswer(host, withField(fields, 'content-type', 'application/json'));
  }
  if (head.media === 'events') {
    const writer = host.exchange.events(streamFields(fields));
    if (writer !== undefined) return new EventAnswer(host, writer);
    host.abort();
    return undefined;
  }
  if (head.media === 'json' && host.call.kind === 'request') {
    if (head.length === undefined || head.length <= host.parts.max_response_bytes) {
      return new JsonAnswer(host, head, withField(fields, 'content-type', head.content_type));
    }
    host.fail('UPSTREAM_BROKEN', 'too large');
  } else host.fail('UPSTREAM_BROKEN', `status ${head.status} with content type ${shown(head.content_type)}`);
  return undefined;
}

/** A stream's `Cache-Control` is the listener's; of the upstream's own only what forbids more stays. */
function streamFields(fields: HeaderList): HeaderList {
  if (!fields.includes('cache-control')) return fields;
  const kept: string[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = fields[i] as string;
    const value = fields[i + 1] as string;
    const stricter =
      name === 'cache-control'
        ? value
            .toLowerCase()
            .match(/\b(?:no-store|private)\b/g)
            ?.join(', ')
        : value;
    if (stricter !== undefined) kept.push(name, stricter);
  }
  return kept;
}

/** A 403 that may be about the caller: the upstream knows who calls, and says what it refuses. Any other refuses the gateway. */
function judgesCaller({ call }: AnswerHost, head: UpstreamHead): boolean {
  const told = call.identity !== undefined && call.route.forward_identity_header !== undefined;
  return told && call.kind === 'request' && head.media === 'json' && !head.encoded;
}

function openError(host: AnswerHost, head: UpstreamHead, fields: HeaderList): Answer | undefined {
  if (head.media === 'json') return new ErrorAnswer(host, head, withField(fields, 'content-type', head.content_type));
  failWithStatus(host, head);
  return undefined;
}

/**
 * An upstream without a GET stream, or without an end of sessions, that says so as its web framework does. While POSTs go on the session
 * lives: that a session is unknown is what the answer to a POST or DELETE tells, never that to a GET (RFC 9110 sections 15.5.5, 15.6.2).
 */
function hasNoSuchMethod(kind: CallKind, status: number): boolean {
  return (kind === 'get_stream' && (status === 404 || status === 501)) || (kind === 'session_end' && status === 501);
}

/** The id for the client: the one it already has, or a new one for what the upstream calls its session. */
function sealedSession(host: AnswerHost, head: UpstreamHead): string | undefined {
  if (head.session === undefined) return undefined;
  if (host.session?.upstream === head.session) return host.session.sealed;
  return host.parts.seal.seal(head.session, bindingOf(host.call));
}

function shown(content_type: string): string {
  return JSON.stringify(content_type.slice(0, 80));
}
